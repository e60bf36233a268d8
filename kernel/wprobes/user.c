// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Register, unregister, enable and disable probes on data of a process.
 *
 * The registers are those of perf events, one for each thread, so they are reserved together with
 * those of debuggers and perf, and loaded only while the process runs.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>
#include <linux/wprobes-task.h>

#include "user.h"

/* Protects all probes on data of processes, and their threads. */
DEFINE_MUTEX(wprobe_user_mutex);

/*
 * All probes on data of processes, also those that are gone or being unregistered, in the order of
 * registration.
 */
LIST_HEAD(wprobe_users);

/* Those whose own handlers unregister them, or have unregistered them and not returned. */
static LIST_HEAD(by_self);

/* Number of objects in wprobe_users and in by_self. */
unsigned int wprobe_users_registered;

/* Finds the object of a probe, also while another task unregisters it. */
static struct wprobe_user *find_any(const struct wprobe *wp)
{
	struct wprobe_user *user;

	lockdep_assert_held(&wprobe_user_mutex);
	list_for_each_entry(user, &wprobe_users, list) {
		if (wprobe_of_user(user) == wp)
			return user;
	}
	return NULL;
}

static struct wprobe_user *find(const struct wprobe *wp)
{
	struct wprobe_user *user = find_any(wp);

	return user && !user->ending ? user : NULL;
}

/* --- Making and freeing --------------------------------------------------------- */

/*
 * Reads the word; fails if nothing is mapped, or it cannot be read.  It waits for the page, for as
 * long as the file system of the page takes, so not under the lock that forks and exits take.
 */
static bool read_word(struct wprobe_user *user, unsigned long *word)
{
	unsigned long addr = (unsigned long)wprobe_word(user->watch.range.addr);
	bool done;

	lockdep_assert_not_held(&wprobe_user_mutex);
	/* During an exec, the memory may have been freed. */
	if (!mmget_not_zero(user->mm))
		return false;
	done = access_remote_vm(user->mm, addr, word, sizeof(*word), 0) == sizeof(*word);
	mmput(user->mm);
	return done;
}

/*
 * The next hit must not take a change from before all threads have watched.  If a hit replaces the
 * last value meanwhile, that is newer.
 */
static void read_again(struct wprobe_user *user)
{
	unsigned long last = READ_ONCE(user->last), word;

	if (read_word(user, &word))
		cmpxchg(&user->last, last, word);
}

/* Hits read the word, which may change a device. */
static bool is_device(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = vma_lookup(mm, addr);

	return vma && vma->vm_flags & (VM_IO | VM_PFNMAP);
}

static enum wprobe_refusal find_memory(struct wprobe_user *user, struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return WPROBE_REFUSE_KTHREAD;
	if (!arch_wprobe_user_allowed(task))
		return WPROBE_REFUSE_PROCESS;
	guard(rcu)();
	/* The first thread may have ended. */
	task = find_lock_task_mm(task);
	if (!task)
		return WPROBE_REFUSE_NO_PROCESS;
	user->mm = task->mm;
	mmgrab(user->mm);
	task_unlock(task);
	return WPROBE_REFUSE_NONE;
}

static enum wprobe_refusal find_place(struct wprobe_user *user, const struct wprobe *wp,
				      struct wprobe_place *place)
{
	struct mm_struct *mm = user->mm;
	enum wprobe_refusal refusal;
	unsigned long addr;

	/* During an exec, the memory may have been freed. */
	if (!mmget_not_zero(mm))
		return WPROBE_REFUSE_NOT_READABLE;
	mmap_read_lock(mm);
	/* Pointers of the process may have tags. Which bits these are depends on the process. */
	addr = untagged_addr_remote(mm, wprobe_addr(wp));
	refusal = wprobe_place_find_user(wp, addr, place);
	if (!refusal && is_device(mm, addr))
		refusal = WPROBE_REFUSE_DEVICE;
	mmap_read_unlock(mm);
	mmput(mm);
	user->watch.range = place->range;
	return refusal;
}

static struct wprobe_user *alloc_user(struct task_struct *task)
{
	struct wprobe_user *user = kzalloc(sizeof(*user), GFP_KERNEL);

	if (!user)
		return NULL;
	INIT_LIST_HEAD(&user->threads);
	init_completion(&user->left);
	refcount_set(&user->refs, 1);
	user->tgid = get_task_pid(task, PIDTYPE_TGID);
	return user;
}

static void user_put(struct wprobe_user *user)
{
	if (!refcount_dec_and_test(&user->refs))
		return;
	wprobe_threads_free(user);
	if (user->mm)
		mmdrop(user->mm);
	put_pid(user->tgid);
	kfree(user);
}

/*
 * Makes the object known to tasks that create threads, exec or exit, before the threads are
 * looked up.
 */
static void publish(struct wprobe_user *user)
{
	list_add_tail(&user->list, &wprobe_users);
	WRITE_ONCE(wprobe_users_registered, wprobe_users_registered + 1);
	/*
	 * Pairs with wprobe_task_created() and wprobe_task_left().  A task that has not seen the
	 * number did so before its CPU was interrupted here, so its earlier changes, to the list of
	 * threads, PF_EXITING, or its memory, are seen here.
	 */
	kick_all_cpus_sync();
}

static void withdraw(struct wprobe_user *user)
{
	list_del(&user->list);
	/* A task that dies in its own handler has to call wprobe_self_died(). */
	if (!user->self)
		WRITE_ONCE(wprobe_users_registered, wprobe_users_registered - 1);
}

static void arm(struct wprobe_user *user)
{
	wprobe_watch_set_state(&user->watch, WPROBE_OFF);
	if (!wprobe_disabled(wprobe_of_user(user)))
		wprobe_watch_set_state(&user->watch, WPROBE_ARMED);
}

/*
 * Current's handler unregisters its own probe, and may free it: it is not used after that.  The
 * object remains until the handler has returned.
 */
static void set_self(struct wprobe_user *user)
{
	refcount_inc(&user->refs);
	WRITE_ONCE(user->self, current);
	user->wp = wprobe_of_user(user);
	list_add(&user->by_self, &by_self);
}

/* Releases the registers; end_all() does the rest.  A task may still die in a handler. */
static void stop(struct wprobe_user *user, struct list_head *ended)
{
	struct wprobe_thread *own = wprobe_own_handler(user);

	/* A task that exits has died in its handler. */
	if (own && current->flags & PF_EXITING)
		wprobe_user_died(own);
	wprobe_threads_stop(user);
	user->ending = true;
	list_add_tail(&user->ended, ended);
}

/* Is the caller the first handler of the probe that unregisters it? */
static bool is_first_self(struct wprobe_user *user)
{
	return !user->self && !(current->flags & PF_EXITING) && wprobe_own_handler(user);
}

/**
 * wprobe_user_left() - the handler that has unregistered its own probe has returned
 * @user: the probe
 *
 * Context: task, may sleep.
 */
void wprobe_user_left(struct wprobe_user *user)
{
	scoped_guard(mutex, &wprobe_user_mutex) {
		list_del(&user->by_self);
		WRITE_ONCE(wprobe_users_registered, wprobe_users_registered - 1);
	}
	complete_all(&user->left);
	user_put(user);
}

/**
 * wprobe_self_died() - current exits: its handler may have died after it has unregistered its probe
 *
 * Context: task, may sleep.
 */
void wprobe_self_died(void)
{
	struct wprobe_user *user, *own = NULL;

	scoped_guard(mutex, &wprobe_user_mutex) {
		list_for_each_entry(user, &by_self, by_self) {
			if (user->self == current)
				own = user;
		}
		if (own)
			wprobe_user_died(wprobe_own_handler(own));
	}
	if (own)
		wprobe_user_left(own);
}

/*
 * Returns the object of a probe that its own handler has unregistered, with a reference. Two
 * handlers of a probe, in two threads, would wait for each other.
 */
static struct wprobe_user *get_by_self(const struct wprobe *wp)
{
	struct wprobe_user *user;

	guard(mutex)(&wprobe_user_mutex);
	list_for_each_entry(user, &by_self, by_self) {
		if (user->wp == wp && !wprobe_own_handler(user)) {
			refcount_inc(&user->refs);
			return user;
		}
	}
	return NULL;
}

/*
 * Waits for handlers that have unregistered their own probes: the caller may free these, or unload
 * the module with the handlers.
 */
static void wait_for_selves(struct wprobe **wps, int num)
{
	struct wprobe_user *user;
	int i;

	if (likely(list_empty(&by_self)))
		return;
	for (i = 0; i < num; i++) {
		while ((user = get_by_self(wps[i]))) {
			wait_for_completion(&user->left);
			user_put(user);
		}
	}
}

/* Do no handlers run or wait to run, but that which unregisters the probe? */
static bool only_self(struct wprobe_user *user)
{
	return atomic_read(&user->running) == (READ_ONCE(user->self) ? 1 : 0);
}

/* Waits for handlers, without the lock.  The first of the tasks that wait removes the probe. */
static void remove(struct wprobe_user *user)
{
	wait_var_event(&user->running, READ_ONCE(user->removed) || only_self(user));
	guard(mutex)(&wprobe_user_mutex);
	if (user->removed)
		return;
	withdraw(user);
	wprobe_watch_remove(wprobe_of_user(user));
	wprobe_watch_set_state(&user->watch, WPROBE_GONE);
	WRITE_ONCE(user->removed, true);
	/* Pairs with the barrier in wait_var_event() of the other task. */
	smp_mb();
	wake_up_var(&user->running);
}

static void end_all(struct list_head *ended)
{
	struct wprobe_user *user, *next;

	list_for_each_entry_safe(user, next, ended, ended) {
		remove(user);
		user_put(user);
	}
}

/*
 * Adds the probe to the object, and reserves the registers.  Afterwards the object is in
 * wprobe_users; or it has been freed, if the probe was registered before.
 */
static int attach_locked(struct wprobe *wp, const struct wprobe_place *place,
			 struct wprobe_user *user, struct task_struct *task,
			 struct list_head *ended)
{
	enum wprobe_refusal refusal;
	int ret;

	guard(mutex)(&wprobe_user_mutex);
	/* Also while another task unregisters it: that still uses the probe. */
	if (find_any(wp)) {
		user_put(user);
		return wprobe_refuse_probe(wp, place->want.addr, WPROBE_REFUSE_REGISTERED);
	}
	wprobe_watch_add(&user->watch, wp, place);
	arm(user);
	publish(user);
	refusal = wprobe_threads_add(user, task);
	if (!refusal)
		return 0;
	/* Threads have watched, and then a handler may unregister the probe, and free it. */
	ret = wprobe_refuse_probe(wp, place->want.addr, refusal);
	stop(user, ended);
	return ret;
}

static int attach_to(struct wprobe *wp, struct wprobe_place *place, struct task_struct *task)
{
	struct wprobe_user *user = alloc_user(task);
	enum wprobe_refusal refusal;
	LIST_HEAD(ended);
	int ret;

	if (!user)
		return wprobe_refuse_probe(wp, place->want.addr, WPROBE_REFUSE_NO_MEMORY);
	refusal = find_memory(user, task);
	if (!refusal)
		refusal = find_place(user, wp, place);
	if (!refusal && !read_word(user, &user->last))
		refusal = WPROBE_REFUSE_NOT_READABLE;
	if (!refusal) {
		/* As soon as threads watch, a handler may unregister its own probe. */
		refcount_inc(&user->refs);
		ret = attach_locked(wp, place, user, task, &ended);
		if (!ret)
			read_again(user);
	} else {
		ret = wprobe_refuse_probe(wp, place->want.addr, refusal);
	}
	user_put(user);
	if (!list_empty(&ended)) {
		end_all(&ended);
		wait_for_selves(&wp, 1);
	}
	return ret;
}

/* The caller may run in a task whose pid namespace its module does not know. */
static struct task_struct *find_get_task(pid_t pid)
{
	struct task_struct *task;

	guard(rcu)();
	task = find_task_by_pid_ns(pid, &init_pid_ns);
	return task ? get_task_struct(task) : NULL;
}

static int attach(struct wprobe *wp)
{
	struct wprobe_place place = { .want.addr = wprobe_addr(wp) };
	struct task_struct *task = find_get_task(wp->pid);
	int ret;

	wp->refusal = NULL;
	if (!task)
		return wprobe_refuse_probe(wp, place.want.addr, WPROBE_REFUSE_NO_PROCESS);
	ret = attach_to(wp, &place, task);
	put_task_struct(task);
	return ret;
}

/* --- Interface of register.c ------------------------------------------------------ */

/**
 * wprobe_users_unregister() - unregister the probes on data of processes in an array
 * @wps: pointers to the probes; others are left alone
 * @num: number of the pointers
 *
 * Waits for handlers, but not for a handler that calls it.
 *
 * Context: task, may sleep.
 */
void wprobe_users_unregister(struct wprobe **wps, int num)
{
	struct wprobe_user *user, *own = NULL;
	LIST_HEAD(ended);
	int i;

	if (READ_ONCE(wprobe_users_registered)) {
		scoped_guard(mutex, &wprobe_user_mutex) {
			for (i = 0; i < num; i++) {
				user = wps[i] ? find_any(wps[i]) : NULL;
				if (!user)
					continue;
				if (!user->ending)
					stop(user, &ended);
				if (!is_first_self(user))
					continue;
				set_self(user);
				own = user;
			}
		}
		/*
		 * Its handler is the caller.  Also if another task unregisters it: that may wait
		 * for others, and these for this handler.
		 */
		if (own)
			remove(own);
		end_all(&ended);
	}
	wait_for_selves(wps, num);
}

/**
 * wprobe_users_register() - register the probes on data of processes in an array
 * @wps: pointers to the probes; those without a pid are left alone
 * @num: number of the pointers
 *
 * All of them or none.
 *
 * Context: task, may sleep.
 * Return: 0, or the errno of the first that is refused, see register_wprobes().
 */
int wprobe_users_register(struct wprobe **wps, int num)
{
	int i, ret = 0;

	for (i = 0; i < num && !ret; i++) {
		if (wps[i] && wps[i]->pid)
			ret = attach(wps[i]);
	}
	if (ret)
		wprobe_users_unregister(wps, i - 1);
	return ret;
}

/* Returns the object of a probe, with a reference; NULL if it is not registered. */
static struct wprobe_user *get_user_of(const struct wprobe *wp)
{
	struct wprobe_user *user;

	guard(mutex)(&wprobe_user_mutex);
	user = find(wp);
	if (user)
		refcount_inc(&user->refs);
	return user;
}

/* A probe that is enabled gets @word as the last value.  Returns true if it has been enabled. */
static bool change(struct wprobe_user *user, u32 disabled, unsigned long word)
{
	struct wprobe *wp = wprobe_of_user(user);

	if ((wp->flags & WPROBE_FLAG_DISABLED) == disabled)
		return false;
	if (!disabled)
		WRITE_ONCE(user->last, word);
	WRITE_ONCE(wp->flags, wp->flags ^ WPROBE_FLAG_DISABLED);
	wprobe_watch_set_state(&user->watch, disabled ? WPROBE_OFF : WPROBE_ARMED);
	wprobe_threads_enable(user, !disabled);
	return !disabled;
}

/**
 * wprobe_user_set_disabled() - enable or disable a probe on data of a process
 * @wp: the probe
 * @disabled: %WPROBE_FLAG_DISABLED, or 0
 *
 * After disabling, the handler does not run any more, unless it is the handler that disables its
 * probe: it does not wait for other threads.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if the probe is not registered, or its memory is gone.
 */
int wprobe_user_set_disabled(struct wprobe *wp, u32 disabled)
{
	struct wprobe_user *user = get_user_of(wp);
	bool wait = disabled, enabled = false;
	unsigned long word;
	int ret = 0;

	if (!user)
		return -EINVAL;
	word = READ_ONCE(user->last);
	if (!disabled)
		read_word(user, &word);
	scoped_guard(mutex, &wprobe_user_mutex) {
		if (find(wp) == user && user->watch.state != WPROBE_GONE)
			enabled = change(user, disabled, word);
		else
			ret = -EINVAL;
		/* Two handlers would wait for each other. */
		wait &= !wprobe_own_handler(user);
	}
	if (enabled)
		read_again(user);
	if (wait)
		wait_var_event(&user->running, !atomic_read(&user->running));
	user_put(user);
	return ret;
}
