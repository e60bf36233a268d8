/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_WPROBES_H
#define _LINUX_WPROBES_H
/*
 * Watchpoint probes: call a handler when data of the kernel, or of a process, is written or read.
 *
 * This header is the interface for users of probes.  <linux/wprobes-arch.h> is the interface
 * for architectures and for the kernel's hardware breakpoints.
 * Documentation/trace/wprobes.rst is the manual.
 */
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/types.h>

struct pt_regs;
struct wprobe;
struct wprobe_watch;

/**
 * typedef wprobe_handler_t - called after an access to the watched bytes
 * @wp:		the probe
 * @regs:	registers after the access: the instruction pointer is the address after the
 *		accessing instruction, also if a copy of that instruction has run for a kprobe.
 *		The handler must not change them
 * @old:	value of the watched bytes before the access, zero-extended
 * @new:	value of the watched bytes after the access, zero-extended
 *
 * If several CPUs write at the same time, @new may be the value that another CPU has written
 * since; and on x86, @old is the value that the previous handler got as @new.
 *
 * Context: a debug exception, interrupts disabled; may be like an NMI (in_nmi()).  If the probe
 * has a pid: the accessing task, which is about to return to user mode; may sleep.  @regs are
 * those of user mode then.
 */
typedef void (*wprobe_handler_t)(struct wprobe *wp, struct pt_regs *regs,
				 unsigned long old, unsigned long new);

/**
 * enum wprobe_type - the accesses that a probe is called for
 * @WPROBE_READ:	reads, on processors that can tell them from writes
 * @WPROBE_WRITE:	writes
 * @WPROBE_RW:		both
 */
enum wprobe_type {
	WPROBE_READ	= 1,
	WPROBE_WRITE	= 2,
	WPROBE_RW	= WPROBE_READ | WPROBE_WRITE,
};

/**
 * struct wprobe - a watchpoint probe: one registration, owned by its user
 * @node:	private: links the probe into its watch
 * @watch:	private: the range of memory that a register watches; NULL if not registered
 * @mask:	private: the watched bytes in their aligned word
 * @shift:	private: the lowest bit of @mask
 * @last:	private: the aligned word with the watched bytes at the last hit; hits replace it
 * @nmissed:	accesses whose handler did not run because a handler of a watchpoint probe was
 *		running on that CPU; on arm64, also writes by store-exclusives.  With a pid:
 *		accesses of the probe's own handler, hits that were cancelled because the probe
 *		was disabled or unregistered, or the thread exited or executed another program,
 *		and on arm64 accesses that cannot be decoded
 * @pid:	a process (any of its threads, as in &task_struct.pid: in the initial pid namespace)
 *		whose data is watched; 0: data of the kernel
 * @addr:	the watched address: set by the user, or derived from @symbol_name.  The address
 *		of a per-CPU variable watches the copy of each CPU, for accesses of that CPU
 * @symbol_name: symbol to watch; give this or @addr, not both
 * @offset:	bytes from @symbol_name to the first watched byte
 * @len:	number of watched bytes, 1 to 8 (to 4 on 32-bit kernels)
 * @type:	enum wprobe_type; 0 means %WPROBE_WRITE
 * @flags:	WPROBE_FLAG_*
 * @handler:	called after each access
 * @refusal:	why the last registration was refused, a constant string; NULL if it was not
 *
 * The user sets @pid, @addr, @symbol_name, @offset, @len, @type, @handler, and in @flags
 * %WPROBE_FLAG_DISABLED, %WPROBE_FLAG_CHANGED, %WPROBE_FLAG_PERCPU and %WPROBE_FLAG_MOVABLE; the
 * core sets everything else.  After unregistering, the struct may be registered again without
 * changes.
 */
struct wprobe {
	struct hlist_node node;
	struct wprobe_watch *watch;
	unsigned long mask;
	unsigned int shift;
	unsigned long last;
	unsigned long nmissed;
	pid_t pid;
	void *addr;
	const char *symbol_name;
	unsigned long offset;
	unsigned int len;
	enum wprobe_type type;
	u32 flags;
	wprobe_handler_t handler;
	const char *refusal;
};

#define WPROBE_FLAG_GONE	1  /* the memory was freed with its module, or the process ended */
#define WPROBE_FLAG_DISABLED	2  /* its handler is not called */
#define WPROBE_FLAG_CHANGED	4  /* call the handler only if the value has changed */
#define WPROBE_FLAG_PERCPU	8  /* addr is that of a per-CPU variable */
#define WPROBE_FLAG_PARKED	16 /* a debugger or perf uses the register at the moment */
#define WPROBE_FLAG_MOVABLE	32 /* wprobe_retarget() is allowed; shares no register */

#ifdef CONFIG_WPROBES

int register_wprobe(struct wprobe *wp);
int register_wprobes(struct wprobe **wps, int num);
void unregister_wprobe(struct wprobe *wp);
void unregister_wprobes(struct wprobe **wps, int num);
int enable_wprobe(struct wprobe *wp);
int disable_wprobe(struct wprobe *wp);
int wprobe_retarget(struct wprobe *wp, void *addr);

/* Not exported; for events. */
void *wprobe_address(const struct wprobe *wp);
bool wprobe_running(void);

#else

static inline int register_wprobe(struct wprobe *wp)
{
	return -EOPNOTSUPP;
}

static inline int register_wprobes(struct wprobe **wps, int num)
{
	return -EOPNOTSUPP;
}

static inline void unregister_wprobe(struct wprobe *wp) { }
static inline void unregister_wprobes(struct wprobe **wps, int num) { }

static inline int enable_wprobe(struct wprobe *wp)
{
	return -EOPNOTSUPP;
}

static inline int disable_wprobe(struct wprobe *wp)
{
	return -EOPNOTSUPP;
}

static inline int wprobe_retarget(struct wprobe *wp, void *addr)
{
	return -EOPNOTSUPP;
}

static inline bool wprobe_running(void)
{
	return false;
}

#endif /* CONFIG_WPROBES */

static inline bool wprobe_disabled(const struct wprobe *wp)
{
	return wp->flags & WPROBE_FLAG_DISABLED;
}

#endif /* _LINUX_WPROBES_H */
