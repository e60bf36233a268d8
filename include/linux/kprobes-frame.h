/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_FRAME_H
#define _LINUX_KPROBES_FRAME_H
/*
 * The current probe: the probe whose handlers run, in each context level of each CPU.
 *
 * With HAVE_KPROBE_LEVELS a CPU has a frame for each of task, softirq, hardirq and NMI
 * context.  A hit takes the frame of the level that it interrupts.  If that frame is busy,
 * because a handler of the same level has hit another probe, the hit is counted as missed.
 * A hit in an interrupt that arrives while a task's handler runs finds a frame of its own.
 * Without HAVE_KPROBE_LEVELS the architecture keeps one current probe per CPU.
 *
 * Everything here may be used where no probe may be hit.  Users are the code of the core and
 * of the backends that runs at a hit.
 */
#include <linux/hardirq.h>
#include <linux/kprobes.h>
#include <linux/kprobes-rcu.h>
#include <linux/percpu.h>

#ifdef CONFIG_HAVE_KPROBE_LEVELS

/**
 * enum kprobe_level - context level of the interrupted code
 * @KPROBE_LEVEL_TASK:	a task, or code that has disabled softirqs
 * @KPROBE_LEVEL_SOFTIRQ: a softirq
 * @KPROBE_LEVEL_HARDIRQ: an interrupt
 * @KPROBE_LEVEL_NMI:	an NMI
 * @NR_KPROBE_LEVELS:	number of the levels
 *
 * A hit is missed only if a handler of its own level is running.
 */
enum kprobe_level {
	KPROBE_LEVEL_TASK,
	KPROBE_LEVEL_SOFTIRQ,
	KPROBE_LEVEL_HARDIRQ,
	KPROBE_LEVEL_NMI,
	NR_KPROBE_LEVELS,
};

/**
 * struct kprobe_frame - the current probe of one context level of one CPU
 * @kp:		the current probe: representative of the probepoint, or the only probe that a
 *		hit without a step has to call; NULL if the level is free
 * @stepping:	the copy of @kp's instruction runs, and will trap; no handler runs
 * @probe:	the registration whose handler runs now, if it has a fault_handler;
 *		NULL otherwise, and always in a free level
 * @saved_flags: value that arch_mask_step() has returned; meaningful while @stepping
 * @regs:	registers of the trap, while its pre handlers run; meaningful while a handler
 *		runs
 *
 * A frame is in one of three states:
 *
 *	free -> handler          a hit; a busy section (kprobe_busy_begin())
 *	handler -> free          the handlers have run, or one of them has died
 *	handler -> stepping      the copy runs and will trap again
 *	stepping -> handler      the copy has trapped: post handlers run
 *	stepping -> free         the copy has faulted, or the task dies in it
 *
 * Only its CPU writes to a frame, and interrupts of deeper levels do not write to it.
 */
struct kprobe_frame {
	struct kprobe *kp;
	bool stepping;
	struct kprobe *probe;
	unsigned long saved_flags;
	const struct pt_regs *regs;
};

/**
 * struct kprobe_cpu - hit state of one CPU
 * @traps:	sum that the probe traps on the stack have added to kprobe_preempt_count(),
 *		KPROBE_TRAP_PREEMPT_COUNT each
 * @frames:	current probe of each level
 */
struct kprobe_cpu {
	unsigned int traps;
	struct kprobe_frame frames[NR_KPROBE_LEVELS];
};

DECLARE_PER_CPU(struct kprobe_cpu, kprobe_cpu);

/*
 * Returns preempt_count() with the number of NMIs on the stack.  On some architectures,
 * preempt_count() has only one bit for NMIs, and nmi_nesting counts them.
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
 * A probe's trap may count as an NMI in preempt_count().  To get the level of the code that
 * the trap has interrupted, subtract the traps on this CPU's stack.  An NMI that arrives after
 * a trap's entry but before kprobe_trap_enter() does not subtract that trap.  It still gets
 * KPROBE_LEVEL_NMI, which is correct.
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

/* Returns the frame of kprobe_this_level().  Context: any, preemption disabled. */
static __always_inline struct kprobe_frame *kprobe_this_frame(void)
{
	struct kprobe_cpu *cpu = this_cpu_ptr(&kprobe_cpu);
	enum kprobe_level level = kprobe_this_level();

	if (likely(level == KPROBE_LEVEL_TASK))
		return &cpu->frames[KPROBE_LEVEL_TASK];
	return &cpu->frames[level];
}

/* A probe's trap calls kprobe_trap_enter() first, and kprobe_trap_exit() last. */
static __always_inline void kprobe_trap_enter(void)
{
	__this_cpu_add(kprobe_cpu.traps, KPROBE_TRAP_PREEMPT_COUNT);
}

static __always_inline void kprobe_trap_exit(void)
{
	__this_cpu_sub(kprobe_cpu.traps, KPROBE_TRAP_PREEMPT_COUNT);
}

/* Returns true if no handler of the frame's level runs, and no copy is stepped there. */
static __always_inline bool kprobe_frame_is_free(const struct kprobe_frame *frame)
{
	return !READ_ONCE(frame->kp);
}

/* Returns true if a handler of the frame's level runs. */
static __always_inline bool kprobe_frame_in_handler(const struct kprobe_frame *frame)
{
	return !kprobe_frame_is_free(frame) && !frame->stepping;
}

/**
 * kprobe_frame_enter() - make @kp the current probe of a free level
 * @frame: from kprobe_this_frame(); free
 * @kp: value of &kprobe_frame.kp
 *
 * Free -> handler.  Code of the same level that nests before this, at the end of an interrupt
 * for instance, finds the level free, and has left it when this continues.
 *
 * Context: the hit, preemption disabled.
 */
static __always_inline void kprobe_frame_enter(struct kprobe_frame *frame,
					       struct kprobe *kp)
{
	frame->kp = kp;
	barrier();
}

/* Handler -> free. */
static __always_inline void kprobe_frame_leave(struct kprobe_frame *frame)
{
	barrier();
	frame->kp = NULL;
	barrier();
}

/* Stepping -> handler. */
static __always_inline void kprobe_frame_step_ends(struct kprobe_frame *frame)
{
	frame->stepping = false;
	barrier();
}

/* Records the probe whose handler is running, for the fault path; NULL: no such handler. */
static __always_inline void kprobe_note_probe(struct kprobe *probe)
{
	kprobe_this_frame()->probe = probe;
}

/*
 * Is a per-CPU variable read by one instruction?  If not, a task that can be preempted may read
 * the variable of a CPU that it has left.
 */
#ifndef KPROBE_CPU_READ_IS_ATOMIC
#define KPROBE_CPU_READ_IS_ATOMIC	false
#endif

/* The frame of task context, for per-CPU accesses that need no pointer to it. */
#define kprobe_task_frame	kprobe_cpu.frames[KPROBE_LEVEL_TASK]

/*
 * Returns true in task context, for hits without a trap.  In a probe's trap this may return
 * false even if the trap has interrupted task context; use kprobe_this_level() there.
 */
static __always_inline bool kprobe_in_task(void)
{
	/* Keeps the compiler from loading the count for all tests of it, before the first. */
	barrier();
	return !((u32)preempt_count() & (u32)(NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

/*
 * Returns true in task context, if preemption is not disabled; interrupts may be.  RCU is watching
 * then: idle tasks, and CPUs that go offline, have preemption disabled, and code that runs between
 * user mode and RCU's notice cannot be probed.
 */
static __always_inline bool kprobe_in_preemptible_task(void)
{
	return IS_ENABLED(CONFIG_PREEMPT_COUNT) &&
	       !((u32)preempt_count() &
		 (u32)(NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET | PREEMPT_MASK));
}

/*
 * Returns true in task context, if RCU is watching.  Preemption may be enabled, and then the first
 * test is enough: callers disable preemption afterwards.
 */
static __always_inline bool kprobe_in_watched_task(void)
{
	return likely(kprobe_in_preemptible_task()) ||
	       (likely(kprobe_in_task()) && likely(kprobe_rcu_is_watching()));
}

/*
 * Returns true if no handler of task context runs on this CPU.  While preemption is enabled
 * none does, on whichever CPU the task is: a handler of another task would have it disabled.
 * Then this may return false for a CPU that the task has left (KPROBE_CPU_READ_IS_ATOMIC).
 */
static __always_inline bool kprobe_task_is_free(void)
{
	return !raw_cpu_read(kprobe_task_frame.kp);
}

/* Returns true in task context, if its level is free and RCU is watching. */
static __always_inline bool kprobe_in_free_task(void)
{
	return likely(kprobe_task_is_free()) && kprobe_in_watched_task();
}

/* kprobe_frame_enter() and kprobe_frame_leave() for the frame of task context. */
static __always_inline void kprobe_task_enter(struct kprobe *kp)
{
	raw_cpu_write(kprobe_task_frame.kp, kp);
	barrier();
}

static __always_inline void kprobe_task_leave(void)
{
	barrier();
	raw_cpu_write(kprobe_task_frame.kp, NULL);
	barrier();
}

/**
 * kprobe_push_current() - make a return probe the current probe of its level
 * @frame: kprobe_this_frame()
 * @kp: the probe that kprobe_running() returns until kprobe_pop_current()
 *
 * Probes of this level that are hit in between are missed, as in any handler.
 *
 * Context: any, preemption disabled.
 * Return: the argument for kprobe_pop_current(): the current probe until now, or NULL.
 */
static __always_inline struct kprobe *kprobe_push_current(struct kprobe_frame *frame,
							  struct kprobe *kp)
{
	struct kprobe *outer = frame->kp;

	kprobe_frame_enter(frame, kp);
	return outer;
}

/* Restores the current probe that kprobe_push_current() has returned. */
static __always_inline void kprobe_pop_current(struct kprobe_frame *frame,
					       struct kprobe *outer)
{
	barrier();
	frame->kp = outer;
	barrier();
}

#else /* !CONFIG_HAVE_KPROBE_LEVELS */

/* There are no frames: all context levels share the architecture's one current probe. */
static __always_inline struct kprobe_frame *kprobe_this_frame(void)
{
	return NULL;
}

static __always_inline bool kprobe_in_free_task(void)
{
	return false;
}

static __always_inline void kprobe_task_enter(struct kprobe *kp) { }
static __always_inline void kprobe_task_leave(void) { }

/* Only the fault path of HAVE_KPROBE_LEVELS uses the recorded probe. */
static __always_inline void kprobe_note_probe(struct kprobe *probe) { }

struct kprobe *kprobe_push_current(struct kprobe_frame *frame, struct kprobe *kp);
void kprobe_pop_current(struct kprobe_frame *frame, struct kprobe *outer);

#endif /* CONFIG_HAVE_KPROBE_LEVELS */

#endif /* _LINUX_KPROBES_FRAME_H */
