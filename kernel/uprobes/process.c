// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of one process: registration by pid and address.
 *
 * uprobe_mutex serializes all calls. Unmapping, exec and exit only take uprobe_points_lock, and
 * may end a registration at any time when it is not held.
 */
#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "process.h"
#include "trace.h"

/* --- Checks --------------------------------------------------------------------- */

static bool return_is_valid(struct uretprobe *rp)
{
	if (!rp->handler || rp->up.handler || rp->maxactive < 0)
		return false;
	/* A hit of an exit has no record of its call. */
	return !rp->size || (rp->size <= UPROBE_EXITS_SIZE && !rp->entry_handler &&
			     !rp->maxactive && !rp->data_size);
}

static int check_user(struct uprobe *u, bool is_return)
{
	struct uretprobe *rp = container_of(u, struct uretprobe, up);

	if (!u || (is_return ? !return_is_valid(rp) : !u->handler))
		return -EINVAL;
	if (is_return && rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return -E2BIG;
	if (u->vaddr % UPROBE_SWBP_INSN_SIZE) {
		trace_uprobe_refused(NULL, 0, u->vaddr, "the address is not aligned", -EILSEQ);
		return -EILSEQ;
	}
	return 0;
}

/**
 * uprobe_check_context() - may the caller register probes?
 *
 * Registering sleeps, which handlers of kprobes must not do.
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int uprobe_check_context(void)
{
	/* A handler of a kprobe cannot be preempted; not every kernel counts that. */
	if (likely(!in_atomic() && !irqs_disabled() && (preemptible() || !kprobe_running())))
		return 0;
	pr_warn_once("uprobes: probes cannot be registered in atomic context\n");
	return -EINVAL;
}

/*
 * The memory of a process whose first thread may have ended, with a reference, or NULL. The caller
 * holds rcu_read_lock().
 */
static struct mm_struct *mm_of(struct task_struct *task)
{
	struct mm_struct *mm;

	task = find_lock_task_mm(task);
	if (!task)
		return NULL;
	mm = task->mm;
	mmget(mm);
	task_unlock(task);
	return mm;
}

/*
 * The memory of a process, with a reference, or an ERR_PTR(). The caller may be a handler, in a
 * task whose pid namespace its module does not know.
 */
static struct mm_struct *find_mm(pid_t pid)
{
	struct task_struct *task;

	guard(rcu)();
	task = find_task_by_pid_ns(pid, &init_pid_ns);
	if (!task)
		return ERR_PTR(-ESRCH);
	if (task->flags & PF_KTHREAD)
		return ERR_PTR(-EINVAL);
	return mm_of(task) ?: ERR_PTR(-ESRCH);
}

/* --- Registration --------------------------------------------------------------- */

/* Points of one process that are being registered. */
struct batch {
	struct uprobe_text_reader reader;
	struct uprobe_point **points;
	unsigned int nr, room;
	bool locked;
};

/* Takes uprobe_points_lock, unless it is held since the last point. */
static void batch_lock(struct batch *batch)
{
	if (!batch->locked)
		down_write(&uprobe_points_lock);
	batch->locked = true;
}

static void batch_unlock(struct batch *batch)
{
	if (batch->locked)
		up_write(&uprobe_points_lock);
	batch->locked = false;
}

static int batch_make_room(struct batch *batch, unsigned int more)
{
	unsigned int room = max(batch->nr + more, batch->room * 2);
	struct uprobe_point **points;

	if (batch->nr + more <= batch->room)
		return 0;
	points = kvrealloc(batch->points, array_size(room, sizeof(*points)), GFP_KERNEL);
	if (!points)
		return -ENOMEM;
	batch->points = points;
	batch->room = room;
	return 0;
}

/* Publishes a registration for the instruction that has been read. */
static int publish_read(struct uprobe_mm *own, struct uprobe_registration *registration,
			unsigned long vaddr, struct batch *batch, const char **why)
{
	uprobe_consumer_handler *handler;
	struct uprobe_point *point;

	point = uprobe_process_point_get(own, &batch->reader, vaddr, why);
	if (IS_ERR(point))
		return PTR_ERR(point);
	if (registration->kind == UPROBE_KIND_EXIT) {
		handler = uretprobe_exit_handler(point, arch_uprobe_mode(own->mm));
		if (!handler) {
			*why = "the text changes";
			batch->reader.last = NULL;
			uprobe_point_put(point);
			return -EILSEQ;
		}
		registration->consumer.handler = handler;
	}
	uprobe_registration_publish(registration, point);
	batch->points[batch->nr++] = point;
	return 0;
}

/* Without the lock: the file system may ask a program, which may need it. */
static noinline int read_unlocked(struct batch *batch, unsigned long vaddr, const char **why)
{
	batch_unlock(batch);
	return uprobe_process_read(&batch->reader, vaddr, why);
}

/* The lock is kept for the next instruction, which is often in the same page. */
static int publish_at(struct uprobe_mm *own, struct uprobe *u, unsigned long vaddr,
		      enum uprobe_kind kind, struct batch *batch)
{
	struct uprobe_registration *registration;
	const char *why;
	int err = 0;

	registration = uprobe_registration_new(u, kind, batch->reader.left);
	if (!registration)
		return -ENOMEM;
	if (!uprobe_text_read_next(&batch->reader, vaddr))
		err = read_unlocked(batch, vaddr, &why);
	batch_lock(batch);
	if (!err)
		err = publish_read(own, registration, vaddr, batch, &why);
	if (err) {
		trace_uprobe_refused(NULL, 0, vaddr, why, err);
		uprobe_registration_free(registration);
	}
	return err;
}

/* Publishes a registration for each exit of a function; see publish(). */
static int publish_exits(struct uprobe_mm *own, struct uretprobe *rp, struct batch *batch,
			 int *done)
{
	unsigned long *exits, bit;
	const char *why;
	int err;

	batch_unlock(batch);
	err = uprobe_exits_find(own, rp->up.vaddr, rp->size, &exits, &why);
	if (err) {
		trace_uprobe_refused(NULL, 0, rp->up.vaddr, why, err);
		return err;
	}
	/* After an error, some of the exits may have been published. */
	++*done;
	/* Keep the room of the probes that follow. */
	err = batch_make_room(batch, bitmap_weight(exits, rp->size) + batch->reader.left);
	for_each_set_bit(bit, exits, rp->size) {
		if (err)
			break;
		err = publish_at(own, &rp->up, rp->up.vaddr + bit, UPROBE_KIND_EXIT, batch);
	}
	kvfree(exits);
	return err == -EOPNOTSUPP || err == -EILSEQ ? -ENOEXEC : err;
}

/* Adds 1 to @done if the caller has to unregister the probe after an error. */
static int publish(struct uprobe_mm *own, struct uprobe *u, bool is_return, struct batch *batch,
		   int *done)
{
	struct uretprobe *rp = container_of(u, struct uretprobe, up);
	int err;

	u->nmissed = 0;
	if (is_return)
		atomic_set(&rp->nmissed, 0);
	if (is_return && rp->size)
		return publish_exits(own, rp, batch, done);
	err = publish_at(own, u, u->vaddr, is_return ? UPROBE_KIND_RETURN : UPROBE_KIND_HIT, batch);
	if (!err)
		++*done;
	return err;
}

/* Publishes probes; see register_in(). */
static int publish_all(struct uprobe_mm *own, struct uprobe **us, int num, bool is_return,
		       struct batch *batch, int *done)
{
	int i, err = 0;

	for (i = 0; i < num && !err; i++) {
		/* Then the check takes the lock: the object may be twice in the array. */
		if (unlikely(us[i]->registration))
			batch_unlock(batch);
		err = uprobe_registration_check(us[i]);
		if (err)
			break;
		batch->reader.left = num - i;
		err = publish(own, us[i], is_return, batch, done);
	}
	return err;
}

/*
 * Registers probes of one process. Adds the number of probes to @done that the caller has to
 * unregister after an error.
 */
static int register_in(struct mm_struct *mm, struct uprobe **us, int num, bool is_return,
		       struct batch *batch, int *done)
{
	struct uprobe_mm *own = uprobe_mm_get(mm);
	int err;

	if (!own)
		return -ENOMEM;
	batch->nr = 0;
	batch->reader = (struct uprobe_text_reader) { .mm = mm };
	err = batch_make_room(batch, num);
	if (err)
		return err;
	/* Keeps the text from being unmapped before the points are armed. */
	err = mmap_read_lock_killable(mm);
	if (err)
		return err;
	err = publish_all(own, us, num, is_return, batch, done);
	batch_unlock(batch);
	uprobe_text_reader_end(&batch->reader);
	if (!err) {
		uprobe_points_sort(batch->points, batch->nr);
		err = uprobe_process_arm(own, batch->points, batch->nr, UPROBE_ARM);
	}
	mmap_read_unlock(mm);
	return err;
}

static int same_pid(struct uprobe **us, int num)
{
	int n;

	for (n = 1; n < num && us[n]->pid == us[0]->pid; n++)
		;
	return n;
}

static int register_all(struct uprobe **us, int num, bool is_return, int *published)
{
	struct batch batch = { };
	struct mm_struct *mm;
	int n, err = 0;

	for (; num && !err; us += n, num -= n) {
		n = same_pid(us, num);
		mm = find_mm(us[0]->pid);
		if (IS_ERR(mm)) {
			err = PTR_ERR(mm);
			break;
		}
		err = register_in(mm, us, n, is_return, &batch, published);
		mmput_async(mm);
	}
	kvfree(batch.points);
	return err;
}

/**
 * uprobes_register_locked() - register probes
 * @us: the probes
 * @num: number of probes
 * @is_return: they are the first members of return probes
 * @removed: set to the number of the first probes that were registered, and have been removed
 *	again, because a later one has failed; otherwise 0
 *
 * All or nothing. After an error, handlers of those first probes may still run until
 * uprobe_unregister_sync() returns, and may have noted operations.
 *
 * Context: task, may sleep; not in a handler; uprobe_mutex held.
 * Return: see register_uprobe().
 */
int uprobes_register_locked(struct uprobe **us, int num, bool is_return, int *removed)
{
	int err;

	*removed = 0;
	err = register_all(us, num, is_return, removed);
	if (!err)
		*removed = 0;
	if (*removed)
		uprobes_remove(us, *removed);
	return err;
}

/*
 * Probes have been removed: waits until no handler or callback of them runs, and none is noted. A
 * callback would wait for itself, so it cancels the operations on these probes instead.
 */
static void finish_removal(struct uprobe_removal *removal)
{
	/* Also for registrations that ended before: their handlers may still run. */
	uprobe_unregister_sync();
	if (uprobe_in_callback())
		uprobe_deferred_cancel(removal->us, removal->num);
	else
		uprobe_deferred_wait();
	uprobe_removal_end(removal);
}

static void unregister_now(struct uprobe **us, int num)
{
	struct uprobe_removal removal = { .us = us, .num = num };

	scoped_guard(mutex, &uprobe_mutex) {
		uprobe_removal_begin(&removal);
		uprobes_remove(us, num);
	}
	finish_removal(&removal);
}

static int register_now(struct uprobe **us, int num, bool is_return)
{
	struct uprobe_removal removal = { .us = us };
	/* Another registration may wait for a file system that does not answer. */
	int err = mutex_lock_killable(&uprobe_mutex);

	if (err)
		return err;
	err = uprobes_register_locked(us, num, is_return, &removal.num);
	/* Handlers of the first ones may have noted operations meanwhile. */
	if (removal.num)
		uprobe_removal_begin(&removal);
	mutex_unlock(&uprobe_mutex);
	if (removal.num)
		finish_removal(&removal);
	return err;
}

/**
 * uprobes_register() - register probes, or note it in a handler
 * @us: the probes; none may be NULL
 * @num: number of probes
 * @is_return: they are the first members of return probes
 *
 * Context: task, may sleep.
 * Return: see register_uprobe().
 */
int uprobes_register(struct uprobe **us, int num, bool is_return)
{
	int i, err;

	if (num <= 0 || !us)
		return num ? -EINVAL : 0;
	err = uprobe_check_context();
	for (i = 0; i < num && !err; i++)
		err = check_user(us[i], is_return) ?: uprobe_registration_check(us[i]);
	if (err)
		return err;
	if (!uprobe_must_defer())
		return register_now(us, num, is_return);
	for (i = 0; i < num; i++)
		uprobe_defer(us[i], true, is_return);
	return -EINPROGRESS;
}

/**
 * uprobes_unregister() - unregister probes, or note it in a handler
 * @us: the probes; those that are NULL are left out
 * @num: number of probes
 *
 * Context: task, may sleep.
 * Return: see unregister_uprobe().
 */
int uprobes_unregister(struct uprobe **us, int num)
{
	int i, err;

	if (num <= 0 || !us)
		return num ? -EINVAL : 0;
	err = uprobe_check_context();
	if (err)
		return err;
	if (!uprobe_must_defer()) {
		unregister_now(us, num);
		return 0;
	}
	for (i = 0; i < num; i++) {
		if (us[i])
			uprobe_defer(us[i], false, false);
	}
	return -EINPROGRESS;
}

/* --- Interface ------------------------------------------------------------------ */

/**
 * register_uprobe() - probe an instruction of a process
 * @u: see &struct uprobe
 *
 * Threads of the process execute the breakpoint from the return of this function on. Called by
 * a handler of a probe, it only notes the request, which is done when all handlers of the hit
 * have run.
 *
 * Context: task, may sleep.
 * Return: 0; -EINPROGRESS in a handler; -ESRCH if there is no such process or it has ended;
 * -EINVAL if there is no handler, a reserved member is not zero, the process is a kernel thread,
 * or the context is atomic; -EBUSY if @u is registered; -EFAULT if nothing is mapped there or it
 * cannot be read; -EACCES if it is not executable or can never be made writable; -EPERM if the
 * mapping is shared, or userfaultfd protects the page; -EEXIST if a breakpoint of the program or of
 * a debugger is there; -EILSEQ if no instruction is there, or the address is inside of one, as far
 * as other probes or the alignment prove that; -EOPNOTSUPP if the instruction, or a huge page,
 * cannot be probed; -ENOSPC if there is no room for a copy of the instruction in reach; -EINTR if
 * the caller is being killed; -ENOMEM. The tracepoint uprobe_refused has the reason if the text is
 * refused.
 */
int register_uprobe(struct uprobe *u)
{
	return uprobes_register(&u, 1, false);
}
EXPORT_SYMBOL_GPL(register_uprobe);

/**
 * unregister_uprobe() - remove a probe of a process
 * @u: nothing happens if it has been unregistered by itself, or never registered
 *
 * Its handler and its registration_callback do not run any more after the return of this function,
 * and @u may be freed. If a handler of a probe calls it, @u may be freed in the
 * registration_callback, which is called once, however many handlers have asked for the removal.
 * If a registration_callback calls it, requests of handlers for @u are forgotten, as they are if a
 * noted registration fails after @u has been hit.
 *
 * Context: task, may sleep.
 * Return: 0; -EINPROGRESS in a handler; -EINVAL if the context is atomic.
 */
int unregister_uprobe(struct uprobe *u)
{
	return uprobes_unregister(&u, 1);
}
EXPORT_SYMBOL_GPL(unregister_uprobe);

/**
 * register_uprobes() - register an array of probes
 * @us: the probes, of any processes
 * @num: number of probes
 *
 * All or nothing. In a handler each is registered on its own, and has its own callback.
 *
 * Context: task, may sleep.
 * Return: see register_uprobe(), for the first that fails.
 */
int register_uprobes(struct uprobe **us, int num)
{
	return uprobes_register(us, num, false);
}
EXPORT_SYMBOL_GPL(register_uprobes);

/**
 * unregister_uprobes() - unregister an array of probes
 * @us: the probes
 * @num: number of probes
 *
 * Context: task, may sleep.
 * Return: see unregister_uprobe().
 */
int unregister_uprobes(struct uprobe **us, int num)
{
	return uprobes_unregister(us, num);
}
EXPORT_SYMBOL_GPL(unregister_uprobes);
