/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_OPTIMIZE_H
#define _LINUX_KPROBES_OPTIMIZE_H
/*
 * The contract between the kprobes core and the architectures: jumps.
 *
 * Included from <linux/kprobes-arch.h>; do not include it directly.
 */

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kprobes-obstacle.h>

/* --- HAVE_OPTPROBES: jumps in place of breakpoints --------------------- */

/**
 * struct optimized_kprobe - the architecture's view of a probepoint that may get a jump
 * @kp:		representative of the point
 * @list:	links the point into lists of the functions below; in place of members of @kp that
 *		only registrations use
 * @optinsn:	data of the architecture.  <asm/kprobes.h> defines struct
 *		arch_optimized_insn, MAX_OPTINSN_SIZE (size of a detour in units of
 *		kprobe_opcode_t) and MAX_OPTIMIZED_LENGTH (bytes of text that a jump covers)
 */
struct optimized_kprobe {
	union {
		struct kprobe kp;
		struct {
			/* private: */
			u8 __before_list[offsetof(struct kprobe, hlist.pprev)];
			/* public: */
			struct list_head list;
		};
	};
#ifdef CONFIG_OPTPROBES
	struct arch_optimized_insn optinsn;
#endif
};

static_assert(offsetofend(struct optimized_kprobe, list) == offsetofend(struct kprobe, nmissed));

#ifdef CONFIG_OPTPROBES
/* True if no jump is longer than the architecture's shortest instruction. */
#define KPROBE_JUMP_IS_ONE_INSN	(sizeof(kprobe_opcode_t) >= MAX_OPTIMIZED_LENGTH)

/*
 * Returns true if the jump of a prepared point covers only the probed instruction.  A task is
 * then either before or after the covered text, so the core does not wait for tasks before it
 * writes the jump.
 */
#ifndef arch_jump_is_one_insn
static inline bool arch_jump_is_one_insn(const struct optimized_kprobe *op)
{
	return KPROBE_JUMP_IS_ONE_INSN;
}
#endif

/**
 * arch_prepare_optimized_kprobe() - make the detour of a point
 * @op: the point, which has its breakpoint.  No other subsystem patches the text that the
 *	jump will cover, and no other probe is armed there
 * @orig: representative of @op
 *
 * kprobe_detour_calls() returns the handlers that the detour has to call.  The core calls
 * this function again for a refused point when the obstacle may have disappeared.
 *
 * Context: task, may sleep, kprobe_mutex held; without HAVE_KPROBE_BATCH also
 * cpus_read_lock() and text_mutex.
 * Return: 0, and arch_prepared_optinsn() is true.  On failure an &enum kprobe_obstacle with
 * HAVE_KPROBE_DETOURS, -ENOMEM or another errno without; everything is released again.
 */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig);
/*
 * Frees the detour, which no task can be executing.  With HAVE_KPROBE_BATCH the core defines
 * this function.  Context: task.
 */
void arch_remove_optimized_kprobe(struct optimized_kprobe *op);
/*
 * Returns 0 if a point with a detour may get its jump now, otherwise a value as from
 * arch_prepare_optimized_kprobe().  Context: kprobe_mutex held.
 */
int arch_check_optimized_kprobe(struct optimized_kprobe *op);

/**
 * arch_optimize_kprobes() - breakpoints become jumps
 * @oplist: points, linked through optimized_kprobe::list.  No task is executing the text
 *	that the jumps will cover after the probed instructions, or will return into it.
 *	A point that gets its jump is removed from the list
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
void arch_optimize_kprobes(struct list_head *oplist);

/**
 * arch_unoptimize_kprobes() - jumps become breakpoints
 * @oplist: points, linked through optimized_kprobe::list
 * @done_list: list that all points are moved to
 *
 * Cannot fail.  On return no CPU will execute a jump; tasks may still be in detours.
 *
 * Context: task; kprobe_mutex, cpus_read_lock() and text_mutex held.
 */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list);
/* Does the same for one point.  Backends define it; the core does not call it. */
void arch_unoptimize_kprobe(struct optimized_kprobe *op);

/* Pages for detours.  Weak: some architectures reserve pages near the kernel's text. */
void *alloc_optinsn_page(void);
void free_optinsn_page(void *page);
kprobe_opcode_t *get_optinsn_slot_for(struct kprobe *p);

DEFINE_INSN_CACHE_OPS(optinsn)

void wait_for_kprobe_optimizer(void);

/* True while a jump waits to become a breakpoint: never, because that is done at once. */
static inline bool optprobe_queued_unopt(struct optimized_kprobe *op)
{
	return false;
}

bool kprobe_disarmed(struct kprobe *p);

/* For detours of architectures that maintain the current probe themselves. */
static nokprobe_inline void opt_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	p->pre_handler(p, regs);
}
#else
static inline bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return false;
}

/* Without jumps there is no optimizer to wait for. */
static inline void wait_for_kprobe_optimizer(void) { }
#endif

/* --- HAVE_KPROBE_DETOURS: detours with all features of breakpoints ------- */

/*
 * The architecture selects HAVE_OPTPROBES and HAVE_KPROBE_LEVELS too.  Its detours call
 * kprobe_detour_pre() and, if the point has a post handler, kprobe_detour_post(); or
 * kprobe_detour_return() instead of both.  If a handler changes the path of execution, the
 * detour continues there.  In struct arch_optimized_insn, @insn is the address of the detour,
 * or NULL.
 *
 * The core decides which of these functions a detour calls, and records that in the flags of
 * the representative.  It also decides whether hits of the breakpoint continue in the detour.
 */

/**
 * enum kprobe_detour_calls - handlers that a detour calls; each value includes those before it
 * @KPROBE_DETOUR_CALLS_RETURN:	one return probe without handlers that need registers
 * @KPROBE_DETOUR_CALLS_PRE:	pre handlers
 * @KPROBE_DETOUR_CALLS_POST:	pre and post handlers
 */
enum kprobe_detour_calls {
	KPROBE_DETOUR_CALLS_RETURN,
	KPROBE_DETOUR_CALLS_PRE,
	KPROBE_DETOUR_CALLS_POST,
};

#define KPROBE_FLAG_DETOUR_CALLS	GENMASK(31, 30)

/**
 * kprobe_detour_calls() - which handlers does a point's detour call?
 * @kp: representative of the point
 *
 * Valid while the detour exists or is being made; does not change in that time.
 *
 * Context: any.
 * Return: the handlers.
 */
static __always_inline enum kprobe_detour_calls kprobe_detour_calls(const struct kprobe *kp)
{
	return FIELD_GET(KPROBE_FLAG_DETOUR_CALLS, kp->flags);
}

bool kprobe_detour_used(struct kprobe *kp);

/*
 * KPROBES_ON_FTRACE: ftrace's instruction is probed by a jump after it.  <asm/kprobes.h> has
 *
 *	KPROBE_CARRIER_OFFSET	bytes from ftrace's instruction to the one after it
 */

/**
 * arch_carrier_obstacle() - can execution reach an instruction other than from ftrace's before it?
 * @addr: address of the instruction after ftrace's
 *
 * Context: task, may sleep, kprobe_mutex held.
 * Return: %KPROBE_OBSTACLE_NONE if not; otherwise the reason why it can, or may.
 */
enum kprobe_obstacle arch_carrier_obstacle(unsigned long addr);

#ifdef CONFIG_KPROBE_CARRIERS
bool kprobe_carrier_is_next(struct kprobe *kp, unsigned long addr);
#else
static inline bool kprobe_carrier_is_next(struct kprobe *kp, unsigned long addr)
{
	return false;
}
#endif

#if defined(CONFIG_HAVE_KPROBE_DETOURS) && defined(CONFIG_OPTPROBES)
int kprobe_detour_pre(struct kprobe *kp, struct pt_regs *regs);
void kprobe_detour_post(struct kprobe *kp, struct pt_regs *regs);
/* HAVE_KPROBE_RUN: called instead of both if ainsn.run can emulate the instruction. */
int kprobe_detour_whole(struct kprobe *kp, struct pt_regs *regs);
/* @ret_addr: the place where the function's return address is stored. */
void kprobe_detour_return(struct kprobe *kp, kprobe_opcode_t **ret_addr);

/* Nonzero if there is a detour.  Context: kprobe_mutex held. */
static inline int arch_prepared_optinsn(struct arch_optimized_insn *optinsn)
{
	return !!optinsn->insn;
}

/* Nonzero if the jump of @op would cover @addr.  Context: kprobe_mutex held. */
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
