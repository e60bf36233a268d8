// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions of points, and the backend's decisions about them.
 *
 * Instructions are read from the page cache of the file. A decision is made when the first
 * process of its mode maps the text, and stays.
 */
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "trace.h"

/* Serializes decisions. */
static DEFINE_MUTEX(decide_mutex);

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
static noinline int read_file(struct uprobe_reader *reader, loff_t pos, u8 *to, unsigned int len)
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

/**
 * uprobe_point_read() - read the instruction of a new point from its file
 * @point: the point
 * @reader: of the file
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if the offset is not in the file; -EIO, -ENOMEM.
 */
int uprobe_point_read(struct uprobe_point *point, struct uprobe_reader *reader)
{
	unsigned int at = offset_in_page(point->offset);

	point->len = bytes_left(reader->inode, point->offset, MAX_UINSN_BYTES);
	if (!point->len)
		return -EINVAL;
	if (likely(reader->page && reader->index == point->offset >> PAGE_SHIFT &&
		   point->len == MAX_UINSN_BYTES && at <= PAGE_SIZE - MAX_UINSN_BYTES)) {
		memcpy_from_page(point->insn, reader->page, at, MAX_UINSN_BYTES);
		return 0;
	}
	memset(point->insn, 0, sizeof(point->insn));
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
