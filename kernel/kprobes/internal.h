/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_KPROBES_INTERNAL_H
#define _KERNEL_KPROBES_INTERNAL_H
/*
 * Declarations that the files of the kprobes core share.  Prototypes are grouped
 * under the file that implements them.
 *
 * Locks, outermost first:
 *
 *	kprobe_mutex		everything below: the table's writers, all
 *				probepoints and their probes, the blacklist
 *	  cpus_read_lock()	text patching on architectures that stop CPUs
 *	    jump_label_lock()	checking an address against static keys; switching
 *				kprobes_used on
 *	    static_call_lock()	checking an address against static calls; never with
 *				jump_label_lock()
 *	      text_mutex	kernel text and the slots' contents
 *		kprobe_insn_cache::mutex  bookkeeping of slots; backends with batches
 *				take it without text_mutex
 *		module_mutex	kallsyms takes it when x86 looks up parts of functions
 *	  ftrace's own locks	never under text_mutex
 *	  kretprobe_mutex	instances of return probes
 *	    kretprobe_class::lock  spinlock: the pools of a class, which an irq_work
 *				extends; a leaf
 *	pages_lock		spinlock of slots.c: the hash of pages of slots; a leaf
 *	released_lock		spinlock of release.c: points that a worker will free; a leaf
 *
 * The core waits for grace periods without a lock, unless memory is short (kprobe_point_create());
 * ftrace waits for its own under kprobe_mutex.  kprobe_wait_until_left() holds cpus_read_lock()
 * while it waits for the stoppers of CPUs, which have the highest priority.  Code that runs at a
 * hit (hit/, and hit/ of the backends) takes no lock, because preemption is disabled: all objects
 * that it can reach are freed only after a grace period that waits for it.
 */
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/lockdep.h>
#include <linux/static_call_types.h>

struct kprobe_place;
struct module;
struct seq_file;

#undef pr_fmt
#define pr_fmt(fmt) "kprobes: " fmt

/*
 * Private bits of kprobe::flags.  KIND is the API that has registered a probe; debugfs shows
 * it.  RESOLVED: addr was derived from symbol_name, and is derived again if the same struct is
 * registered again.  STAGED marks the probes of a batch that is being registered, until they
 * are published; DETACHED those of a batch that is being unregistered.  SKIPPED is the size of
 * the landing pad between the address that the user gave and the probed address.
 * <linux/kprobes-optimize.h> has the bits about detours.
 */
#define KPROBE_FLAG_KIND_RETURN	BIT(16)
#define KPROBE_FLAG_KIND_JPROBE	BIT(17)
#define KPROBE_FLAG_RESOLVED	BIT(18)
#define KPROBE_FLAG_STAGED	BIT(19)
#define KPROBE_FLAG_DETACHED	BIT(20)
#define KPROBE_FLAG_SKIPPED	GENMASK(25, 22)

/**
 * enum kprobe_state - content of the text at a probepoint
 * @KPROBE_DISARMED:	the original instruction
 * @KPROBE_BREAKPOINT:	the architecture's breakpoint
 * @KPROBE_JUMP:	a jump to the point's detour
 * @KPROBE_FTRACE:	a call to ftrace, which calls the point
 * @KPROBE_CARRIED:	ftrace's instruction; the point after it, the carrier, calls the
 *			probes of this point (carrier.c)
 * @KPROBE_GONE:	the text has been freed
 * @NR_KPROBE_STATES:	number of the states
 *
 *	CARRIED --> FTRACE
 *	      ^      ^
 *	      |      |
 *	      v      v
 *	      DISARMED <--> BREAKPOINT <--> JUMP
 *		 |
 *		 v
 *	       GONE
 *
 * Only kprobe_point_set_state() changes it, and refuses other transitions.
 */
enum kprobe_state {
	KPROBE_DISARMED,
	KPROBE_BREAKPOINT,
	KPROBE_JUMP,
	KPROBE_FTRACE,
	KPROBE_CARRIED,
	KPROBE_GONE,
	NR_KPROBE_STATES,
};

/**
 * enum kprobe_opt - next step of the optimizer for a point
 * @KPROBE_OPT_NONE:	no step
 * @KPROBE_OPT_QUEUED:	check whether a jump is possible, and make its detour
 * @KPROBE_OPT_OUTDATED: wait until no task is in the old detour, then make another one
 * @KPROBE_OPT_SETTLING: wait until no task is in the text that the jump will cover, unless
 *			 that is one instruction (arch_jump_is_one_insn()); write the jump
 * @NR_KPROBE_OPTS:	number of the steps
 *
 *	NONE ---> QUEUED ---> SETTLING
 *		   |  ^
 *		   v  |
 *		 OUTDATED
 *	any ---> NONE		the jump is written, or there will be none
 *
 * All but NONE occur in KPROBE_BREAKPOINT only.  Only set_opt() in optimizer.c changes it,
 * and checks the transition.
 */
enum kprobe_opt {
	KPROBE_OPT_NONE,
	KPROBE_OPT_QUEUED,
	KPROBE_OPT_OUTDATED,
	KPROBE_OPT_SETTLING,
	NR_KPROBE_OPTS,
};

/**
 * enum kprobe_role - is a point the carrier of another one?
 * @KPROBE_ROLE_NONE:	no
 * @KPROBE_ROLE_KEPT:	yes, for the point on ftrace's instruction before it
 * @KPROBE_ROLE_CARRIES: as before, and a hit has to call the probes of that point first
 * @NR_KPROBE_ROLES:	number of the roles
 *
 *	NONE -> KEPT       a site wants a carrier there: keep_carrier()
 *	KEPT -> CARRIES    the site is carried: attach()
 *	CARRIES -> KEPT    ftrace serves the site, or the site is disarmed: detach()
 *	KEPT -> NONE       the site is removed, or cannot be carried: kprobe_carrier_release()
 *
 * Only set_role() in carrier.c changes it, and checks the transition.
 */
enum kprobe_role {
	KPROBE_ROLE_NONE,
	KPROBE_ROLE_KEPT,
	KPROBE_ROLE_CARRIES,
	NR_KPROBE_ROLES,
};

/**
 * struct kprobe_point - a probed address (probepoint)
 * @kp:		representative: the architecture and callers of get_kprobe() see only this
 *		part.  Its addr is the key of the table.  Its list links the point into a
 *		work list (kprobe_collect()), or into the list of points to be freed.  Its
 *		call walks over @probes
 * @op:		the representative, with the data of its detour.  Its list links the point
 *		into the lists of the optimizer, or into the list of gone points
 * @probes:	registrations (struct kprobe::node), in the order of registration; RCU,
 *		written under kprobe_mutex
 * @lone:	the only probe whose handlers a hit has to call, and which it has missed if it
 *		cannot; @kp if a hit has to walk over @probes.  See lone_probe()
 * @state:	content of the text, enum kprobe_state
 * @opt:	next step of the optimizer, enum kprobe_opt
 * @obstacle:	reason why there is no jump, enum kprobe_obstacle
 * @role:	is this the carrier of another point?  enum kprobe_role; hits read it
 * @ftrace_ip_modify: in KPROBE_FTRACE, which of the two ftrace_ops calls the point
 *
 * There may be many points, so members of @kp that only registrations use have room for the
 * others: symbol_name, offset and fault_handler here, and more in struct optimized_kprobe.
 */
struct kprobe_point {
	union {
		struct kprobe kp;
		struct optimized_kprobe op;
		struct {
			/* private: */
			u8 __before_lone[offsetof(struct kprobe, symbol_name)];
			/* public: */
			struct kprobe *lone;
			u8 state : 4;
			u8 opt : 4;
			u8 obstacle;
			u8 role;
			bool ftrace_ip_modify;
		};
		struct {
			/* private: */
			u8 __before_probes[offsetof(struct kprobe, fault_handler)];
			/* public: */
			struct hlist_head probes;
		};
	};
};

static_assert(!offsetof(struct optimized_kprobe, kp));
static_assert(offsetofend(struct kprobe_point, lone) == offsetof(struct kprobe, offset));
static_assert(offsetofend(struct kprobe_point, ftrace_ip_modify) == offsetof(struct kprobe, flags));
static_assert(sizeof_field(struct kprobe_point, probes) ==
	      sizeof_field(struct kprobe, fault_handler));
static_assert(sizeof(struct kprobe_point) == sizeof(struct optimized_kprobe));
static_assert(NR_KPROBE_STATES <= 16 && NR_KPROBE_OPTS <= 16);

static __always_inline struct kprobe_point *kprobe_to_point(struct kprobe *kp)
{
	return container_of(kp, struct kprobe_point, kp);
}

/* Walk over the probes of a point; the second at a hit, without lockdep, which can be probed. */
#define for_each_probe(probe, point)					\
	hlist_for_each_entry(probe, &(point)->probes, node)
#define for_each_probe_rcu(probe, point)				\
	hlist_for_each_entry_rcu(probe, &(point)->probes, node, true)

static __always_inline unsigned long kprobe_point_addr(const struct kprobe_point *point)
{
	return (unsigned long)point->kp.addr;
}

extern struct mutex kprobe_mutex;

/* guard(kprobe_text): the locks that text patching needs.  Context: kprobe_mutex held. */
DEFINE_LOCK_GUARD_0(kprobe_text, cpus_read_lock(); mutex_lock(&text_mutex),
		    mutex_unlock(&text_mutex); cpus_read_unlock())

/* kernel/kprobes.c */
extern bool kprobes_ready;

/* batch.c */
int kprobe_register_batch(struct kprobe **kps, int num, u32 kind, struct kprobe_why *why);
void kprobe_unregister_batch(struct kprobe **kps, int num);

/*
 * Return probes and jprobes begin with their kprobe, so an array of pointers to them is
 * also an array of pointers to kprobes.
 */
static_assert(!offsetof(struct kretprobe, kp));
static_assert(!offsetof(struct jprobe, kp));

/* release.c */
void kprobe_points_release(struct list_head *points);
void kprobe_wait_until_left(void);

/* point.c */
struct kprobe_point *kprobe_point_create(const struct kprobe_place *place, const char **why);
void kprobe_points_unpublish(struct list_head *points);
void kprobe_point_set_state(struct kprobe_point *point, enum kprobe_state state);
void kprobe_point_add_probe(struct kprobe_point *point, struct kprobe *kp);
void kprobe_point_remove_probe(struct kprobe_point *point, struct kprobe *kp);
bool kprobe_point_return_only(struct kprobe_point *point);
void kprobe_point_update_handlers(struct kprobe_point *point);
bool kprobe_point_wants_arming(struct kprobe_point *point);
bool kprobe_point_armed(const struct kprobe_point *point);
bool kprobe_point_unused(const struct kprobe_point *point);
struct kprobe *kprobe_point_find_probe(struct kprobe_point *point, struct kprobe *kp);
struct kprobe_point *kprobe_point_of(struct kprobe *kp, unsigned long addr);
void kprobe_point_add_gone(struct kprobe_point *point);
void kprobe_gone_forget(struct kprobe *kp);
extern struct list_head kprobe_gone_points;
void kprobe_collect(struct kprobe_point *point, struct list_head *points);
void kprobe_uncollect_all(struct list_head *points);
int kprobe_points_init(void);

/* Walk over the points of a work list; in the second walk, @point may be removed or freed. */
#define for_each_collected(point, points)				\
	list_for_each_entry(point, points, kp.list)
#define for_each_collected_safe(point, next, points)			\
	list_for_each_entry_safe(point, next, points, kp.list)

/* hit/dispatch.c */
int kprobe_call_nothing(struct kprobe *probe, struct pt_regs *regs);
int kprobe_call_noted(struct kprobe *probe, struct pt_regs *regs);
int kprobe_dispatch_pre(struct kprobe *kp, struct pt_regs *regs);
int kprobe_dispatch_many(struct kprobe *kp, struct pt_regs *regs);
void kprobe_dispatch_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags);

/* kprobes_inc_nmissed_count(), faster for a point with one probe. */
static __always_inline void kprobe_count_miss(struct kprobe_point *point)
{
	/* Pairs with smp_store_release() in kprobe_point_update_handlers(). */
	struct kprobe *lone = READ_ONCE(point->lone);

	if (likely(lone != &point->kp))
		raw_atomic_long_inc((atomic_long_t *)&lone->nmissed);
	else
		kprobes_inc_nmissed_count(&point->kp);
}

/* hit/ftrace.c */
int kprobe_call_nop(struct kprobe *probe, struct pt_regs *regs);

/* hit/carrier.c */
int kprobe_dispatch_carrier(struct kprobe *kp, struct pt_regs *regs);
int kprobe_dispatch_both(struct kprobe *kp, struct pt_regs *regs);
int kprobe_dispatch_site(struct kprobe *kp, struct pt_regs *regs);
bool kprobe_site_is_carried(struct kprobe *kp);

/* hit/lookup.c */
struct kprobe_point *kprobe_table_find(unsigned long addr);

/* Without carriers the functions that use it return earlier. */
#ifndef KPROBE_CARRIER_OFFSET
#define KPROBE_CARRIER_OFFSET	0
#endif

/* Has a hit of @point to call the probes of another one first?  Context: while @point exists. */
static __always_inline bool kprobe_point_carries(const struct kprobe_point *point)
{
	if (!IS_ENABLED(CONFIG_KPROBE_CARRIERS))
		return false;
	/* Pairs with the release in set_role(). */
	return smp_load_acquire(&point->role) == KPROBE_ROLE_CARRIES;
}

/*
 * Returns the point whose probes a hit of @point calls before its own, or NULL.
 * Context: kprobe_mutex held, or preemption disabled.
 */
static __always_inline struct kprobe_point *kprobe_point_carried(struct kprobe_point *point)
{
	if (likely(!kprobe_point_carries(point)))
		return NULL;
	return kprobe_table_find(kprobe_point_addr(point) - KPROBE_CARRIER_OFFSET);
}

/* table.c */
int kprobe_table_reserve(unsigned int points);
void kprobe_table_insert(struct kprobe_point *point);
void kprobe_table_remove(struct kprobe_point *point);
struct kprobe_point *kprobe_table_next(unsigned long *pos);

/* Walks over all points of the table.  @point may be removed.  Context: kprobe_mutex held. */
#define for_each_kprobe_point(point, pos)				\
	for ((pos) = 0; ((point) = kprobe_table_next(&(pos))); (pos)++)

/* address.c */

/*
 * enum kprobe_refusal - why a registration was refused
 *
 * Texts and errnos are in address.c; see also Documentation/trace/kprobes.rst, Errors.
 */
enum kprobe_refusal {
	KPROBE_REFUSE_NONE,
	KPROBE_REFUSE_NOT_READY,
	KPROBE_REFUSE_BAD_ARGUMENT,
	KPROBE_REFUSE_SYMBOL_AND_ADDR,
	KPROBE_REFUSE_NO_PLACE,
	KPROBE_REFUSE_NO_SYMBOL,
	KPROBE_REFUSE_BAD_OFFSET,
	KPROBE_REFUSE_NOT_TEXT,
	KPROBE_REFUSE_BLACKLISTED,
	KPROBE_REFUSE_JUMP_LABEL,
	KPROBE_REFUSE_STATIC_CALL,
	KPROBE_REFUSE_BUG,
	KPROBE_REFUSE_LIVE_PATCH,
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
 * enum kprobe_name - property of a symbol that follows from its name
 * @KPROBE_NAME_PLAIN:	none
 * @KPROBE_NAME_BLACK:	the symbol must not be probed
 * @KPROBE_NAME_CFI:	the symbol is the CFI preamble of a function
 */
enum kprobe_name {
	KPROBE_NAME_PLAIN,
	KPROBE_NAME_BLACK,
	KPROBE_NAME_CFI,
};

/**
 * struct kprobe_place - address that a registration resolves to
 * @addr:	the address to probe; after a failure, the last address that was computed
 * @offset:	offset of @addr from the start of its symbol
 * @skipped:	bytes from the address that the user gave to @addr: a landing pad
 * @on_func_entry: @addr is a function's entry
 * @ftrace:	ftrace owns the instruction
 * @name:	property of the symbol that follows from its name
 * @mod:	module that owns the text, with a reference; NULL for the kernel
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

enum kprobe_refusal kprobe_place_find(const struct kprobe *p, struct kprobe_place *place);
enum kprobe_refusal kprobe_place_check(struct kprobe_place *place);
void kprobe_place_put(struct kprobe_place *place);
int kprobe_refuse(unsigned long addr, enum kprobe_refusal reason, struct kprobe_why *why);
int kprobe_refuse_with(unsigned long addr, enum kprobe_refusal reason, int err,
		       const char *detail, struct kprobe_why *why);

/* reserved.c */
enum kprobe_refusal kprobe_reserved_check(const struct kprobe_place *place);
enum kprobe_obstacle kprobe_reserved_range(unsigned long start, unsigned long end);
void kprobe_reserved_forget(void);
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
extern struct static_call_site __start_static_call_sites[], __stop_static_call_sites[];
#endif
#ifdef CONFIG_GENERIC_BUG
extern struct bug_entry __start___bug_table[], __stop___bug_table[];
#endif

/* blacklist.c */
int kprobe_blacklist_init(void);
bool kprobe_blacklist_covers(unsigned long addr);
int kprobe_blacklist_add_module(struct module *mod);
void kprobe_blacklist_remove_module(struct module *mod);
bool kprobe_blacklist_has(unsigned int index);
void kprobe_blacklist_show(struct seq_file *m, unsigned int index, bool show_addresses);

/* symbol.c */
enum kprobe_name kprobe_name_verdict(char *name, bool of_module);
bool kprobe_symbol_find(unsigned long addr, unsigned long *offset, enum kprobe_name *verdict);
void kprobe_names_read_all(void);
void kprobe_names_expect(unsigned int nr);

/* arm.c */
int kprobe_arm_points(struct list_head *points);
void kprobe_disarm_points(struct list_head *points);
int kprobe_rearm_all(bool enable);
extern bool kprobes_all_disarmed;

/* carrier.c */
#ifdef CONFIG_KPROBE_CARRIERS
void kprobe_carry(struct list_head *sites, struct list_head *carried, struct list_head *points);
void kprobe_uncarry(struct list_head *carried, enum kprobe_state state, struct list_head *points);
void kprobe_carrier_release(struct kprobe_point *site, struct list_head *points);
#else
static inline void kprobe_carry(struct list_head *sites, struct list_head *carried,
				struct list_head *points) { }
static inline void kprobe_uncarry(struct list_head *carried, enum kprobe_state state,
				  struct list_head *points) { }
static inline void kprobe_carrier_release(struct kprobe_point *site, struct list_head *points) { }
#endif

/*
 * Returns the carrier of a point on ftrace's instruction; NULL if @site is another point, or has
 * none.  Context: kprobe_mutex held.
 */
static inline struct kprobe_point *kprobe_carrier_of(struct kprobe_point *site)
{
	struct kprobe_point *carrier;

	if (!IS_ENABLED(CONFIG_KPROBE_CARRIERS) || !kprobe_ftrace(&site->kp) ||
	    site->state == KPROBE_GONE)
		return NULL;
	carrier = kprobe_table_find(kprobe_point_addr(site) + KPROBE_CARRIER_OFFSET);
	return carrier && carrier->role ? carrier : NULL;
}

/* Returns the point whose text calls the probes of @point.  Context: kprobe_mutex held. */
static inline struct kprobe_point *kprobe_text_point(struct kprobe_point *point)
{
	return point->state == KPROBE_CARRIED ? kprobe_carrier_of(point) : point;
}

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

/* text_gone.c */
#ifdef CONFIG_MODULES
bool kprobe_module_coming(const struct module *mod);
int kprobe_module_init(void);
#else
static inline bool kprobe_module_coming(const struct module *mod)
{
	return false;
}

static inline int kprobe_module_init(void)
{
	return 0;
}
#endif

/* slots.c */
void kprobe_optinsn_slots_init(void);

/* hit/jprobe.c */
int kprobe_enter_jprobe(struct kprobe *kp, struct pt_regs *regs);

/* kretprobe.c */
#ifdef CONFIG_KRETPROBES
int kretprobe_init(void);
enum kprobe_refusal kretprobe_prepare(struct kprobe *kp, const struct kprobe_place *place);
void kretprobe_stop(struct kprobe *kp);
void kretprobe_unprepare(struct kprobe *kp);
#else
static inline int kretprobe_init(void)
{
	return 0;
}

static inline enum kprobe_refusal kretprobe_prepare(struct kprobe *kp,
						    const struct kprobe_place *place)
{
	return KPROBE_REFUSE_RETURN_BLACKLISTED;
}

static inline void kretprobe_stop(struct kprobe *kp) { }
static inline void kretprobe_unprepare(struct kprobe *kp) { }
#endif

/* hit/kretprobe_rethook.c or hit/kretprobe_native.c */
int kretprobe_engine_enter(struct kprobe *kp, struct pt_regs *regs);
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
/* A special version for probes without an entry_handler is not worthwhile. */
#define kretprobe_engine_enter_bare	kretprobe_engine_enter
void kretprobe_engine_leave(struct rethook_node *node, void *data, unsigned long ret_addr,
			    struct pt_regs *regs);
#else
int kretprobe_engine_enter_bare(struct kprobe *kp, struct pt_regs *regs);
#endif

/* kretprobe_rethook.c or kretprobe_native.c */
int kretprobe_engine_alloc(struct kretprobe *rp);
void kretprobe_engine_stop(struct kretprobe *rp);
void kretprobe_engine_free(struct kretprobe **rps, int num);

/* sysctl.c */
extern bool kprobe_optimization_allowed;
#ifdef CONFIG_OPTPROBES
void kprobe_optimizer_allow(bool allow);

/* optimizer.c */
void kprobe_optimizer_queue(struct kprobe_point *point);
enum kprobe_obstacle kprobe_optimizer_prepare(struct kprobe_point *point);
bool kprobe_detour_lacks(struct kprobe_point *point, enum kprobe_detour_calls calls);
void kprobe_detour_renew(struct list_head *points);
void kprobe_unoptimize_points(struct list_head *points, enum kprobe_obstacle why);
const char *kprobe_obstacle_shown(struct kprobe_point *point);
int kprobe_optimizer_init(void);

/* neighbours.c */
extern unsigned int kprobe_neighbours_waiting;
bool kprobe_neighbour_armed(struct kprobe_point *point);
void kprobe_unoptimize_neighbours(struct list_head *points);
void kprobe_requeue_neighbours(struct list_head *points);
#else
static inline void kprobe_optimizer_allow(bool allow) { }
static inline void kprobe_optimizer_queue(struct kprobe_point *point) { }

static inline bool kprobe_detour_lacks(struct kprobe_point *point, enum kprobe_detour_calls calls)
{
	return false;
}

static inline void kprobe_detour_renew(struct list_head *points) { }

static inline void kprobe_unoptimize_neighbours(struct list_head *points) { }
static inline void kprobe_requeue_neighbours(struct list_head *points) { }
static inline void kprobe_unoptimize_points(struct list_head *points,
					    enum kprobe_obstacle why) { }

static inline const char *kprobe_obstacle_shown(struct kprobe_point *point)
{
	return point->state == KPROBE_BREAKPOINT ? "the architecture has no jumps" : "";
}

static inline int kprobe_optimizer_init(void)
{
	return 0;
}
#endif

#endif /* _KERNEL_KPROBES_INTERNAL_H */
