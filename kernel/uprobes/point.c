// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Probe points: places of files, their instructions, and their consumers.
 *
 * A point exists while it has consumers. It is found by file and offset, when text is mapped
 * and when a site is hit for the first time in a process. Hits reach it through its sites,
 * without a lock; therefore a point without consumers is first taken out of its file and its
 * sites, and freed after all hits that may have seen it have ended (observe.c).
 */
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

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
static LIST_HEAD(dying_points);
static DEFINE_SPINLOCK(dying_lock);
/* Serializes decisions. */
static DEFINE_MUTEX(decide_mutex);
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
	struct rb_node *node = file->points.rb_node;
	struct uprobe_point *found = NULL;

	while (node) {
		struct uprobe_point *point = rb_entry(node, struct uprobe_point, node);

		if (point->offset < from) {
			node = node->rb_right;
			continue;
		}
		found = point;
		node = node->rb_left;
	}
	return found;
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
	struct uprobe_point *point;

	point = file ? uprobe_point_first(file, offset) : NULL;
	return point && point->offset == offset ? point : NULL;
}

/* --- Bytes and decision ----------------------------------------------------- */

static struct page *file_page(struct address_space *mapping, pgoff_t index)
{
	if (mapping->a_ops->read_folio)
		return read_mapping_page(mapping, index, NULL);
	if (shmem_mapping(mapping))
		return shmem_read_mapping_page(mapping, index);
	return ERR_PTR(-EIO);
}

/**
 * uprobe_reader_end() - the last point of a batch has been made
 * @reader: any; can be used again
 *
 * Context: task.
 */
void uprobe_reader_end(struct uprobe_reader *reader)
{
	if (reader->page)
		put_page(reader->page);
	reader->page = NULL;
}

static struct page *reader_page(struct uprobe_reader *reader, pgoff_t index)
{
	struct page *page;

	if (reader->page && reader->index == index)
		return reader->page;
	uprobe_reader_end(reader);
	page = file_page(reader->inode->i_mapping, index);
	if (!IS_ERR(page)) {
		reader->page = page;
		reader->index = index;
	}
	return page;
}

/* Reads bytes of a file; they are all in it. */
static int read_file(struct uprobe_reader *reader, loff_t pos, u8 *to, unsigned int len)
{
	unsigned int done, in_page;

	for (done = 0; done < len; done += in_page) {
		struct page *page = reader_page(reader, (pos + done) >> PAGE_SHIFT);

		if (IS_ERR(page))
			return PTR_ERR(page);
		in_page = min_t(unsigned int, len - done, PAGE_SIZE - offset_in_page(pos + done));
		memcpy_from_page(to + done, page, offset_in_page(pos + done), in_page);
	}
	return 0;
}

/* Number of bytes that a file has at an offset, at most @want. */
static unsigned int bytes_left(struct inode *inode, loff_t pos, unsigned int want)
{
	return clamp_t(loff_t, i_size_read(inode) - pos, 0, want);
}

static int read_insn(struct uprobe_point *point, struct uprobe_reader *reader)
{
	point->len = bytes_left(reader->inode, point->offset, MAX_UINSN_BYTES);
	if (!point->len)
		return -EINVAL;
	return read_file(reader, point->offset, point->insn, point->len);
}

#if UPROBE_CONTEXT_BYTES
/* Lets the backend look at the text around the instruction. */
static int check_context(struct uprobe_point *point, const char **why)
{
	unsigned int before = min_t(loff_t, point->offset, UPROBE_CONTEXT_BYTES);
	u8 text[2 * UPROBE_CONTEXT_BYTES + MAX_UINSN_BYTES];
	struct uprobe_reader reader = { .inode = point->file->inode };
	loff_t start = point->offset - before;
	unsigned int len;
	int err;

	/* process_point.c looks at the text of processes. */
	if (uprobe_point_is_process(point))
		return 0;
	len = bytes_left(reader.inode, start, before + MAX_UINSN_BYTES + UPROBE_CONTEXT_BYTES);
	err = read_file(&reader, start, text, len);
	uprobe_reader_end(&reader);
	if (err) {
		*why = "the text around it cannot be read";
		return err;
	}
	*why = arch_uprobe_check_context(text, before, len);
	return *why ? -EOPNOTSUPP : 0;
}
#else
static int check_context(struct uprobe_point *point, const char **why)
{
	return 0;
}
#endif

static void decide(struct uprobe_point *point, struct uprobe_decision *decision,
		   unsigned int mode)
{
	int way, err;

	decision->why = "instruction cannot be probed";
	way = arch_uprobe_decide(&decision->arch, point->insn, point->len, mode, &decision->why);
	err = way >= 0 ? check_context(point, &decision->why) : 0;
	if (err)
		way = err;
	if (way >= 0) {
		decision->way = way;
	} else {
		decision->err = way;
		trace_uprobe_refused(point->file->inode, point->offset, 0, decision->why, way);
	}
	/* Pairs with the acquire in uprobe_point_decision(). */
	smp_store_release(&decision->state, way >= 0 ? UPROBE_ACCEPTED : UPROBE_REFUSED);
}

static struct uprobe_decision *decision_of(struct uprobe_point *point, unsigned int mode)
{
	struct uprobe_decision *other;

	lockdep_assert_held(&decide_mutex);
	if (!mode || point->other)
		return mode ? point->other : &point->native;
	other = kzalloc_obj(*other);
	/* Pairs with the acquire in uprobe_point_decision(). */
	smp_store_release(&point->other, other);
	return other;
}

/**
 * uprobe_point_decide_slowly() - uprobe_point_decide() for the first process of a mode
 * @point: a point in its file
 * @mode: see arch_uprobe_mode()
 *
 * Context: task, may sleep.
 * Return: a decision that is not %UPROBE_UNDECIDED; without memory, a refusal that is not kept.
 */
const struct uprobe_decision *uprobe_point_decide_slowly(struct uprobe_point *point,
							 unsigned int mode)
{
	static const struct uprobe_decision no_memory = {
		.state = UPROBE_REFUSED, .err = -ENOMEM, .why = "no memory",
	};
	struct uprobe_decision *decision;

	guard(mutex)(&decide_mutex);
	decision = decision_of(point, mode);
	if (!decision)
		return &no_memory;
	if (decision->state == UPROBE_UNDECIDED)
		decide(point, decision, mode);
	return decision;
}

/* --- Life ------------------------------------------------------------------- */

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
	file->points = RB_ROOT;
	INIT_LIST_HEAD(&file->in_order);
	hlist_add_head(&file->node, file_bucket(inode));
	return file;
}

static void file_put(struct uprobe_file *file)
{
	if (!list_empty(&file->in_order) || !file->inode)
		return;
	hlist_del(&file->node);
	iput(file->inode);
	kfree(file);
}

static bool offset_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct uprobe_point, node)->offset <
	       rb_entry(b, struct uprobe_point, node)->offset;
}

/**
 * uprobe_point_new() - create a point
 * @file: the file or process, or NULL if the caller sets it
 * @offset: of the instruction
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: NULL if there is no memory.
 */
struct uprobe_point *uprobe_point_new(struct uprobe_file *file, loff_t offset)
{
	struct uprobe_point *point = kzalloc_obj(*point);

	if (!point)
		return NULL;
	point->file = file;
	point->offset = offset;
	point->id = ++last_id;
	INIT_LIST_HEAD(&point->consumers);
	INIT_HLIST_HEAD(&point->sites);
	return point;
}

/**
 * uprobe_point_insert() - publish a point in its file or process
 * @point: complete
 *
 * Context: task; uprobe_points_lock held for writing.
 */
void uprobe_point_insert(struct uprobe_point *point)
{
	struct uprobe_file *file = point->file;
	struct rb_node *before;

	rb_add(&point->node, &file->points, offset_less);
	before = rb_prev(&point->node);
	list_add(&point->entry, before ? &rb_entry(before, struct uprobe_point, node)->entry :
					 &file->in_order);
	WRITE_ONCE(uprobe_points_published, uprobe_points_published + 1);
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
	struct uprobe_point *point = uprobe_point_find(reader->inode, offset);
	int err = -ENOMEM;

	*why = "no memory";
	if (point) {
		*why = "registered with another reference counter";
		return point->ref_ctr_offset == ref_ctr_offset ? point : ERR_PTR(-EINVAL);
	}
	point = uprobe_point_new(NULL, offset);
	if (!point)
		return ERR_PTR(-ENOMEM);
	point->file = file_get(reader->inode);
	if (!point->file)
		goto free_point;
	point->ref_ctr_offset = ref_ctr_offset;
	err = read_insn(point, reader);
	*why = "the file cannot be read there";
	if (err)
		goto put_file;
	uprobe_point_insert(point);
	WRITE_ONCE(uprobe_nr_points, uprobe_nr_points + 1);
	return point;

put_file:
	file_put(point->file);
free_point:
	kfree(point);
	return ERR_PTR(err);
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
	rb_erase(&point->node, &point->file->points);
	list_del(&point->entry);
	if (!uprobe_point_is_process(point))
		WRITE_ONCE(uprobe_nr_points, uprobe_nr_points - 1);
	file_put(point->file);
	point->file = NULL;
	guard(spinlock)(&dying_lock);
	list_add(&point->entry, &dying_points);
}

/**
 * uprobe_points_take_dying() - take all points that wait to be freed
 * @dying: set to the list
 *
 * Context: task.
 */
void uprobe_points_take_dying(struct list_head *dying)
{
	INIT_LIST_HEAD(dying);
	guard(spinlock)(&dying_lock);
	list_splice_init(&dying_points, dying);
}

/**
 * uprobe_points_free_dying() - free points
 * @dying: from uprobe_points_take_dying(), which was called before uprobe_observe()
 *
 * Context: task.
 */
void uprobe_points_free_dying(struct list_head *dying)
{
	struct uprobe_point *point, *next;

	list_for_each_entry_safe(point, next, dying, entry) {
		kfree(point->other);
		kfree(point);
	}
}

/* --- Consumers -------------------------------------------------------------- */

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
