/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_ARCH_H
#define _LINUX_KPROBES_ARCH_H
/*
 * The contract between the kprobes core and the architectures.
 *
 * An architecture that selects HAVE_KPROBES has an <asm/kprobes.h> with
 * kprobe_opcode_t, struct arch_specific_insn, MAX_INSN_SIZE and (without HAVE_KPROBE_BATCH)
 * arch_remove_kprobe(), and the functions of the first section.  The other
 * sections are optional; the heading of each names the option that selects it.
 *
 * The core passes only representatives of probepoints to the architecture.  The
 * pre_handler and post_handler of a representative call those of all the probes;
 * its post_handler is NULL while no probe has one.  The architecture may also use its list,
 * addr, flags, opcode and ainsn; the core has its own data in place of the other members.
 *
 * Included from <linux/kprobes.h>; do not include it directly.
 */

struct kprobe;
struct pt_regs;
struct kretprobe;
struct kretprobe_instance;
struct ftrace_ops;
struct ftrace_regs;

/* --- Minimum: prepare, arm, disarm ------------------------------------- */

/**
 * arch_prepare_kprobe() - check and copy the instruction at @p->addr
 * @p: representative of a new probepoint: @p->addr
 *
 * Context: task, may sleep; kprobe_mutex, cpus_read_lock() and text_mutex held.
 * Return: 0; -EILSEQ if no instruction starts there; -EINVAL if it cannot be
 * probed; -ENOMEM.  On failure the function has released everything again.
 */
int arch_prepare_kprobe(struct kprobe *p);

/**
 * arch_prepare_kprobe_why() - arch_prepare_kprobe() with a reason and fewer locks
 * @p: see arch_prepare_kprobe()
 * @offset: bytes from the start of the symbol to @p->addr
 * @why: may be set on failure to a constant string that explains the errno
 *
 * Called instead of arch_prepare_kprobe() if HAVE_KPROBE_BATCH is selected.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: see arch_prepare_kprobe(); -ERANGE if a copy does not reach the instruction's operand or
 * the next instruction.
 */
int arch_prepare_kprobe_why(struct kprobe *p, unsigned long offset, const char **why);

/**
 * arch_arm_kprobe() - write the breakpoint; arch_disarm_kprobe() removes it
 * @p: a prepared representative
 *
 * Neither can fail.  On return every CPU executes the new text.
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
void arch_arm_kprobe(struct kprobe *p);
void arch_disarm_kprobe(struct kprobe *p);

/* Called once at boot, before probes can be registered; returns 0 or -errno. */
int arch_init_kprobes(void);

/* --- Weak: overridden by architectures that need it -------------------- */

/* True if @addr must never be probed, even if the blacklist allows it.  Any context. */
bool arch_within_kprobe_blacklist(unsigned long addr);
/* Adds the architecture's ranges with kprobe_add_area_blacklist(); boot only. */
int arch_populate_kprobe_blacklist(void);
/*
 * Returns the address to probe for symbol address @addr plus @offset, after function
 * descriptors and landing pads; sets @on_func_entry if that is the function's entry.
 */
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
					 bool *on_func_entry);
/* Size of an instruction at symbol address @addr that is only a landing pad; 0 if none. */
unsigned int arch_landing_pad(unsigned long addr);
/* Symbols of the probes' memory other than slots; -ERANGE after the last one. */
int arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
			    char *type, char *sym);
/* Allocates a page for instruction slots, read-only and executable; NULL without memory. */
void *alloc_insn_page(void);
/* Die notifier of architectures whose trap does not call the probes directly. */
int kprobe_exceptions_notify(struct notifier_block *self, unsigned long val,
			     void *data);

/* Addresses of the functions in NOKPROBE_SYMBOL(), from the linker script. */
extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

/* Functions for arch_populate_kprobe_blacklist() (boot, may sleep). */
int kprobe_add_ksym_blacklist(unsigned long entry);
int kprobe_add_area_blacklist(unsigned long start, unsigned long end);

/* --- HAVE_KPROBE_BATCH: many breakpoints with one synchronisation ------ */

/**
 * arch_arm_kprobes() - write the breakpoints of a whole batch
 * @batch: list of representatives, linked through kprobe::list
 *
 * Has the effect of arch_arm_kprobe() for each, but synchronises all CPUs only
 * once, after the last.  arch_disarm_kprobes() likewise restores the text.
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_arm_kprobes(struct list_head *batch);
void arch_disarm_kprobes(struct list_head *batch);
#endif

/**
 * arch_prepare_kprobes_end() - the last probe of a batch has been prepared, or refused
 *
 * The core calls arch_prepare_kprobe_why() or arch_prepare_optimized_kprobe() for a batch
 * in the order of addresses.  The architecture may keep state between these calls, and has
 * to discard it here: before the next batch another module may be loaded at an address.  It may
 * also write the slots and detours of the batch here; no hit uses them before.
 *
 * Context: task, kprobe_mutex held.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_prepare_kprobes_end(void);
#else
static inline void arch_prepare_kprobes_end(void) { }
#endif

/**
 * arch_prepare_kprobe_post() - prepare a point for its first post_handler
 * @p: representative; may be armed and being hit
 *
 * For architectures (HAVE_KPROBE_BATCH) whose normal copy of the instruction
 * does not trap after it.  A second call does nothing.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0; -ENOMEM; -EINVAL if no copy of the instruction can trap after it.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
int arch_prepare_kprobe_post(struct kprobe *p);
#else
static inline int arch_prepare_kprobe_post(struct kprobe *p)
{
	return 0;
}
#endif

/**
 * arch_kprobe_handlers_changed() - decide again where hits of the breakpoint continue
 * @p: representative that has got its first post_handler or lost its last one, or whose
 *	kprobe_detour_used() has changed; may be armed and being hit
 *
 * Context: task, kprobe_mutex held.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_kprobe_handlers_changed(struct kprobe *p);
#else
static inline void arch_kprobe_handlers_changed(struct kprobe *p) { }
#endif

/* --- __ARCH_WANT_KPROBES_INSN_SLOT: executable slots ------------------- */

#include <linux/kprobes-slots.h>

/* --- HAVE_OPTPROBES, HAVE_KPROBE_DETOURS: jumps in place of breakpoints --- */

#include <linux/kprobes-optimize.h>

/* --- At a hit: functions for backends ---------------------------------- */

void kprobes_inc_nmissed_count(struct kprobe *p);
void dump_kprobe(struct kprobe *kp);

#ifdef CONFIG_HAVE_KPROBE_LEVELS
/* --- HAVE_KPROBE_LEVELS: one current probe per context level ----------- */

/*
 * <asm/kprobes.h> adds
 *
 *	KPROBE_TRAP_PREEMPT_COUNT	value that a breakpoint adds to kprobe_preempt_count()
 *	kprobe_hit_ip(kp)		the instruction pointer that pre handlers see
 *	arch_mask_step(regs)		masks interrupts and other maskable exceptions in @regs,
 *					for the code that a trap returns to; returns the
 *					previous masks
 *	arch_unmask_step(regs, saved)	restores these masks in @regs
 *	arch_unmask_fault(regs)		restores the CPU's masks from @regs after a fault in
 *					a masked step, which will restart at the original:
 *					the handler of the fault may sleep, or end the task
 *	arch_unmask_death()		unmasks all exceptions that the trap has masked, except
 *					interrupts: a handler has died, so the trap will not return
 *
 * The functions of the step are always inlined, so they may be used where no probe may be hit.
 * The trap handler of a backend is composed of the functions in <linux/kprobes-hit.h>, and
 * offers faults to kprobe_fault_handler().  <linux/kprobes-frame.h> has the frames.
 */

struct kprobe *kprobe_running(void);

/**
 * arch_slot_original() - find the original of an instruction in a slot, or a detour
 * @kp: representative of the point that owns the slot
 * @start: address of the slot
 * @addr: an address in the slot
 *
 * Context: any, preemption disabled.
 * Return: the address of the original instruction whose copy is at @addr; if there is
 * none, that of the instruction to be executed next.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr);

/**
 * arch_slot_at_copy() - is the copy of the probed instruction at an address in a slot?
 * @kp: representative of the point that owns the slot, or detour
 * @start: address of the slot
 * @addr: an address in the slot
 *
 * Context: any, preemption disabled.
 * Return: true if the copy, or a part of a copy that has several instructions, is at @addr.
 */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr);

/*
 * arch_copy_restarts() - may the copy of an instruction be executed after its fault was fixed?
 * @kp: representative of the point
 *
 * Otherwise the original is executed, and the probe is hit again.
 *
 * Context: the fault.
 */
#ifndef arch_copy_restarts
static __always_inline bool arch_copy_restarts(struct kprobe *kp)
{
	return true;
}
#endif

/*
 * arch_chosen_target() - where to continue at an address that a handler has chosen
 * @kp: representative of the point that was hit by its breakpoint, or whose copy has faulted
 * @addr: the address
 *
 * If the jump of the point covers the instruction at @addr, or will cover it, the instruction is
 * executed in the detour.  Jumps of one instruction cover no others.
 *
 * Context: the trap.
 */
#ifndef arch_chosen_target
static __always_inline unsigned long arch_chosen_target(struct kprobe *kp, unsigned long addr)
{
	return addr;
}
#endif
bool kprobe_hit_registers(const struct pt_regs *regs);
int kprobe_fault_handler(struct pt_regs *regs, int trapnr);
void kprobe_leave_copy(struct pt_regs *regs);

/**
 * kprobe_page_fault() - offer a page fault to the probes
 * @regs: registers at the fault
 * @trap: the architecture's trap number
 *
 * Context: the fault; called before the exception tables are searched.
 * Return: true if a fault_handler has fixed the fault.
 */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs,
					      unsigned int trap)
{
	return kprobes_in_use() && !user_mode(regs) && kprobe_fault_handler(regs, trap);
}

#else /* !CONFIG_HAVE_KPROBE_LEVELS */
/* --- One current probe per CPU, kept by the architecture --------------- */

/* Values of kprobe_ctlblk::kprobe_status */
#define KPROBE_HIT_ACTIVE	0x00000001
#define KPROBE_HIT_SS		0x00000002
#define KPROBE_REENTER		0x00000004
#define KPROBE_HIT_SSDONE	0x00000008

DECLARE_PER_CPU(struct kprobe *, current_kprobe);
DECLARE_PER_CPU(struct kprobe_ctlblk, kprobe_ctlblk);

static inline struct kprobe_ctlblk *get_kprobe_ctlblk(void)
{
	return this_cpu_ptr(&kprobe_ctlblk);
}

static inline void reset_current_kprobe(void)
{
	__this_cpu_write(current_kprobe, NULL);
}

/* The probe whose hit is being handled on this CPU, or NULL. */
static inline struct kprobe *kprobe_running(void)
{
	return __this_cpu_read(current_kprobe);
}

/* A hit is handled with preemption disabled, so faults in preemptible code are not a probe's. */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs,
					      unsigned int trap)
{
	return kprobes_in_use() && !user_mode(regs) && !preemptible() && kprobe_running() &&
	       kprobe_fault_handler(regs, trap);
}
#endif /* CONFIG_HAVE_KPROBE_LEVELS */

/* --- HAVE_KPROBES_ON_FTRACE: instructions that ftrace owns ------------- */

#ifdef CONFIG_KPROBES_ON_FTRACE
/* Set once ftrace has been shut down: probes on ftrace are never hit again. */
extern bool kprobe_ftrace_disabled __read_mostly;

/*
 * ftrace's callback for a probed function entry.  With HAVE_KPROBE_LEVELS it calls
 * kprobe_ftrace_hit().
 */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
void kprobe_ftrace_hit(unsigned long ip, struct pt_regs *regs);
/* Called instead of arch_prepare_kprobe(), because there is no instruction to copy. */
int arch_prepare_kprobe_ftrace(struct kprobe *p);
void kprobe_ftrace_kill(void);
#else
static inline int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	return -EINVAL;
}

static inline void kprobe_ftrace_kill(void) { }
#endif

/* --- HAVE_KRETPROBES, rethook: return probes ------------------------------- */

#include <linux/kprobes-return.h>

/* --- HAVE_JPROBES: see <linux/kprobes-jprobe.h> --------------------------- */

#endif /* _LINUX_KPROBES_ARCH_H */
