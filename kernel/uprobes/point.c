// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probe points: places of files, and their consumers.
 *
 * A point exists while it has consumers. It is found by file and offset, when text is mapped
 * and when a site is hit for the first time in a process: points are in a list, and the first
 * one of each block of 256 bytes is found by its number. Hits reach a point through its sites,
 * without a lock; therefore a point without consumers is first taken out of its file and its
 * sites, and freed after all hits that may have seen it have ended (observe.c).
 */
#include <linux/slab.h>
#include <linux/sort.h>

#include "internal.h"
#include "point.h"
#include "trace.h"

/* Protects files, points and lists of consumers; see internal.h. */
DECLARE_RWSEM(uprobe_points_lock);

/* Number of points; lets uprobe_mmap() return early. */
unsigned int uprobe_nr_points;

/* Number of points that have ever been published; see uprobe_site_resolve(). */
unsigned long uprobe_points_published;

#define FILE_TABLE_BITS 8

static struct hlist_head file_table[1 << FILE_TABLE_BITS];
static struct uprobe_stock point_stock;
static u64 last_id;

static struct hlist_head *file_bucket(struct inode *inode)
{
	return &file_table[hash_ptr(inode, FILE_TABLE_BITS)];
}

/**
 * uprobe_file_find() - find the probed file of an inode
 * @inode: any
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if no point is in it.
 */
struct uprobe_file *uprobe_file_find(struct inode *inode)
{
	struct uprobe_file *file;

	hlist_for_each_entry(file, file_bucket(inode), node) {
		if (file->inode == inode)
			return file;
	}
	return NULL;
}

/**
 * uprobe_files_for_each() - call a function for each file with points
 * @fn: the function; runs with uprobe_points_lock held
 * @data: its second argument
 *
 * Context: task, may sleep.
 */
void uprobe_files_for_each(void (*fn)(struct uprobe_file *file, void *data), void *data)
{
	struct uprobe_file *file;
	unsigned int i;

	guard(rwsem_read)(&uprobe_points_lock);
	for (i = 0; i < ARRAY_SIZE(file_table); i++) {
		hlist_for_each_entry(file, &file_table[i], node)
			fn(file, data);
	}
}

/* Number of the block in &uprobe_file.blocks that has an offset. */
static unsigned long block_of(loff_t offset)
{
	/* 256 bytes have few points; 32 bits are enough for the numbers of pages only. */
	return offset >> (BITS_PER_LONG == 64 ? 8 : PAGE_SHIFT);
}

static bool same_block(const struct uprobe_point *a, const struct uprobe_point *b)
{
	return block_of(a->offset) == block_of(b->offset);
}

/* The point before @next, or the last one if that is NULL; NULL if there is none. */
static struct uprobe_point *point_before(struct uprobe_file *file, struct uprobe_point *next)
{
	struct list_head *entry = next ? next->entry.prev : file->in_order.prev;

	return entry == &file->in_order ? NULL : list_entry(entry, struct uprobe_point, entry);
}

/**
 * uprobe_point_search_before() - uprobe_point_before() without a point that is near
 * @file: the file or process
 * @offset: the offset
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if there is none.
 */
struct uprobe_point *uprobe_point_search_before(struct uprobe_file *file, loff_t offset)
{
	return point_before(file, uprobe_point_first(file, offset));
}

/**
 * uprobe_point_first() - first point of a file at or after an offset
 * @file: the file
 * @from: the offset
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if there is none.
 */
struct uprobe_point *uprobe_point_first(struct uprobe_file *file, loff_t from)
{
	unsigned long block = block_of(from);
	struct uprobe_point *point = xa_find(&file->blocks, &block, ULONG_MAX, XA_PRESENT);

	while (point && point->offset < from)
		point = uprobe_point_next(point);
	return point;
}

/**
 * uprobe_point_find() - find a point
 * @inode: the file
 * @offset: the offset
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 * Return: NULL if there is none.
 */
struct uprobe_point *uprobe_point_find(struct inode *inode, loff_t offset)
{
	struct uprobe_file *file = uprobe_file_find(inode);

	return file ? uprobe_point_at(file, offset) : NULL;
}

/* --- Life ------------------------------------------------------------------- */

/*
 * A free point has no consumers and no sites.  Objects with a constructor are not cleared by
 * init_on_alloc, which would cost more than the rest of their initialization.
 */
static void construct_point(void *object)
{
	struct uprobe_point *point = object;

	INIT_LIST_HEAD(&point->consumers);
	INIT_HLIST_HEAD(&point->sites);
}

/**
 * uprobe_points_init() - prepare the creation of points
 *
 * Context: boot.
 */
void __init uprobe_points_init(void)
{
	point_stock.cache = kmem_cache_create("uprobe_point", sizeof(struct uprobe_point), 0,
					      SLAB_PANIC, construct_point);
}

static struct uprobe_file *file_get(struct inode *inode)
{
	struct uprobe_file *file = uprobe_file_find(inode);

	if (file)
		return file;
	file = kzalloc_obj(*file);
	if (!file)
		return NULL;
	file->inode = igrab(inode);
	if (!file->inode) {
		kfree(file);
		return NULL;
	}
	xa_init(&file->blocks);
	INIT_LIST_HEAD(&file->in_order);
	hlist_add_head(&file->node, file_bucket(inode));
	return file;
}

static void file_put(struct uprobe_file *file)
{
	if (!list_empty(&file->in_order) || !file->inode)
		return;
	hlist_del(&file->node);
	if (file->pinned) {
		uprobe_file_unpin(file);
		return;
	}
	iput(file->inode);
	kfree(file);
}

/* Inline: most points are created in large batches. */
static __always_inline struct uprobe_point *new_point(struct uprobe_file *file, loff_t offset,
						      unsigned int needed)
{
	struct uprobe_point *point = uprobe_stock_take(&point_stock, needed);

	if (!point)
		return NULL;
	/* The instruction, and its decision, come later. */
	point->file = file;
	point->offset = offset;
	point->ref_ctr_offset = 0;
	point->id = ++last_id;
	point->unfit = NULL;
	point->plain = 0;
	point->len = 0;
	point->native.state = UPROBE_UNDECIDED;
	point->other = NULL;
	return point;
}

/**
 * uprobe_point_new() - create a point
 * @file: the file or process
 * @offset: of the instruction
 * @needed: see uprobe_stock_take()
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: NULL if there is no memory.
 */
struct uprobe_point *uprobe_point_new(struct uprobe_file *file, loff_t offset,
				      unsigned int needed)
{
	return new_point(file, offset, needed);
}

/**
 * uprobe_point_insert() - publish a point in its file or process
 * @point: complete
 * @before: the last point before it, or NULL
 *
 * Context: task, may sleep; uprobe_points_lock held for writing.
 * Return: 0 or -ENOMEM.
 */
int uprobe_point_insert(struct uprobe_point *point, struct uprobe_point *before)
{
	struct uprobe_file *file = point->file;
	int err;

	if (!before || !same_block(before, point)) {
		err = xa_err(xa_store(&file->blocks, block_of(point->offset), point, GFP_KERNEL));
		if (err)
			return err;
	}
	list_add(&point->entry, before ? &before->entry : &file->in_order);
	WRITE_ONCE(uprobe_points_published, uprobe_points_published + 1);
	return 0;
}

/* Undoes uprobe_point_insert(). */
static void take_out(struct uprobe_point *point)
{
	struct uprobe_point *before = point_before(point->file, point);
	struct uprobe_point *next = uprobe_point_next(point);
	struct xarray *blocks = &point->file->blocks;

	if (!before || !same_block(before, point)) {
		/* An entry is replaced, which needs no memory. */
		if (next && same_block(next, point))
			xa_store(blocks, block_of(point->offset), next, GFP_NOWAIT);
		else
			xa_erase(blocks, block_of(point->offset));
	}
	list_del(&point->entry);
}

/* Publishes a point of a file after the point @before. */
static struct uprobe_point *create_point(struct uprobe_reader *reader, struct uprobe_file *file,
					 loff_t offset, loff_t ref_ctr_offset,
					 struct uprobe_point *before, const char **why)
{
	struct uprobe_point *point = new_point(file, offset, reader->left);
	const char *reason = "no memory";
	int read, err = -ENOMEM;

	if (!point)
		goto refuse;
	point->ref_ctr_offset = ref_ctr_offset;
	read = uprobe_point_read(point, reader);
	if (read && read != -EAGAIN) {
		reason = "the file cannot be read there";
		err = read;
		goto refuse;
	}
	if (uprobe_point_insert(point, before))
		goto refuse;
	if (read)
		WRITE_ONCE(uprobe_nr_unread, uprobe_nr_unread + 1);
	WRITE_ONCE(uprobe_nr_points, uprobe_nr_points + 1);
	return point;

refuse:
	kfree(point);
	*why = reason;
	return ERR_PTR(err);
}

/* The instruction was refused before, when other consumers were registered. */
static noinline void report_again(struct uprobe_point *point)
{
	const struct uprobe_decision *decision = uprobe_point_decision(point, 0);

	if (decision)
		trace_uprobe_refused(point->file->inode, point->offset, 0, decision->why,
				     decision->err);
}

/**
 * uprobe_point_get() - find or create the point for a registration
 * @reader: of the file
 * @offset: of the instruction
 * @ref_ctr_offset: of the counter, or 0
 * @why: set on failure
 *
 * The caller adds a consumer, or calls uprobe_point_put().
 *
 * Context: task, may sleep; uprobe_mutex and uprobe_points_lock (for writing) held.
 * Return: the point, or an ERR_PTR(): -EINVAL if the offset is not in the file or the point has
 * another counter; -EIO if the file cannot be read; -ENOMEM.
 */
struct uprobe_point *uprobe_point_get(struct uprobe_reader *reader, loff_t offset,
				      loff_t ref_ctr_offset, const char **why)
{
	struct uprobe_file *file = reader->last ? reader->last->file : file_get(reader->inode);
	struct uprobe_point *point, *before;

	if (!file) {
		*why = "no memory";
		return ERR_PTR(-ENOMEM);
	}
	before = uprobe_point_before(file, reader->last, offset);
	point = uprobe_point_after(file, before);
	if (!point || point->offset != offset) {
		point = create_point(reader, file, offset, ref_ctr_offset, before, why);
		if (IS_ERR(point)) {
			file_put(file);
			return point;
		}
	} else if (unlikely(READ_ONCE(point->native.state) == UPROBE_REFUSED)) {
		report_again(point);
	}
	reader->last = point;
	if (point->ref_ctr_offset == ref_ctr_offset)
		return point;
	*why = "registered with another reference counter";
	return ERR_PTR(-EINVAL);
}

/**
 * uprobe_point_put() - take a point without consumers out of its file
 * @point: no text has its breakpoint any more, or will not be armed with it again
 *
 * The point is freed after the next uprobe_observe(). Nothing happens if it has consumers.
 *
 * Context: task, may sleep; uprobe_points_lock (for writing) held; uprobe_mutex, unless the point
 * is one of a process.
 */
void uprobe_point_put(struct uprobe_point *point)
{
	if (!list_empty(&point->consumers))
		return;
	uprobe_sites_detach(point);
	if (point->ref_ctr_offset)
		uprobe_counters_drop(point);
	take_out(point);
	if (!point->len)
		WRITE_ONCE(uprobe_nr_unread, uprobe_nr_unread - 1);
	if (!uprobe_point_is_process(point))
		WRITE_ONCE(uprobe_nr_points, uprobe_nr_points - 1);
	file_put(point->file);
	point->file = NULL;
	if (point->other)
		uprobe_retire(&point->other->retired);
	uprobe_retire(&point->retired);
}

/* --- Consumers -------------------------------------------------------------- */

/**
 * uprobe_point_filter() - uprobe_point_wanted() if the first consumer has a filter
 * @point: a point
 * @mm: the process
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 */
bool uprobe_point_filter(struct uprobe_point *point, struct mm_struct *mm)
{
	bool forking = READ_ONCE(mm->uprobes_state.forking);
	struct uprobe_consumer *uc;

	list_for_each_entry(uc, &point->consumers, cons_node) {
		if (!uc->filter || uc->filter(uc, mm))
			return true;
		/*
		 * If no consumer wants the child in the end, it keeps the breakpoint, and its hits
		 * call no handler, as after any fork.
		 */
		if (forking && uc->filter(uc, mm->uprobes_state.parent))
			return true;
	}
	return false;
}

/**
 * uprobe_point_has() - is this a consumer of a point?
 * @point: a point
 * @uc: any consumer
 *
 * Context: task; uprobe_points_lock or uprobe_mutex held.
 */
bool uprobe_point_has(struct uprobe_point *point, struct uprobe_consumer *uc)
{
	struct uprobe_consumer *other;

	list_for_each_entry(other, &point->consumers, cons_node) {
		if (other == uc)
			return true;
	}
	return false;
}

/**
 * uprobe_point_add() - add a consumer to a point, after all others
 * @point: a point
 * @uc: not registered
 *
 * Context: task; uprobe_mutex and uprobe_points_lock (for writing) held.
 */
void uprobe_point_add(struct uprobe_point *point, struct uprobe_consumer *uc)
{
	uc->id = ++last_id;
	list_add_tail_rcu(&uc->cons_node, &point->consumers);
}

/**
 * uprobe_point_remove() - remove a consumer from a point
 * @point: a point
 * @uc: the consumer; may be freed after the next uprobe_observe()
 *
 * Context: task; uprobe_mutex and uprobe_points_lock (for writing) held.
 * Return: false if @uc is no consumer of @point.
 */
bool uprobe_point_remove(struct uprobe_point *point, struct uprobe_consumer *uc)
{
	if (!uprobe_point_has(point, uc))
		return false;
	list_del_rcu(&uc->cons_node);
	return true;
}

static int compare_points(const void *a, const void *b)
{
	const struct uprobe_point *x = *(struct uprobe_point **)a;
	const struct uprobe_point *y = *(struct uprobe_point **)b;

	return cmp_int(x->offset, y->offset);
}

/**
 * uprobe_points_sort() - sort points of one file or process by offset
 * @points: the points
 * @nr: number of points
 *
 * Nearly all callers have them in order.
 *
 * Context: any.
 */
void uprobe_points_sort(struct uprobe_point **points, unsigned int nr)
{
	unsigned int i = 1;

	while (i < nr && points[i - 1]->offset <= points[i]->offset)
		i++;
	if (i < nr)
		sort(points, nr, sizeof(*points), compare_points, NULL);
}
