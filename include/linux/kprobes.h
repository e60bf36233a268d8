/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_H
#define _LINUX_KPROBES_H
/*
 * Kernel probes: put a handler on (almost) any instruction of the running
 * kernel, or on the return of any function.
 *
 * This header is the interface for users of probes.  <linux/kprobes-arch.h> is
 * the interface for architectures, and kernel/kprobes/internal.h has the core's
 * own declarations.  Documentation/trace/kprobes.rst is the manual.
 */
#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/linkage.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/smp.h>
#include <linux/bug.h>
#include <linux/percpu.h>
#include <linux/rbtree_types.h>
#include <linux/spinlock.h>
#include <linux/rcupdate.h>
#include <linux/mutex.h>
#include <linux/ftrace.h>
#include <linux/rethook.h>
#include <asm/kprobes.h>

#ifndef CONFIG_KPROBES
#include <asm-generic/kprobes.h>
typedef int kprobe_opcode_t;
struct arch_specific_insn {
	int dummy;
};
#endif

struct kprobe;
struct pt_regs;
struct kretprobe;
struct kretprobe_instance;
typedef int (*kprobe_pre_handler_t) (struct kprobe *, struct pt_regs *);
typedef void (*kprobe_post_handler_t) (struct kprobe *, struct pt_regs *,
				       unsigned long flags);
typedef int (*kprobe_fault_handler_t) (struct kprobe *, struct pt_regs *,
				       int trapnr);
typedef int (*kretprobe_handler_t) (struct kretprobe_instance *,
				    struct pt_regs *);

/* Number of opcodes in the text that a breakpoint or a jump replaces. */
#ifdef MAX_OPTIMIZED_LENGTH
#define KPROBE_TEXT_UNITS	(MAX_OPTIMIZED_LENGTH / sizeof(kprobe_opcode_t))
#else
#define KPROBE_TEXT_UNITS	1
#endif

/**
 * struct kprobe - a probe: one registration, owned by its user
 * @list:	not empty while the probe is registered
 * @node:	private: links the probe into its probepoint
 * @hlist:	reserved for the core
 * @call:	private: the function that a hit calls: @pre_handler, or a function of
 *		the core if the probe has no @pre_handler, is disabled, or has a
 *		@fault_handler
 * @nmissed:	hits whose handlers did not run because another handler of the
 *		same context level was running on that CPU
 * @addr:	the probed address: set by the user, or derived from @symbol_name
 * @symbol_name: symbol to probe; give this or @addr, not both
 * @offset:	bytes from @symbol_name or @addr to the probed instruction
 * @flags:	KPROBE_FLAG_*; KPROBE_FLAG_DISABLED may be set before registering
 * @pre_handler: called before the probed instruction; non-zero means that the
 *		handler has set a new instruction pointer, where execution continues
 * @post_handler: called after the probed instruction
 * @fault_handler: called for a fault in one of this probe's handlers, or in
 *		the probed instruction; non-zero means that it has fixed the fault
 * @opcode:	text that the breakpoint has replaced (meaningful in the core's own
 *		representative of a probepoint only)
 * @text:	private: text that a jump replaces, which begins with @opcode (likewise)
 * @ainsn:	the architecture's copy of the instruction (likewise)
 * @gone:	links the probe into the tree of those whose text has been freed
 *
 * All handlers may be %NULL.  The user sets @addr, @symbol_name, @offset, the
 * handlers and %KPROBE_FLAG_DISABLED; the core sets everything else.  After
 * unregistering, the struct may be registered again without changes.
 */
struct kprobe {
	union {
		struct list_head list;
		struct hlist_node node;
	};
	union {
		struct hlist_node hlist;
		kprobe_pre_handler_t call;
	};
	unsigned long nmissed;
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	u32 flags;
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_fault_handler_t fault_handler;
	union {
		kprobe_opcode_t opcode;
		kprobe_opcode_t text[KPROBE_TEXT_UNITS];
	};
	union {
		struct arch_specific_insn ainsn;
		struct rb_node gone;
	};
};

/* Bits of kprobe::flags that users may read; KPROBE_FLAG_DISABLED may also be written. */
#define KPROBE_FLAG_GONE	1  /* the probed text has been freed */
#define KPROBE_FLAG_DISABLED	2  /* its handlers are not called */
#define KPROBE_FLAG_OPTIMIZED	4  /* a jump, not a breakpoint, is in the text */
#define KPROBE_FLAG_FTRACE	8  /* called by ftrace, without a breakpoint */
#define KPROBE_FLAG_ON_FUNC_ENTRY 16 /* on a function's first instruction */

#ifndef CONFIG_KRETPROBE_ON_RETHOOK
struct kretprobe_cache;
struct kretprobe_class;

/**
 * struct kretprobe_holder - links instances to their probe; private
 * @rp:		the probe; NULL after it has been unregistered
 * @handler:	the probe's handler; NULL if it has none.  Also NULL while the probe is
 *		being unregistered: its handler is not called any more
 * @stopped:	the probe is being unregistered
 * @limited:	@limit is not 0; for hits, because gcc tests a byte with one instruction less
 * @limit:	the probe's maxactive if that is > 0; else 0
 * @room:	number of further calls that can be followed, if there is a limit
 * @caches:	free instances of each CPU
 * @class:	the probes that share their instances with this one
 * @given_up:	links the holder into the list of those that will be freed
 * @rcu:	frees the holder
 */
struct kretprobe_holder {
	struct kretprobe *rp;
	kretprobe_handler_t handler;
	bool stopped;
	bool limited;
	int limit;
	atomic_t room;
	struct kretprobe_cache __percpu *caches;
	struct kretprobe_class *class;
	union {
		struct list_head given_up;
		struct rcu_head rcu;
	};
};
#endif

/**
 * struct kretprobe - a probe on the return of a function
 * @kp:		symbol or address of the function's entry
 * @handler:	called when the function returns
 * @entry_handler: called when the function is entered; if it returns non-zero, this
 *		call is not followed
 * @maxactive:	number of calls that may be followed at once; <= 0: no limit
 *		(where rethook keeps the instances: a default number)
 * @nmissed:	calls that were not followed because no instance was free
 * @data_size:	bytes of private data in every instance
 * @rph:	private: links the instances to this probe
 * @rh:		private: the same, where rethook keeps the instances
 */
struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook *rh;
#else
	struct kretprobe_holder *rph;
#endif
};

#define KRETPROBE_MAX_DATA_SIZE	4096

/* A function that cannot be return-probed.  The last entry of a table has a NULL name. */
struct kretprobe_blackpoint {
	const char *name;
	void *addr;
};

/**
 * struct kretprobe_instance - one call in flight of a return-probed function
 * @data:	kretprobe::data_size bytes for the user's handlers
 */
struct kretprobe_instance {
	/* private: for the engine that keeps the instances */
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct rethook_node node;
#else
	struct llist_node llist;
	struct kretprobe_holder *rph;
	kprobe_opcode_t *ret_addr;
	void *fp;
	struct kretprobe_pool *pool;
#endif
	/* public: */
	char data[] __aligned(sizeof(u64));
};

/**
 * struct jprobe - a handler with the prototype of the probed function
 * @kp:		symbol or address of the function's entry
 * @entry:	the handler, which ends with jprobe_return() or by returning
 */
struct jprobe {
	struct kprobe kp;
	void *entry;
};

/**
 * struct kprobe_why - why a registration was refused
 * @text:	the reason, a constant string; NULL if there is none
 * @detail:	why the instruction cannot be probed, a constant string; or NULL
 */
struct kprobe_why {
	const char *text;
	const char *detail;
};

/* The macro with which older code sets jprobe::entry. */
#define JPROBE_ENTRY(handler)	((void *)(handler))

/* True while the text has a jump to a detour instead of a breakpoint. */
static inline bool kprobe_optimized(struct kprobe *p)
{
	return !!(p->flags & KPROBE_FLAG_OPTIMIZED);
}

/* True if ftrace owns the probed instruction and calls the probe. */
static inline bool kprobe_ftrace(struct kprobe *p)
{
	return !!(p->flags & KPROBE_FLAG_FTRACE);
}

/* True once the text that @p probes has been freed; such a probe is never hit again. */
static inline bool kprobe_gone(struct kprobe *p)
{
	return !!(p->flags & KPROBE_FLAG_GONE);
}

/* True while @p's handlers are not called: disabled by its user, or gone. */
static inline bool kprobe_disabled(struct kprobe *p)
{
	return p->flags & (KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED);
}

#ifdef CONFIG_KPROBES

DECLARE_STATIC_KEY_FALSE(kprobes_used);

/**
 * kprobes_in_use() - has a probe ever been registered?
 *
 * Other kernel code that asks kprobes about a fault, an address or a stack frame tests this
 * first, so a kernel without probes executes one nop there.  It becomes true before the text
 * of the first probe is patched, and stays true.
 *
 * Context: any.
 * Return: false if no probe can have been hit.
 */
static __always_inline bool kprobes_in_use(void)
{
	return static_branch_unlikely(&kprobes_used);
}

int register_kprobe(struct kprobe *p);
int register_kprobe_why(struct kprobe *p, struct kprobe_why *why);
void unregister_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **kps, int num);
void unregister_kprobes(struct kprobe **kps, int num);
int disable_kprobe(struct kprobe *kp);
int enable_kprobe(struct kprobe *kp);
void kprobe_wait_for_hits(void);

int register_kretprobe(struct kretprobe *rp);
int register_kretprobe_why(struct kretprobe *rp, struct kprobe_why *why);
void unregister_kretprobe(struct kretprobe *rp);
int register_kretprobes(struct kretprobe **rps, int num);
void unregister_kretprobes(struct kretprobe **rps, int num);

#ifdef CONFIG_JPROBES
int register_jprobe(struct jprobe *jp);
void unregister_jprobe(struct jprobe *jp);
int register_jprobes(struct jprobe **jps, int num);
void unregister_jprobes(struct jprobe **jps, int num);

/**
 * jprobe_return() - end a jprobe's handler, from any depth of calls
 *
 * Called outside of such a handler, it only logs an error, once.
 *
 * See Documentation/trace/kprobes.rst, Jprobes.
 *
 * Context: the handler.
 */
asmlinkage void jprobe_return(void);
#endif

struct kprobe *get_kprobe(void *addr);
void kprobe_busy_begin(void);
void kprobe_busy_end(void);
void kprobe_handler_died(void);

int kprobe_on_func_entry(kprobe_opcode_t *addr, const char *sym, unsigned long offset);
kprobe_opcode_t *kprobe_lookup_name(const char *name, unsigned int offset);
bool within_kprobe_blacklist(unsigned long addr);
bool kprobe_covers_text(unsigned long addr);
void kprobe_free_init_mem(void);
int kprobe_get_kallsym(unsigned int symnum, unsigned long *value, char *type,
		       char *sym);
unsigned long kprobe_text_address(unsigned long addr);

/* All copies of instructions are between these addresses, which only move apart. */
struct kprobe_copies {
	unsigned long low, high;
};

extern struct kprobe_copies kprobe_copies;

/**
 * kprobe_may_be_copy() - can kprobe_text_address() give another address?
 * @addr: an address
 *
 * A few instructions, for paths that meet a copy hardly ever.
 *
 * Context: any.
 * Return: false if @addr is not in a copy.
 */
static __always_inline bool kprobe_may_be_copy(unsigned long addr)
{
	return kprobes_in_use() && addr >= READ_ONCE(kprobe_copies.low) &&
	       addr < READ_ONCE(kprobe_copies.high);
}

#include <linux/kprobes-arch.h>

#else /* !CONFIG_KPROBES */

static __always_inline bool kprobes_in_use(void)
{
	return false;
}

static __always_inline bool kprobe_may_be_copy(unsigned long addr)
{
	return false;
}

/* Without kprobes, registration fails, and no probe is ever running. */
#define KPROBES_ABSENT(function, argument)				\
static inline int function(argument)					\
{									\
	return -EOPNOTSUPP;						\
}

#define KPROBES_ABSENT_MANY(function, argument)				\
static inline int function(argument, int num)				\
{									\
	return -EOPNOTSUPP;						\
}

KPROBES_ABSENT(enable_kprobe, struct kprobe *kp)
KPROBES_ABSENT(disable_kprobe, struct kprobe *kp)
KPROBES_ABSENT(register_kprobe, struct kprobe *p)
KPROBES_ABSENT(register_kretprobe, struct kretprobe *rp)
KPROBES_ABSENT_MANY(register_kprobes, struct kprobe **kps)
KPROBES_ABSENT_MANY(register_kretprobes, struct kretprobe **rps)

static inline void unregister_kretprobes(struct kretprobe **rps, int num) { }
static inline void unregister_kretprobe(struct kretprobe *rp) { }
static inline void unregister_kprobes(struct kprobe **kps, int num) { }
static inline void unregister_kprobe(struct kprobe *p) { }

static inline struct kprobe *kprobe_running(void)
{
	return NULL;
}

static inline struct kprobe *get_kprobe(void *addr)
{
	return NULL;
}

static inline void kprobe_busy_begin(void) { }
static inline void kprobe_busy_end(void) { }
static inline void kprobe_handler_died(void) { }
static inline void kprobe_ftrace_kill(void) { }
static inline void kprobe_free_init_mem(void) { }
static inline void kprobe_flush_task(struct task_struct *tk) { }
static inline void wait_for_kprobe_optimizer(void) { }

/* For debuggers: without a blacklist, no address is safe. */
static inline bool within_kprobe_blacklist(unsigned long addr)
{
	return true;
}

static inline bool kprobe_covers_text(unsigned long addr)
{
	return false;
}

static inline unsigned long kprobe_text_address(unsigned long addr)
{
	return addr;
}

static inline bool kprobe_hit_registers(const struct pt_regs *regs)
{
	return false;
}

static inline void kprobe_leave_copy(struct pt_regs *regs) { }

static inline bool is_kprobe_optinsn_slot(unsigned long addr)
{
	return false;
}

static inline bool is_kprobe_insn_slot(unsigned long addr)
{
	return false;
}

static inline int kprobe_get_kallsym(unsigned int symnum, unsigned long *value,
				     char *type, char *sym)
{
	return -ERANGE;
}

static inline bool kprobe_page_fault(struct pt_regs *regs, unsigned int trap)
{
	return false;
}

static inline int kprobe_fault_handler(struct pt_regs *regs, int trapnr)
{
	return 0;
}

static inline void kprobe_wait_for_hits(void) { }

static inline unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
						    struct llist_node **cur)
{
	return 0;
}

static inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return false;
}

#endif /* CONFIG_KPROBES */

struct kprobe_claim;

#ifdef CONFIG_KPROBE_CARRIERS
void kprobe_ftrace_claim(struct ftrace_ops *ops);
struct kprobe_claim *kprobe_claim(unsigned long *ips, unsigned int nr);
void kprobe_unclaim(struct kprobe_claim *claim);
#else
static inline void kprobe_ftrace_claim(struct ftrace_ops *ops) { }

static inline struct kprobe_claim *kprobe_claim(unsigned long *ips, unsigned int nr)
{
	return NULL;
}

static inline void kprobe_unclaim(struct kprobe_claim *claim) { }
#endif

#ifndef CONFIG_JPROBES
static inline int register_jprobe(struct jprobe *jp)
{
	return -EOPNOTSUPP;
}

static inline int register_jprobes(struct jprobe **jps, int num)
{
	return -EOPNOTSUPP;
}

static inline void unregister_jprobe(struct jprobe *jp) { }
static inline void unregister_jprobes(struct jprobe **jps, int num) { }
static inline void jprobe_return(void) { }
#endif

/* enable_kprobe() and disable_kprobe() of a registered jprobe. */
static inline int enable_jprobe(struct jprobe *jp)
{
	return enable_kprobe(&jp->kp);
}

static inline int disable_jprobe(struct jprobe *jp)
{
	return disable_kprobe(&jp->kp);
}

/* enable_kprobe() and disable_kprobe() of a registered return probe. */
static inline int enable_kretprobe(struct kretprobe *rp)
{
	return enable_kprobe(&rp->kp);
}

static inline int disable_kretprobe(struct kretprobe *rp)
{
	return disable_kprobe(&rp->kp);
}

#endif /* _LINUX_KPROBES_H */
