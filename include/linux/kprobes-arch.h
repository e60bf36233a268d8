/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_ARCH_H
#define _LINUX_KPROBES_ARCH_H
/*
 * The contract between the kprobes core and the architectures.
 *
 * An architecture that selects HAVE_KPROBES brings <asm/kprobes.h> with
 * kprobe_opcode_t, struct arch_specific_insn, MAX_INSN_SIZE and (without HAVE_KPROBE_BATCH)
 * arch_remove_kprobe(), and the functions of the first section.  The other
 * sections are optional; the line before each says what selects it.
 *
 * The struct kprobe that is handed to the architecture is always the
 * representative of a probepoint: its pre_handler and post_handler call those
 * of all the handles, and post_handler is NULL while no handle has one.
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
 * @p: representative of a new probepoint: @p->addr, @p->offset from its symbol's start
 *
 * Context: task, may sleep; kprobe_mutex, cpus_read_lock() and text_mutex held.
 * Return: 0; -EILSEQ if no instruction starts there; -EINVAL if it cannot be
 * probed; -ENOMEM.  Nothing is kept on failure.
 */
int arch_prepare_kprobe(struct kprobe *p);

/**
 * arch_prepare_kprobe_why() - the same with HAVE_KPROBE_BATCH: with a reason, and fewer locks
 * @p: see arch_prepare_kprobe()
 * @why: set on failure to a constant string, if there is more to say than the errno
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: see arch_prepare_kprobe().
 */
int arch_prepare_kprobe_why(struct kprobe *p, const char **why);

/**
 * arch_arm_kprobe() - write the breakpoint; arch_disarm_kprobe() takes it out
 * @p: a prepared representative
 *
 * Cannot fail.  On return every CPU executes the new text.
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
void arch_arm_kprobe(struct kprobe *p);
void arch_disarm_kprobe(struct kprobe *p);

/* Called once at boot before anything can be registered; 0 or -errno. */
int arch_init_kprobes(void);

/* --- Weak: overridden by architectures that need it -------------------- */

/* True if @addr must never be probed whatever the blacklist says.  Any context. */
bool arch_within_kprobe_blacklist(unsigned long addr);
/* Adds the architecture's ranges with kprobe_add_area_blacklist(); boot only. */
int arch_populate_kprobe_blacklist(void);
/*
 * Where a probe on symbol address @addr plus @offset really goes (descriptors,
 * landing pads), and whether that is the function's entry.
 */
kprobe_opcode_t *arch_adjust_kprobe_addr(unsigned long addr, unsigned long offset,
					 bool *on_func_entry);
/* Bytes of the instruction at @addr, a symbol's, if indirect calls may land on no other. */
unsigned int arch_landing_pad(unsigned long addr);
/* Symbols of memory other than slots that belongs to probes; -ERANGE at the end. */
int arch_kprobe_get_kallsym(unsigned int *symnum, unsigned long *value,
			    char *type, char *sym);
/* One page for instruction slots, read-only and executable, or NULL. */
void *alloc_insn_page(void);
/* Die notifier of architectures that have no direct call from their trap. */
int kprobe_exceptions_notify(struct notifier_block *self, unsigned long val,
			     void *data);

/* The linker script's: addresses of what NOKPROBE_SYMBOL() names. */
extern unsigned long __start_kprobe_blacklist[];
extern unsigned long __stop_kprobe_blacklist[];

/* What the architecture's populate hook may call (boot, may sleep). */
int kprobe_add_ksym_blacklist(unsigned long entry);
int kprobe_add_area_blacklist(unsigned long start, unsigned long end);

/* --- HAVE_KPROBE_BATCH: many breakpoints with one synchronisation ------ */

/**
 * arch_arm_kprobes() - write the breakpoints of a whole batch
 * @batch: list of representatives, linked through kprobe::list
 *
 * The same as arch_arm_kprobe() for each, but all CPUs are synchronised only
 * once, after the last.  arch_disarm_kprobes() likewise restores the text.
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_arm_kprobes(struct list_head *batch);
void arch_disarm_kprobes(struct list_head *batch);
#endif

/**
 * arch_prepare_kprobes_end() - the last of a batch has been prepared, or refused
 *
 * The arch_prepare_kprobe_why() or arch_prepare_optimized_kprobe() calls of a batch
 * come in the order of addresses.  What the architecture keeps from one to the next of them
 * ends here: at the next batch a module's text may be another one.
 *
 * Context: task, kprobe_mutex held.
 */
#ifdef CONFIG_HAVE_KPROBE_BATCH
void arch_prepare_kprobes_end(void);
#else
static inline void arch_prepare_kprobes_end(void) { }
#endif

/**
 * arch_prepare_kprobe_post() - get ready for a first post_handler
 * @p: representative; may be armed and being hit
 *
 * For architectures (HAVE_KPROBE_BATCH) whose normal copy of the instruction
 * does not come back to the probe.  Called again it does nothing.
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: 0 or -ENOMEM.
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
 * arch_kprobe_handlers_changed() - decide again how hits of the breakpoint go on
 * @p: representative, which has a post_handler now, or none any more, or whose
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

/* --- At a hit: what backends call -------------------------------------- */

void kprobes_inc_nmissed_count(struct kprobe *p);
void dump_kprobe(struct kprobe *kp);

#ifdef CONFIG_HAVE_KPROBE_LEVELS
/* --- HAVE_KPROBE_LEVELS: one current probe per context level ----------- */

/*
 * <asm/kprobes.h> adds
 *
 *	KPROBE_TRAP_PREEMPT_COUNT	what a breakpoint adds to kprobe_preempt_count()
 *	kprobe_hit_ip(kp)		the instruction pointer that pre handlers see
 *	arch_mask_step(regs)		masks what could interrupt the code that a trap
 *					returns to; returns what was masked or not before
 *	arch_unmask_step(regs, saved)	undoes that
 *	arch_unmask_fault(regs)		a masked step has faulted, and starts over at the
 *					original: restores the CPU's masks from @regs,
 *					because the fault's handler may sleep, or end the
 *					task
 *
 * Those of the step are inline, for any place where no probe may be hit.  A trap's handler is
 * made of the functions in <linux/kprobes-hit.h>, frames of the levels are in
 * <linux/kprobes-frame.h>, and faults are offered to kprobe_fault_handler().
 */

struct kprobe *kprobe_running(void);

/**
 * arch_slot_original() - the original of an instruction in a slot, or a detour
 * @kp: representative of the point whose slot it is
 * @start: of the slot
 * @addr: the address
 *
 * Context: any, preemption disabled.
 * Return: the address of the original of the instruction whose copy is there, or
 * that comes next.
 */
unsigned long arch_slot_original(struct kprobe *kp, unsigned long start, unsigned long addr);

/**
 * arch_slot_at_copy() - is the copy of the probed instruction at an address in a slot?
 * @kp: representative of the point whose slot, or detour, it is
 * @start: of the slot
 * @addr: the address
 *
 * Context: any, preemption disabled.
 * Return: true if it is there, or a part of it where it takes several instructions.
 */
bool arch_slot_at_copy(struct kprobe *kp, unsigned long start, unsigned long addr);
bool kprobe_hit_registers(const struct pt_regs *regs);
int kprobe_fault_handler(struct pt_regs *regs, int trapnr);
void kprobe_leave_copy(struct pt_regs *regs);

/**
 * kprobe_page_fault() - offer a page fault to the probes
 * @regs: registers at the fault
 * @trap: the architecture's trap number
 *
 * Context: the fault; called before the exception tables are searched.
 * Return: true if a fault handler has fixed it.
 */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs,
					      unsigned int trap)
{
	return !user_mode(regs) && kprobe_fault_handler(regs, trap);
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

/* Only a CPU that cannot be preempted can be in the middle of a probe. */
static nokprobe_inline bool kprobe_page_fault(struct pt_regs *regs,
					      unsigned int trap)
{
	return !user_mode(regs) && !preemptible() && kprobe_running() &&
	       kprobe_fault_handler(regs, trap);
}
#endif /* CONFIG_HAVE_KPROBE_LEVELS */

/* --- HAVE_KPROBES_ON_FTRACE: instructions that ftrace owns ------------- */

#ifdef CONFIG_KPROBES_ON_FTRACE
/* Set once ftrace has been shut down: its probes never fire again. */
extern bool kprobe_ftrace_disabled __read_mostly;

/* ftrace's callback for a probed function entry. */
void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
/* In place of arch_prepare_kprobe(): there is no instruction to copy. */
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
