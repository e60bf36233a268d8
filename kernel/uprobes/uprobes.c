// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User-space probes: registration for places of files.
 *
 * A consumer registers for a place of a file, and its handlers run when any process that maps
 * the file executes it. Every registration is a batch: all points are looked up, published, and
 * armed together, page by page; or none, if one is refused.
 *
 * Documentation/trace/uprobes-internals.rst describes the objects and the life of a hit.
 */
#include <linux/init.h>
#include <linux/slab.h>

#include "internal.h"
#include "point.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* One registration, change or removal at a time. */
DEFINE_MUTEX(uprobe_mutex);

static struct uprobe_point *to_point(struct uprobe *uprobe)
{
	return (struct uprobe_point *)uprobe;
}

static struct uprobe *to_uprobe(struct uprobe_point *point)
{
	return (struct uprobe *)point;
}

/* --- Batches ---------------------------------------------------------------------- */

/* Sorts the points of requests by offset, each once, into @points; returns their number. */
static unsigned int sort_points(struct uprobe_point **points, struct uprobe_request *requests,
				unsigned int nr)
{
	unsigned int i, n = 0;
	bool in_order = true;

	for (i = 0; i < nr; i++) {
		points[i] = to_point(requests[i].uprobe);
		if (i && points[i]->offset <= points[i - 1]->offset)
			in_order = false;
	}
	if (in_order)
		return nr;
	uprobe_points_sort(points, nr);
	for (i = 0; i < nr; i++) {
		if (!n || points[n - 1] != points[i])
			points[n++] = points[i];
	}
	return n;
}

/* Is a request wrong, whatever the file has there? Returns the reason, or NULL. */
static const char *objection(const struct uprobe_request *request)
{
	if (!request->consumer->handler && !request->consumer->ret_handler)
		return "there is no handler";
	if (request->offset < 0 || !IS_ALIGNED(request->offset, UPROBE_SWBP_INSN_SIZE))
		return "the offset is negative, or not aligned";
	if (!IS_ALIGNED(request->ref_ctr_offset, sizeof(short)))
		return "the reference counter is not aligned";
	return NULL;
}

/* Finds or makes the point of a request; uprobe_points_lock is held for writing. */
static __always_inline struct uprobe_point *
get_point(struct uprobe_reader *reader, const struct uprobe_request *request, const char **why)
{
	const char *reason = objection(request);

	if (unlikely(reason)) {
		*why = reason;
		return ERR_PTR(-EINVAL);
	}
	return uprobe_point_get(reader, request->offset, request->ref_ctr_offset, why);
}

/* Publishes points and consumers: text that is mapped from now on is armed. */
static int publish(struct inode *inode, struct uprobe_request *requests, unsigned int nr,
		   unsigned int *done)
{
	struct uprobe_reader reader = { .inode = inode };
	struct uprobe_point *point;
	const char *why;
	unsigned int i;
	int err = 0;

	guard(rwsem_write)(&uprobe_points_lock);
	for (i = 0; i < nr; i++) {
		reader.left = nr - i;
		point = get_point(&reader, &requests[i], &why);
		if (IS_ERR(point)) {
			err = PTR_ERR(point);
			trace_uprobe_refused(inode, requests[i].offset, 0, why, err);
			break;
		}
		uprobe_point_add(point, requests[i].consumer);
		requests[i].uprobe = to_uprobe(point);
	}
	uprobe_reader_end(&reader);
	*done = i;
	return err;
}

/**
 * uprobe_points_remove() - take points without consumers out of all text, and put them
 * @points: the points, of one file, by offset
 * @nr: number of points
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: false if they stay, see abandoned.c.
 */
bool uprobe_points_remove(struct uprobe_point **points, unsigned int nr)
{
	if (uprobe_arm_points(points, nr, UPROBE_DISARM))
		return false;
	guard(rwsem_write)(&uprobe_points_lock);
	/* From the last on: the first point of a block costs most to be taken out. */
	while (nr)
		uprobe_point_put(points[--nr]);
	return true;
}

/* Takes consumers out of their points, and points without consumers out of all text. */
static void withdraw(struct uprobe_request *requests, unsigned int nr,
		     struct uprobe_point **points)
{
	unsigned int i, n;

	n = sort_points(points, requests, nr);
	scoped_guard(rwsem_write, &uprobe_points_lock) {
		for (i = 0; i < nr; i++) {
			WARN_ON_ONCE(!uprobe_point_remove(to_point(requests[i].uprobe),
							  requests[i].consumer));
			requests[i].uprobe = NULL;
		}
	}
	if (n && !uprobe_points_remove(points, n))
		uprobe_points_abandon(points[0]->file);
}

static int arm(struct inode *inode, struct uprobe_point **points, unsigned int nr)
{
	int err = 0;

	if (unlikely(READ_ONCE(uprobe_nr_unread)))
		err = uprobe_points_read_mapped(inode, points[0]->offset,
						points[nr - 1]->offset + 1);
	return err ? err : uprobe_arm_points(points, nr, UPROBE_ARM);
}

static int register_requests(struct inode *inode, struct uprobe_request *requests,
			     unsigned int nr, struct uprobe_point **points)
{
	unsigned int done;
	int err;

	uprobe_requests_bring_in(inode, requests, nr);
	/* Another registration may wait for a file system that does not answer. */
	err = mutex_lock_killable(&uprobe_mutex);
	if (err)
		return err;
	err = publish(inode, requests, nr, &done);
	if (!err)
		err = arm(inode, points, sort_points(points, requests, nr));
	if (err)
		withdraw(requests, done, points);
	mutex_unlock(&uprobe_mutex);
	if (err)
		uprobe_unregister_sync();
	return err;
}

/**
 * uprobe_register_batch() - register consumers for places of a file
 * @inode: the file
 * @requests: offsets and consumers; &uprobe_request.uprobe is set
 * @nr: number of requests
 *
 * All or nothing. When it returns, all mappings of the file have the breakpoints.
 *
 * Context: task, may sleep.
 * Return: 0, or for all of them the error of the first that fails: see uprobe_register().
 */
int uprobe_register_batch(struct inode *inode, struct uprobe_request *requests, unsigned int nr)
{
	struct uprobe_point **points __free(kvfree) = NULL;

	if (!nr)
		return 0;
	points = kvmalloc_array(nr, sizeof(*points), GFP_KERNEL);
	return points ? register_requests(inode, requests, nr, points) : -ENOMEM;
}

/**
 * uprobe_unregister_batch() - remove consumers
 * @requests: with &uprobe_request.uprobe of their registration, all of one file
 * @nr: number of requests
 *
 * Handlers may still run until uprobe_unregister_sync() returns.
 *
 * Context: task, may sleep.
 */
void uprobe_unregister_batch(struct uprobe_request *requests, unsigned int nr)
{
	struct uprobe_point **points __free(kvfree) = NULL;

	if (!nr)
		return;
	points = kvmalloc_array(nr, sizeof(*points), GFP_KERNEL | __GFP_NOFAIL);
	guard(mutex)(&uprobe_mutex);
	withdraw(requests, nr, points);
}

/* --- One consumer ------------------------------------------------------------------- */

/**
 * uprobe_register() - register a consumer for a place of a file
 * @inode: the file; the caller has a reference
 * @offset: of the instruction
 * @ref_ctr_offset: of a counter to be increased in processes with the breakpoint, or 0
 * @uc: has a handler or a return handler; stays until uprobe_unregister_sync()
 *
 * Context: task, may sleep.
 * Return: a handle for the other functions, or an ERR_PTR(): -EINVAL if an argument is wrong;
 * -EIO if the file cannot be read; -EILSEQ, -EEXIST or -EOPNOTSUPP if the instruction cannot
 * be probed (the tracepoint uprobe_refused has the reason); -EPERM if the file is only mapped
 * shared, or userfaultfd protects the page; -EINTR if the caller is being killed; -ENOMEM.
 */
struct uprobe *uprobe_register(struct inode *inode, loff_t offset, loff_t ref_ctr_offset,
			       struct uprobe_consumer *uc)
{
	struct uprobe_request request = {
		.offset = offset, .ref_ctr_offset = ref_ctr_offset, .consumer = uc,
	};
	struct uprobe_point *point;
	int err;

	err = register_requests(inode, &request, 1, &point);
	return err ? ERR_PTR(err) : request.uprobe;
}
EXPORT_SYMBOL_GPL(uprobe_register);

/**
 * uprobe_apply() - the filter of a consumer has changed
 * @uprobe: from uprobe_register()
 * @uc: its consumer
 * @add: true if it accepts more processes, false if it accepts fewer
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT if @uc is not registered; with @add an error of uprobe_register(), in which
 * case some processes may have been armed; without it -EAGAIN if userfaultfd protects the text, or
 * -ENOMEM, in which case breakpoints may be left until @uc is unregistered.
 */
int uprobe_apply(struct uprobe *uprobe, struct uprobe_consumer *uc, bool add)
{
	struct uprobe_point *point = to_point(uprobe);
	int err = -ENOENT;

	/* Another registration may wait for a file system; removing waits for its end. */
	if (!add)
		mutex_lock(&uprobe_mutex);
	else if (mutex_lock_killable(&uprobe_mutex))
		return -EINTR;
	if (uprobe_point_has(point, uc))
		err = uprobe_arm_points(&point, 1, add ? UPROBE_ARM : UPROBE_DISARM);
	mutex_unlock(&uprobe_mutex);
	return err;
}

/**
 * uprobe_unregister_nosync() - remove a consumer
 * @uprobe: from uprobe_register()
 * @uc: its consumer; its handlers may still run
 *
 * Context: task, may sleep.
 */
void uprobe_unregister_nosync(struct uprobe *uprobe, struct uprobe_consumer *uc)
{
	struct uprobe_request request = { .uprobe = uprobe, .consumer = uc };
	struct uprobe_point *point;

	guard(mutex)(&uprobe_mutex);
	withdraw(&request, 1, &point);
}
EXPORT_SYMBOL_GPL(uprobe_unregister_nosync);

/**
 * uprobe_unregister_sync() - wait until no handler of removed consumers runs
 *
 * Context: task, may sleep; not in a handler of a probe.
 */
void uprobe_unregister_sync(void)
{
	uprobe_points_flush_abandoned();
	uprobe_observe_retired();
}
EXPORT_SYMBOL_GPL(uprobe_unregister_sync);

/**
 * uprobes_init() - called at boot, before the first user process
 *
 * Context: boot.
 */
void __init uprobes_init(void)
{
	uprobe_points_init();
	uprobe_registrations_init();
}
