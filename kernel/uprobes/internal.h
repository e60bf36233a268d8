/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uprobes engine: objects, and the functions that its files call in each other.
 * Documentation/trace/uprobes-internals.rst is the overview.
 *
 * Locks, the outermost first:
 *
 *   process_chain	(rwsem) notifiers, held while they run
 *   callback_mutex	one registration_callback at a time
 *   uprobe_mutex	one registration, change or removal at a time
 *   mmap_lock		of one process
 *   i_mmap_rwsem	of a file, while its mappings are collected, without the locks below
 *   uprobe_points_lock	(rwsem) files, points and their lists of consumers. Those of files are
 *			changed under uprobe_mutex as well, so that either suffices to read;
 *			those of processes are not. No page fault, from here on: it may wait for
 *			a program
 *   decide_mutex	decisions about instructions
 *   all_mms_lock	the list of &struct uprobe_mm
 *   text_lock		of one process: text is compared and patched
 *   lock		of one process: table, sites, areas, counters
 *   uprobe_sites_lock	(spinlock) the connection between sites and points
 *
 * Leaves (spinlocks): observe_lock in observe.c, noted_lock in deferred.c.
 *
 * A hit takes none of them, except the first one at a site in a process.
 */
#ifndef _KERNEL_UPROBES_INTERNAL_H
#define _KERNEL_UPROBES_INTERNAL_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/uprobes.h>
#include <linux/xarray.h>

/**
 * struct uprobe_file - a file with probe points, or the points of a process
 * @node: in the table of all, by inode
 * @inode: with a reference; NULL if the points are those of a process
 * @tried: this round of abandoned.c has already tried to remove the points below this offset;
 *	under uprobe_mutex
 * @pinned: its file system has a reference, because points stay that nobody has registered
 * @unpinned: in the list of abandoned.c, without points
 * @blocks: first point of each block of text that has points, by number of the block
 * @in_order: all points, by offset
 */
struct uprobe_file {
	struct hlist_node	node;
	struct inode		*inode;
	loff_t			tried;
	bool			pinned;
	struct llist_node	unpinned;
	struct xarray		blocks;
	struct list_head	in_order;
};

/**
 * struct uprobe_untied - part of a page in which arch_uprobe_ties() finds nothing
 * @from: offset of its first byte in the page
 * @to: offset of the byte after its last
 */
struct uprobe_untied {
	unsigned int		from;
	unsigned int		to;
};

/**
 * struct uprobe_reader - finds or makes the points of a batch, reading one page after the other
 * @inode: the file
 * @left: number of points that are still to be found or made
 * @last: the point that has been found or made last, or NULL
 * @index: of @page
 * @page: the page that has been read last, with a reference, or NULL
 * @untied: a part of @page
 */
struct uprobe_reader {
	struct inode		*inode;
	unsigned int		left;
	struct uprobe_point	*last;
	pgoff_t			index;
	struct page		*page;
	struct uprobe_untied	untied;
};

/**
 * struct uprobe_context - text around an instruction, for arch_uprobe_check_context()
 * @before: number of bytes before the instruction
 * @len: number of all bytes; 0: the instruction can be probed, whatever is around it
 * @text: the bytes
 */
struct uprobe_context {
	unsigned int		before;
	unsigned int		len;
	u8			text[2 * UPROBE_CONTEXT_BYTES + MAX_UINSN_BYTES];
};

/**
 * struct uprobe_text_reader - reads text of a process for one probe after the other
 * @mm: the process, whose mmap_lock is held
 * @left: number of probes that are still to be registered, at least
 * @vma: the mapping that was looked up last, or NULL
 * @file: the probed file of @vma, or NULL
 * @addr: address of @page
 * @page: the page that was read last, with a reference, or NULL
 * @err: error of the last page that could not be read
 * @untied: a part of @page
 * @room: a page in whose reach there is room for slots, or 0
 * @last: the point of the process that was found or created last, or NULL
 * @len: number of bytes in @insn
 * @insn: the instruction that was read last, with breakpoints
 * @context: the text around it, with breakpoints, if the backend looks at it
 */
struct uprobe_text_reader {
	struct mm_struct	*mm;
	unsigned int		left;
	struct vm_area_struct	*vma;
	struct uprobe_file	*file;
	unsigned long		addr;
	struct page		*page;
	int			err;
	struct uprobe_untied	untied;
	unsigned long		room;
	struct uprobe_point	*last;
	unsigned int		len;
	u8			insn[MAX_UINSN_BYTES];
	struct uprobe_context	context;
};

/**
 * struct uprobe_stock - objects of one type for the next probes of a batch
 * @cache: allocates them
 * @nr: number of objects in stock
 * @objects: the objects
 */
struct uprobe_stock {
	struct kmem_cache	*cache;
	unsigned int		nr;
	void			*objects[16];
};

/* Progress of uprobe_point_decide() for one mode. */
enum uprobe_decided {
	UPROBE_UNDECIDED,
	UPROBE_ACCEPTED,
	UPROBE_REFUSED,
};

/**
 * struct uprobe_retired - first member of objects that are freed when no hit can use them any more
 * @node: in a list of observe.c
 */
struct uprobe_retired {
	struct llist_node	node;
};

/**
 * struct uprobe_decision - decision about the instruction of a point in one mode
 * @state: published last; the rest is valid unless it is %UPROBE_UNDECIDED
 * @way: %UPROBE_ACCEPTED: how the instruction takes effect
 * @err: %UPROBE_REFUSED: the errno
 * @why: %UPROBE_REFUSED: the reason
 * @retired: frees the decision, if it is &uprobe_point.other, when its point has been taken out
 * @arch: %UPROBE_ACCEPTED: the backend's data
 */
struct uprobe_decision {
	union {
		const char		*why;
		struct uprobe_retired	retired;
	};
	enum uprobe_decided	state;
	enum uprobe_way		way : 16;
	int			err : 16;
	struct arch_uprobe	arch;
};

/**
 * struct uprobe_point - a probed place of a file or of a process
 * @entry: in &uprobe_file.in_order
 * @retired: then frees the point, see observe.c
 * @file: the file; NULL when it is to be freed
 * @offset: of the instruction in the file; its address, if the point is one of a process
 * @ref_ctr_offset: offset of the counter of armed processes in the file, or 0
 * @id: unique
 * @consumers: in the order of registration; hits read the list without a lock
 * @sites: where it has been hit, under uprobe_sites_lock
 * @unfit: why the text around the instruction does not allow a probe, or NULL
 * @plain: which bits of the word at the instruction are the instruction, if it has been accepted
 *	for processes of mode 0, has no counter, and the word is in one page; otherwise 0
 * @len: number of bytes in @insn; 0 if it has not been read
 * @insn: the instruction and the bytes after it, without breakpoints
 * @native: decision for processes of arch_uprobe_mode() 0
 * @other: decision for those of mode 1; NULL until there is such a process
 */
struct uprobe_point {
	union {
		struct list_head	entry;
		struct uprobe_retired	retired;
	};
	struct uprobe_file	*file;
	loff_t			offset;
	loff_t			ref_ctr_offset;
	u64			id;
	struct list_head	consumers;
	struct hlist_head	sites;
	const char		*unfit;
	unsigned long		plain;
	u8			len;
	u8			insn[MAX_UINSN_BYTES];
	struct uprobe_decision	native;
	struct uprobe_decision	*other;
};

/* Does an instruction that takes effect in this way need a slot? */
static inline bool uprobe_must_copy(enum uprobe_way way)
{
	return way == UPROBE_COPIED || way == UPROBE_COPIED_SYSCALL || way == UPROBE_COPIED_NOP;
}

/* Is the copy of an instruction that takes effect in this way a branch? */
static inline bool uprobe_is_branch(enum uprobe_way way)
{
	return way == UPROBE_COPIED_BRANCH || way == UPROBE_COPIED_CALL;
}

/* States of a site; set_state() of site.c makes all changes. */
enum uprobe_site_state {
	UPROBE_SITE_NEW,	/* not in the table yet */
	UPROBE_SITE_BOOSTED,	/* hits continue in the slot */
	UPROBE_SITE_EMULATED,	/* hits continue after the instruction */
	UPROBE_SITE_GONE,	/* no point any more; the slot is kept for the next one */
};

/**
 * struct uprobe_site - a point at an address of a process
 * @retired: frees the site, see observe.c
 * @vaddr: the address
 * @slot: address of the slot, 0 if there is none
 * @point: NULL if the site is gone
 * @arch: the backend's data about the instruction; valid while the point is
 * @way: how the instruction takes effect
 * @state: see &enum uprobe_site_state
 * @second: a point of the process where @point is one of a file, or NULL
 * @by_point: in &uprobe_point.sites of @point
 * @by_second: in that of @second
 *
 * Once published, only @point, @second and @state change, and @way of a nop to %UPROBE_COPIED.
 */
struct uprobe_site {
	struct uprobe_retired	retired;
	unsigned long		vaddr;
	unsigned long		slot;
	struct uprobe_point	*point;
	struct arch_uprobe	*arch;
	enum uprobe_way		way;
	enum uprobe_site_state	state;
	struct uprobe_point	*second;
	struct hlist_node	by_point;
	struct hlist_node	by_second;
};

/* Slots of a page, pages of an area. */
#define UPROBE_PAGE_SLOTS	(PAGE_SIZE / UPROBE_SLOT_SIZE)
#define UPROBE_AREA_PAGES	16
#define UPROBE_AREA_SIZE	(UPROBE_AREA_PAGES * PAGE_SIZE)
#define UPROBE_AREA_SLOTS	(UPROBE_AREA_PAGES * UPROBE_PAGE_SLOTS)

/**
 * struct uprobe_slot - whose copy is in a slot
 * @vaddr: address of the original, 0 if the slot has never been used
 * @taken: distance from the original to the target of a branch that is taken by way of
 *	%UPROBE_SLOT_TAKEN
 * @len: length of the original
 * @branch: the copy is a branch, and the only one of the slot; the original is at
 *	%UPROBE_SLOT_HELD
 */
struct uprobe_slot {
	unsigned long		vaddr;
	s32			taken;
	u8			len;
	bool			branch;
};

/**
 * struct uprobe_area_page - a page of slots
 * @page: mapped into the process
 * @slots: description of each slot; an entry is complete before a task can be in the slot
 */
struct uprobe_area_page {
	struct page		*page;
	struct uprobe_slot	slots[UPROBE_PAGE_SLOTS];
};

/**
 * struct uprobe_area - a mapping with slots
 * @start: address of the mapping, a multiple of UPROBE_AREA_SIZE
 * @used: number of slots that are in use; slots are used in order, and never freed
 * @gone: it is not mapped: not yet, or the program has unmapped it, or a part of it
 * @pages: NULL where no slot has been used
 */
struct uprobe_area {
	unsigned long		start;
	unsigned int		used;
	bool			gone;
	struct uprobe_area_page	*pages[UPROBE_AREA_PAGES];
};

/* One in so many elements of a table is used, at most: so most searches read one element. */
#define UPROBE_TABLE_SPARSE	8

/**
 * struct uprobe_table - sites of a process by address, with open addressing
 * @retired: frees the table, see observe.c
 * @factor: of the hash, odd, random: a program chooses its addresses
 * @size: number of values of the hash, a power of two
 * @shift: of the hash, so that its values are less than @size
 * @used: number of elements that are not NULL, at most @size / %UPROBE_TABLE_SPARSE
 * @sites: the elements. There are @size / %UPROBE_TABLE_SPARSE more than @size, so that a search
 *	from the last value on ends at a NULL, too.
 */
struct uprobe_table {
	struct uprobe_retired	retired;
	unsigned long		factor;
	unsigned int		size;
	unsigned int		shift;
	unsigned int		used;
	struct uprobe_site	*sites[];
};

/**
 * struct uprobe_mm - sites and areas of a process
 * @table: the sites
 * @has_sites: the table has ever had one
 * @has_process: the process has ever had a registration; under uprobe_points_lock
 * @low: start of the lowest area
 * @high: end of the highest area; 0 before the first one
 * @areas: by address in units of UPROBE_AREA_SIZE; none is removed; read without a lock
 * @node: in the list of all processes that have a &struct uprobe_mm
 * @mm: the process
 * @text_lock: see the top of this file
 * @lock: see the top of this file
 * @counters_noted: entries have been added to @counters since uprobe_counters_catch_up()
 * @counters: &struct uprobe_counter by number of the point, see counter.c
 * @process: points of this process, see process_point.c; has no inode
 */
struct uprobe_mm {
	struct uprobe_table	*table;
	bool			has_sites;
	bool			has_process;
	unsigned long		low;
	unsigned long		high;
	struct xarray		areas;
	struct list_head	node;
	struct mm_struct	*mm;
	struct mutex		text_lock;	/* text is compared and patched */
	struct mutex		lock;		/* table, areas, counters */
	bool			counters_noted;
	struct xarray		counters;
	struct uprobe_file	process;
};

/* Points of a page that are patched together. */
#define UPROBE_PAGE_POINTS 64

/* Attempts to read a page: it may be evicted again at once, but not so often. */
#define UPROBE_READ_TRIES 16

enum uprobe_text_op {
	UPROBE_ARM,		/* in the processes that a consumer wants */
	UPROBE_DISARM,		/* in those that none wants */
	UPROBE_LEAVE,		/* disarm in a process, although a consumer may want it */
};

/* uprobes.c */
extern struct mutex uprobe_mutex;
bool uprobe_points_remove(struct uprobe_point **points, unsigned int nr);

/* abandoned.c */
void uprobe_points_abandon(struct uprobe_file *file);
void uprobe_file_unpin(struct uprobe_file *file);
void uprobe_points_flush_abandoned(void);

/* stock.c */
bool uprobe_stock_fill(struct uprobe_stock *stock, unsigned int needed);

/**
 * uprobe_stock_take() - allocate an object
 * @stock: of its type
 * @needed: number of objects that the caller's batch still needs, with this one
 *
 * Context: task, may sleep; uprobe_mutex held.
 * Return: an object with undefined content, to be freed with kfree(); NULL if there is no memory.
 */
static inline void *uprobe_stock_take(struct uprobe_stock *stock, unsigned int needed)
{
	lockdep_assert_held(&uprobe_mutex);
	if (unlikely(!stock->nr) && !uprobe_stock_fill(stock, needed))
		return NULL;
	return stock->objects[--stock->nr];
}

/* point.c */
void uprobe_points_init(void);
extern struct rw_semaphore uprobe_points_lock;
extern unsigned int uprobe_nr_points;
extern unsigned long uprobe_points_published;
struct uprobe_point *uprobe_point_get(struct uprobe_reader *reader, loff_t offset,
				      loff_t ref_ctr_offset, const char **why);
void uprobe_point_put(struct uprobe_point *point);
void uprobe_point_add(struct uprobe_point *point, struct uprobe_consumer *uc);
bool uprobe_point_remove(struct uprobe_point *point, struct uprobe_consumer *uc);
void uprobe_points_sort(struct uprobe_point **points, unsigned int nr);
bool uprobe_point_has(struct uprobe_point *point, struct uprobe_consumer *uc);
struct uprobe_point *uprobe_point_new(struct uprobe_file *file, loff_t offset,
				      unsigned int needed);
int uprobe_point_insert(struct uprobe_point *point, struct uprobe_point *before);
struct uprobe_file *uprobe_file_find(struct inode *inode);
struct uprobe_point *uprobe_point_find(struct inode *inode, loff_t offset);
struct uprobe_point *uprobe_point_search_before(struct uprobe_file *file, loff_t offset);
struct uprobe_point *uprobe_point_first(struct uprobe_file *file, loff_t from);
bool uprobe_point_filter(struct uprobe_point *point, struct mm_struct *mm);
void uprobe_files_for_each(void (*fn)(struct uprobe_file *file, void *data), void *data);

/* decide.c */
extern unsigned int uprobe_nr_unread;
int uprobe_points_read(struct file *file, loff_t from, loff_t end);
int uprobe_points_read_mapped(struct inode *inode, loff_t from, loff_t end);
int uprobe_point_read(struct uprobe_point *point, struct uprobe_reader *reader);
void uprobe_reader_end(struct uprobe_reader *reader);
const struct uprobe_decision *uprobe_point_decide_slowly(struct uprobe_point *point,
							 unsigned int mode);
const struct uprobe_decision *uprobe_point_decide_new(struct uprobe_point *point,
						      unsigned int mode);
unsigned int uprobe_points_decide(struct uprobe_point **points, unsigned int nr,
				  unsigned int mode, int *err);
bool uprobe_points_agree(struct uprobe_point *a, struct uprobe_point *b, unsigned int mode);

/* table.c */
int uprobe_table_init(struct uprobe_mm *own);
int uprobe_table_reserve(struct uprobe_mm *own);
void uprobe_table_insert(struct uprobe_mm *own, struct uprobe_site *site);
void uprobe_table_for_each(struct uprobe_mm *own, void (*fn)(struct uprobe_site *, void *),
			   void *data);

/* site.c */
enum uprobe_resolved {
	UPROBE_RESOLVED,	/* the site is in the table now */
	UPROBE_RESTART,		/* the breakpoint is gone, or memory is short: execute again */
	UPROBE_FOREIGN,		/* a breakpoint of the program or of a debugger */
};

enum uprobe_resolved uprobe_site_resolve(unsigned long vaddr);
struct uprobe_point *uprobe_site_point(unsigned long vaddr, u64 id);
void uprobe_sites_detach(struct uprobe_point *point);
void uprobe_site_gone(struct uprobe_site *site);
void uprobe_site_renew(struct uprobe_mm *own, unsigned long vaddr, struct uprobe_point *point);
struct uprobe_mm *uprobe_mm_get(struct mm_struct *mm);
void uprobe_mm_free(struct uprobe_mm *own);
void uprobe_mms_for_each(void (*fn)(struct uprobe_mm *own, void *data), void *data);

/* area.c */
int uprobe_area_slot(struct uprobe_mm *own, struct uprobe_site *site);
int uprobe_area_create(struct uprobe_mm *own, unsigned long vaddr);
bool uprobe_area_has_room(struct uprobe_mm *own, unsigned long vaddr);
bool uprobe_area_holds(struct uprobe_mm *own, unsigned long slot, unsigned long vaddr,
		       const struct arch_uprobe *arch);
const struct uprobe_slot *uprobe_area_lookup(struct uprobe_mm *own, unsigned long addr);
void uprobe_area_unmapped(struct uprobe_mm *own, struct vm_area_struct *vma);
void uprobe_area_free(struct uprobe_area *area);

/* text.c */
void uprobe_text_give_back(struct vm_area_struct *vma, unsigned long page_addr);
int uprobe_text_page(struct vm_area_struct *vma, unsigned long page_addr,
		     struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op);
struct uprobe_point *uprobe_text_arm_mapped(struct vm_area_struct *vma, struct page *page,
					    struct uprobe_point *first, bool *undecided);

/**
 * uprobe_is_breakpoint() - are these bytes a breakpoint?
 * @at: UPROBE_SWBP_INSN_SIZE bytes
 *
 * Context: any.
 */
static __always_inline bool uprobe_is_breakpoint(const u8 *at)
{
	const uprobe_opcode_t breakpoint = UPROBE_SWBP_INSN;

	return !memcmp(at, &breakpoint, UPROBE_SWBP_INSN_SIZE);
}

/* text_read.c */
bool uprobe_breakpoint_at(unsigned long vaddr);
bool uprobe_text_is_untied(struct uprobe_untied *untied, struct page *page, unsigned int at);
struct page *uprobe_text_get(struct mm_struct *mm, unsigned long addr, unsigned int flags);
struct page *uprobe_text_get_own(struct vm_area_struct *vma, unsigned long addr);
void uprobe_text_put_own(struct page *page);
struct page *uprobe_text_get_armed(struct vm_area_struct *vma, unsigned long page_addr);
bool uprobe_text_is_cached(struct address_space *mapping, loff_t offset);
bool uprobe_text_is_none(struct vm_area_struct *vma, unsigned long page_addr);
bool uprobe_text_is_absent(struct vm_area_struct *vma, unsigned long addr);
bool uprobe_text_is_present(struct vm_area_struct *vma, unsigned long page_addr);
int uprobe_text_bring_in(struct file *file, loff_t offset);
unsigned int uprobe_text_read(struct mm_struct *mm, unsigned long addr, u8 *to, unsigned int len);
bool uprobe_text_read_next(struct uprobe_text_reader *reader, unsigned long addr);
bool uprobe_text_read_insn(struct uprobe_text_reader *reader, unsigned long addr);
void uprobe_text_reader_end(struct uprobe_text_reader *reader);

/* arm_vma.c */
enum uprobe_vma_kind {
	UPROBE_VMA_PROBED,	/* text */
	UPROBE_VMA_IGNORED,	/* not executable */
	UPROBE_VMA_REFUSED,	/* text that cannot be probed */
};

enum uprobe_vma_kind uprobe_vma_kind(struct vm_area_struct *vma, const char **why);
bool uprobe_vma_armed(struct vm_area_struct *vma);
int uprobe_arm_vma(struct vm_area_struct *vma, struct uprobe_point **points, unsigned int nr,
		   enum uprobe_text_op op);
loff_t uprobe_arm_mapped(struct vm_area_struct *vma, struct uprobe_file *file, loff_t from,
			 struct page *page);

/* arm.c */
int uprobe_arm_points(struct uprobe_point **points, unsigned int nr, enum uprobe_text_op op);
int uprobe_arm_forked(struct mm_struct *mm);
int uprobe_arm_moving(struct vm_area_struct *vma);
void uprobe_disarm_current(struct uprobe_point *point, unsigned long vaddr);

/* counter.c */
int uprobe_counter_note(struct uprobe_mm *own, struct uprobe_point *point);
int uprobe_counter_increase(struct uprobe_mm *own, struct uprobe_point *point);
void uprobe_counter_prepare(struct uprobe_mm *own, struct uprobe_point *point);
int uprobe_counter_decrease(struct uprobe_mm *own, struct uprobe_point *point);
void uprobe_counters_mapped(struct vm_area_struct *vma);
void uprobe_counters_catch_up(struct mm_struct *mm);
void uprobe_counters_unmapped(struct uprobe_mm *own, unsigned long start, unsigned long end);
int uprobe_counters_fork(struct uprobe_mm *own, struct mm_struct *mm);
void uprobe_counters_drop(struct uprobe_point *point);
void uprobe_counters_free(struct uprobe_mm *own);

/* observe.c */
extern unsigned long uprobe_epoch;
void uprobe_observe(void);
void uprobe_retire(struct uprobe_retired *retired);
void uprobe_observe_retired(void);
void uprobe_observe_add(struct uprobe_task *utask);
void uprobe_observe_remove(struct uprobe_task *utask);

/* task.c */
struct uprobe_task *uprobe_task_create(void);

/* instance.c */
extern atomic_long_t uprobe_returns_missed;
struct return_instance *uprobe_instance_new(struct uprobe_task *utask);
int uprobe_instance_grow(struct return_instance *ri);
void uprobe_instance_disown(struct return_instance *ri);
void uprobe_instance_missed(struct return_instance *ri);
void uprobe_instances_drop(struct uprobe_task *utask, enum rp_check ctx, struct pt_regs *regs);
void uprobe_instances_free(struct uprobe_task *utask);
int uprobe_instances_copy(struct uprobe_task *from, struct uprobe_task *to);

/* trampoline.c */
unsigned long uprobe_trampoline_map(void);

/* registration.c */
void uprobe_registrations_init(void);

/* process_point.c */
struct uprobe_point *uprobe_process_point_find(struct uprobe_mm *own, unsigned long vaddr);
struct uprobe_point *uprobe_process_give_up(struct uprobe_mm *own, unsigned long vaddr);
void uprobe_process_end(struct uprobe_mm *own);
void uprobe_process_unmapped(struct uprobe_mm *own, unsigned long start, unsigned long end);

/* fault.c */
void uprobe_emulate_faulting(struct uprobe_task *utask, const struct arch_uprobe *decision,
			     struct pt_regs *regs);

/* retprobe.c */
void uprobe_return_hit(struct uprobe_task *utask, struct pt_regs *regs);

/* uretprobe.c */
void uretprobe_instance_free(u64 cookie);
void uretprobe_instance_missed(u64 cookie);
void uretprobe_spare_free(struct uprobe_task *utask);

/* deferred.c */
void uprobe_deferred_run(struct uprobe_task *utask);
void uprobe_deferred_drop(struct uprobe_task *utask);

/* leave.c */
bool uprobe_leave_held(struct uprobe_mm *own, struct pt_regs *regs, unsigned long vaddr);

#endif /* _KERNEL_UPROBES_INTERNAL_H */
