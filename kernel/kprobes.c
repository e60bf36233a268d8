// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel probes: the front door.
 *
 * Everything is a batch; one probe is a batch of one.  Registering a batch:
 *
 *	1. find	 every handle's place, and check it
 *	2. prepare  points for the addresses that have none
 *	3. publish  points and handles, so that a trap finds them
 *	4. arm	 all points that need it, together
 *
 * Each step is undone by its own function, in the opposite order, so that a
 * failure leaves nothing behind.  Unregistering a batch:
 *
 *	1. detach   handles from their points
 *	2. disarm   all points that are not needed any more, together
 *	3. unpublish  those without handles
 *	4. wait once for handlers that are still running
 *	5. release
 *
 * Text is restored (2) before a point leaves the table (3): a trap already
 * taken finds its point, or finds the breakpoint gone and starts again.
 */
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "kprobes/internal.h"

/* Guards all probes; what it nests with is in kprobes/internal.h. */
DEFINE_MUTEX(kprobe_mutex);

static bool kprobes_ready __ro_after_init;

/**
 * struct batch_entry - one handle of a batch being registered
 * @kp:		the handle
 * @place:	where it goes
 * @point:	its point
 * @addr:	what @kp->addr was, to be put back on failure
 * @flags:	what @kp->flags was
 * @new_point:	@point has been made for it
 * @err:	why @point could not be prepared
 */
struct batch_entry {
	struct kprobe *kp;
	struct kprobe_place place;
	struct kprobe_point *point;
	kprobe_opcode_t *addr;
	u32 flags;
	bool new_point;
	int err;
};

/**
 * struct batch - handles being registered
 * @entries:	one a handle
 * @by_addr:	the same, in the order in which they are prepared
 * @nr:		how many of them are staged
 * @withdrawn:	the handles have been published and taken back: somebody may
 *		still be walking over them
 */
struct batch {
	struct batch_entry *entries;
	struct batch_entry **by_addr;
	int nr;
	bool withdrawn;
};

#define for_each_entry(e, batch)					\
	for ((e) = (batch)->entries; (e) < (batch)->entries + (batch)->nr; (e)++)

/* --- Register, step 1: find and check ----------------------------------- */

/* From here on the handle is marked, so that it cannot be twice in a batch. */
static int stage(struct batch_entry *e, u32 kind)
{
	struct kprobe *kp = e->kp;
	int ret;

	if (kprobe_handle_registered(kp, (unsigned long)kp->addr))
		return kprobe_refuse((unsigned long)kp->addr,
				     KPROBE_REFUSE_REGISTERED, -EINVAL);
	ret = kprobe_place_find(kp, &e->place);
	if (ret)
		return ret;
	/* Its user may have cleared the address of a struct that is in use. */
	if (kprobe_handle_registered(kp, e->place.addr))
		return kprobe_refuse(e->place.addr, KPROBE_REFUSE_REGISTERED, -EINVAL);
	if (kind && !e->place.on_func_entry)
		return kprobe_refuse(e->place.addr, KPROBE_REFUSE_NOT_ENTRY, -EINVAL);
	ret = kprobe_place_check(&e->place);
	if (ret)
		return ret;

	e->addr = kp->addr;
	e->flags = kp->flags;
	kp->nmissed = 0;
	INIT_LIST_HEAD(&kp->list);
	INIT_HLIST_NODE(&kp->hlist);
	kp->addr = (kprobe_opcode_t *)e->place.addr;
	kp->flags = (kp->flags & KPROBE_FLAG_DISABLED) | kind | KPROBE_FLAG_STAGED;
	if (kp->symbol_name)
		kp->flags |= KPROBE_FLAG_RESOLVED;
	if (e->place.on_func_entry)
		kp->flags |= KPROBE_FLAG_ON_FUNC_ENTRY;
	if (e->place.ftrace)
		kp->flags |= KPROBE_FLAG_FTRACE;
	return 0;
}

/* Gives the struct back as its user had filled it in. */
static void unstage(struct batch_entry *e)
{
	kprobe_place_put(&e->place);
	e->kp->addr = e->addr;
	e->kp->flags = e->flags;
}

static void unstage_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch)
		unstage(e);
}

static int stage_all(struct batch *batch, struct kprobe **kps, u32 kind)
{
	int i, nr = batch->nr, ret;

	for (i = 0; i < nr; i++) {
		if (!kps[i])
			return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, -EINVAL);
		kps[i]->flags &= ~KPROBE_FLAG_STAGED;
	}
	for (i = 0; i < nr; i++) {
		struct batch_entry *e = &batch->entries[i];

		e->kp = kps[i];
		if (e->kp->flags & KPROBE_FLAG_STAGED)
			ret = kprobe_refuse((unsigned long)e->kp->addr,
					    KPROBE_REFUSE_REGISTERED, -EINVAL);
		else
			ret = stage(e, kind);
		if (ret) {
			batch->nr = i;
			unstage_all(batch);
			return ret;
		}
	}
	return 0;
}

/* --- Step 2: prepare ---------------------------------------------------- */

static int refuse_prepare(unsigned long addr, int err)
{
	enum kprobe_refusal reason = KPROBE_REFUSE_INSTRUCTION;

	if (err == -EILSEQ)
		reason = KPROBE_REFUSE_BOUNDARY;
	else if (err == -ENOMEM)
		reason = KPROBE_REFUSE_NO_MEMORY;
	return kprobe_refuse(addr, reason, err);
}

static bool is_jprobe(struct kprobe *kp)
{
	return kp->flags & KPROBE_FLAG_KIND_JPROBE;
}

/* One jprobe a function.  @e is in batch->by_addr, behind all of a lower address. */
static bool second_jprobe(struct batch *batch, struct batch_entry **e)
{
	struct kprobe_point *point;
	struct kprobe *handle;

	if (!is_jprobe((*e)->kp))
		return false;
	/* What is registered together is all of one kind. */
	if (e > batch->by_addr && e[-1]->place.addr == (*e)->place.addr)
		return true;
	point = kprobe_table_find((*e)->place.addr);
	if (!point)
		return false;
	list_for_each_entry(handle, &point->handles, list) {
		if (is_jprobe(handle))
			return true;
	}
	return false;
}

/*
 * Makes the points that are missing, and publishes each at once: its text is
 * untouched and it has no handles, so that it has no effect yet, and the next
 * entry of the batch with the same address finds it.
 */
static int prepare(struct batch_entry *e)
{
	int ret;

	e->point = kprobe_table_find(e->place.addr);
	if (!e->point) {
		e->point = kprobe_point_create(e->place.addr, e->place.ftrace);
		if (IS_ERR(e->point)) {
			ret = PTR_ERR(e->point);
			e->point = NULL;
			return refuse_prepare(e->place.addr, ret);
		}
		e->new_point = true;
		kprobe_table_insert(e->point);
	}
	if (!e->kp->post_handler || e->place.ftrace)
		return 0;
	ret = arch_prepare_kprobe_post(&e->point->kp);
	return ret ? refuse_prepare(e->place.addr, ret) : 0;
}

static void unprepare_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch) {
		if (!e->new_point)
			continue;
		kprobe_table_remove(e->point);
		kprobe_point_release(e->point);
	}
}

static int compare_entries(const void *a, const void *b)
{
	const struct batch_entry *l = *(struct batch_entry **)a, *r = *(struct batch_entry **)b;

	if (l->place.addr != r->place.addr)
		return l->place.addr < r->place.addr ? -1 : 1;
	return 0;
}

static void sort_by_addr(struct batch *batch)
{
	int i;

	for (i = 0; i < batch->nr; i++)
		batch->by_addr[i] = &batch->entries[i];
	sort(batch->by_addr, batch->nr, sizeof(batch->by_addr[0]), compare_entries, NULL);
}

/*
 * In the order of addresses, for the architecture decodes a function once for all
 * probes in it.  What the caller is told is about the first of the batch all the
 * same, so a failure does not end it.
 */
static int prepare_all(struct batch *batch)
{
	struct batch_entry *e;
	int i, ret;

	ret = kprobe_table_reserve(batch->nr);
	if (ret)
		return kprobe_refuse(0, KPROBE_REFUSE_NO_MEMORY, ret);
	sort_by_addr(batch);
	arch_prepare_kprobes_begin();
	for (i = 0; i < batch->nr; i++) {
		e = batch->by_addr[i];
		if (second_jprobe(batch, &batch->by_addr[i]))
			e->err = kprobe_refuse(e->place.addr, KPROBE_REFUSE_SECOND_JPROBE,
					       -EEXIST);
		else
			e->err = prepare(e);
	}
	for_each_entry(e, batch) {
		if (e->err) {
			unprepare_all(batch);
			return e->err;
		}
	}
	return 0;
}

/* --- Steps 3 and 4: publish and arm -------------------------------------- */

static void publish_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch) {
		e->kp->flags &= ~KPROBE_FLAG_STAGED;
		if (kprobe_optimized(&e->point->kp))
			e->kp->flags |= KPROBE_FLAG_OPTIMIZED;
		/* The representative tells users of kprobe_running() too. */
		e->point->kp.flags |= e->kp->flags & KPROBE_FLAG_ON_FUNC_ENTRY;
		list_add_tail_rcu(&e->kp->list, &e->point->handles);
		kprobe_point_update_handlers(e->point);
	}
}

static void unpublish_all(struct batch *batch)
{
	struct batch_entry *e;

	for_each_entry(e, batch) {
		list_del_rcu(&e->kp->list);
		kprobe_point_update_handlers(e->point);
	}
	batch->withdrawn = true;
}

/* After a failure, without locks: nobody sees the handles any more. */
static void wait_withdrawn(struct batch *batch)
{
	struct batch_entry *e;

	synchronize_rcu_expedited();
	for_each_entry(e, batch)
		INIT_LIST_HEAD(&e->kp->list);
	unstage_all(batch);
}

static int arm_all(struct batch *batch)
{
	struct batch_entry *e;
	LIST_HEAD(points);
	int ret;

	for_each_entry(e, batch) {
		if (e->point->state == KPROBE_DISARMED &&
		    kprobe_point_wants_arming(e->point))
			kprobe_collect(e->point, &points);
	}
	if (list_empty(&points))
		return 0;
	ret = kprobe_arm_points(&points);
	kprobe_uncollect_all(&points);
	return ret ? kprobe_refuse(batch->entries[0].place.addr,
				   KPROBE_REFUSE_ARMING, ret) : 0;
}

static int register_locked(struct batch *batch, struct kprobe **kps, u32 kind)
{
	struct batch_entry *e;
	int ret;

	ret = stage_all(batch, kps, kind);			/* 1 */
	if (ret)
		return ret;
	ret = prepare_all(batch);				/* 2 */
	if (ret)
		goto unstage;
	publish_all(batch);					/* 3 */
	ret = arm_all(batch);					/* 4 */
	if (ret)
		goto unpublish;

	/* From now on the module notifier looks after probes in modules. */
	for_each_entry(e, batch)
		kprobe_place_put(&e->place);
	return 0;

unpublish:
	/* The structs are given back when no handler can be using them. */
	unpublish_all(batch);
	unprepare_all(batch);
	return ret;
unstage:
	unstage_all(batch);
	return ret;
}

/**
 * kprobe_register_batch() - register handles, all or none
 * @kps: the handles
 * @num: how many
 * @kind: KPROBE_FLAG_KIND_* of the API that registers them, 0 for kprobes
 *
 * Context, errnos: see register_kprobes().
 */
int kprobe_register_batch(struct kprobe **kps, int num, u32 kind)
{
	struct batch_entry one = {}, *only;
	struct batch batch = { .entries = &one, .by_addr = &only, .nr = num };
	int ret;

	if (num <= 0 || !kps)
		return kprobe_refuse(0, KPROBE_REFUSE_BAD_ARGUMENT, -EINVAL);
	if (!kprobes_ready)
		return -EAGAIN;
	if (num > 1) {
		batch.entries = kvcalloc(num, sizeof(one), GFP_KERNEL);
		batch.by_addr = kvmalloc_array(num, sizeof(only), GFP_KERNEL);
		if (!batch.entries || !batch.by_addr) {
			ret = kprobe_refuse(0, KPROBE_REFUSE_NO_MEMORY, -ENOMEM);
			goto free;
		}
	}

	mutex_lock(&kprobe_mutex);
	ret = register_locked(&batch, kps, kind);
	mutex_unlock(&kprobe_mutex);

	if (batch.withdrawn)
		wait_withdrawn(&batch);
free:
	if (num > 1) {
		kvfree(batch.by_addr);
		kvfree(batch.entries);
	}
	return ret;
}

/**
 * register_kprobes() - register several probes, all or none
 * @kps: array of pointers to the probes
 * @num: how many, > 0
 *
 * All are patched into the text together: cheaper than one by one.  On failure
 * every struct is as it was before the call.
 *
 * Seed: kprobes.txt section 4.5.
 *
 * Context: task, may sleep.
 * Return: 0, or for the first probe that cannot be registered: -EINVAL for bad
 * arguments, both or neither of symbol and address, an address outside the
 * text, blacklisted, reserved, already registered, or an instruction that
 * cannot be probed; -ENOENT if the symbol does not exist or its module is
 * coming or going; -EILSEQ if no instruction starts there; -ENOMEM; -EAGAIN
 * before kprobes are initialised; what ftrace says where it owns the function.
 */
int register_kprobes(struct kprobe **kps, int num)
{
	return kprobe_register_batch(kps, num, 0);
}
EXPORT_SYMBOL_GPL(register_kprobes);

/**
 * register_kprobe() - register one probe
 * @p: the probe
 *
 * Seed: kprobes.txt section 4.1.  Context, errnos: see register_kprobes().
 */
int register_kprobe(struct kprobe *p)
{
	return kprobe_register_batch(&p, 1, 0);
}
EXPORT_SYMBOL_GPL(register_kprobe);

/* --- Unregister ---------------------------------------------------------- */

/*
 * Takes the handle off its point.  The point goes to @disarm if it is armed and
 * nobody needs that any more, or else to @empty if it has no handles left.
 * Readers may still be walking over the handle.
 */
static bool detach(struct kprobe *kp, struct list_head *disarm, struct list_head *empty)
{
	struct kprobe_point *point = kprobe_point_of(kp);

	if (!point)
		return false;
	list_del_rcu(&kp->list);
	kprobe_point_update_handlers(point);
	if (kprobe_point_armed(point) && !kprobe_point_wants_arming(point))
		kprobe_collect(point, disarm);
	else if (list_empty(&point->handles))
		kprobe_collect(point, empty);
	return true;
}

/* Makes points without handles unreachable, and takes the others off @points. */
static void unpublish_empty(struct list_head *points)
{
	struct kprobe_point *point;
	struct kprobe *kp, *next;

	list_for_each_entry_safe(kp, next, points, list) {
		point = kprobe_to_point(kp);
		if (!list_empty(&point->handles))
			list_del_init(&kp->list);
		else if (point->state == KPROBE_GONE)
			hlist_del_init(&kp->hlist);
		else
			kprobe_table_remove(point);
	}
}

/*
 * The handle as its user may register it again: an address that was given is
 * what it was; one that was found from a symbol stays, for messages.
 */
static void give_back(struct kprobe *kp)
{
	INIT_LIST_HEAD(&kp->list);
	kp->flags &= KPROBE_FLAG_DISABLED | KPROBE_FLAG_RESOLVED;
	if (!kp->symbol_name)
		kp->addr = (kprobe_opcode_t *)((unsigned long)kp->addr - kp->offset);
}

/**
 * unregister_kprobes() - unregister several probes
 * @kps: array of pointers to the probes
 * @num: how many
 *
 * When it returns no handler of them is running or will run again.  A probe
 * that is not registered has its addr set to NULL; the others are
 * unregistered all the same.
 *
 * Costs one text synchronisation and one expedited grace period for all.
 *
 * Seed: kprobes.txt section 4.6.
 *
 * Context: task, may sleep.
 */
void unregister_kprobes(struct kprobe **kps, int num)
{
	LIST_HEAD(disarm);
	LIST_HEAD(empty);
	struct kprobe *kp, *next;
	bool any = false;
	int i;

	mutex_lock(&kprobe_mutex);
	for (i = 0; i < num; i++) {
		if (!kps[i])
			continue;
		if (detach(kps[i], &disarm, &empty)) {		/* 1 */
			kps[i]->flags |= KPROBE_FLAG_STAGED;
			any = true;
		} else if (!(kps[i]->flags & KPROBE_FLAG_STAGED)) {
			kps[i]->addr = NULL;
		}
	}
	if (!list_empty(&disarm))
		kprobe_disarm_points(&disarm);			/* 2 */
	list_splice_tail(&disarm, &empty);
	unpublish_empty(&empty);				/* 3 */
	mutex_unlock(&kprobe_mutex);

	if (!any)
		return;
	synchronize_rcu_expedited();				/* 4 */
	for (i = 0; i < num; i++) {				/* 5 */
		if (kps[i] && kps[i]->flags & KPROBE_FLAG_STAGED)
			give_back(kps[i]);
	}
	list_for_each_entry_safe(kp, next, &empty, list)
		kprobe_point_release(kprobe_to_point(kp));
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

/**
 * unregister_kprobe() - unregister one probe
 * @p: the probe
 *
 * Seed: kprobes.txt section 4.4.  See unregister_kprobes().
 */
void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);

/* --- Boot ------------------------------------------------------------------ */

int __weak kprobe_exceptions_notify(struct notifier_block *self,
				    unsigned long val, void *data)
{
	return NOTIFY_DONE;
}

/* Before all debuggers: probes are not theirs to see.  OLS paper, section 3. */
static struct notifier_block exceptions_notifier = {
	.notifier_call = kprobe_exceptions_notify,
	.priority = INT_MAX,
};

static int __init kprobes_init(void)
{
	int ret;

	ret = kprobe_points_init();
	if (ret)
		return ret;
	mutex_lock(&kprobe_mutex);
	ret = kprobe_blacklist_init();
	mutex_unlock(&kprobe_mutex);
	if (ret)
		pr_err("cannot collect the blacklist (%d): kprobes are off\n", ret);
	/* Some architectures register a probe on their return trampoline there. */
	kprobes_ready = !ret;
	if (!ret)
		ret = arch_init_kprobes();
	if (!ret)
		ret = register_die_notifier(&exceptions_notifier);
	if (!ret)
		ret = kprobe_module_init();
	if (!ret)
		ret = kretprobe_init();
	kprobes_ready = !ret;
	return ret;
}
early_initcall(kprobes_init);
