/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_OPTIMIZE_H
#define _LINUX_KPROBES_OPTIMIZE_H
/*
 * The part of the contract between the kprobes core and the architectures that is about
 * jumps.
 *
 * Included from <linux/kprobes-arch.h>; do not include it directly.
 */

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kprobes-obstacle.h>

/* --- HAVE_OPTPROBES: jumps in place of breakpoints --------------------- */

#ifdef CONFIG_OPTPROBES
/**
 * struct optimized_kprobe - what the architecture sees of a probepoint here
 * @kp:		its representative
 * @list:	links it where many are handed over
 * @optinsn:	the architecture's; struct arch_optimized_insn in <asm/kprobes.h>,
 *		beside MAX_OPTINSN_SIZE, the room of a detour in instruction units, and
 *		MAX_OPTIMIZED_LENGTH, the bytes of text that a jump takes
 */
struct optimized_kprobe {
	struct kprobe kp;
	struct list_head list;
	struct arch_optimized_insn optinsn;
};

/* True if no jump is longer than the architecture's shortest instruction. */
#define KPROBE_JUMP_IS_ONE_INSN	(sizeof(kprobe_opcode_t) >= MAX_OPTIMIZED_LENGTH)

/*
 * arch_jump_is_one_insn() is true if the jump of a prepared point covers nothing but the probed
 * instruction.  A task is before it or after it then, so the core does not wait for any before
 * it asks for the jump.
 */
#ifndef arch_jump_is_one_insn
static inline bool arch_jump_is_one_insn(const struct optimized_kprobe *op)
{
	return KPROBE_JUMP_IS_ONE_INSN;
}
#endif

/**
 * arch_prepare_optimized_kprobe() - make the detour of a point
 * @op: the point, on its breakpoint; the text that the jump will take is nobody
 *	else's, and has no armed probe in it
 * @orig: its representative again
 *
 * What the detour has to call says kprobe_detour_calls().  Called again for a point that
 * it has refused, when the obstacle may have gone.
 *
 * Context: task, may sleep, kprobe_mutex held; without HAVE_KPROBE_BATCH also
 * cpus_read_lock() and text_mutex.
 * Return: 0, and arch_prepared_optinsn() is true; with HAVE_KPROBE_DETOURS an &enum
 * kprobe_obstacle, without -ENOMEM or another errno.  Nothing is kept on failure.
 */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig);
/*
 * Gives the detour back, which nobody can be executing.  With HAVE_KPROBE_BATCH the core has
 * this function.  Context: task.
 */
void arch_remove_optimized_kprobe(struct optimized_kprobe *op);
/* 0 if a point with a detour may get its jump now, else as above.  Context: kprobe_mutex. */
int arch_check_optimized_kprobe(struct optimized_kprobe *op);

/**
 * arch_optimize_kprobes() - breakpoints become jumps
 * @oplist: points, linked through optimized_kprobe::list; nobody is executing what
 *	the jumps will cover behind the probed instructions, or will return into it.
 *	Those that have their jump are taken off the list
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
void arch_optimize_kprobes(struct list_head *oplist);

/**
 * arch_unoptimize_kprobes() - jumps become breakpoints
 * @oplist: points, as above
 * @done_list: all of them go there
 *
 * Cannot fail.  On return no CPU will execute a jump; tasks may still be in detours.
 *
 * Context: as above.
 */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list);
/* The same for one, which backends have for themselves. */
void arch_unoptimize_kprobe(struct optimized_kprobe *op);

/* Room for detours.  Overridden by architectures that keep some near the kernel. */
void *alloc_optinsn_page(void);
void free_optinsn_page(void *page);
kprobe_opcode_t *get_optinsn_slot_for(struct kprobe *p);

DEFINE_INSN_CACHE_OPS(optinsn)

void wait_for_kprobe_optimizer(void);

/* True while a jump waits to become a breakpoint: never, for that is done at once. */
static inline bool optprobe_queued_unopt(struct optimized_kprobe *op)
{
	return false;
}

bool kprobe_disarmed(struct kprobe *p);

/* For detours whose architecture keeps the books of what is running. */
static nokprobe_inline void opt_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	p->pre_handler(p, regs);
}
#else
struct optimized_kprobe {
	struct kprobe kp;
	struct list_head list;
};

static inline bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return false;
}

/* Without jumps there is nothing to wait for. */
static inline void wait_for_kprobe_optimizer(void) { }
#endif

/* --- HAVE_KPROBE_DETOURS: detours that can do what a breakpoint can ------ */

/*
 * The architecture selects HAVE_OPTPROBES and HAVE_KPROBE_LEVELS too.  Its detours call
 * kprobe_detour_pre() and, where there is one, kprobe_detour_post(), or
 * kprobe_detour_return() instead of both; a path of execution that a handler has changed
 * is taken.  In struct arch_optimized_insn @insn is where the detour is, or NULL.
 *
 * The core decides which of these a detour calls, and keeps that in the representative's
 * flags, and whether hits of the breakpoint go on in the detour's copy.
 */

/**
 * enum kprobe_detour_calls - what a detour calls
 * @KPROBE_DETOUR_CALLS_PRE:	pre handlers
 * @KPROBE_DETOUR_CALLS_POST:	pre and post handlers
 * @KPROBE_DETOUR_CALLS_RETURN:	one return probe, which needs no registers
 */
enum kprobe_detour_calls {
	KPROBE_DETOUR_CALLS_PRE,
	KPROBE_DETOUR_CALLS_POST,
	KPROBE_DETOUR_CALLS_RETURN,
};

#define KPROBE_FLAG_DETOUR_CALLS	GENMASK(31, 30)

/**
 * kprobe_detour_calls() - what a detour calls, or will call that is being made
 * @kp: representative of its point
 *
 * It stays the same as long as the detour is there.
 *
 * Context: any.
 * Return: that.
 */
static __always_inline enum kprobe_detour_calls kprobe_detour_calls(const struct kprobe *kp)
{
	return FIELD_GET(KPROBE_FLAG_DETOUR_CALLS, kp->flags);
}

bool kprobe_detour_used(struct kprobe *kp);

#if defined(CONFIG_HAVE_KPROBE_DETOURS) && defined(CONFIG_OPTPROBES)
int kprobe_detour_pre(struct kprobe *kp, struct pt_regs *regs);
void kprobe_detour_post(struct kprobe *kp, struct pt_regs *regs);
/* HAVE_KPROBE_RUN: instead of both, where the instruction can be run on saved registers. */
int kprobe_detour_whole(struct kprobe *kp, struct pt_regs *regs);
/* @ret_addr is where the function's return address is. */
void kprobe_detour_return(struct kprobe *kp, kprobe_opcode_t **ret_addr);

/* Nonzero if there is a detour.  Context: kprobe_mutex. */
static inline int arch_prepared_optinsn(struct arch_optimized_insn *optinsn)
{
	return !!optinsn->insn;
}

/* Nonzero if the jump of @op would cover @addr.  Context: kprobe_mutex. */
static inline int arch_within_optimized_kprobe(struct optimized_kprobe *op,
					       kprobe_opcode_t *addr)
{
	return addr > op->kp.addr &&
	       (unsigned long)addr < (unsigned long)op->kp.addr + MAX_OPTIMIZED_LENGTH;
}
#elif defined(CONFIG_OPTPROBES)
int arch_prepared_optinsn(struct arch_optimized_insn *optinsn);
int arch_within_optimized_kprobe(struct optimized_kprobe *op, kprobe_opcode_t *addr);
#endif

#endif /* _LINUX_KPROBES_OPTIMIZE_H */
