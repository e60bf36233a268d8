// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: make an access for the interrupted code, so that its instruction is not stepped.
 *
 * A step costs a second exception, and all registers are disabled and enabled for it.  Most
 * accesses are loads and stores of one general register.  These are made here, where debug
 * exceptions are masked.  All others are stepped.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/context_tracking_state.h>
#include <linux/irqflags.h>
#include <linux/kasan-enabled.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/barrier.h>
#include <asm/insn.h>
#include <asm/mte-kasan.h>
#include <asm/ptrace.h>

#include "access.h"
#include "emulate.h"

/* How an instruction finds its address. */
enum addressing {
	ADDR_BASE,		/* ldar, stlr */
	ADDR_OFFSET,
	ADDR_MOVES,		/* at the old base or the new one, which is kept */
	ADDR_OTHER,		/* not emulated */
};

static __always_inline enum addressing addressing_of(u32 insn)
{
	/* Of instructions with a signed offset of 9 bits; 2: unprivileged. */
	static const u8 signed_offset[4] = { ADDR_OFFSET, ADDR_MOVES, ADDR_OTHER, ADDR_MOVES };

	if ((insn & 0x3f000000) == 0x39000000)
		return ADDR_OFFSET;
	if ((insn & 0x3f200000) == 0x38000000)
		return signed_offset[insn >> 10 & 3];
	if ((insn & 0x3f200c00) == 0x38200800)
		return ADDR_OFFSET;
	return (insn & 0x3fbffc00) == 0x089ffc00 ? ADDR_BASE : ADDR_OTHER;
}

/* May an access at @addr touch the data? */
static __always_inline bool reaches(unsigned long addr, const void *data, size_t size)
{
	return sign_extend64(addr, 55) - sign_extend64((unsigned long)data, 55) + sizeof(long) - 1 <
	       size + sizeof(long) - 1;
}

#ifdef CONFIG_CONTEXT_TRACKING_IDLE
static __always_inline bool reaches_rcu(unsigned long addr)
{
	return reaches(addr, raw_cpu_ptr(&context_tracking), sizeof(struct context_tracking));
}
#else
static __always_inline bool reaches_rcu(unsigned long addr) { return false; }
#endif

#ifdef CONFIG_PROVE_LOCKING
static __always_inline bool reaches_lockdep(unsigned long addr)
{
	return reaches(addr, raw_cpu_ptr(&hardirqs_enabled), sizeof(int));
}
#else
static __always_inline bool reaches_lockdep(unsigned long addr) { return false; }
#endif

/*
 * Until it ends, the exception has changed the count of disabled preemption, and the state of this
 * CPU that RCU and lockdep keep.
 */
static __always_inline bool is_changed_here(unsigned long addr)
{
	return reaches(addr, current_thread_info(), sizeof(struct thread_info)) ||
	       reaches_rcu(addr) || reaches_lockdep(addr);
}

static __always_inline bool load(unsigned long addr, unsigned int size, u64 *value)
{
	u32 word;
	u16 half;
	u8 byte;

	switch (size) {
	case 0:
		__get_kernel_nofault(&byte, (u8 *)addr, u8, fault);
		*value = byte;
		break;
	case 1:
		__get_kernel_nofault(&half, (u16 *)addr, u16, fault);
		*value = half;
		break;
	case 2:
		__get_kernel_nofault(&word, (u32 *)addr, u32, fault);
		*value = word;
		break;
	case 3:
		__get_kernel_nofault(value, (u64 *)addr, u64, fault);
		break;
	}
	return true;
fault:
	return false;
}

static __always_inline bool store(unsigned long addr, unsigned int size, u64 value)
{
	u32 word = value;
	u16 half = value;
	u8 byte = value;

	switch (size) {
	case 0:
		__put_kernel_nofault((u8 *)addr, &byte, u8, fault);
		break;
	case 1:
		__put_kernel_nofault((u16 *)addr, &half, u16, fault);
		break;
	case 2:
		__put_kernel_nofault((u32 *)addr, &word, u32, fault);
		break;
	case 3:
		__put_kernel_nofault((u64 *)addr, &value, u64, fault);
		break;
	}
	return true;
fault:
	return false;
}

/* Returns the value that the register gets.  Bit 23: extend the sign; bit 22: to 32 bits only. */
static __always_inline u64 extended(u64 value, u32 insn)
{
	if (!(insn & BIT(23)))
		return value;
	value = sign_extend64(value, (8 << (insn >> 30)) - 1);
	return insn & BIT(22) ? (u32)value : value;
}

static __always_inline bool make_access(struct pt_regs *regs, u32 insn, unsigned long addr,
					enum addressing mode)
{
	unsigned int size = insn >> 30, rt = insn & 31;
	u64 value;

	/* Bits 23 and 22 of these are not those of the others: 10 is a store, 11 a load. */
	if (mode == ADDR_BASE)
		insn &= ~BIT(23);
	if (!(insn & (BIT(23) | BIT(22))))
		return store(addr, size, pt_regs_read_reg(regs, rt));
	/* prfm; sign extensions that do not exist. */
	if (insn & BIT(23) && size + (insn >> 22 & 1) > 2)
		return false;
	if (!load(addr, size, &value))
		return false;
	pt_regs_write_reg(regs, rt, extended(value, insn));
	return true;
}

/**
 * wprobe_emulate() - make the access of an instruction, and go on after it
 * @regs: registers before the instruction, which is in the kernel
 * @insn: the instruction
 * @addr: the first byte that it accesses, without the tag
 *
 * Context: debug exception, with debug exceptions masked.
 * Return: false if nothing has been changed, because the instruction is none of those that are
 * emulated, or because the access faults.
 */
bool wprobe_emulate(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	enum addressing mode = addressing_of(insn);
	unsigned int rn = insn >> 5 & 31;
	unsigned long moved;

	/*
	 * The return from an exception does not restore the stack pointer of the kernel.  Above
	 * x18, the shadow call stack has the return addresses of the functions that handle the
	 * exception.
	 */
	if (mode == ADDR_OTHER || (mode == ADDR_MOVES && (rn == 31 || rn == 18)))
		return false;
	/* Used with ADDR_MOVES only, whose base is not the stack pointer here. */
	moved = pt_regs_read_reg(regs, rn) + short_offset(insn);
	/* User memory is accessed with other rights. */
	if (!(addr & BIT(55)))
		return false;
	/* The exception has switched tag checks off, so that KASAN would miss a wrong tag. */
	if (kasan_hw_tags_enabled() || is_changed_here(addr))
		return false;
	/*
	 * ldar and stlr are ordered with all others.  A dependency of other accesses on a loaded
	 * value would end in memory.  No partner: orders accesses of the interrupted code.
	 */
	smp_mb();
	if (!make_access(regs, insn, addr, mode))
		return false;
	/* As above. */
	smp_mb();
	if (mode == ADDR_MOVES)
		regs->regs[rn] = moved;
	regs->pc += AARCH64_INSN_SIZE;
	regs->pstate &= ~PSR_BTYPE_MASK;
	return true;
}
NOKPROBE_SYMBOL(wprobe_emulate);
