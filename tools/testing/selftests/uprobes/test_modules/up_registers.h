/* SPDX-License-Identifier: GPL-2.0 */
/* The values that process_probes has put into the registers of a hit, and into its memory. */
#ifndef _UP_REGISTERS_H
#define _UP_REGISTERS_H

#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>

/* The first of the values that process_probes puts into the registers. */
#define KNOWN	0x101

#define AT(member)	offsetof(struct pt_regs, member)

static const unsigned int general[] = {
#if defined(CONFIG_X86_64)
	AT(ax), AT(bx), AT(cx), AT(dx), AT(si), AT(di), AT(bp), AT(r8), AT(r9), AT(r10), AT(r11),
	AT(r12), AT(r13), AT(r14), AT(r15),
#elif defined(CONFIG_X86_32)
	AT(ax), AT(bx), AT(cx), AT(dx), AT(si), AT(di), AT(bp),
#elif defined(CONFIG_ARM64)
	AT(regs[0]), AT(regs[1]), AT(regs[2]), AT(regs[3]), AT(regs[4]), AT(regs[5]), AT(regs[6]),
	AT(regs[7]), AT(regs[8]), AT(regs[9]), AT(regs[10]), AT(regs[11]), AT(regs[12]),
	AT(regs[13]), AT(regs[14]), AT(regs[15]), AT(regs[16]), AT(regs[17]), AT(regs[18]),
	AT(regs[19]), AT(regs[20]), AT(regs[21]), AT(regs[22]), AT(regs[23]), AT(regs[24]),
	AT(regs[25]), AT(regs[26]), AT(regs[27]), AT(regs[28]), AT(regs[29]), AT(regs[30]),
#endif
};

/* A 32-bit process has the first seven. */
#ifdef CONFIG_X86
static bool flags_are_known(struct pt_regs *regs)
{
	const unsigned long all = X86_EFLAGS_CF | X86_EFLAGS_ZF | X86_EFLAGS_SF;

	return (regs->flags & all) == (X86_EFLAGS_CF | X86_EFLAGS_ZF);
}

static unsigned int nr_general(struct pt_regs *regs)
{
	return user_64bit_mode(regs) ? ARRAY_SIZE(general) : 7;
}
#else
static bool flags_are_known(struct pt_regs *regs)
{
	const unsigned long all = PSR_C_BIT | PSR_Z_BIT | PSR_N_BIT | PSR_V_BIT;

	return (regs->pstate & all) == (PSR_C_BIT | PSR_Z_BIT);
}

static unsigned int nr_general(struct pt_regs *regs)
{
	return ARRAY_SIZE(general);
}
#endif

static bool are_known(struct pt_regs *regs)
{
	unsigned int nr = nr_general(regs), i;

	for (i = 0; i < nr; i++) {
		if (*(unsigned long *)((void *)regs + general[i]) != KNOWN + i)
			return false;
	}
	return flags_are_known(regs);
}

/* Reads memory of the process, which may not be present, under a mutex. */
static bool read_known(unsigned long address)
{
	static DEFINE_MUTEX(read_mutex);
	u32 value;

	guard(mutex)(&read_mutex);
	return !copy_from_user(&value, (void __user *)address, sizeof(value)) && value == KNOWN;
}

/* Writes it. */
static bool write_known(unsigned long address)
{
	const u32 value = KNOWN;

	return !copy_to_user((void __user *)address, &value, sizeof(value));
}

#endif /* _UP_REGISTERS_H */
