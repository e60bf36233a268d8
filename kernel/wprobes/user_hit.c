// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * At a hit of a probe on data of a process: call the handler before the task returns to user mode.
 *
 *	1. wprobe_user_hit(): the event of perf has matched an access, or
 *	   wprobe_user_begin(): an exception in user mode was raised after an access
 *	2. wprobe_user_stepped(): the same access has been made, if the exception was raised
 *	   before it
 *	3. wprobe_user_work(): work of the task calls the handler, or that exception
 *
 * Work that was queued in user mode runs before the next instruction of the program, and before
 * a signal is delivered.  The values are read in step 1 or 2, as near to the access as possible.
 * If the page is not there, or if a system call made the access, step 3 reads them.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <linux/wait_bit.h>
#include <asm/tlb.h>

#include "user.h"

/* The longest instruction of processors that report accesses before they are made. */
#define MAX_INSN_BYTES	4

#define TO(state)	BIT(WPROBE_THREAD_##state)

/* BEFORE to QUEUED only if the kernel accesses the word before the step, which leads to IDLE. */
static const u8 transitions[NR_WPROBE_THREAD_STATES] = {
	[WPROBE_THREAD_IDLE]	= TO(BEFORE) | TO(QUEUED),
	[WPROBE_THREAD_BEFORE]	= TO(BEFORE) | TO(QUEUED) | TO(IDLE),
	[WPROBE_THREAD_QUEUED]	= TO(RUNNING) | TO(IDLE) | TO(SKIPPED),
	[WPROBE_THREAD_SKIPPED]	= TO(IDLE) | TO(CANCELLED),
	[WPROBE_THREAD_RUNNING]	= TO(IDLE),
};

static void check_transition(const struct wprobe_thread *thread, enum wprobe_thread_state from,
			     enum wprobe_thread_state to)
{
	WARN_ONCE(!(transitions[from] & BIT(to)), "thread %d: state %d to %d\n",
		  thread->task->pid, from, to);
}

static void set_state(struct wprobe_thread *thread, enum wprobe_thread_state state)
{
	check_transition(thread, thread->state, state);
	WRITE_ONCE(thread->state, state);
}

/*
 * Leaves a state that the work of the thread, and a task that disables or releases the event, may
 * both want to leave: one of them gets true.
 */
static bool leave_state(struct wprobe_thread *thread, enum wprobe_thread_state from,
			enum wprobe_thread_state to)
{
	check_transition(thread, from, to);
	return cmpxchg(&thread->state, from, to) == from;
}

static void count_missed(struct wprobe_user *user)
{
	atomic_long_inc((atomic_long_t *)&wprobe_of_user(user)->nmissed);
}

static void handler_done(struct wprobe_user *user)
{
	/* A handler that unregisters its own probe waits for all others. */
	if (atomic_dec_return(&user->running) <= 1)
		wake_up_var(&user->running);
}

static unsigned long word_of(const struct wprobe_thread *thread)
{
	return (unsigned long)wprobe_word(thread->user->watch.range.addr);
}

/* As copy_from_user_nofault(), which checks the size of the copy in hardened kernels. */
static bool read_nofault(unsigned long *word, const unsigned long __user *from)
{
	bool done;

	if (!access_ok(from, sizeof(*from)) || !nmi_uaccess_okay())
		return false;
	pagefault_disable();
	done = !__get_user(*word, from);
	pagefault_enable();
	return done;
}

/*
 * Reads the watched word without handling a fault.  The registers of probes, debuggers and perf
 * that watch it do not see the read.  Interrupts are disabled.
 */
static bool read_word(const struct wprobe_thread *thread, unsigned long *word)
{
	unsigned long state = arch_wprobe_user_read_begin();
	bool done;

	done = read_nofault(word, (const unsigned long __user *)word_of(thread));
	arch_wprobe_user_read_end(state);
	return done;
}

/*
 * The same in the task, which may fault the word in.  It is read through an address of the kernel,
 * which no register of a process watches.
 */
static bool read_word_in_task(const struct wprobe_thread *thread, unsigned long *word)
{
	return access_process_vm(current, word_of(thread), word, sizeof(*word), 0) == sizeof(*word);
}

/*
 * Reads the word with @read, and keeps it as the last value.  Two threads never get the same
 * change.  If another thread has replaced the last value meanwhile, the word may be older than
 * that, and is read again.
 */
static __always_inline void read_values(struct wprobe_thread *thread,
					bool (*read)(const struct wprobe_thread *thread,
						     unsigned long *word))
{
	unsigned long last = READ_ONCE(thread->user->last), word;

	do {
		if (!read(thread, &word))
			return;
	} while (!try_cmpxchg(&thread->user->last, &last, word));
	thread->new = word;
	thread->old = WPROBE_USER_BEFORE && thread->has_before ? thread->before : last;
	thread->known = true;
}

static void begin(struct wprobe_thread *thread)
{
	set_state(thread, WPROBE_THREAD_QUEUED);
	atomic_inc(&thread->user->running);
}

/**
 * wprobe_user_queue() - let the task call the handler before it returns to user mode
 * @work: of a thread that is current, whose state is %WPROBE_THREAD_QUEUED
 *
 * Context: debug exception, interrupts disabled; in_nmi() if a system call has made the access.
 */
void wprobe_user_queue(struct callback_head *work)
{
	struct wprobe_thread *thread = container_of(work, struct wprobe_thread, work);

	/* Fails if the task exits: such a task does no work any more. */
	if (!task_work_add(current, work, in_nmi() ? TWA_NMI_CURRENT : TWA_RESUME))
		return;
	if (!leave_state(thread, WPROBE_THREAD_QUEUED, WPROBE_THREAD_IDLE)) {
		set_state(thread, WPROBE_THREAD_IDLE);
		return;
	}
	count_missed(thread->user);
	handler_done(thread->user);
}

static void queue(struct wprobe_thread *thread)
{
	begin(thread);
	wprobe_user_queue(&thread->work);
}

/* Is the access a hit whose handler is to be called? */
static bool is_hit(struct wprobe_thread *thread)
{
	enum wprobe_thread_state state;

	/* During an exec, the addresses are those of other memory. */
	if (current->mm != thread->user->mm)
		return false;
	state = READ_ONCE(thread->state);
	if (state == WPROBE_THREAD_RUNNING)
		count_missed(thread->user);
	/* The accesses of a system call are one hit. */
	return state == WPROBE_THREAD_IDLE || state == WPROBE_THREAD_BEFORE;
}

/**
 * wprobe_user_hit() - an access to the watched bytes: the overflow handler of the event
 * @event: of a thread, which is current
 * @data: unused
 * @regs: of the access
 *
 * Context: debug exception, interrupts disabled; in_nmi() if a system call has made the access.
 */
void wprobe_user_hit(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct wprobe_thread *thread = event->overflow_handler_context;

	if (!is_hit(thread))
		return;
	thread->known = false;
	if (WPROBE_USER_BEFORE)
		thread->has_before = read_word(thread, &thread->before);
	if (!user_mode(regs)) {
		queue(thread);
		return;
	}
	if (WPROBE_USER_BEFORE) {
		thread->ip = uprobe_logical_ip(regs);
		set_state(thread, WPROBE_THREAD_BEFORE);
		return;
	}
	read_values(thread, read_word);
	queue(thread);
}

/**
 * wprobe_user_begin() - an exception in user mode was raised after an access
 * @event: of a thread, which is current, for which wprobe_user_event() is true
 *
 * Does the work of wprobe_user_hit(), without the path of perf's events.
 *
 * Context: debug exception from user mode, interrupts disabled.
 * Return: the argument for one call of wprobe_user_work() or wprobe_user_queue() before the task
 * returns to user mode; NULL if no handler is to be called.
 */
struct callback_head *wprobe_user_begin(struct perf_event *event)
{
	struct wprobe_thread *thread = event->overflow_handler_context;

	if (event->hw.state || !is_hit(thread))
		return NULL;
	thread->known = false;
	read_values(thread, read_word);
	begin(thread);
	return &thread->work;
}

/**
 * wprobe_user_event() - does the event belong to a probe on data of a process?
 * @event: an event of a hardware breakpoint, or NULL
 *
 * Context: any.
 * Return: true if it does.
 */
bool wprobe_user_event(const struct perf_event *event)
{
	return event && event->overflow_handler == wprobe_user_hit;
}

/**
 * wprobe_user_missed() - an access whose handler cannot be called
 * @event: of a thread, for which wprobe_user_event() is true
 *
 * Context: debug exception, interrupts disabled.
 */
void wprobe_user_missed(struct perf_event *event)
{
	struct wprobe_thread *thread = event->overflow_handler_context;

	count_missed(thread->user);
}

/**
 * wprobe_user_stepped() - the thread has executed an instruction after wprobe_user_hit()
 * @event: of a thread, which is current, for which wprobe_user_event() is true
 * @regs: registers after the instruction
 *
 * If a signal was delivered first, the step was one of its handler, and the access follows.
 *
 * Context: debug exception from user mode, interrupts disabled.
 */
void wprobe_user_stepped(struct perf_event *event, struct pt_regs *regs)
{
	struct wprobe_thread *thread = event->overflow_handler_context;

	if (thread->state != WPROBE_THREAD_BEFORE)
		return;
	set_state(thread, WPROBE_THREAD_IDLE);
	if (uprobe_logical_ip(regs) - thread->ip - 1 >= MAX_INSN_BYTES)
		return;
	read_values(thread, read_word);
	queue(thread);
}

/* Reads the values now if that was not possible at the access. */
static bool know_values(struct wprobe_thread *thread)
{
	if (!thread->known)
		read_values(thread, read_word_in_task);
	return thread->known;
}

static void call_handler(struct wprobe_thread *thread)
{
	struct wprobe *wp = wprobe_of_user(thread->user);
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long ip, logical_ip;
	u32 flags = READ_ONCE(wp->flags);

	if (flags & WPROBE_FLAG_DISABLED) {
		count_missed(thread->user);
		return;
	}
	if (flags & WPROBE_FLAG_CHANGED && !((thread->old ^ thread->new) & wp->mask))
		return;
	/*
	 * The access may have been made by a copy of an instruction that has a probe.  The handler
	 * sees the original, but the task goes on in the copy: a string instruction has only made
	 * a part of its accesses.
	 */
	ip = instruction_pointer(regs);
	logical_ip = uprobe_logical_ip(regs);
	instruction_pointer_set(regs, logical_ip);
	wp->handler(wp, regs, (thread->old & wp->mask) >> wp->shift,
		    (thread->new & wp->mask) >> wp->shift);
	if (instruction_pointer(regs) == logical_ip)
		instruction_pointer_set(regs, ip);
}

/* Begins to call the handler, unless the work is to be skipped. */
static bool begin_work(struct wprobe_thread *thread)
{
	if (leave_state(thread, WPROBE_THREAD_QUEUED, WPROBE_THREAD_RUNNING))
		return true;
	if (!leave_state(thread, WPROBE_THREAD_SKIPPED, WPROBE_THREAD_IDLE))
		wprobe_thread_free(thread);
	return false;
}

/**
 * wprobe_user_work() - call the handler
 * @work: of the thread, which is current
 *
 * Context: task on its way to user mode, or the exception that reported the access; may sleep.
 */
void wprobe_user_work(struct callback_head *work)
{
	struct wprobe_thread *thread = container_of(work, struct wprobe_thread, work);
	struct wprobe_user *user = thread->user;
	bool last;

	if (!begin_work(thread))
		return;
	if (current->mm == user->mm && know_values(thread))
		call_handler(thread);
	else
		count_missed(user);
	barrier();
	set_state(thread, WPROBE_THREAD_IDLE);
	last = READ_ONCE(user->self) == current;
	handler_done(user);
	if (last)
		wprobe_user_left(user);
}

/**
 * wprobe_user_cancel() - call no handler for a hit whose work waits to be done
 * @thread: its event is disabled or released, or it is current
 *
 * The hit is counted as missed.  A handler that runs continues.
 *
 * A task that runs handlers has taken all its works out of the queue.  It will do those that it has
 * not done yet, so they cannot be taken out; nor can they be waited for, because the handler that
 * runs may wait for the caller.  They are skipped.
 *
 * Context: task, wprobe_user_mutex held.
 */
void wprobe_user_cancel(struct wprobe_thread *thread)
{
	lockdep_assert_held(&wprobe_user_mutex);
	if (task_work_cancel(thread->task, &thread->work))
		set_state(thread, WPROBE_THREAD_IDLE);
	else if (!leave_state(thread, WPROBE_THREAD_QUEUED, WPROBE_THREAD_SKIPPED))
		return;
	count_missed(thread->user);
	handler_done(thread->user);
}

/**
 * wprobe_user_abandon() - let the skipped work of a thread free the object
 * @thread: its event is released, and wprobe_user_cancel() has been called
 *
 * Context: task, wprobe_user_mutex held.
 * Return: true if the work will free the object.
 */
bool wprobe_user_abandon(struct wprobe_thread *thread)
{
	lockdep_assert_held(&wprobe_user_mutex);
	/* A task that exits does no work any more: it has died in a handler. */
	if (thread->task->flags & PF_EXITING)
		return false;
	return leave_state(thread, WPROBE_THREAD_SKIPPED, WPROBE_THREAD_CANCELLED);
}

/**
 * wprobe_user_died() - end a handler that does not return, because current has died in it
 * @thread: current, which exits
 *
 * Context: task, wprobe_user_mutex held.
 */
void wprobe_user_died(struct wprobe_thread *thread)
{
	lockdep_assert_held(&wprobe_user_mutex);
	if (thread->state != WPROBE_THREAD_RUNNING)
		return;
	set_state(thread, WPROBE_THREAD_IDLE);
	handler_done(thread->user);
}
