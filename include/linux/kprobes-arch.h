/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_ARCH_H
#define _LINUX_KPROBES_ARCH_H
/*
 * The contract between the kprobes core and the architectures.
 *
 * An architecture that selects HAVE_KPROBES brings <asm/kprobes.h> with
 * kprobe_opcode_t, struct arch_specific_insn, MAX_INSN_SIZE and
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
 * Context: task, may sleep, kprobe_mutex held; without HAVE_KPROBE_BATCH also
 * cpus_read_lock() and text_mutex.
 * Return: 0; -EILSEQ if no instruction starts there; -EINVAL if it cannot be
 * probed; -ENOMEM.  Nothing is kept on failure.
 */
int arch_prepare_kprobe(struct kprobe *p);

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
 * The arch_prepare_kprobe() or arch_prepare_optimized_kprobe() calls of a batch come
 * in the order of addresses.  What the architecture keeps from one to the next of them
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

#include <linux/hardirq.h>

/*
 * <asm/kprobes.h> adds
 *
 *	KPROBE_TRAP_PREEMPT_COUNT	what a breakpoint adds to kprobe_preempt_count()
 *	kprobe_hit_ip(kp)		the instruction pointer that pre handlers see
 *	arch_mask_step(regs)		masks what could interrupt the code that a trap
 *					returns to; returns what was masked or not before
 *	arch_unmask_step(regs, saved)	undoes that
 *	arch_unmask_fault(regs)		what has faulted between the two starts over, and
 *					the fault's handler goes on with what is masked
 *					in regs by now: it may sleep, or end the task
 *
 * of these, those of the step inline, for any place where no probe may be hit.  A trap's
 * handler is made of what <linux/kprobes-hit.h> has; faults come to
 * kprobe_fault_handler().
 */

/*
 * enum kprobe_level - how deep the interrupted code is
 *
 * A hit is lost only to a handler of its own level.
 */
enum kprobe_level {
	KPROBE_LEVEL_TASK,
	KPROBE_LEVEL_SOFTIRQ,
	KPROBE_LEVEL_HARDIRQ,
	KPROBE_LEVEL_NMI,
	NR_KPROBE_LEVELS,
};

/*
 * enum kprobe_phase - what the current probe of a level is doing
 *
 *	IDLE -> HANDLER          a hit; a busy section (kprobe_busy_begin())
 *	HANDLER -> IDLE          the handlers have run, the copy runs by itself
 *	HANDLER -> STEPPING      the copy runs and will trap again
 *	STEPPING -> HANDLER      it has trapped: post handlers
 *	STEPPING -> IDLE         the copy has faulted
 */
enum kprobe_phase {
	KPROBE_PHASE_IDLE,
	KPROBE_PHASE_HANDLER,
	KPROBE_PHASE_STEPPING,
};

/**
 * struct kprobe_frame - the current probe of one context level of one CPU
 * @phase:	what it is doing; IDLE means that the level is free
 * @kp:		representative of the probepoint
 * @handle:	the registration whose handler runs now, if it has a fault_handler;
 *		NULL otherwise, and always in KPROBE_PHASE_IDLE
 * @saved_flags: what arch_mask_step() has returned, from STEPPING to its end
 * @regs:	registers of the trap, while its pre handlers run; meaningful in
 *		KPROBE_PHASE_HANDLER
 *
 * Written by its CPU only, with interrupts of deeper levels leaving it alone.
 */
struct kprobe_frame {
	enum kprobe_phase phase;
	struct kprobe *kp;
	struct kprobe *handle;
	unsigned long saved_flags;
	const struct pt_regs *regs;
};

/**
 * struct kprobe_cpu - hit state of one CPU
 * @traps:	what the probe traps on the stack have added to kprobe_preempt_count(),
 *		KPROBE_TRAP_PREEMPT_COUNT each
 * @frames:	current probe of each level
 */
struct kprobe_cpu {
	unsigned int traps;
	struct kprobe_frame frames[NR_KPROBE_LEVELS];
};

DECLARE_PER_CPU(struct kprobe_cpu, kprobe_cpu);

struct kprobe *kprobe_running(void);

/*
 * preempt_count(), with the number of NMIs that are on the stack.  Where that has one bit for
 * them, which says that there are some, their number is beside it.
 */
static __always_inline unsigned int kprobe_preempt_count(void)
{
#if NMI_BITS == 1
	return (preempt_count() & ~NMI_MASK) + __this_cpu_read(nmi_nesting) * NMI_OFFSET;
#else
	return preempt_count();
#endif
}

/**
 * kprobe_this_level() - context level of the code that is running or was interrupted
 *
 * A probe trap counts as an NMI in preempt_count(); what is judged is the code
 * below it, so the traps on this CPU's stack are subtracted.  An NMI between a
 * trap's entry and its count in @traps sees one trap too many, and stays what
 * it is: an NMI.
 *
 * Context: any, preemption disabled.
 */
static __always_inline enum kprobe_level kprobe_this_level(void)
{
	unsigned int count = kprobe_preempt_count() - __this_cpu_read(kprobe_cpu.traps);

	if (likely(!(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET))))
		return KPROBE_LEVEL_TASK;
	if (count >= NMI_OFFSET)
		return KPROBE_LEVEL_NMI;
	return count & HARDIRQ_MASK ? KPROBE_LEVEL_HARDIRQ : KPROBE_LEVEL_SOFTIRQ;
}

/* The frame of that level.  Context: any, preemption disabled. */
static __always_inline struct kprobe_frame *kprobe_this_frame(void)
{
	struct kprobe_cpu *cpu = this_cpu_ptr(&kprobe_cpu);
	enum kprobe_level level = kprobe_this_level();

	if (likely(level == KPROBE_LEVEL_TASK))
		return &cpu->frames[KPROBE_LEVEL_TASK];
	return &cpu->frames[level];
}

/* Brackets everything that a probe's trap does.  Context: the trap. */
static __always_inline void kprobe_trap_enter(void)
{
	__this_cpu_add(kprobe_cpu.traps, KPROBE_TRAP_PREEMPT_COUNT);
}

static __always_inline void kprobe_trap_exit(void)
{
	__this_cpu_sub(kprobe_cpu.traps, KPROBE_TRAP_PREEMPT_COUNT);
}

/**
 * kprobe_frame_enter() - make @kp the current probe of a free level
 * @frame: from kprobe_this_frame(), in KPROBE_PHASE_IDLE
 * @kp: representative of the probepoint that was hit
 *
 * The phase is written first and is all that is cleared: code of the same level
 * that nests in between, at the end of an interrupt for instance, sees a level that
 * is taken, and leaves @kp alone.
 */
static __always_inline void kprobe_frame_enter(struct kprobe_frame *frame,
					       struct kprobe *kp)
{
	frame->phase = KPROBE_PHASE_HANDLER;
	barrier();
	frame->kp = kp;
	barrier();
}

static __always_inline void kprobe_frame_leave(struct kprobe_frame *frame)
{
	barrier();
	frame->phase = KPROBE_PHASE_IDLE;
	barrier();
}

/**
 * arch_slot_original() - what an address in a slot, or a detour, stands for
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
 * Return: true if a fault handler has dealt with it.
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

/* --- Return probes ------------------------------------------------------ */

/* True if @p sits on the architecture's return trampoline. */
int arch_trampoline_kprobe(struct kprobe *p);

/* The architecture's, with kretprobe_blacklist_size of them. */
extern struct kretprobe_blackpoint kretprobe_blacklist[];

#ifdef CONFIG_KRETPROBE_ON_RETHOOK

static nokprobe_inline
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **last)
{
	return rethook_find_ret_addr(tsk, (unsigned long)fp, last);
}

static nokprobe_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	struct rethook *rh = READ_ONCE(ri->node.rethook);

	return rh->data;
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return is_rethook_trampoline(addr);
}

static nokprobe_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return ri->node.ret_addr;
}

/* rethook recycles the instances of a task that dies. */
static inline void kprobe_flush_task(struct task_struct *tk) { }

#elif defined(CONFIG_KRETPROBES)
/* --- HAVE_KRETPROBES, the core keeps the instances ----------------------- */

/*
 * Without rethook, or with HAVE_KRETPROBE_NATIVE in spite of it.  Nothing of the
 * same context level may come in between while arch_prepare_kretprobe() or the
 * trampoline's handler runs: preemption is disabled there, and probes that are
 * hit meanwhile are missed.
 */

/* Saves the return address in @ri and puts the trampoline's in its place. */
#ifndef arch_prepare_kretprobe
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs);
#endif
/*
 * Makes @regs look as if the function had returned to @correct_ret_addr, where
 * instruction_pointer_set() is not enough.
 */
#ifndef arch_kretprobe_fixup_return
void arch_kretprobe_fixup_return(struct pt_regs *regs,
				 kprobe_opcode_t *correct_ret_addr);
#endif
void __kretprobe_trampoline(void);
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer);
void kretprobe_return(struct pt_regs *regs, void *frame_pointer);
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur);
void kprobe_flush_task(struct task_struct *tk);

/* Where the trampoline is, through a function descriptor where there are such. */
static nokprobe_inline void *kretprobe_trampoline_addr(void)
{
	return dereference_kernel_function_descriptor(__kretprobe_trampoline);
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return (void *)addr == kretprobe_trampoline_addr();
}

/* For trampolines that are not themselves probed: handlers must not nest. */
static nokprobe_inline
unsigned long kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer)
{
	unsigned long addr;

	kprobe_busy_begin();
	addr = __kretprobe_trampoline_handler(regs, frame_pointer);
	kprobe_busy_end();
	return addr;
}

static nokprobe_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

/*
 * The probe, in its handlers; NULL outside of them once it has been unregistered.
 * Pairs with the grace period before kretprobe_engine_free() changes rph.
 */
static nokprobe_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return READ_ONCE(ri->rph)->rp;
}

#else /* !CONFIG_KRETPROBES */

static inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return false;
}

static inline
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	return 0;
}

static inline void kprobe_flush_task(struct task_struct *tk) { }

#endif /* CONFIG_KRETPROBES */

/* --- HAVE_JPROBES: see <linux/kprobes-jprobe.h> --------------------------- */

#endif /* _LINUX_KPROBES_ARCH_H */
