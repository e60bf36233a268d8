/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_UPROBES_PROCESS_H
#define _LINUX_UPROBES_PROCESS_H
/*
 * Probes of one process, by pid and address: any executable text of it, also anonymous text
 * and text that the program can write.
 *
 * Included from <linux/uprobes.h>, but not with CONFIG_UPROBES_STEPPED, whose architectures have
 * no such probes; do not include it directly.
 */

struct mm_struct;
struct notifier_block;
struct pt_regs;
struct uprobe_consumer;
struct uprobe_registration;
struct uretprobe_pool;
struct vm_area_struct;

/**
 * struct uprobe - a probe of one process
 * @pid: any thread of the process, as in &task_struct.pid: in the initial pid namespace
 * @vaddr: address of the instruction
 * @handler: called before the instruction takes effect, with @regs as the program has them; may
 *	sleep, and may change @regs. A changed instruction pointer replaces the instruction
 * @registration_callback: called when an operation that a handler asked for has been done, or
 *	NULL. @reg is 1 for a registration and 0 for its removal; @result is the return value that
 *	the operation would have had outside of a handler. It may free @u after the removal.
 *	When a probe is removed, earlier requests of other handlers for it are cancelled without
 *	a callback. Callbacks run one at a time, and others wait for them: they must take no lock
 *	that is held while a probe is registered or unregistered, or an event enabled or disabled
 * @nmissed: hits that no handler has seen, because there was no room for a copy of the
 *	instruction in reach of the text
 * @registration: reserved, must be NULL; users may read it: NULL if the probe is not registered
 *	(any more)
 *
 * The caller sets the first four members and clears the others. The object must not change
 * until it has been unregistered. If the process ends, executes another program or unmaps the
 * text, the probe is unregistered by itself: @registration is NULL then, but a handler may still
 * run, so that @u must be unregistered before it is freed or changed.
 *
 * uprobe_register() also returns a struct uprobe, as a handle whose members have no meaning.
 */
struct uprobe {
	pid_t				pid;
	unsigned long			vaddr;
	void (*handler)(struct uprobe *u, struct pt_regs *regs);
	void (*registration_callback)(struct uprobe *u, int reg, int result);
	unsigned long			nmissed;
	struct uprobe_registration	*registration;
};

/**
 * struct uretprobe_instance - a call of a probed function that has not returned
 * @rp: the return probe
 * @pool: for the engine
 * @ret_addr: return address; valid in the return handler
 * @func: address of the function; valid in the return handler
 * @data: &uretprobe.data_size bytes for the handlers
 */
struct uretprobe_instance {
	struct uretprobe	*rp;
	struct uretprobe_pool	*pool;
	unsigned long		ret_addr;
	unsigned long		func;
	char			data[] __aligned(sizeof(u64));
};

/**
 * struct uretprobe - a probe of the returns of a function of one process
 * @up: pid, vaddr of the first instruction, and registration_callback; handler must be NULL
 * @handler: called after the return, with the registers of the caller; may sleep
 * @entry_handler: called at the entry, or NULL; if it returns a value other than 0 the return is
 *	not waited for
 * @maxactive: most calls whose return is waited for at the same time; 0: no limit
 * @nmissed: calls that were not waited for, because of @maxactive, because memory was short or the
 *	return address could not be written, or because the task had too many calls in progress;
 *	with @size: jumps that may have left the function, because their target is in memory that
 *	the kernel could not read
 * @data_size: size of &uretprobe_instance.data
 * @size: 0, or the size of the function in bytes: its exits are probed then
 *
 * Without @size, the return address of a call is replaced on the stack, so that programs that
 * look at their stacks, or move them, cannot be probed. With @size, the return address stays, and
 * each instruction that leaves [vaddr, vaddr + size) is probed: returns, and jumps to other
 * functions (tail calls) when they are taken. The handler is called before such an instruction
 * takes effect; the instruction pointer is its address. There is no instance of the call then:
 * @entry_handler, @maxactive and @data_size must be 0, and &uretprobe_instance.data is empty.
 */
struct uretprobe {
	struct uprobe		up;
	int (*handler)(struct uretprobe_instance *ri, struct pt_regs *regs);
	int (*entry_handler)(struct uretprobe_instance *ri, struct pt_regs *regs);
	int			maxactive;
	atomic_t		nmissed;
	size_t			data_size;
	size_t			size;
};

/* Events of processes, for register_uprobe_process_notifier(). */
enum uprobe_process_event {
	/*
	 * data: the child, which has not run; current is the parent. Not for a child that shares
	 * the memory of the parent (vfork), whose first event is one of the others.
	 */
	UPROBE_PROCESS_FORK,
	UPROBE_PROCESS_EXEC,	/* data: current, which executes another program now */
	UPROBE_PROCESS_EXIT,	/* data: current, the last thread; still has memory */
};

#ifdef CONFIG_UPROBES
int register_uprobe(struct uprobe *u);
int unregister_uprobe(struct uprobe *u);
int register_uprobes(struct uprobe **us, int num);
int unregister_uprobes(struct uprobe **us, int num);
int enable_uprobe(struct uprobe *u);
int disable_uprobe(struct uprobe *u);

int register_uretprobe(struct uretprobe *rp);
int unregister_uretprobe(struct uretprobe *rp);
int register_uretprobes(struct uretprobe **rps, int num);
int unregister_uretprobes(struct uretprobe **rps, int num);
int enable_uretprobe(struct uretprobe *rp);
int disable_uretprobe(struct uretprobe *rp);

int register_uprobe_process_notifier(struct notifier_block *nb);
int unregister_uprobe_process_notifier(struct notifier_block *nb);

/* Not exported; for events. */
struct uprobe *uprobe_register_process(pid_t pid, unsigned long vaddr,
				       struct uprobe_consumer *uc);
void uprobe_unregister_process(struct uprobe *u);

/* Hooks of memory management and of processes. */
int uprobe_fork_text(struct mm_struct *oldmm, struct mm_struct *newmm);
void uprobe_text_unmapped(struct vm_area_struct *vma, unsigned long start, unsigned long end);
int uprobe_text_moves(struct vm_area_struct *vma, unsigned long start, unsigned long len);
void uprobe_text_moved(struct vm_area_struct *vma);
void uprobe_data_moved(unsigned long start, unsigned long len, unsigned long to);
void uprobe_process_exec(void);
void uprobe_process_exit(void);
void uprobe_handler_died(void);

/*
 * A mapping, or a part of it, is about to be unmapped, of a process that may have been probed; see
 * uprobe_text_unmapped(). A macro, because &struct mm_struct is not complete here.
 */
#define uprobe_unmapped(vma, start, end)				\
do {									\
	struct vm_area_struct *__vma = (vma);				\
									\
	if (unlikely(READ_ONCE(__vma->vm_mm->uprobes_state.own)))	\
		uprobe_text_unmapped(__vma, start, end);		\
} while (0)

/*
 * Pages of a mapping are about to be zapped, or its bounds to change. Nothing to do: the mapping
 * stays, its sites stay valid, and breakpoints vanish with their pages. Truncation of a file comes
 * here with i_mmap_rwsem only, while the process may end.
 */
static inline void uprobe_munmap(struct vm_area_struct *vma, unsigned long start,
				 unsigned long end)
{
}

#else /* !CONFIG_UPROBES */

#define UPROBES_ABSENT(function, ...)					\
static inline int function(__VA_ARGS__)					\
{									\
	return -EOPNOTSUPP;						\
}

UPROBES_ABSENT(register_uprobe, struct uprobe *u)
UPROBES_ABSENT(unregister_uprobe, struct uprobe *u)
UPROBES_ABSENT(register_uprobes, struct uprobe **us, int num)
UPROBES_ABSENT(unregister_uprobes, struct uprobe **us, int num)
UPROBES_ABSENT(enable_uprobe, struct uprobe *u)
UPROBES_ABSENT(disable_uprobe, struct uprobe *u)
UPROBES_ABSENT(register_uretprobe, struct uretprobe *rp)
UPROBES_ABSENT(unregister_uretprobe, struct uretprobe *rp)
UPROBES_ABSENT(register_uretprobes, struct uretprobe **rps, int num)
UPROBES_ABSENT(unregister_uretprobes, struct uretprobe **rps, int num)
UPROBES_ABSENT(enable_uretprobe, struct uretprobe *rp)
UPROBES_ABSENT(disable_uretprobe, struct uretprobe *rp)
UPROBES_ABSENT(register_uprobe_process_notifier, struct notifier_block *nb)
UPROBES_ABSENT(unregister_uprobe_process_notifier, struct notifier_block *nb)

#endif /* !CONFIG_UPROBES */

#endif /* _LINUX_UPROBES_PROCESS_H */
