// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that fault (arm64): loads and stores, with each kind of exception table
 * entry.
 */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <asm/asm-extable.h>
#include <asm/cpufeature.h>
#include <asm/esr.h>

#include "fault_paths.h"

/* Flags of the cases: the memory at the argument. */
#define KERNEL		0
#define USER		1
#define TAIL		2	/* its last bytes may be unmapped */

/* The functions are called through pointers. */
#define LANDING		"hint	#34\n"		/* bti c */

/*
 * The function copies the argument to x1, where @insn uses it; a bad argument faults.  The
 * function returns right after @insn.  The fix-up, at label 1, first executes @fixup.  A
 * row of the table is written separately, with ROW().
 */
#define FAULT_FUNCTION(name, before, insn, entry, fixup)		\
	extern char name[], name##_insn[], name##_next[];		\
	TEXT_FUNCTION(name,						\
		      LANDING						\
		      "mov	x1, x0\n"				\
		      before						\
		      ".global " #name "_insn, " #name "_next\n"	\
		      #name "_insn:\n"					\
		      insn "\n"						\
		      #name "_next:\n"					\
		      "ret\n"						\
		      "1:\n"						\
		      fixup						\
		      "mov	x0, #" __stringify(FAULT_FIXED) "\n"	\
		      "2: ret\n"					\
		      entry)

#define KACCESS(name)	_ASM_EXTABLE_KACCESS(name##_insn, 1b)

FAULT_FUNCTION(kprobes_fault_load, "", "ldr x0, [x1]", KACCESS(kprobes_fault_load), "");
FAULT_FUNCTION(kprobes_fault_pair, "", "ldp x0, x2, [x1]", KACCESS(kprobes_fault_pair), "");
FAULT_FUNCTION(kprobes_fault_acquire, "", "ldar x0, [x1]", KACCESS(kprobes_fault_acquire), "");
/* The base register must be unchanged when the load is retried. */
FAULT_FUNCTION(kprobes_fault_writeback, "", "ldr x0, [x1], #8",
	       KACCESS(kprobes_fault_writeback), "");
FAULT_FUNCTION(kprobes_fault_store, "mov x0, #" __stringify(FAULT_GOOD) "\n", "str x0, [x1]",
	       KACCESS(kprobes_fault_store), "");
/* The handler of this exception table entry sets registers, too; the fix-up checks them. */
FAULT_FUNCTION(kprobes_fault_user, "mov x2, #1\n", "ldtr x0, [x1]",
	       _ASM_EXTABLE_UACCESS_ERR_ZERO(kprobes_fault_user_insn, 1b, w2, w0),
	       "cbnz	x0, 2f\n"
	       "cmn	w2, #14\n"		/* -EFAULT */
	       "b.ne	2f\n");
FAULT_FUNCTION(kprobes_fault_tail, "", "ldr x0, [x1]",
	       _ASM_EXTABLE_LOAD_UNALIGNED_ZEROPAD(kprobes_fault_tail_insn, 1b, x0, x1),
	       "cbnz	x0, 2f\n");

#define ROW(_name, _flags)						\
	{								\
		.name = #_name, .fn = _name, .insn = _name##_insn,	\
		.next = _name##_next, .flags = _flags,			\
	}

static const struct asm_case cases[] = {
	ROW(kprobes_fault_load, KERNEL),
	ROW(kprobes_fault_pair, KERNEL),
	ROW(kprobes_fault_acquire, KERNEL),
	ROW(kprobes_fault_writeback, KERNEL),
	ROW(kprobes_fault_store, KERNEL),
	ROW(kprobes_fault_user, USER),
	ROW(kprobes_fault_tail, TAIL),
};

const struct asm_table kprobes_fault_table = { cases, cases + ARRAY_SIZE(cases) };

TEXT_FUNCTION(kprobes_fault_bare,
	      ".global kprobes_fault_bare_insn, kprobes_fault_bare_next\n"
	      LANDING
	      "kprobes_fault_bare_insn:\n"
	      "ldr	x0, [x0]\n"
	      "kprobes_fault_bare_next:\n"
	      "ret\n");

static unsigned long good_value = FAULT_GOOD;
static unsigned long user_page;

/* x86_fault_cases.c describes these functions. */

int kprobes_fault_init(struct kunit *test)
{
	user_page = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				  MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!user_page)
		return -ENOMEM;
	return put_user(good_value, (unsigned long __user *)user_page);
}

/* If page tables emulate PAN, the instruction cannot access user space by itself. */
bool kprobes_fault_there(const struct asm_case *c)
{
	return c->flags != USER || !system_uses_ttbr0_pan();
}

/*
 * The handler of a TAIL row reads the rest of the word before the unmapped page.  So the
 * other bad arguments apply only if a fault handler resolves the fault.
 */
bool kprobes_fault_applies(const struct asm_case *c, enum fault_bad bad, bool helped)
{
	return c->flags != TAIL || bad == BAD_UNMAPPED || helped;
}

bool kprobes_fault_leaves(const struct asm_case *c)
{
	return false;
}

bool kprobes_fault_hits_again(const struct asm_case *c)
{
	return false;
}

unsigned long kprobes_fault_bad(const struct asm_case *c, enum fault_bad bad,
				unsigned long guard_page)
{
	if (bad == BAD_UNMAPPED)
		return c->flags == TAIL ? guard_page - 4 : guard_page;
	return bad == BAD_NULL ? 0x10 : 0xdeadUL << 48;
}

unsigned long kprobes_fault_good(const struct asm_case *c)
{
	return c->flags == USER ? user_page : (unsigned long)&good_value;
}

bool kprobes_fault_is(const struct asm_case *c, enum fault_bad bad, int trapnr)
{
	return ESR_ELx_EC((u32)trapnr) == ESR_ELx_EC_DABT_CUR;
}

void kprobes_fault_repair(struct pt_regs *regs, unsigned long argument)
{
	regs->regs[1] = argument;
}
