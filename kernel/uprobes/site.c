// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sites: points at addresses of processes, created at their first hit.
 *
 * Arming text only writes breakpoints. The first hit of one in a process, also in one that
 * has inherited it by fork, finds the point through the mapping, and creates the site with its
 * slot; later hits find the site in the process's table. A process that never executes a
 * probed instruction needs no site for it.
 *
 *	NEW -> BOOSTED or EMULATED	uprobe_site_resolve()
 *	BOOSTED or EMULATED -> GONE	unmapped, or a point at the address comes or goes
 *
 * A site that is GONE stays in the table with its slot until the address is hit again.
 */
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "table.h"
#include "trace.h"

/* Protects points and states of sites, and &uprobe_point.sites. */
static DEFINE_SPINLOCK(uprobe_sites_lock);

static LIST_HEAD(all_mms);
static DEFINE_MUTEX(all_mms_lock);

/* --- Processes ---------------------------------------------------------------- */

/**
 * uprobe_mm_get() - sites and areas of a process
 * @mm: the process; has users
 *
 * Context: task, may sleep.
 * Return: NULL if they do not exist and there is no memory for them.
 */
struct uprobe_mm *uprobe_mm_get(struct mm_struct *mm)
{
	/* Pairs with the release below. */
	struct uprobe_mm *own = smp_load_acquire(&mm->uprobes_state.own);

	if (own)
		return own;
	own = kzalloc_obj(*own, GFP_KERNEL_ACCOUNT);
	if (!own || uprobe_table_init(own)) {
		kfree(own);
		return NULL;
	}
	xa_init(&own->areas);
	xa_init(&own->counters);
	xa_init(&own->process.blocks);
	INIT_LIST_HEAD(&own->process.in_order);
	mutex_init(&own->text_lock);
	mutex_init(&own->lock);
	own->mm = mm;
	guard(mutex)(&all_mms_lock);
	if (mm->uprobes_state.own) {
		kvfree(own->table);
		kfree(own);
		return mm->uprobes_state.own;
	}
	list_add(&own->node, &all_mms);
	/* Pairs with the acquires of all readers. */
	smp_store_release(&mm->uprobes_state.own, own);
	return own;
}

/**
 * uprobe_mms_for_each() - call a function for each process that has a &struct uprobe_mm
 * @fn: the function; runs under a mutex
 * @data: its second argument
 *
 * Context: task, may sleep.
 */
void uprobe_mms_for_each(void (*fn)(struct uprobe_mm *own, void *data), void *data)
{
	struct uprobe_mm *own;

	guard(mutex)(&all_mms_lock);
	list_for_each_entry(own, &all_mms, node)
		fn(own, data);
}

static void free_site(struct uprobe_site *site, void *unused)
{
	uprobe_site_gone(site);
	kfree(site);
}

/**
 * uprobe_mm_free() - free sites and areas of a process without threads
 * @own: the process
 *
 * Context: task, may sleep.
 */
void uprobe_mm_free(struct uprobe_mm *own)
{
	struct uprobe_area *area;
	unsigned long index;

	uprobe_process_end(own);
	scoped_guard(mutex, &all_mms_lock)
		list_del(&own->node);
	uprobe_table_for_each(own, free_site, NULL);
	kvfree(own->table);
	xa_for_each(&own->areas, index, area)
		uprobe_area_free(area);
	xa_destroy(&own->areas);
	uprobe_counters_free(own);
	mutex_destroy(&own->text_lock);
	mutex_destroy(&own->lock);
	kfree(own);
}

/* --- States ------------------------------------------------------------------- */

/* The states to which a state may change. */
static const u8 transitions[] = {
	[UPROBE_SITE_NEW]	= BIT(UPROBE_SITE_BOOSTED) | BIT(UPROBE_SITE_EMULATED),
	[UPROBE_SITE_BOOSTED]	= BIT(UPROBE_SITE_GONE),
	[UPROBE_SITE_EMULATED]	= BIT(UPROBE_SITE_GONE),
	[UPROBE_SITE_GONE]	= 0,
};

/* Makes all changes of a site's state. */
static void set_state(struct uprobe_site *site, enum uprobe_site_state state)
{
	WARN_ON_ONCE(!(transitions[site->state] & BIT(state)));
	trace_uprobe_site_state(site->vaddr, site->slot, site->state, state);
	/* A table that grows reads it without the lock. */
	WRITE_ONCE(site->state, state);
}

static void detach(struct uprobe_site *site)
{
	lockdep_assert_held(&uprobe_sites_lock);
	if (!site->point)
		return;
	hlist_del(&site->by_point);
	if (site->second)
		hlist_del(&site->by_second);
	/*
	 * Hits that still have the points are waited for before these are freed. A hit that has
	 * read @point reads @second after it, which therefore stays.
	 */
	WRITE_ONCE(site->point, NULL);
	set_state(site, UPROBE_SITE_GONE);
}

/**
 * uprobe_site_gone() - disconnect a site from its point
 * @site: any; nothing happens if it is gone
 *
 * Context: task.
 */
void uprobe_site_gone(struct uprobe_site *site)
{
	guard(spinlock)(&uprobe_sites_lock);
	detach(site);
}

/**
 * uprobe_sites_detach() - disconnect all sites from a point that is to be freed
 * @point: not in its file any more, or about to leave it under the lock that is held
 *
 * Context: task; uprobe_points_lock (for writing) held.
 */
void uprobe_sites_detach(struct uprobe_point *point)
{
	struct uprobe_site *site;

	guard(spinlock)(&uprobe_sites_lock);
	while (!hlist_empty(&point->sites)) {
		site = hlist_entry(point->sites.first, struct uprobe_site, by_point);
		if (site->point != point)
			site = hlist_entry(point->sites.first, struct uprobe_site, by_second);
		detach(site);
	}
}

/**
 * uprobe_site_renew() - mark a site as gone that lacks a newly armed point
 * @own: the process
 * @vaddr: the address
 * @point: the point
 *
 * The next hit creates the site again.
 *
 * Context: task; mmap_lock held.
 */
void uprobe_site_renew(struct uprobe_mm *own, unsigned long vaddr, struct uprobe_point *point)
{
	struct uprobe_site *site;

	if (!READ_ONCE(own->has_sites))
		return;
	guard(mutex)(&own->lock);
	site = uprobe_table_find(own, vaddr);
	if (site && site->point != point && site->second != point)
		uprobe_site_gone(site);
}

/* --- Creation ----------------------------------------------------------------- */

/*
 * Sets the slot of a new site: that of the site before it, if it has the same copy.  A branch
 * that no slot reaches is emulated instead; so it is not worth another area that may be too far
 * as well.
 */
static int take_slot(struct uprobe_mm *own, struct uprobe_site *site, struct uprobe_site *before,
		     bool have_areas)
{
	int err;

	if (site->way == UPROBE_EMULATED)
		return 0;
	if (before && before->slot &&
	    uprobe_area_holds(own, before->slot, site->vaddr, site->arch)) {
		site->slot = before->slot;
		return 0;
	}
	err = uprobe_area_slot(own, site);
	if ((err == -ERANGE || (err == -ENOSPC && have_areas)) && !uprobe_must_copy(site->way)) {
		site->way = UPROBE_EMULATED;
		return 0;
	}
	return err == -ERANGE ? -ENOSPC : err;
}

static void connect(struct uprobe_site *site, struct uprobe_point *point,
		    struct uprobe_point *second)
{
	guard(spinlock)(&uprobe_sites_lock);
	site->point = point;
	hlist_add_head(&site->by_point, &point->sites);
	site->second = second;
	if (second)
		hlist_add_head(&site->by_second, &second->sites);
	set_state(site, site->slot ? UPROBE_SITE_BOOSTED : UPROBE_SITE_EMULATED);
}

static int create_site(struct uprobe_mm *own, unsigned long vaddr, struct uprobe_point *point,
		       struct uprobe_point *second, bool have_areas)
{
	const struct uprobe_decision *decision;
	struct uprobe_site *site, *before;
	int err;

	guard(mutex)(&own->lock);
	/* First, because slots are not freed. */
	err = uprobe_table_reserve(own);
	if (err)
		return err;
	before = uprobe_table_find(own, vaddr);
	if (before && before->point == point && before->second == second)
		return 0;
	site = kzalloc_obj(*site, GFP_KERNEL_ACCOUNT);
	if (!site)
		return -ENOMEM;
	decision = uprobe_point_decide(point, arch_uprobe_mode(own->mm));
	site->vaddr = vaddr;
	site->arch = (struct arch_uprobe *)&decision->arch;
	site->way = decision->way;
	err = take_slot(own, site, before, have_areas);
	if (err) {
		kfree(site);
		return err;
	}
	if (before)
		uprobe_site_gone(before);
	connect(site, point, second);
	uprobe_table_insert(own, site);
	return 0;
}

/* The point of a file for text of a process, or NULL. */
static struct uprobe_point *point_of_file(struct vm_area_struct *vma, unsigned long vaddr)
{
	struct uprobe_point *point;

	if (uprobe_vma_kind(vma, NULL) != UPROBE_VMA_PROBED)
		return NULL;
	point = uprobe_point_find(file_inode(vma->vm_file), uprobe_vma_offset(vma, vaddr));
	if (!point || uprobe_point_decide(point, arch_uprobe_mode(vma->vm_mm))->state !=
		      UPROBE_ACCEPTED)
		return NULL;
	return point;
}

/*
 * Finds the points of a breakpoint of current, and creates the site. Returns 0, -ENOENT if no
 * point is there, -ENOMEM, or -ENOSPC if the process needs another area; @have_areas: it has
 * all that it can get.
 */
static int resolve_mapped(struct uprobe_mm *own, unsigned long vaddr, bool have_areas)
{
	struct vm_area_struct *vma = vma_lookup(own->mm, vaddr);
	struct uprobe_point *point, *second;

	if (!vma)
		return -ENOENT;
	guard(rwsem_read)(&uprobe_points_lock);
	point = point_of_file(vma, vaddr);
	second = uprobe_process_point_find(own, vaddr);
	/* The program may have changed the text; the point of the process knows it. */
	if (!point || (second && !uprobe_points_agree(point, second, arch_uprobe_mode(own->mm)))) {
		point = second;
		second = NULL;
	}
	if (!point)
		return -ENOENT;
	return create_site(own, vaddr, point, second, have_areas);
}

/* Creates an area, if there is room for one, and then the site. */
static int resolve_in_new_area(struct uprobe_mm *own, unsigned long vaddr)
{
	int err;

	if (mmap_write_lock_killable(own->mm))
		return -EINTR;
	scoped_guard(mutex, &own->lock)
		err = uprobe_area_create(own, vaddr);
	/* The program cannot unmap the area before the site has its slot. */
	mmap_write_downgrade(own->mm);
	if (!err || err == -ENOSPC)
		err = resolve_mapped(own, vaddr, true);
	mmap_read_unlock(own->mm);
	return err;
}

/* Restores the text of a site for which there is no room, so that the program goes on. */
static void give_up(struct uprobe_mm *own, unsigned long vaddr)
{
	struct uprobe_point *point, *second;
	struct vm_area_struct *vma;

	guard(mmap_read_lock)(own->mm);
	vma = vma_lookup(own->mm, vaddr);
	if (!vma)
		return;
	scoped_guard(rwsem_read, &uprobe_points_lock) {
		second = uprobe_process_give_up(own, vaddr);
		point = point_of_file(vma, vaddr);
		if (point)
			trace_uprobe_refused(point->file->inode, point->offset, vaddr,
					     "no room for a copy in reach of the text", -ENOSPC);
	}
	if (second)
		uprobe_text_page(vma, vaddr & PAGE_MASK, &second, 1, UPROBE_DISARM);
	if (point)
		uprobe_text_page(vma, vaddr & PAGE_MASK, &point, 1, UPROBE_LEAVE);
}

/*
 * Does a breakpoint without a point belong to the program or to a debugger? Only if no point has
 * been published since @published: it may be that of a point that was not there yet.
 */
static bool is_foreign(unsigned long vaddr, unsigned long published)
{
	if (!uprobe_breakpoint_at(vaddr))
		return false;
	/*
	 * Orders the text before the number. Pairs with the locks between publishing a point and
	 * writing its breakpoint: whoever reads that breakpoint reads the new number.
	 */
	smp_rmb();
	return READ_ONCE(uprobe_points_published) == published;
}

/**
 * uprobe_site_resolve() - the first hit of a breakpoint in current's process
 * @vaddr: address of the breakpoint
 *
 * Creates the site, if the breakpoint belongs to a point.
 *
 * Context: task, may sleep; a hit, no locks.
 * Return: see &enum uprobe_resolved.
 */
enum uprobe_resolved uprobe_site_resolve(unsigned long vaddr)
{
	/* The lock in resolve_mapped() orders it before the search for the point. */
	unsigned long published = READ_ONCE(uprobe_points_published);
	struct uprobe_mm *own = uprobe_mm_get(current->mm);
	int err;

	if (!own)
		return UPROBE_RESTART;
	scoped_guard(mmap_read_lock, own->mm)
		err = resolve_mapped(own, vaddr, false);
	if (err == -ENOSPC)
		err = resolve_in_new_area(own, vaddr);
	switch (err) {
	case 0:
		return UPROBE_RESOLVED;
	case -ENOENT:
		return is_foreign(vaddr, published) ? UPROBE_FOREIGN : UPROBE_RESTART;
	case -ENOSPC:
		give_up(own, vaddr);
		return UPROBE_RESTART;
	default:
		/* Memory is short, or the task is being killed. */
		cond_resched();
		return UPROBE_RESTART;
	}
}

/**
 * uprobe_site_point() - find a point of current's process without a site
 * @vaddr: address of the point
 * @id: its number
 *
 * Context: task, may sleep; a hit, until whose end the point stays; no locks.
 * Return: NULL if the process has no such point there (any more).
 */
struct uprobe_point *uprobe_site_point(unsigned long vaddr, u64 id)
{
	/* Pairs with the release in uprobe_mm_get(). */
	struct uprobe_mm *own = smp_load_acquire(&current->mm->uprobes_state.own);
	struct uprobe_point *point = NULL;
	struct vm_area_struct *vma;

	guard(mmap_read_lock)(current->mm);
	vma = vma_lookup(current->mm, vaddr);
	if (!vma)
		return NULL;
	guard(rwsem_read)(&uprobe_points_lock);
	if (vma->vm_file)
		point = uprobe_point_find(file_inode(vma->vm_file), uprobe_vma_offset(vma, vaddr));
	if (own && (!point || point->id != id))
		point = uprobe_process_point_find(own, vaddr);
	return point && point->id == id ? point : NULL;
}
