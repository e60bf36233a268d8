/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H
/*
 * What the files of the kprobes core share.  Prototypes are grouped under the
 * file that implements them.
 *
 * Locks, outermost first:
 *
 *	kprobe_mutex		everything below: the table's writers, all
 *				probepoints and their handles, the blacklist
 *	  cpus_read_lock()	text patching on architectures that stop CPUs
 *	    jump_label_lock()	checking an address against static keys
 *	  kprobe_insn_cache::mutex  bookkeeping of instruction slots
 *	    text_mutex		kernel text and the slots' contents; outside
 *				that mutex where the backend has no batches
 *	  ftrace's own locks	never under text_mutex
 *	kretprobe_mutex		instances of return probes; beside the others, with
 *				nothing taken inside
 *
 * No lock is held across a grace period.  What runs at a hit (hit.c, fault.c,
 * dispatch.c, the look-up in table.c, slot owner look-up in slots.c, and the
 * architecture's trap code) takes no lock and relies on preemption being disabled:
 * all that it can reach is freed only after a grace period that waits for it.
 */
#include <linux/bug.h>
#include <linux/kprobes.h>
#include <linux/kprobes-rcu.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/lockdep.h>
#include <linux/static_call_types.h>

struct kprobe_place;
struct module;
struct seq_file;

#undef pr_fmt
#define pr_fmt(fmt) "kprobes: " fmt

/*
 * Private bits of kprobe::flags.  KIND says which API has registered a handle
 * and is what debugfs shows; RESOLVED remembers that addr came from
 * symbol_name, so that the same struct can be registered again; STAGED marks
 * the handles of a batch that is being checked.  RETURN_ONLY is for representatives: all
 * there is to be called is one return probe, and no handler asks for registers.  SKIPPED is
 * the size of the landing pad that lies between the address that the user gave and the
 * probed one.  Those about detours are in <linux/kprobes-optimize.h>.
 */
#define KPROBE_FLAG_KIND_RETURN	BIT(16)
#define KPROBE_FLAG_KIND_JPROBE	BIT(17)
#define KPROBE_FLAG_KIND_MASK	(KPROBE_FLAG_KIND_RETURN | KPROBE_FLAG_KIND_JPROBE)
#define KPROBE_FLAG_RESOLVED	BIT(18)
#define KPROBE_FLAG_STAGED	BIT(19)
#define KPROBE_FLAG_RETURN_ONLY	BIT(20)
#define KPROBE_FLAG_SKIPPED	GENMASK(25, 22)

/**
 * enum kprobe_state - what is in the text at a probepoint
 * @KPROBE_DISARMED:	the original instruction
 * @KPROBE_BREAKPOINT:	the architecture's breakpoint
 * @KPROBE_JUMP:	a jump to the point's detour
 * @KPROBE_FTRACE:	a call to ftrace, which calls the point
 * @KPROBE_GONE:	the text has been freed
 * @NR_KPROBE_STATES:	number of the states
 *
 *	DISARMED <--> BREAKPOINT <--> JUMP
 *	    ^ `--------> FTRACE
 *	    `---------------'
 *	any ----> GONE
 *
 * Changed by kprobe_point_set_state() only.
 */
enum kprobe_state {
	KPROBE_DISARMED,
	KPROBE_BREAKPOINT,
	KPROBE_JUMP,
	KPROBE_FTRACE,
	KPROBE_GONE,
	NR_KPROBE_STATES,
};

/**
 * enum kprobe_opt - what the optimizer has in mind for a point
 * @KPROBE_OPT_NONE:	nothing
 * @KPROBE_OPT_QUEUED:	to see whether there can be a jump, and to make its detour
 * @KPROBE_OPT_OUTDATED: to wait until nobody is in its old detour, and make another
 * @KPROBE_OPT_SETTLING: to wait until nobody is where the jump will be, unless that is
 *			 one instruction: arch_jump_is_one_insn()
 *
 *	NONE <--> QUEUED <--> OUTDATED
 *	  ^         |
 *	  |         v
 *	  `---- SETTLING		and then it is NONE, in KPROBE_JUMP
 *
 * All but NONE are found in KPROBE_BREAKPOINT only.  Changed in optimizer.c only.
 */
enum kprobe_opt {
	KPROBE_OPT_NONE,
	KPROBE_OPT_QUEUED,
	KPROBE_OPT_OUTDATED,
	KPROBE_OPT_SETTLING,
};

/**
 * enum kprobe_unopt - why a point that has its breakpoint does not get a jump
 * @KPROBE_UNOPT_NONE:	it does, or nobody has looked yet
 * @KPROBE_UNOPT_OFF:	the user does not want any
 * @KPROBE_UNOPT_NEIGHBOUR: another probe is armed where the jump would be
 * @KPROBE_UNOPT_OWNED:	somebody else patches an instruction there
 * @KPROBE_UNOPT_POST:	the architecture's detours do not call post handlers
 * @KPROBE_UNOPT_MEMORY: there was none
 * @KPROBE_UNOPT_ARCH:	the architecture says why
 * @NR_KPROBE_UNOPTS:	number of the reasons
 */
enum kprobe_unopt {
	KPROBE_UNOPT_NONE,
	KPROBE_UNOPT_OFF,
	KPROBE_UNOPT_NEIGHBOUR,
	KPROBE_UNOPT_OWNED,
	KPROBE_UNOPT_POST,
	KPROBE_UNOPT_MEMORY,
	KPROBE_UNOPT_ARCH,
	NR_KPROBE_UNOPTS,
};

/**
 * struct kprobe_point - all there is at one probed address
 * @kp:		representative: what the architecture and get_kprobe() see; its
 *		addr is the key of the table.  Its list links the point into a
 *		work list while a batch is patched, and into that of points to be
 *		freed; its call walks over @handles
 * @op:		the same, with what belongs to its detour; its list links the point
 *		into those of the optimizer, or into the list of gone points
 * @handles:	registrations (struct kprobe::list), in the order in which they
 *		came; RCU, written under kprobe_mutex
 * @lone:	the handle whose kprobe::call is all that a hit has to make; @kp if a hit
 *		has to walk over @handles.  See kprobe_point_update_handlers()
 * @only:	the same handle, if there is no other at the point, it is enabled, and has no
 *		fault_handler: its post_handler is all that a hit has to call afterwards;
 *		else NULL
 * @state:	what is in the text
 * @opt:	what the optimizer is about to do
 * @unopt:	what keeps it from that
 * @ftrace_ip_modify: in KPROBE_FTRACE, which of the two ftrace_ops calls it
 */
struct kprobe_point {
	union {
		struct kprobe kp;
		struct optimized_kprobe op;
	};
	struct list_head handles;
	struct kprobe *lone;
	struct kprobe *only;
	u8 state;
	u8 opt;
	u8 unopt;
	bool ftrace_ip_modify;
};

static_assert(!offsetof(struct optimized_kprobe, kp));

static __always_inline struct kprobe_point *kprobe_to_point(struct kprobe *kp)
{
	return container_of(kp, struct kprobe_point, kp);
}

static __always_inline unsigned long kprobe_point_addr(const struct kprobe_point *point)
{
	return (unsigned long)point->kp.addr;
}

/*
 * Notes whose handler is running, for the fault path; NULL: nobody's.
 * Architectures with one current probe per CPU have no such path.
 */
#ifdef CONFIG_HAVE_KPROBE_LEVELS
static __always_inline void kprobe_note_handle(struct kprobe *handle)
{
	kprobe_this_frame()->handle = handle;
}
#else
static __always_inline void kprobe_note_handle(struct kprobe *handle) { }
#endif

extern struct mutex kprobe_mutex;

/* kernel/kprobes.c */
extern bool kprobes_ready;

/* batch.c */
int kprobe_register_batch(struct kprobe **kps, int num, u32 kind);

/*
 * Return probes and jprobes begin with their kprobe: an array of pointers to them is
 * an array of pointers to kprobes.
 */
static_assert(!offsetof(struct kretprobe, kp));
static_assert(!offsetof(struct jprobe, kp));

/* enable.c */
int kprobe_rearm_all(bool enable);
extern bool kprobes_all_disarmed;

/* point.c */
struct kprobe_point *kprobe_point_create(const struct kprobe_place *place);
void kprobe_point_release(struct kprobe_point *point);
void kprobe_point_set_state(struct kprobe_point *point, enum kprobe_state state);
void kprobe_point_add_handle(struct kprobe_point *point, struct kprobe *kp);
void kprobe_point_remove_handle(struct kprobe_point *point, struct kprobe *kp);
void kprobe_point_update_handlers(struct kprobe_point *point);
void kprobe_wait_until_left(void);
bool kprobe_point_wants_arming(struct kprobe_point *point);
bool kprobe_point_armed(const struct kprobe_point *point);
struct kprobe *kprobe_point_find_handle(struct kprobe_point *point, struct kprobe *kp);
struct kprobe_point *kprobe_point_of(struct kprobe *kp);
bool kprobe_handle_registered(struct kprobe *kp, unsigned long addr);
int kprobe_points_init(void);

/* dispatch.c */
int kprobe_call_nothing(struct kprobe *handle, struct pt_regs *regs);
int kprobe_call_noted(struct kprobe *handle, struct pt_regs *regs);
int kprobe_dispatch_pre(struct kprobe *kp, struct pt_regs *regs);
int kprobe_dispatch_many(struct kprobe *kp, struct pt_regs *regs);
void kprobe_dispatch_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags);

/* See kprobes_inc_nmissed_count(). */
static __always_inline void kprobe_count_miss(struct kprobe_point *point)
{
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *only = READ_ONCE(point->only);

	if (likely(only))
		raw_atomic_long_inc((atomic_long_t *)&only->nmissed);
	else
		kprobes_inc_nmissed_count(&point->kp);
}

/* For return probes, whose handlers are not called by a probe's trap. */
#ifdef CONFIG_HAVE_KPROBE_LEVELS
#define kretprobe_this_frame()	kprobe_this_frame()

/* The frame of task context, without asking for its address first. */
#define kprobe_task_frame	kprobe_cpu.frames[KPROBE_LEVEL_TASK]

/*
 * Returns true in task context.  In a probe's trap preempt_count() says NMI, and it may be task
 * context all the same: kprobe_this_level() is exact.
 */
static __always_inline bool kprobe_in_task(void)
{
	return !((u32)preempt_count() & (u32)(NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET));
}

/*
 * Returns true if no handler of task context runs on this CPU.  Bits of memory are tested by
 * one instruction, while compilers load what they compare.
 */
static __always_inline bool kprobe_task_is_free(void)
{
	return !(raw_cpu_read(kprobe_task_frame.phase) &
		 (KPROBE_PHASE_HANDLER | KPROBE_PHASE_STEPPING));
}

static_assert(!KPROBE_PHASE_IDLE);

/* Returns true in task context whose level is free, if RCU is watching. */
static __always_inline bool kprobe_in_free_task(void)
{
	return likely(kprobe_in_task()) && likely(kprobe_task_is_free()) &&
	       likely(kprobe_rcu_is_watching());
}

/* kprobe_frame_enter() and kprobe_frame_leave() of that frame. */
static __always_inline void kprobe_task_enter(struct kprobe *kp)
{
	raw_cpu_write(kprobe_task_frame.phase, KPROBE_PHASE_HANDLER);
	barrier();
	raw_cpu_write(kprobe_task_frame.kp, kp);
	barrier();
}

static __always_inline void kprobe_task_leave(void)
{
	barrier();
	raw_cpu_write(kprobe_task_frame.phase, KPROBE_PHASE_IDLE);
	barrier();
}

/**
 * struct kprobe_outer - what kprobe_push_current() has put aside
 * @phase:	of the level; KPROBE_PHASE_IDLE if no handler was running
 * @kp:		the current probe, if one was
 */
struct kprobe_outer {
	enum kprobe_phase phase;
	struct kprobe *kp;
};

/**
 * kprobe_push_current() - make a return probe the current probe of its level
 * @frame: kretprobe_this_frame()
 * @kp: the probe that kprobe_running() returns until kprobe_pop_current()
 *
 * Probes of this level that are hit meanwhile are missed, as in any handler.
 *
 * Context: any, preemption disabled.
 * Return: the argument of kprobe_pop_current().
 */
static __always_inline struct kprobe_outer kprobe_push_current(struct kprobe_frame *frame,
							       struct kprobe *kp)
{
	struct kprobe_outer outer = { .phase = frame->phase };

	if (likely(outer.phase == KPROBE_PHASE_IDLE)) {
		kprobe_frame_enter(frame, kp);
		return outer;
	}
	outer.kp = frame->kp;
	frame->kp = kp;
	return outer;
}

/* Ends what kprobe_push_current() has begun, which has returned @outer. */
static __always_inline void kprobe_pop_current(struct kprobe_frame *frame,
					       struct kprobe_outer outer)
{
	if (likely(outer.phase == KPROBE_PHASE_IDLE))
		kprobe_frame_leave(frame);
	else
		frame->kp = outer.kp;
}
#else
/* A hit in an interrupt is a miss while one is handled: there are no frames. */
struct kprobe_frame;
#define kretprobe_this_frame()	NULL

static __always_inline bool kprobe_in_free_task(void)
{
	return false;
}

static __always_inline void kprobe_task_enter(struct kprobe *kp) { }
static __always_inline void kprobe_task_leave(void) { }

struct kprobe_outer {
	struct kprobe *kp;
};

struct kprobe_outer kprobe_push_current(struct kprobe_frame *frame, struct kprobe *kp);
void kprobe_pop_current(struct kprobe_frame *frame, struct kprobe_outer outer);
#endif

/* table.c */
struct kprobe_point *kprobe_table_find(unsigned long addr);
int kprobe_table_reserve(unsigned int points);
void kprobe_table_insert(struct kprobe_point *point);
void kprobe_table_remove(struct kprobe_point *point);
struct kprobe_point *kprobe_table_next(unsigned long *pos);
unsigned int kprobe_table_points(void);

/* Walks all points of the table; kprobe_mutex held, removing @point is fine. */
#define for_each_kprobe_point(point, pos)				\
	for ((pos) = 0; ((point) = kprobe_table_next(&(pos))); (pos)++)

/* address.c */

/*
 * enum kprobe_refusal - why a registration was refused
 *
 * Names and texts are in address.c; each has its errno in kprobes.rst.
 */
enum kprobe_refusal {
	KPROBE_REFUSE_BAD_ARGUMENT,
	KPROBE_REFUSE_SYMBOL_AND_ADDR,
	KPROBE_REFUSE_NO_PLACE,
	KPROBE_REFUSE_NO_SYMBOL,
	KPROBE_REFUSE_NOT_TEXT,
	KPROBE_REFUSE_BLACKLISTED,
	KPROBE_REFUSE_JUMP_LABEL,
	KPROBE_REFUSE_STATIC_CALL,
	KPROBE_REFUSE_BUG,
	KPROBE_REFUSE_CFI,
	KPROBE_REFUSE_FTRACE,
	KPROBE_REFUSE_BOUNDARY,
	KPROBE_REFUSE_MODULE_GOING,
	KPROBE_REFUSE_REGISTERED,
	KPROBE_REFUSE_INSTRUCTION,
	KPROBE_REFUSE_ARMING,
	KPROBE_REFUSE_NOT_ENTRY,
	KPROBE_REFUSE_RETURN_BLACKLISTED,
	KPROBE_REFUSE_DATA_SIZE,
	KPROBE_REFUSE_JPROBE_HANDLER,
	KPROBE_REFUSE_SECOND_JPROBE,
	KPROBE_REFUSE_NO_MEMORY,
	NR_KPROBE_REFUSALS,
};

/**
 * enum kprobe_name - what a symbol's name tells
 * @KPROBE_NAME_PLAIN:	nothing
 * @KPROBE_NAME_BLACK:	must not be probed
 * @KPROBE_NAME_CFI:	is the CFI preamble of a function
 */
enum kprobe_name {
	KPROBE_NAME_PLAIN,
	KPROBE_NAME_BLACK,
	KPROBE_NAME_CFI,
};

/**
 * struct kprobe_place - where a registration goes, and why not
 * @addr:	found address
 * @offset:	what it is from the start of its symbol
 * @skipped:	bytes from the address that was asked for: a landing pad
 * @on_func_entry: it is a function's entry
 * @ftrace:	ftrace owns the instruction
 * @name:	what the symbol's name tells
 * @mod:	module whose text it is, with a reference; NULL for the kernel
 */
struct kprobe_place {
	unsigned long addr;
	unsigned long offset;
	unsigned int skipped;
	bool on_func_entry;
	bool ftrace;
	enum kprobe_name name;
	struct module *mod;
};

int kprobe_place_find(const struct kprobe *p, struct kprobe_place *place);
int kprobe_place_check(struct kprobe_place *place);
void kprobe_place_put(struct kprobe_place *place);
int kprobe_refuse(unsigned long addr, enum kprobe_refusal reason, int err);

/* owned.c */
int kprobe_owned_check(const struct kprobe_place *place);
int kprobe_owned_range(unsigned long start, unsigned long end);
void kprobe_owned_forget(void);
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
extern struct static_call_site __start_static_call_sites[], __stop_static_call_sites[];
#endif
#ifdef CONFIG_GENERIC_BUG
extern struct bug_entry __start___bug_table[], __stop___bug_table[];
#endif

/* blacklist.c */
int kprobe_blacklist_init(void);
bool kprobe_blacklist_covers(unsigned long addr);
void kprobe_blacklist_add_module(struct module *mod);
void kprobe_blacklist_remove_module(struct module *mod);
bool kprobe_blacklist_has(unsigned int index);
void kprobe_blacklist_show(struct seq_file *m, unsigned int index, bool show_addresses);

/* names.c */
enum kprobe_name kprobe_name_verdict(char *name);
bool kprobe_symbol_find(unsigned long addr, unsigned long *offset, enum kprobe_name *verdict);
void kprobe_names_read_all(void);

/* arm.c */
void kprobe_collect(struct kprobe_point *point, struct list_head *list);
void kprobe_uncollect_all(struct list_head *list);
void kprobe_sort_points(struct list_head *points);
int kprobe_arm_points(struct list_head *points);
void kprobe_disarm_points(struct list_head *points);

/* arm_ftrace.c */
#ifdef CONFIG_KPROBES_ON_FTRACE
int kprobe_arm_ftrace(struct list_head *points);
void kprobe_disarm_ftrace(struct list_head *points);
#else
static inline int kprobe_arm_ftrace(struct list_head *points)
{
	return list_empty(points) ? 0 : -EINVAL;
}

static inline void kprobe_disarm_ftrace(struct list_head *points) { }
#endif

/* gone.c */
struct kprobe_point *kprobe_gone_find(struct kprobe *kp);
void kprobe_bury_range(unsigned long start, unsigned long end);
void kprobe_gone_forget_handle(struct kprobe *kp);
extern struct list_head kprobe_gone_points;

/* module.c */
#ifdef CONFIG_MODULES
int kprobe_module_init(void);
#else
static inline int kprobe_module_init(void)
{
	return 0;
}
#endif

/* slots.c */
void kprobe_optinsn_slots_init(void);

/* jprobe.c */
int kprobe_enter_jprobe(struct kprobe *kp, struct pt_regs *regs);

/* kretprobe.c */
#ifdef CONFIG_KRETPROBES
int kretprobe_init(void);
#else
static inline int kretprobe_init(void)
{
	return 0;
}
#endif

/* kretprobe_rethook.c or kretprobe_native.c */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs);
int kretprobe_engine_enter_bare(struct kprobe *kp, struct pt_regs *regs);
int kretprobe_engine_alloc(struct kretprobe *rp);
void kretprobe_engine_stop(struct kretprobe *rp);
void kretprobe_engine_free(struct kretprobe **rps, int num);

/* optimizer.c */
extern bool kprobe_optimization_allowed;
#ifdef CONFIG_OPTPROBES
void kprobe_optimizer_queue(struct kprobe_point *point);
bool kprobe_optimizer_misfit(struct kprobe_point *point);
void kprobe_optimizer_refit(struct list_head *points);
void kprobe_unoptimize_points(struct list_head *points, enum kprobe_unopt why);
void kprobe_optimizer_allow(bool allow);
void kprobe_optimizer_flush(void);
const char *kprobe_optimizer_says(struct kprobe_point *point);
int kprobe_optimizer_init(void);

/* fit.c */
void kprobe_detour_choose(struct kprobe_point *point);
bool kprobe_detour_fits(struct kprobe_point *point);
void kprobe_detour_use(struct kprobe_point *point, bool use);

/* neighbours.c */
bool kprobe_neighbour_armed(struct kprobe_point *point);
void kprobe_optimizer_make_way(struct list_head *points);
void kprobe_optimizer_retry_around(struct list_head *points);
#else
static inline void kprobe_optimizer_queue(struct kprobe_point *point) { }

static inline bool kprobe_optimizer_misfit(struct kprobe_point *point)
{
	return false;
}

static inline void kprobe_optimizer_refit(struct list_head *points) { }

static inline void kprobe_optimizer_make_way(struct list_head *points) { }
static inline void kprobe_optimizer_retry_around(struct list_head *points) { }
static inline void kprobe_unoptimize_points(struct list_head *points,
					    enum kprobe_unopt why) { }
static inline void kprobe_optimizer_flush(void) { }

static inline const char *kprobe_optimizer_says(struct kprobe_point *point)
{
	return point->state == KPROBE_BREAKPOINT ? "the architecture has no jumps" : "";
}

static inline int kprobe_optimizer_init(void)
{
	return 0;
}
#endif

#endif /* _KERNEL_KPROBES_INTERNAL_H */
