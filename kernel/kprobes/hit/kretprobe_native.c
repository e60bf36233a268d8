// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit: entry and return of calls, for return probes whose instances the core keeps.
 *
 * Each task has a list of the instances in use for its calls, the innermost call first.  Only
 * the task itself changes the list, and interrupts on top of it, which leave it as it was.
 * Other tasks walk over the list for unwinding while the task does not run.
 */
#include <linux/kprobes-frame.h>
#include <linux/llist.h>
#include <linux/sched.h>

#include "instance.h"

/* --- Entry ------------------------------------------------------------------- */

static noinline void miss_call(struct kretprobe *rp)
{
	/* Atomic: calls may be missed on several CPUs at once, and the count is exact. */
	if (!READ_ONCE(rp->rph->stopped))
		raw_atomic_inc((atomic_t *)&rp->nmissed);
}
NOKPROBE_SYMBOL(miss_call);

/* Returns an instance for a call, or counts a miss and returns NULL. */
static __always_inline struct kretprobe_instance *begin_call(struct kretprobe *rp)
{
	struct kretprobe_holder *holder = rp->rph;
	struct kretprobe_instance *ri = kretprobe_take(holder);

	if (likely(ri))
		WRITE_ONCE(ri->rph, holder);
	else
		miss_call(rp);
	return ri;
}

/* Adds @ri, after its call has been prepared, to the task's list. */
static __always_inline void link_call(struct kretprobe_instance *ri)
{
	struct llist_head *calls = &current->kretprobe_instances;

	ri->llist.next = calls->first;
	/* Complete the instance before an interrupt can find it for unwinding. */
	barrier();
	WRITE_ONCE(calls->first, &ri->llist);
}

/**
 * kretprobe_engine_enter() - pre_handler of return probes that have an entry_handler
 * @kp: embedded in the return probe
 * @regs: registers at the function's entry
 *
 * Context: the hit, preemption disabled.
 * Return: 0: execution continues in the function.
 */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri = begin_call(rp);

	if (unlikely(!ri))
		return 0;
	if (rp->entry_handler(ri, regs)) {
		kretprobe_give(ri, rp->rph);
		return 0;
	}
	arch_prepare_kretprobe(ri, regs);
	link_call(ri);
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_engine_enter);

/**
 * kretprobe_engine_enter_bare() - pre_handler of return probes without an entry_handler
 * @kp: embedded in the return probe
 * @regs: registers at the function's entry
 *
 * Context, return: see kretprobe_engine_enter().
 */
int kretprobe_engine_enter_bare(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, kp);
	struct kretprobe_instance *ri = begin_call(rp);

	if (unlikely(!ri))
		return 0;
	arch_prepare_kretprobe(ri, regs);
	link_call(ri);
	return 0;
}
NOKPROBE_SYMBOL(kretprobe_engine_enter_bare);

#if defined(CONFIG_HAVE_KPROBE_DETOURS) && defined(CONFIG_OPTPROBES)
/* kretprobe_engine_enter_bare() for a detour: @ret_addr is the place of the return address. */
static __always_inline void enter_bare(struct kprobe *kp, kprobe_opcode_t **ret_addr)
{
	struct kretprobe_instance *ri = begin_call(container_of(kp, struct kretprobe, kp));

	if (unlikely(!ri))
		return;
	arch_prepare_kretprobe_at(ri, ret_addr);
	link_call(ri);
}

static __always_inline void enter_probes(struct kprobe_point *point, kprobe_opcode_t **ret_addr)
{
	struct kprobe *probe;

	for_each_probe_rcu(probe, point) {
		if (probe->call == kretprobe_engine_enter_bare)
			enter_bare(probe, ret_addr);
	}
}

/*
 * Slow path of an entry: no free level of task context, or the CPU's cache is empty, or probes
 * have been added or removed since this detour was entered.  An added probe may miss this call,
 * which began before; the others must not.
 */
static __always_inline void enter_each(struct kprobe_point *point, kprobe_opcode_t **ret_addr)
{
	struct kprobe_point *carried = kprobe_point_carried(point);

	if (!kprobe_frame_is_free(kprobe_this_frame())) {
		kprobes_inc_nmissed_count(&point->kp);
		return;
	}
	if (carried)
		enter_probes(carried, ret_addr);
	enter_probes(point, ret_addr);
}

static noinline void enter_slow(struct kprobe_point *point, kprobe_opcode_t **ret_addr)
{
	bool entered;

	preempt_disable_notrace();
	entered = kprobe_rcu_enter();
	enter_each(point, ret_addr);
	kprobe_rcu_exit(entered);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(enter_slow);

/*
 * Fast path of an entry: one probe, and the CPU's cache has an instance, as in nearly every
 * call.  Otherwise does nothing and returns false.
 */
static __always_inline bool enter_fast(struct kprobe_point *point, kprobe_opcode_t **ret_addr)
{
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *lone = READ_ONCE(point->lone);
	struct kretprobe_instance *ri;
	struct kretprobe_holder *holder;

	if (unlikely(lone->call != kretprobe_engine_enter_bare))
		return false;
	holder = container_of(lone, struct kretprobe, kp)->rph;
	ri = kretprobe_take_cached(holder);
	if (unlikely(!ri))
		return false;
	WRITE_ONCE(ri->rph, holder);
	arch_prepare_kretprobe_at(ri, ret_addr);
	link_call(ri);
	return true;
}

/**
 * kprobe_detour_return() - handle the hit of a detour that calls only a return probe
 * @kp: representative of the point
 * @ret_addr: place where the function's return address is stored
 *
 * Context: any that the probed function runs in.
 */
void kprobe_detour_return(struct kprobe *kp, kprobe_opcode_t **ret_addr)
{
	struct kprobe_point *point = kprobe_to_point(kp);

	if (unlikely(!kprobe_in_free_task())) {
		enter_slow(point, ret_addr);
		return;
	}
	preempt_disable_notrace();
	if (unlikely(!enter_fast(point, ret_addr)))
		enter_slow(point, ret_addr);
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kprobe_detour_return);
#endif

/* --- Return ------------------------------------------------------------------ */

static __always_inline struct kretprobe_instance *to_instance(struct llist_node *node)
{
	return container_of(node, struct kretprobe_instance, llist);
}

/*
 * Searches from @node on for the instance that has saved the real return address of the call
 * with frame @fp; returns NULL if there is none.  If several probes follow one call, only the
 * first has saved the real address; the others have saved the address of the trampoline.
 */
static struct kretprobe_instance *find_real(struct llist_node *node, void *fp)
{
	struct kretprobe_instance *ri;

	for (; node; node = node->next) {
		ri = to_instance(node);
		if (ri->fp == fp && ri->ret_addr != kretprobe_trampoline_addr())
			return ri;
	}
	return NULL;
}
NOKPROBE_SYMBOL(find_real);

/**
 * kretprobe_find_ret_addr() - find the return address that the trampoline has replaced
 * @tsk: current, or a task that does not run
 * @fp: frame in which the trampoline's address was found
 * @cur: position in the task's list, kept by the caller; *@cur is NULL for the first frame
 *
 * Context: any.
 * Return: the address, or 0 if there is none.
 */
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	struct llist_node *node = tsk->kretprobe_instances.first;
	struct kretprobe_instance *ri = NULL;
	unsigned long ret_addr = 0;

	/* The list of a running task changes, and so does its stack. */
	if (tsk != current && task_is_running(tsk))
		return 0;

	/*
	 * The task may have run since the last frame, and the instance at *@cur may be freed.
	 * So find it in the list before reading it.  Pairs with reap_worker().
	 */
	preempt_disable_notrace();
	while (*cur && node && node != *cur)
		node = node->next;
	if (node)
		ri = find_real(*cur ? node->next : node, fp);
	if (ri) {
		*cur = &ri->llist;
		ret_addr = (unsigned long)ri->ret_addr;
	}
	preempt_enable_notrace();
	return ret_addr;
}
NOKPROBE_SYMBOL(kretprobe_find_ret_addr);

/* Spec: kprobes.txt section 5 has the wording of the message. */
static void report_unmatched(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	pr_err("kretprobe BUG!: Processing kretprobe %p @ %08lx\n",
	       ri ? get_kretprobe(ri) : NULL, instruction_pointer(regs));
}
NOKPROBE_SYMBOL(report_unmatched);

/*
 * Releases the instances of calls that were left without returning: those that are on the list
 * before the returning call.  Returns the first instance of the returning call.
 */
static struct llist_node *drop_left_calls(struct llist_node *first, void *fp,
					  struct pt_regs *regs)
{
	struct kretprobe_instance *ri;

	while (to_instance(first)->fp != fp) {
		ri = to_instance(first);
		first = first->next;
		report_unmatched(ri, regs);
		WRITE_ONCE(current->kretprobe_instances.first, first);
		kretprobe_give(ri, READ_ONCE(ri->rph));
	}
	return first;
}
NOKPROBE_SYMBOL(drop_left_calls);

/* Calls the handler of one probe, unless the probe is being unregistered. */
static __always_inline void call_handler(struct kretprobe_instance *ri,
					 struct kprobe_frame *frame, struct pt_regs *regs)
{
	struct kretprobe_holder *holder = READ_ONCE(ri->rph);
	kretprobe_handler_t handler = READ_ONCE(holder->handler);
	struct kprobe *outer;

	if (unlikely(!handler))
		return;
	outer = kprobe_push_current(frame, &holder->rp->kp);
	handler(ri, regs);
	kprobe_pop_current(frame, outer);
}

/*
 * Calls the handlers of all instances of one call, from @first to @last, which has saved the
 * real return address.  The instances stay on the list while handlers run, because a handler
 * may take a stack trace.  Returns the address to continue at.
 */
static __always_inline unsigned long return_call(struct kretprobe_instance *first,
						 struct kretprobe_instance *last,
						 struct pt_regs *regs)
{
	struct kprobe_frame *frame = kprobe_this_frame();
	struct kretprobe_instance *ri = first, *next;
	kprobe_opcode_t *to = last->ret_addr;

	instruction_pointer_set(regs, (unsigned long)to);
	while (ri != last) {
		/* Replace the trampoline's address, for get_kretprobe_retaddr(). */
		ri->ret_addr = to;
		call_handler(ri, frame, regs);
		ri = to_instance(ri->llist.next);
	}
	call_handler(last, frame, regs);
	to = last->ret_addr;
	arch_kretprobe_fixup_return(regs, to);
	WRITE_ONCE(current->kretprobe_instances.first, last->llist.next);
	/* Unlink the instances before an interrupt can take them for another call. */
	barrier();
	for (ri = first; ; ri = next) {
		next = to_instance(ri->llist.next);
		kretprobe_give(ri, READ_ONCE(ri->rph));
		if (ri == last)
			break;
	}
	return (unsigned long)to;
}

/* Slow path of a return: several probes on the call, calls that have been left, other levels. */
static noinline unsigned long return_calls(struct llist_node *first, void *fp,
					   struct pt_regs *regs)
{
	struct kretprobe_instance *last = find_real(first, fp);
	bool entered = kprobe_rcu_enter();
	unsigned long ret_addr;

	if (!last) {
		report_unmatched(first ? to_instance(first) : NULL, regs);
		/* There is no address to return to. */
		BUG();
	}
	first = drop_left_calls(first, fp, regs);
	ret_addr = return_call(to_instance(first), last, regs);
	kprobe_rcu_exit(entered);
	return ret_addr;
}
NOKPROBE_SYMBOL(return_calls);

/*
 * Fast path of a return: one probe on the call, in task context.  Does the work of
 * return_call(), but completes the registers before the handler sees them.
 */
static __always_inline void return_alone(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kretprobe_holder *holder = READ_ONCE(ri->rph);
	kretprobe_handler_t handler = READ_ONCE(holder->handler);
	kprobe_opcode_t *to = ri->ret_addr;

	instruction_pointer_set(regs, (unsigned long)to);
	arch_kretprobe_fixup_return(regs, to);
	if (likely(handler)) {
		kprobe_task_enter(&holder->rp->kp);
		handler(ri, regs);
		kprobe_task_leave();
	}
	WRITE_ONCE(current->kretprobe_instances.first, ri->llist.next);
	/* Unlink the instance before an interrupt can take it for another call. */
	barrier();
	kretprobe_give(ri, READ_ONCE(ri->rph));
}

/* Returns true if return_alone() can handle the return, as nearly always. */
static __always_inline bool is_alone(struct llist_node *first, void *fp)
{
	return likely(first) && likely(to_instance(first)->fp == fp) &&
	       likely(to_instance(first)->ret_addr != kretprobe_trampoline_addr()) &&
	       likely(kprobe_in_free_task());
}

/**
 * __kretprobe_trampoline_handler() - handle the return of a return-probed function
 * @regs: registers at the return; changed so that they return to the caller
 * @frame_pointer: of the call, as arch_prepare_kretprobe() saved it
 *
 * Context: the trampoline, preemption disabled.
 * Return: the real return address.
 */
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer)
{
	return return_calls(current->kretprobe_instances.first, frame_pointer, regs);
}
NOKPROBE_SYMBOL(__kretprobe_trampoline_handler);

/**
 * kretprobe_return() - handle the return of a return-probed function, and disable preemption
 * @regs: registers at the return; changed so that they return to the caller
 * @frame_pointer: of the call, as arch_prepare_kretprobe() saved it
 *
 * Passes the real return address to arch_kretprobe_fixup_return() and does not return it.
 *
 * Context: the trampoline; interrupts and preemption are as they were.
 */
void kretprobe_return(struct pt_regs *regs, void *frame_pointer)
{
	struct llist_node *first = current->kretprobe_instances.first;

	if (likely(is_alone(first, frame_pointer))) {
		preempt_disable_notrace();
		return_alone(to_instance(first), regs);
	} else {
		preempt_disable_notrace();
		return_calls(first, frame_pointer, regs);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(kretprobe_return);

#ifndef arch_kretprobe_fixup_return
void __weak arch_kretprobe_fixup_return(struct pt_regs *regs,
					kprobe_opcode_t *correct_ret_addr)
{
	/* instruction_pointer_set() in the callers is enough. */
}
#endif
