/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulated x86 task for the emulator of uprobes: registers, memory, shadow stack, and the
 * signal that was sent to it.  The headers in asm/ and linux/ lead here; useremulate.c implements
 * the functions.
 */
#ifndef _KPROBES_TEST_MACHINE_H
#define _KPROBES_TEST_MACHINE_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/inat.h>

#include "../../../../arch/x86/include/uapi/asm/prctl.h"
#include "../../../../arch/x86/include/uapi/asm/processor-flags.h"
#include "../../../../arch/x86/include/asm/trapnr.h"
#include "../../../../arch/x86/include/asm/trap_pf.h"

#ifndef __user
#define __user
#endif
#define CONFIG_X86_USER_SHADOW_STACK
#define DR_STEP		0x4000
#ifndef TRAP_TRACE
#define TRAP_TRACE	2
#endif
#ifndef SEGV_CPERR
#define SEGV_CPERR	10
#endif

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, flags, sp;
};

struct thread_struct {
	unsigned long cr2, trap_nr, error_code, virtual_dr6, features;
};

struct test_mm {
	struct {
		unsigned long trampoline;	/* address of that of returns, or 0 */
	} uprobes_state;
};

struct test_task {
	struct thread_struct thread;
	struct test_mm *mm;
	int signal, code;
	unsigned long addr;
	bool stepped;
	struct uprobe_task *utask;
	bool in_code32;		/* it executes code of 32 bits */
};

extern struct test_task test_user_task;

#define current	(&test_user_task)

struct cpuinfo {
	unsigned int x86_virt_bits;
};

static const struct cpuinfo boot_cpu_data = { .x86_virt_bits = 48 };

/* The simulated processor has no addresses with tags. */
static inline u64 untagged_addr(u64 addr)
{
	return addr;
}

static inline bool __is_canonical_address(u64 addr, unsigned int bits)
{
	return (u64)((s64)(addr << (64 - bits)) >> (64 - bits)) == addr;
}

static inline bool user_64bit_mode(struct pt_regs *regs)
{
	return !test_user_task.in_code32;
}

int test_read_user(void *to, unsigned long addr, unsigned int size);
int test_write_user(u64 value, unsigned long addr, unsigned int size);

static inline unsigned long copy_from_user(void *to, const void *from, unsigned int size)
{
	return size && test_read_user(to, (unsigned long)from, size) ? size : 0;
}

static inline long copy_from_user_nofault(void *to, const void *from, unsigned int size)
{
	return copy_from_user(to, from, size) ? -EFAULT : 0;
}

unsigned long copy_to_user(void *to, const void *from, unsigned int size);

#define get_user(to, from)							\
({										\
	typeof(from) __from = (from);						\
										\
	test_read_user(&(to), (unsigned long)__from, sizeof(*__from));		\
})

#define put_user(value, to)							\
({										\
	typeof(to) __to = (to);							\
										\
	test_write_user(value, (unsigned long)__to, sizeof(*__to));		\
})

#define unsafe_get_user(to, from, label)					\
do {										\
	if (get_user(to, from))							\
		goto label;							\
} while (0)
#define unsafe_put_user(value, to, label)					\
do {										\
	if (put_user(value, to))						\
		goto label;							\
} while (0)
#define scoped_user_read_access_size(from, size, label)				\
	for (bool __done = false; !__done; __done = true)
#define scoped_user_read_access(from, label)					\
	scoped_user_read_access_size(from, sizeof(*(from)), label)
#define scoped_user_write_access		scoped_user_read_access
#define scoped_user_rw_access			scoped_user_read_access
#define scoped_user_write_access_size		scoped_user_read_access_size

#define SYSCALL_DEFINE0(name)	long test_sys_##name(void)
#define __NR_uretprobe	335
#define __NR_uprobe	336
#define CALL_INSN_OPCODE	0xe8
#define CALL_INSN_SIZE	5

extern struct pt_regs test_user_regs;

static inline struct pt_regs *task_pt_regs(struct test_task *task)
{
	return &test_user_regs;
}

bool shstk_is_enabled(void);
int shstk_update_last_frame(unsigned long value);
unsigned long insn_get_seg_base(struct pt_regs *regs, int segment);
bool __emulate_cc(unsigned long flags, u8 cc);
void force_sig(int signal);
void force_sig_fault(int signal, int code, void *addr);
void smp_text_poke_sync_each_cpu(void);
void send_sigtrap(struct pt_regs *regs, int error_code, int code);
static inline void rseq_note_user_irq_entry(void) { }
/* No test is in a slot. */
static inline void uprobe_leave(struct pt_regs *regs) { }

#endif /* _KPROBES_TEST_MACHINE_H */
