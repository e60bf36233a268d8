// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Points whose breakpoints could not be removed, because the caller was being killed, memory was
 * short, or userfaultfd protected the page.
 *
 * They stay, without consumers. A work tries to remove them, at once and then at growing
 * intervals. It is done by a kernel thread, which is not killed.
 *
 * Their users may close the file and unmount its file system. So the file system has a reference
 * until the file has no points any more.
 */
#include <linux/fs.h>
#include <linux/llist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "process.h"

/* There are points, or files, for which no attempt has been made. Changes under uprobe_mutex. */
static bool points_stay;

/* Points without consumers, all of one file or of one process. */
struct abandoned {
	struct uprobe_file *file;
	struct uprobe_mm *own;		/* the process, whose memory has a reference, or NULL */
	struct uprobe_point *points[UPROBE_PAGE_POINTS];
	unsigned long vaddrs[UPROBE_PAGE_POINTS];	/* those of a process may vanish */
	unsigned int nr;
};

static void find_in_file(struct uprobe_file *file, void *data)
{
	struct abandoned *found = data;
	struct uprobe_point *point;

	if (found->nr)
		return;
	found->file = file;
	list_for_each_entry(point, &file->in_order, entry) {
		if (!list_empty(&point->consumers) || point->offset < file->tried ||
		    found->nr == UPROBE_PAGE_POINTS)
			continue;
		found->vaddrs[found->nr] = point->offset;
		found->points[found->nr++] = point;
	}
}

static void find_in_process(struct uprobe_mm *own, void *data)
{
	struct abandoned *found = data;

	if (found->nr)
		return;
	find_in_file(&own->process, found);
	/* The points of a process that ends vanish with it. */
	if (found->nr && !mmget_not_zero(own->mm))
		found->nr = 0;
	found->own = found->nr ? own : NULL;
}

/* Finds points of one file or process that have not been tried in this round. */
static bool find(struct abandoned *found)
{
	found->own = NULL;
	found->nr = 0;
	uprobe_files_for_each(find_in_file, found);
	if (found->nr)
		return true;
	guard(rwsem_read)(&uprobe_points_lock);
	uprobe_mms_for_each(find_in_process, found);
	return found->nr;
}

static bool remove_points(struct abandoned *found, unsigned int i, unsigned int nr)
{
	if (found->own)
		return uprobe_process_disarm(found->own, &found->vaddrs[i], nr);
	return uprobe_points_remove(&found->points[i], nr);
}

/* Removes all points together; if that fails, one by one. */
static void remove_found(struct abandoned *found)
{
	unsigned int i;

	if (remove_points(found, 0, found->nr))
		return;
	for (i = 0; i < found->nr; i++) {
		/* A file without points does not exist any more. */
		if (!remove_points(found, i, 1))
			found->file->tried = found->vaddrs[i] + 1;
	}
}

/* Tries to remove some points. Returns false if there are none. */
static bool remove_some(void)
{
	static struct abandoned found;

	guard(mutex)(&uprobe_mutex);
	if (!find(&found)) {
		WRITE_ONCE(points_stay, false);
		return false;
	}
	remove_found(&found);
	if (found.own)
		mmput_async(found.own->mm);
	return true;
}

static void end_try(struct uprobe_file *file, void *data)
{
	bool *any = data;

	*any |= file->tried;
	file->tried = 0;
}

static void end_try_of_process(struct uprobe_mm *own, void *data)
{
	end_try(&own->process, data);
}

/* Ends a round. Returns true if points could not be removed. */
static bool end_round(void)
{
	bool any = false;

	guard(mutex)(&uprobe_mutex);
	uprobe_files_for_each(end_try, &any);
	uprobe_mms_for_each(end_try_of_process, &any);
	return any;
}

static void retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, retry);

#define MAX_DELAY	(10 * HZ)

static void try_soon(void)
{
	WRITE_ONCE(points_stay, true);
	/* Another attempt may have a long delay. */
	mod_delayed_work(system_percpu_wq, &retry_work, 0);
}

/* Files without points, each with references of its inode and its file system. */
static LLIST_HEAD(unpinned_files);

/* Takes no lock: the file system may end, and ask a server or a program. */
static void free_unpinned(void)
{
	struct uprobe_file *file, *next;
	struct super_block *sb;

	llist_for_each_entry_safe(file, next, llist_del_all(&unpinned_files), unpinned) {
		sb = file->inode->i_sb;
		iput(file->inode);
		deactivate_super(sb);
		kfree(file);
	}
}

static void retry(struct work_struct *work)
{
	static unsigned long delay;
	bool stuck;

	while (remove_some())
		cond_resched();
	stuck = end_round();
	delay = stuck ? min(2 * delay + HZ / 10, MAX_DELAY) : 0;
	if (stuck)
		schedule_delayed_work(&retry_work, delay);
	uprobe_observe_retired();
	free_unpinned();
}

/**
 * uprobe_points_abandon() - let a work item remove points that could not be removed now
 * @file: their file, whose file system is mounted; or NULL if they are those of a process
 *
 * Context: task; uprobe_mutex held.
 */
void uprobe_points_abandon(struct uprobe_file *file)
{
	if (file && !file->pinned)
		file->pinned = atomic_inc_not_zero(&file->inode->i_sb->s_active);
	try_soon();
}

/**
 * uprobe_file_unpin() - free a file that is pinned, and drop its references, later
 * @file: has no points, and cannot be found
 *
 * Context: task; uprobe_mutex held.
 */
void uprobe_file_unpin(struct uprobe_file *file)
{
	llist_add(&file->unpinned, &unpinned_files);
	try_soon();
}

/**
 * uprobe_points_flush_abandoned() - wait for one attempt to remove all abandoned points
 *
 * Context: task, may sleep; uprobe_mutex not held.
 */
void uprobe_points_flush_abandoned(void)
{
	/*
	 * If the caller is being killed, the first attempt removes the points. Others are made
	 * less and less often: a program may keep its points for any time.
	 */
	if (unlikely(READ_ONCE(points_stay)))
		flush_delayed_work(&retry_work);
}
