/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_RETURN_H
#define _LINUX_KPROBES_RETURN_H
/*
 * The contract between the kprobes core and the architectures: return probes.
 *
 * Included from <linux/kprobes-arch.h>; do not include it directly.
 */

/*
 * Is @p the probe by which an architecture without a native trampoline sees returns?  It stays
 * armed while debugfs "enabled" is 0, because calls in flight will return to it.
 */
int arch_trampoline_kprobe(struct kprobe *p);

/* Functions that the architecture excludes; kretprobe_blacklist_size entries. */
extern struct kretprobe_blackpoint kretprobe_blacklist[];

#ifdef CONFIG_KRETPROBE_ON_RETHOOK

static nokprobe_inline
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **last)
{
	return rethook_find_ret_addr(tsk, (unsigned long)fp, last);
}

static nokprobe_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	struct rethook *rh = READ_ONCE(ri->node.rethook);

	return rh->data;
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return is_rethook_trampoline(addr);
}

static nokprobe_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return ri->node.ret_addr;
}

/* rethook recycles the instances of a task that dies. */
static inline void kprobe_flush_task(struct task_struct *tk) { }

#elif defined(CONFIG_KRETPROBES)
/* --- HAVE_KRETPROBES, the core keeps the instances ----------------------- */

/*
 * For architectures without rethook, or with HAVE_KRETPROBE_NATIVE.  No other return
 * probe of the same context level may run while arch_prepare_kretprobe() or the
 * trampoline's handler runs: preemption is disabled there, and probes that are hit
 * in between are missed.
 */

/* Saves the return address in @ri and replaces it by the trampoline's address. */
#ifndef arch_prepare_kretprobe
void arch_prepare_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs);
#endif
/*
 * Changes @regs as if the function had returned to @correct_ret_addr, if
 * instruction_pointer_set() is not enough.
 */
#ifndef arch_kretprobe_fixup_return
void arch_kretprobe_fixup_return(struct pt_regs *regs,
				 kprobe_opcode_t *correct_ret_addr);
#endif
void __kretprobe_trampoline(void);
unsigned long __kretprobe_trampoline_handler(struct pt_regs *regs,
					     void *frame_pointer);
void kretprobe_return(struct pt_regs *regs, void *frame_pointer);
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur);
void kprobe_flush_task(struct task_struct *tk);

/* Returns the trampoline's address; dereferences a function descriptor if there is one. */
static nokprobe_inline void *kretprobe_trampoline_addr(void)
{
	return dereference_kernel_function_descriptor(__kretprobe_trampoline);
}

static nokprobe_inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return (void *)addr == kretprobe_trampoline_addr();
}

/* For trampolines without a probe on them: handlers must not nest. */
static nokprobe_inline
unsigned long kretprobe_trampoline_handler(struct pt_regs *regs, void *frame_pointer)
{
	unsigned long addr;

	kprobe_busy_begin();
	addr = __kretprobe_trampoline_handler(regs, frame_pointer);
	kprobe_busy_end();
	return addr;
}

static nokprobe_inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri)
{
	return (unsigned long)ri->ret_addr;
}

/*
 * Returns the probe.  Outside of the probe's handlers, returns NULL after it has been
 * unregistered.
 * Pairs with the grace period before kretprobe_engine_free() changes rph.
 */
static nokprobe_inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri)
{
	return READ_ONCE(ri->rph)->rp;
}

#else /* !CONFIG_KRETPROBES */

static inline bool is_kretprobe_trampoline(unsigned long addr)
{
	return false;
}

static inline
unsigned long kretprobe_find_ret_addr(struct task_struct *tsk, void *fp,
				      struct llist_node **cur)
{
	return 0;
}

static inline void kprobe_flush_task(struct task_struct *tk) { }

#endif /* CONFIG_KRETPROBES */

#endif /* _LINUX_KPROBES_RETURN_H */
