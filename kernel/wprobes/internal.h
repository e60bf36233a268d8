/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_WPROBES_INTERNAL_H
#define _KERNEL_WPROBES_INTERNAL_H
/*
 * Declarations that the files of the core of watchpoint probes share.
 *
 * A watch is a range of memory for which a register is reserved on every CPU.  Probes hang on
 * watches: several probes can share one.  CPUs read wprobe_slots[]: the content of the registers,
 * and the watch of each.  A change is made in three steps, under wprobe_mutex:
 *
 *	1. change the watches and their probes
 *	2. wprobe_commit(): write wprobe_slots[], and let all CPUs load their registers
 *	3. free objects that hits can no longer reach
 *
 * The cross call of step 2 is also the wait for handlers, which run with interrupts disabled.
 *
 * Locks, outermost first:
 *
 *	locks of perf and ptrace, cpus_read_lock()
 *					while they reserve a register, see yield.c
 *	  wprobe_mutex			all watches and probes, and wprobe_slots[]
 *	    bp_cpuinfo_sem		reserving registers (kernel/events/hw_breakpoint.c)
 *
 * Probes on data of a process have a watch, too, but events of perf load its register: user.h.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/wprobes.h>
#include <linux/wprobes-arch.h>

struct module;

#undef pr_fmt
#define pr_fmt(fmt) "wprobes: " fmt

/* Private bit of wprobe::flags: addr was derived from symbol_name. */
#define WPROBE_FLAG_RESOLVED	BIT(16)

/**
 * enum wprobe_state - use of a register by a watch
 * @WPROBE_NEW:		no register is reserved yet
 * @WPROBE_OFF:		a register is reserved, but not used: the watch has no enabled probe
 * @WPROBE_ARMED:	the registers watch the range
 * @WPROBE_PARKED:	the register was given to another user, and will be reserved again
 * @WPROBE_GONE:	the memory is freed, or its process has ended; no register is reserved
 * @NR_WPROBE_STATES:	number of the states
 *
 *	NEW ---> OFF <---> ARMED
 *	          ^ \      /
 *	          |  v    v
 *	          +-- PARKED
 *	any ---> GONE
 *
 * Only wprobe_watch_set_state() changes it, and checks the transition.
 */
enum wprobe_state {
	WPROBE_NEW,
	WPROBE_OFF,
	WPROBE_ARMED,
	WPROBE_PARKED,
	WPROBE_GONE,
	NR_WPROBE_STATES,
};

/**
 * struct wprobe_watch - a range of memory that a register watches
 * @range:	the content of the register
 * @state:	use of the register
 * @slot:	its number; meaningful in WPROBE_OFF and WPROBE_ARMED
 * @list:	links the watch into wprobe_watches
 * @probes:	the probes, in the order of registration; hits read it
 */
struct wprobe_watch {
	struct wprobe_range range;
	enum wprobe_state state;
	unsigned int slot;
	struct list_head list;
	struct hlist_head probes;
};

/**
 * struct wprobe_slot - a register, as all CPUs have to load it
 * @range:	its content; written before a cross call
 * @watch:	the watch that it belongs to; NULL: none, and no CPU has it loaded
 */
struct wprobe_slot {
	struct wprobe_range range;
	struct wprobe_watch *watch;
};

/**
 * struct wprobe_before - the value before an access
 * @word:	the aligned word with the range
 * @writes:	the access writes; only set where exceptions are raised before the access
 */
struct wprobe_before {
	unsigned long word;
	bool writes;
};

/**
 * struct wprobe_loaded - a register of one CPU
 * @range:	its content, with the address of this CPU's copy of a per-CPU variable
 * @word:	the aligned word with the range
 * @mask:	the bytes of the range in the word, a mask
 * @watch:	the watch whose probes a hit has to call
 * @percpu:	@range is that of this CPU's copy
 * @before:	where exceptions are raised before the access: the value before the access of a hit,
 *		and the value before an access of its handler.  Elsewhere, for a per-CPU variable,
 *		the value of this CPU's copy at the last hit
 */
struct wprobe_loaded {
	struct wprobe_range range;
	unsigned long *word;
	unsigned long mask;
	struct wprobe_watch *watch;
	bool percpu;
	struct wprobe_before before[1 + WPROBE_USER_BEFORE];
};

/**
 * struct wprobe_cpu - the registers of one CPU
 * @called:	the probe whose handler runs, whose accesses are missed; or NULL
 * @following:	slots whose hits follow that of @called, which are of the same access, a bit each
 * @online:	the registers are loaded
 * @loading:	the registers are being loaded
 * @loaded:	the register of each slot
 */
struct wprobe_cpu {
	const struct wprobe *called;
	unsigned long following;
	bool online;
	bool loading;
	struct wprobe_loaded loaded[WPROBE_SLOTS];
};

DECLARE_PER_CPU(struct wprobe_cpu, wprobe_cpu);
extern struct wprobe_slot wprobe_slots[WPROBE_SLOTS];
extern struct mutex wprobe_mutex;
extern struct list_head wprobe_watches;

/* The aligned word with a watched byte. */
static __always_inline unsigned long *wprobe_word(unsigned long addr)
{
	return (unsigned long *)(addr & -sizeof(long));
}

/* Is a register reserved for the watch? */
static inline bool wprobe_has_register(const struct wprobe_watch *watch)
{
	return watch->state == WPROBE_OFF || watch->state == WPROBE_ARMED;
}

static inline unsigned long wprobe_addr(const struct wprobe *wp)
{
	return (unsigned long)wp->addr;
}

/* Why a registration was refused; the texts and errnos are in place.c. */
enum wprobe_refusal {
	WPROBE_REFUSE_NONE,
	WPROBE_REFUSE_BAD_ARGUMENT,
	WPROBE_REFUSE_NO_HANDLER,
	WPROBE_REFUSE_SYMBOL_AND_ADDR,
	WPROBE_REFUSE_NO_PLACE,
	WPROBE_REFUSE_NO_SYMBOL,
	WPROBE_REFUSE_BAD_LENGTH,
	WPROBE_REFUSE_CROSSES_WORD,
	WPROBE_REFUSE_UNALIGNED,
	WPROBE_REFUSE_BAD_TYPE,
	WPROBE_REFUSE_NO_READS,
	WPROBE_REFUSE_USER,
	WPROBE_REFUSE_DEVICE,
	WPROBE_REFUSE_UNMAPPED,
	WPROBE_REFUSE_ENTRY,
	WPROBE_REFUSE_MODULE_GOING,
	WPROBE_REFUSE_REGISTERED,
	WPROBE_REFUSE_NO_REGISTER,
	WPROBE_REFUSE_NO_MEMORY,
	WPROBE_REFUSE_NOT_OF_PROCESS,
	WPROBE_REFUSE_KERNEL,
	WPROBE_REFUSE_NO_PROCESS,
	WPROBE_REFUSE_KTHREAD,
	WPROBE_REFUSE_PROCESS,
	WPROBE_REFUSE_NOT_READABLE,
	WPROBE_REFUSE_NOT_WATCHABLE,
	NR_WPROBE_REFUSALS,
};

/**
 * struct wprobe_place - the memory that a registration wants to watch
 * @want:	the bytes of the probe
 * @range:	the smallest range with them that a register can watch
 */
struct wprobe_place {
	struct wprobe_range want;
	struct wprobe_range range;
};

/* place.c */
enum wprobe_refusal wprobe_place_find(const struct wprobe *wp, struct wprobe_place *place);
enum wprobe_refusal wprobe_place_find_user(const struct wprobe *wp, unsigned long addr,
					   struct wprobe_place *place);
int wprobe_refuse(unsigned long addr, enum wprobe_refusal reason);
int wprobe_refuse_probe(struct wprobe *wp, unsigned long addr, enum wprobe_refusal reason);

/* watch.c */
enum wprobe_refusal wprobe_attach(struct wprobe *wp, const struct wprobe_place *place);
void wprobe_detach(struct wprobe *wp);
void wprobe_watch_put(struct wprobe_watch *watch);
void wprobe_watch_add(struct wprobe_watch *watch, struct wprobe *wp,
		      const struct wprobe_place *place);
void wprobe_watch_remove(struct wprobe *wp);
void wprobe_watch_set_state(struct wprobe_watch *watch, enum wprobe_state state);
bool wprobe_watch_reserve(struct wprobe_watch *watch);
void wprobe_watch_update(struct wprobe_watch *watch);

/* share.c */
struct wprobe_watch *wprobe_share_find(const struct wprobe *wp, const struct wprobe_place *place,
				       bool widen);
bool wprobe_share_make_room(void);
void wprobe_share_narrow(struct wprobe_watch *watch);
bool wprobe_separable(u32 flags);

/* module.c */
#ifdef CONFIG_MODULES
bool wprobe_module_frees(const struct wprobe_range *range);
const struct module *wprobe_module_of_percpu(const struct wprobe_range *range);
#else
static inline bool wprobe_module_frees(const struct wprobe_range *range)
{
	return false;
}

static inline const struct module *wprobe_module_of_percpu(const struct wprobe_range *range)
{
	return NULL;
}
#endif

/* yield.c */
void wprobe_return_parked(void);

/* user_thread.c */
bool wprobe_user_reserving(void);

/* user.c */
int wprobe_users_register(struct wprobe **wps, int num);
void wprobe_users_unregister(struct wprobe **wps, int num);
int wprobe_user_set_disabled(struct wprobe *wp, u32 disabled);

/* cpu.c */
bool wprobe_read(unsigned long *value, const unsigned long *word);
void wprobe_read_last(struct wprobe *wp);
void wprobe_commit(void);
void wprobe_move_here(unsigned int slot, unsigned long addr);

#endif /* _KERNEL_WPROBES_INTERNAL_H */
