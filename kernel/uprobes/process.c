// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probes of one process: registration by pid and address.
 *
 * A registration is a consumer of a point of the process (process_point.c). It is separate from
 * the user's object, so that a probe that unregisters itself, because its process ends or unmaps
 * the text, leaves an object that can be used again or freed.
 *
 * uprobe_mutex serializes all calls. Unmapping, exec and exit only take uprobe_points_lock, and
 * may end a registration at any time when it is not held.
 */
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "internal.h"
#include "point.h"
#include "process.h"
#include "trace.h"

/* All registrations, under uprobe_points_lock. */
static LIST_HEAD(registrations);

static struct uprobe_mm *point_own(struct uprobe_point *point)
{
	return container_of(point->file, struct uprobe_mm, process);
}

/* --- Consumer ----------------------------------------------------------------- */

static int process_handler(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data)
{
	struct uprobe_registration *registration;

	registration = container_of(uc, struct uprobe_registration, consumer);
	if (likely(!READ_ONCE(registration->disabled)))
		registration->user->handler(registration->user, regs);
	return 0;
}

/* Only processes without the probe, and disabled probes, need no breakpoint. */
static bool process_filter(struct uprobe_consumer *uc, struct mm_struct *mm)
{
	return !container_of(uc, struct uprobe_registration, consumer)->disabled;
}

static struct uprobe_registration *registration_new(struct uprobe *u, bool is_return)
{
	struct uprobe_registration *registration = kzalloc_obj(*registration);

	if (!registration)
		return NULL;
	registration->user = u;
	registration->consumer.filter = process_filter;
	registration->consumer.handler = process_handler;
	if (!is_return)
		return registration;
	registration->pool = uretprobe_pool_new();
	if (!registration->pool) {
		kfree(registration);
		return NULL;
	}
	registration->consumer.handler = uretprobe_entry;
	registration->consumer.ret_handler = uretprobe_return;
	return registration;
}

/**
 * uprobe_registration_end() - take a registration out of its point
 * @registration: published; freed after the next uprobe_observe()
 *
 * The user's object is free to be registered again. The point stays.
 *
 * Context: task; uprobe_points_lock held for writing.
 */
void uprobe_registration_end(struct uprobe_registration *registration)
{
	lockdep_assert_held_write(&uprobe_points_lock);
	list_del_rcu(&registration->consumer.cons_node);
	list_del(&registration->node);
	WRITE_ONCE(registration->user->registration, NULL);
	if (registration->pool)
		uretprobe_pool_put(registration->pool);
	uprobe_retire(&registration->retired);
}

/* --- Checks --------------------------------------------------------------------- */

/* Is the object registered, or has it a reserved member that is not zero? */
static int check_reserved(struct uprobe *u)
{
	struct uprobe_registration *registration;

	if (!u->registration)
		return 0;
	guard(rwsem_read)(&uprobe_points_lock);
	list_for_each_entry(registration, &registrations, node) {
		if (registration->user == u)
			return -EBUSY;
	}
	return u->registration ? -EINVAL : 0;
}

static int check_user(struct uprobe *u, bool is_return)
{
	if (is_return) {
		struct uretprobe *rp = container_of(u, struct uretprobe, up);

		if (!rp->handler || u->handler || rp->maxactive < 0)
			return -EINVAL;
	} else if (!u->handler) {
		return -EINVAL;
	}
	return u->vaddr % UPROBE_SWBP_INSN_SIZE ? -EILSEQ : 0;
}

/**
 * uprobe_check_context() - may the caller register probes?
 *
 * Handlers of kprobes must not sleep; so they cannot.
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int uprobe_check_context(void)
{
	if (likely(!in_atomic() && !irqs_disabled() && !kprobe_running()))
		return 0;
	pr_warn_once("uprobes: probes cannot be registered in atomic context\n");
	return -EINVAL;
}

/* The memory of a process, with a reference, or an ERR_PTR(). */
static struct mm_struct *find_mm(pid_t pid)
{
	struct mm_struct *mm = ERR_PTR(-ESRCH);
	struct task_struct *task;

	task = find_get_task_by_vpid(pid);
	if (!task)
		return mm;
	if (task->flags & PF_KTHREAD)
		mm = ERR_PTR(-EINVAL);
	else
		mm = get_task_mm(task) ?: mm;
	put_task_struct(task);
	return mm;
}

/* --- Registration --------------------------------------------------------------- */

static int publish(struct uprobe_mm *own, struct uprobe *u, bool is_return,
		   struct uprobe_point **to)
{
	struct uprobe_registration *registration;
	struct uprobe_point *point;
	const char *why;
	int err;

	err = check_reserved(u);
	if (err)
		return err;
	registration = registration_new(u, is_return);
	if (!registration)
		return -ENOMEM;
	point = uprobe_process_point_get(own, u->vaddr, &why);
	if (IS_ERR(point)) {
		trace_uprobe_refused(NULL, 0, u->vaddr, why, PTR_ERR(point));
		if (registration->pool)
			uretprobe_pool_put(registration->pool);
		kfree(registration);
		return PTR_ERR(point);
	}
	u->nmissed = 0;
	if (is_return)
		atomic_set(&container_of(u, struct uretprobe, up)->nmissed, 0);
	registration->point = point;
	guard(rwsem_write)(&uprobe_points_lock);
	uprobe_point_add(point, &registration->consumer);
	list_add(&registration->node, &registrations);
	WRITE_ONCE(u->registration, registration);
	*to = point;
	return 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct uprobe_point *x = *(struct uprobe_point **)a;
	const struct uprobe_point *y = *(struct uprobe_point **)b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Registers probes of one process; sets the number of those that have been published. */
static int register_in(struct mm_struct *mm, struct uprobe **us, int num, bool is_return,
		       struct uprobe_point **points, int *done)
{
	struct uprobe_mm *own = uprobe_mm_get(mm);
	int i, err = 0;

	*done = 0;
	if (!own)
		return -ENOMEM;
	/* Keeps the text from being unmapped before the points are armed. */
	guard(mmap_read_lock)(mm);
	for (i = 0; i < num; i++) {
		err = publish(own, us[i], is_return, &points[i]);
		if (err)
			return err;
		++*done;
	}
	sort(points, num, sizeof(*points), compare_points, NULL);
	return uprobe_process_arm(own, points, num, UPROBE_ARM);
}

static int same_pid(struct uprobe **us, int num)
{
	int n;

	for (n = 1; n < num && us[n]->pid == us[0]->pid; n++)
		;
	return n;
}

static int register_locked(struct uprobe **us, int num, bool is_return,
			   struct uprobe_point **points, int *published)
{
	struct mm_struct *mm;
	int n, done, err;

	for (; num; us += n, num -= n) {
		n = same_pid(us, num);
		mm = find_mm(us[0]->pid);
		if (IS_ERR(mm))
			return PTR_ERR(mm);
		err = register_in(mm, us, n, is_return, points, &done);
		mmput(mm);
		*published += done;
		if (err)
			return err;
	}
	return 0;
}

/* --- Removal -------------------------------------------------------------------- */

/* A place whose registration has ended. The process has a reference. */
struct place {
	struct mm_struct *mm;
	unsigned long vaddr;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->mm != y->mm)
		return x->mm < y->mm ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Ends registrations; returns the number of places in processes that have not ended. */
static int end_all(struct uprobe **us, int num, struct place *places)
{
	struct uprobe_registration *registration;
	int i, nr = 0;

	guard(rwsem_write)(&uprobe_points_lock);
	for (i = 0; i < num; i++) {
		registration = us[i]->registration;
		if (!registration)
			continue;
		/* The process exists until it has ended its registrations under the lock. */
		places[nr].mm = point_own(registration->point)->mm;
		places[nr].vaddr = registration->point->offset;
		if (mmget_not_zero(places[nr].mm))
			nr++;
		uprobe_registration_end(registration);
	}
	return nr;
}

static void disarm_places(struct place *places, int nr)
{
	unsigned long vaddrs[64];
	struct mm_struct *mm;
	int i, n;

	for (i = 0; i < nr; ) {
		mm = places[i].mm;
		for (n = 0; n < ARRAY_SIZE(vaddrs) && i < nr && places[i].mm == mm; i++)
			vaddrs[n++] = places[i].vaddr;
		uprobe_process_disarm(mm->uprobes_state.own, vaddrs, n);
		cond_resched();
	}
	for (i = 0; i < nr; i++)
		mmput(places[i].mm);
}

static void unregister_locked(struct uprobe **us, int num)
{
	struct place *places = kvmalloc_array(num, sizeof(*places), GFP_KERNEL | __GFP_NOFAIL);
	int nr = end_all(us, num, places);

	sort(places, nr, sizeof(*places), compare_places, NULL);
	disarm_places(places, nr);
	kvfree(places);
}

/**
 * uprobes_register_now() - register probes, outside of handlers
 * @us: the probes
 * @num: number of probes
 * @is_return: they are the first members of return probes
 *
 * All or nothing.
 *
 * Context: task, may sleep; not in a handler.
 * Return: see register_uprobe().
 */
int uprobes_register_now(struct uprobe **us, int num, bool is_return)
{
	struct uprobe_point **points;
	int published = 0, err;

	points = kvmalloc_array(num, sizeof(*points), GFP_KERNEL);
	if (!points)
		return -ENOMEM;
	scoped_guard(mutex, &uprobe_mutex) {
		err = register_locked(us, num, is_return, points, &published);
		if (err && published)
			unregister_locked(us, published);
	}
	kvfree(points);
	if (err && published)
		uprobe_unregister_sync();
	return err;
}

/**
 * uprobes_unregister_now() - unregister probes, outside of handlers
 * @us: the probes
 * @num: number of probes
 *
 * Context: task, may sleep; not in a handler.
 */
void uprobes_unregister_now(struct uprobe **us, int num)
{
	scoped_guard(mutex, &uprobe_mutex)
		unregister_locked(us, num);
	/* Also if they have ended by themselves: their handlers may still run. */
	uprobe_unregister_sync();
}

/**
 * uprobes_register() - register probes, or note it in a handler
 * @us: the probes
 * @num: number of probes
 * @is_return: they are the first members of return probes
 *
 * Context: task, may sleep.
 * Return: see register_uprobe().
 */
int uprobes_register(struct uprobe **us, int num, bool is_return)
{
	int i, err;

	if (num <= 0)
		return num ? -EINVAL : 0;
	err = uprobe_check_context();
	for (i = 0; i < num && !err; i++)
		err = check_user(us[i], is_return) ?: check_reserved(us[i]);
	if (err)
		return err;
	if (!uprobe_must_defer())
		return uprobes_register_now(us, num, is_return);
	for (i = 0; i < num; i++)
		uprobe_defer(us[i], true, is_return);
	return -EINPROGRESS;
}

/**
 * uprobes_unregister() - unregister probes, or note it in a handler
 * @us: the probes
 * @num: number of probes
 *
 * Context: task, may sleep.
 * Return: see unregister_uprobe().
 */
int uprobes_unregister(struct uprobe **us, int num)
{
	int i, err;

	if (num <= 0)
		return num ? -EINVAL : 0;
	err = uprobe_check_context();
	if (err)
		return err;
	if (!uprobe_must_defer()) {
		uprobes_unregister_now(us, num);
		/* A handler may have asked for a registration before it ended. */
		if (uprobe_deferred_wait())
			uprobes_unregister_now(us, num);
		return 0;
	}
	for (i = 0; i < num; i++)
		uprobe_defer(us[i], false, false);
	return -EINPROGRESS;
}

static int set_disabled(struct uprobe *u, bool disabled)
{
	struct uprobe_registration *registration;
	struct uprobe_point *point;
	struct mm_struct *mm;
	int err = uprobe_check_context();

	if (err)
		return err;
	guard(mutex)(&uprobe_mutex);
	scoped_guard(rwsem_write, &uprobe_points_lock) {
		registration = u->registration;
		if (!registration)
			return -EINVAL;
		WRITE_ONCE(registration->disabled, disabled);
		mm = point_own(registration->point)->mm;
		if (!mmget_not_zero(mm))
			return -ESRCH;
	}
	scoped_guard(mmap_read_lock, mm) {
		guard(rwsem_read)(&uprobe_points_lock);
		/* It may have been unmapped meanwhile. */
		registration = u->registration;
		point = registration ? registration->point : NULL;
		if (point)
			err = uprobe_process_arm(mm->uprobes_state.own, &point, 1,
						 disabled ? UPROBE_DISARM : UPROBE_ARM);
	}
	mmput(mm);
	return point ? err : -EINVAL;
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
 * or the context is atomic; -EBUSY if @u is registered; -EFAULT if nothing is mapped there;
 * -EACCES if it is not executable; -EPERM if the mapping is shared; -EEXIST if a breakpoint of
 * the program or of a debugger is there; -EILSEQ if it is inside of an instruction, as far as
 * other probes or the alignment prove that; -EOPNOTSUPP if the instruction, or a huge page,
 * cannot be probed; -ENOMEM. The tracepoint uprobe_refused has the reason.
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
 * Its handler does not run any more after the return of this function, and @u may be freed;
 * if a handler of a probe calls it, after the registration_callback.
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

/**
 * enable_uprobe() - call the handler of a disabled probe again
 * @u: registered
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if @u is not registered or the context is atomic; -ESRCH if the process
 * ends; -ENOMEM, -EFAULT if the text cannot be patched.
 */
int enable_uprobe(struct uprobe *u)
{
	return set_disabled(u, false);
}
EXPORT_SYMBOL_GPL(enable_uprobe);

/**
 * disable_uprobe() - do not call the handler of a probe
 * @u: registered
 *
 * The breakpoint is removed, unless another probe needs it. Handlers that run go on.
 *
 * Context: task, may sleep.
 * Return: see enable_uprobe().
 */
int disable_uprobe(struct uprobe *u)
{
	return set_disabled(u, true);
}
EXPORT_SYMBOL_GPL(disable_uprobe);
