// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions of points, and the backend's decisions about them.
 *
 * Instructions are read from the page cache of the file. Some file systems can only read a page for
 * an open file, and a registration has none; so an instruction that is not in the page cache is
 * read for the file of a process that maps it, at the latest when the first one does. A decision
 * is made when the first process of its mode maps the text, and stays.
 */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "internal.h"
#include "point.h"
#include "trace.h"

/* Serializes decisions. */
static DEFINE_MUTEX(decide_mutex);

/*
 * Number of points whose instruction has not been read: they have no length. Changes under
 * uprobe_points_lock held for writing; shrinks also under decide_mutex and that lock held for
 * reading.
 */
unsigned int uprobe_nr_unread;

/* Does the file have pages that can be read? */
static bool has_pages(struct address_space *mapping)
{
	return shmem_mapping(mapping) || mapping->a_ops->read_folio;
}

/* A page of a file, or an ERR_PTR(): -EAGAIN if it has to be read for an open file. */
static struct page *cached_page(struct address_space *mapping, pgoff_t index)
{
	struct folio *folio;

	if (!has_pages(mapping))
		return ERR_PTR(-EIO);
	if (shmem_mapping(mapping))
		return shmem_read_mapping_page(mapping, index);
	folio = filemap_get_folio(mapping, index);
	if (IS_ERR(folio))
		return ERR_PTR(-EAGAIN);
	if (!folio_test_uptodate(folio)) {
		folio_put(folio);
		return ERR_PTR(-EAGAIN);
	}
	return folio_file_page(folio, index);
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
	page = cached_page(reader->inode->i_mapping, index);
	if (!IS_ERR(page)) {
		reader->page = page;
		reader->index = index;
		reader->untied = (struct uprobe_untied) { 0 };
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

/* Lets the backend look at the text around the instruction, if it needs that. */
static int read_context(struct uprobe_point *point, struct uprobe_reader *reader)
{
	unsigned int before = min_t(loff_t, point->offset, UPROBE_CONTEXT_BYTES);
	u8 text[2 * UPROBE_CONTEXT_BYTES + MAX_UINSN_BYTES];
	loff_t start = point->offset - before;
	unsigned int len;
	int err;

	if (!UPROBE_CONTEXT_BYTES ||
	    likely(reader->page && reader->index == point->offset >> PAGE_SHIFT &&
		   uprobe_text_is_untied(&reader->untied, reader->page,
					 offset_in_page(point->offset))))
		return 0;
	len = bytes_left(reader->inode, start, before + MAX_UINSN_BYTES + UPROBE_CONTEXT_BYTES);
	err = read_file(reader, start, text, len);
	if (!err)
		point->unfit = arch_uprobe_check_context(text, before, len);
	return err;
}

/**
 * uprobe_point_read() - read the instruction of a point from the page cache of its file
 * @point: the point; its length is set if the instruction has been read
 * @reader: of the file
 *
 * Context: task, may sleep.
 * Return: 0; -EAGAIN if a page has to be read for an open file; -EINVAL if the offset is not in
 * the file; -EIO, -ENOMEM.
 */
int uprobe_point_read(struct uprobe_point *point, struct uprobe_reader *reader)
{
	unsigned int len = bytes_left(reader->inode, point->offset, MAX_UINSN_BYTES);
	unsigned int at = offset_in_page(point->offset);
	int err = 0;

	if (!len)
		return has_pages(reader->inode->i_mapping) ? -EINVAL : -EIO;
	if (likely(reader->page && reader->index == point->offset >> PAGE_SHIFT &&
		   len == MAX_UINSN_BYTES && at <= PAGE_SIZE - MAX_UINSN_BYTES)) {
		memcpy_from_page(point->insn, reader->page, at, MAX_UINSN_BYTES);
	} else {
		memset(point->insn, 0, sizeof(point->insn));
		err = read_file(reader, point->offset, point->insn, len);
	}
	if (!err)
		err = read_context(point, reader);
	if (!err)
		point->len = len;
	return err;
}

/* Reads those of [*from, end) that are in the page cache; sets @from to the first that is not. */
static int read_cached(struct inode *inode, loff_t *from, loff_t end)
{
	struct uprobe_reader reader = { .inode = inode };
	struct uprobe_point *point;
	struct uprobe_file *file;
	int err = 0;

	guard(rwsem_read)(&uprobe_points_lock);
	guard(mutex)(&decide_mutex);
	file = uprobe_file_find(inode);
	point = file ? uprobe_point_first(file, *from) : NULL;
	for (; point && point->offset < end && !err; point = uprobe_point_next(point)) {
		if (point->len)
			continue;
		*from = point->offset;
		err = uprobe_point_read(point, &reader);
		if (!err)
			WRITE_ONCE(uprobe_nr_unread, uprobe_nr_unread - 1);
	}
	uprobe_reader_end(&reader);
	return err;
}

/* Brings the text at an offset, and around it, into the page cache. */
static int bring_in(struct file *file, struct inode *inode, loff_t offset)
{
	loff_t first = max_t(loff_t, offset - UPROBE_CONTEXT_BYTES, 0);
	loff_t last = min_t(loff_t, offset + MAX_UINSN_BYTES + UPROBE_CONTEXT_BYTES,
			    i_size_read(inode)) - 1;
	loff_t page;
	int err = 0;

	for (page = first & PAGE_MASK; last >= first && page <= last && !err; page += PAGE_SIZE)
		err = uprobe_text_bring_in(file, page);
	return err;
}

static const struct uprobe_decision unread = {
	.state = UPROBE_REFUSED, .err = -EIO, .why = "the file cannot be read there",
};

/* Will reading the other points of the file fail, too? */
static bool is_final(int err)
{
	return err == -ENOMEM || fatal_signal_pending(current);
}

/* uprobe_points_read() without the report. */
static int read_points(struct file *file, loff_t from, loff_t end)
{
	struct inode *inode = file_inode(file);
	unsigned int tries = 0;
	int err, first = 0;
	loff_t before = -1;

	for (;;) {
		err = read_cached(inode, &from, end);
		if (!err)
			return first;
		if (err == -EAGAIN) {
			tries = from == before ? tries + 1 : 0;
			before = from;
			err = tries < UPROBE_READ_TRIES ? bring_in(file, inode, from) : -EIO;
		}
		if (!err)
			continue;
		first = first ? first : err;
		if (is_final(err))
			return first;
		from++;
	}
}

/* Reports the points that could not be read. */
static noinline int report_unread(struct inode *inode, loff_t from, loff_t end, int err)
{
	struct uprobe_point *point;
	struct uprobe_file *file;

	if (!trace_uprobe_refused_enabled())
		return err;
	guard(rwsem_read)(&uprobe_points_lock);
	guard(mutex)(&decide_mutex);
	file = uprobe_file_find(inode);
	point = file ? uprobe_point_first(file, from) : NULL;
	for (; point && point->offset < end; point = uprobe_point_next(point)) {
		if (!point->len)
			trace_uprobe_refused(inode, point->offset, 0, unread.why, err);
	}
	return err;
}

/**
 * uprobe_points_read() - read the instructions of points that have not been read
 * @file: open, of the points' inode
 * @from: offset of the first point
 * @end: offset after the last
 *
 * A point that cannot be read does not keep those after it from being read.
 *
 * Context: task, may sleep; no locks but mmap_lock and uprobe_mutex, because the file system may
 * ask a program.
 * Return: 0 or the first error.
 */
int uprobe_points_read(struct file *file, loff_t from, loff_t end)
{
	int err = read_points(file, from, end);

	return unlikely(err) ? report_unread(file_inode(file), from, end, err) : 0;
}

static bool is_in(const struct file *file, struct file **files, unsigned int nr)
{
	while (nr) {
		if (files[--nr] == file)
			return true;
	}
	return false;
}

/* An open file of a process that maps it, which is not one of @tried; or NULL. */
static struct file *mapped_file(struct address_space *mapping, struct file **tried,
				unsigned int nr)
{
	struct vm_area_struct *vma;
	struct file *file = NULL;

	i_mmap_lock_read(mapping);
	mapping_rmap_tree_foreach(vma, mapping, 0, ULONG_MAX) {
		if (is_in(vma->vm_file, tried, nr))
			continue;
		file = get_file(vma->vm_file);
		break;
	}
	i_mmap_unlock_read(mapping);
	return file;
}

/* Open files of processes that map a file; a file system may refuse one, and not another. */
struct tried {
	struct file *files[UPROBE_READ_TRIES];
	unsigned int nr;
};

/*
 * Returns the next file to be tried; @err is the result of the last one. Returns NULL if there is
 * none, when all have been put.
 */
static struct file *next_mapped(struct tried *tried, struct address_space *mapping, int err)
{
	bool ends = tried->nr && (!err || is_final(err));
	struct file *file = NULL;

	if (!ends && tried->nr < ARRAY_SIZE(tried->files))
		file = mapped_file(mapping, tried->files, tried->nr);
	if (file) {
		tried->files[tried->nr++] = file;
		return file;
	}
	while (tried->nr)
		fput(tried->files[--tried->nr]);
	return NULL;
}

/**
 * uprobe_points_read_mapped() - uprobe_points_read() for the files of processes that map it
 * @inode: the file
 * @from: offset of the first point
 * @end: offset after the last
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: 0 also if no process maps it; or an error of uprobe_points_read() for the last file that
 * was tried.
 */
int uprobe_points_read_mapped(struct inode *inode, loff_t from, loff_t end)
{
	struct tried tried = {};
	struct file *file;
	int err = 0;

	while ((file = next_mapped(&tried, inode->i_mapping, err)))
		err = read_points(file, from, end);
	return unlikely(err) ? report_unread(inode, from, end, err) : 0;
}

/* Instructions so far after %UPROBE_CONTEXT_BYTES of a page have their context in the page. */
#define WITH_CONTEXT	(PAGE_SIZE - MAX_UINSN_BYTES - 2 * UPROBE_CONTEXT_BYTES)

/* Brings in the text and the counters of a batch in a file. Returns 0 or the first error. */
static int bring_in_all(struct file *file, const struct uprobe_request *requests, unsigned int nr)
{
	const struct uprobe_request *request, *end = requests + nr;
	struct inode *inode = file_inode(file);
	u64 from = U64_MAX / 2;
	int ret, err = 0;

	for (request = requests; request < end; request++) {
		if (unlikely((u64)request->offset - from > WITH_CONTEXT)) {
			if (fatal_signal_pending(current))
				return -EINTR;
			ret = bring_in(file, inode, request->offset);
			err = err ? err : ret;
			from = (request->offset & PAGE_MASK) + UPROBE_CONTEXT_BYTES;
		}
		if (unlikely(request->ref_ctr_offset)) {
			ret = bring_in(file, inode, request->ref_ctr_offset);
			err = err ? err : ret;
		}
	}
	return err;
}

/**
 * uprobe_requests_bring_in() - bring text and counters of a batch into the page cache
 * @inode: the file
 * @requests: the batch
 * @nr: number of requests
 *
 * If a program does not answer its file system, only this registration waits, and not those that
 * need uprobe_mutex. A page may be evicted at once, or fail to be read; then the registration reads
 * it again, and reports the error.
 *
 * Context: task, may sleep; no locks.
 */
void uprobe_requests_bring_in(struct inode *inode, const struct uprobe_request *requests,
			      unsigned int nr)
{
	struct tried tried = {};
	struct file *file;
	int err = 0;

	while ((file = next_mapped(&tried, inode->i_mapping, err)))
		err = bring_in_all(file, requests, nr);
}

/* The bits for &uprobe_point.plain of a point that has been accepted for mode 0. */
static unsigned long plain_bits(const struct uprobe_point *point)
{
	unsigned int len = arch_uprobe_insn_len(&point->native.arch);
	unsigned int rest = BITS_PER_LONG - len * BITS_PER_BYTE;

	if (point->ref_ctr_offset || len > sizeof(long) ||
	    offset_in_page(point->offset) > PAGE_SIZE - sizeof(long))
		return 0;
	return IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? ~0UL << rest : ~0UL >> rest;
}

static noinline void refuse(struct uprobe_point *point, struct uprobe_decision *decision, int err)
{
	decision->err = err;
	trace_uprobe_refused(point->file->inode, point->offset, 0, decision->why, err);
	/* Pairs with the acquire in uprobe_point_decision(). */
	smp_store_release(&decision->state, UPROBE_REFUSED);
}

static __always_inline void decide(struct uprobe_point *point, struct uprobe_decision *decision,
				   unsigned int mode)
{
	int way;

	decision->why = "instruction cannot be probed";
	way = arch_uprobe_decide(&decision->arch, point->insn, point->len, mode, &decision->why);
	if (way >= 0 && unlikely(point->unfit)) {
		decision->why = point->unfit;
		way = -EOPNOTSUPP;
	}
	if (unlikely(way < 0)) {
		refuse(point, decision, way);
		return;
	}
	decision->way = way;
	/* Pairs with the acquire in uprobe_point_decision(). */
	smp_store_release(&decision->state, UPROBE_ACCEPTED);
	if (!mode)
		/* Pairs with the acquire in is_plain_insn(). */
		smp_store_release(&point->plain, plain_bits(point));
}

static noinline struct uprobe_decision *other_decision(struct uprobe_point *point)
{
	struct uprobe_decision *other;

	if (point->other)
		return point->other;
	other = kzalloc_obj(*other);
	/* Pairs with the acquire in uprobe_point_decision(). */
	smp_store_release(&point->other, other);
	return other;
}

static const struct uprobe_decision no_memory = {
	.state = UPROBE_REFUSED, .err = -ENOMEM, .why = "no memory",
};

/* Inline, because uprobe_points_decide() is called for each point of a registration. */
static __always_inline const struct uprobe_decision *decide_once(struct uprobe_point *point,
								 unsigned int mode)
{
	struct uprobe_decision *decision = &point->native;

	if (unlikely(mode)) {
		decision = other_decision(point);
		if (!decision)
			return &no_memory;
	}
	if (decision->state == UPROBE_UNDECIDED)
		decide(point, decision, mode);
	return decision;
}

/**
 * uprobe_point_decide_new() - uprobe_point_decide() for a point that is not published
 * @point: the point; its instruction has been read
 * @mode: see arch_uprobe_mode()
 *
 * Context: task, may sleep.
 * Return: see uprobe_point_decide_slowly().
 */
const struct uprobe_decision *uprobe_point_decide_new(struct uprobe_point *point,
						      unsigned int mode)
{
	return decide_once(point, mode);
}

/**
 * uprobe_point_decide_slowly() - uprobe_point_decide() for the first process of a mode
 * @point: a point in its file
 * @mode: see arch_uprobe_mode()
 *
 * Context: task, may sleep.
 * Return: a decision that is not %UPROBE_UNDECIDED; without memory, or if the instruction has not
 * been read, a refusal that is not kept.
 */
const struct uprobe_decision *uprobe_point_decide_slowly(struct uprobe_point *point,
							 unsigned int mode)
{
	guard(mutex)(&decide_mutex);
	return point->len ? uprobe_point_decide_new(point, mode) : &unread;
}

/**
 * uprobe_points_decide() - uprobe_point_decide() for a batch
 * @points: points in their file; those that are refused are taken out of the array
 * @nr: number of points
 * @mode: see arch_uprobe_mode()
 * @err: set to the error of the first that is refused, if there is one
 *
 * Context: task, may sleep.
 * Return: number of points that are left.
 */
unsigned int uprobe_points_decide(struct uprobe_point **points, unsigned int nr,
				  unsigned int mode, int *err)
{
	const struct uprobe_decision *decision;
	unsigned int i, left = 0;

	guard(mutex)(&decide_mutex);
	for (i = 0; i < nr; i++) {
		decision = points[i]->len ? decide_once(points[i], mode) : &unread;
		if (likely(decision->state == UPROBE_ACCEPTED))
			points[left++] = points[i];
		else if (!*err)
			*err = decision->err;
	}
	return left;
}

/**
 * uprobe_points_agree() - have two points been accepted for the same instruction?
 * @a: a point
 * @b: another one
 * @mode: see arch_uprobe_mode()
 *
 * Context: task; uprobe_points_lock held.
 */
bool uprobe_points_agree(struct uprobe_point *a, struct uprobe_point *b, unsigned int mode)
{
	const struct uprobe_decision *x = uprobe_point_decision(a, mode);
	const struct uprobe_decision *y = uprobe_point_decision(b, mode);
	unsigned int len;

	if (!x || !y || x->state != UPROBE_ACCEPTED || y->state != UPROBE_ACCEPTED)
		return false;
	len = arch_uprobe_insn_len(&x->arch);
	return len == arch_uprobe_insn_len(&y->arch) && !memcmp(a->insn, b->insn, len);
}
