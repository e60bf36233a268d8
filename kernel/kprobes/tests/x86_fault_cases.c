// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions that fault (x86): memory, division, branches through memory.
 */
#include <linux/ptrace.h>
#include <asm/nops.h>
#include <asm/trapnr.h>

#include "asm_case.h"
#include "fault_paths.h"

/* Flags of the cases: the kind of a good argument. */
#define POINTER		0
#define DIVISOR		1
#define JUMP		2
#define CALL		3

/*
 * The function copies the argument to cx; a bad argument faults.  The instruction has an
 * exception table entry.  It is followed by a nop, at which handlers that skip the instruction
 * continue.  A jump that replaces the instruction covers no more than that nop, so it does not
 * cover the fix-up.
 */
#define FAULT_CASE(name, flags, before, insn)				\
	ASM_CASE(kprobes_fault_path_cases, name, flags,			\
		 "mov " ARG ", " CX "\n" before, insn, ASM_NOP5 "\n",	\
		 ASM_RET						\
		 ASM_PLACE(name##_fixup)				\
		 "mov $" __stringify(FAULT_FIXED) ", %eax\n"		\
		 ASM_RET						\
		 _ASM_EXTABLE(name##_insn, name##_fixup))

ASM_TABLE_BEGIN(kprobes_fault_path_cases);

asm(ASM_FUNCTION(kprobes_fault_callee, "mov $" __stringify(FAULT_GOOD) ", %eax\n" ASM_RET));

FAULT_CASE(kprobes_fault_load, POINTER, "", "mov (" CX "), " AX "\n");
FAULT_CASE(kprobes_fault_add, POINTER, "xor %eax, %eax\n", "add (" CX "), " AX "\n");
FAULT_CASE(kprobes_fault_divide, DIVISOR,
	   "mov $100, %eax\nxor %edx, %edx\n", "div %ecx\n");
FAULT_CASE(kprobes_fault_call, CALL, "",
	   ANNOTATE_RETPOLINE_SAFE "\ncall *(" CX ")\n");
/* Long enough for a jump to a detour. */
FAULT_CASE(kprobes_fault_long_call, CALL, "",
	   ANNOTATE_RETPOLINE_SAFE "\n.byte 0xff, 0x91, 0, 0, 0, 0\n");
FAULT_CASE(kprobes_fault_jump, JUMP, "",
	   ANNOTATE_RETPOLINE_SAFE "\njmp *(" CX ")\nint3\n");

ASM_TABLE_END(kprobes_fault_path_cases);

const struct asm_table kprobes_fault_table = {
	kprobes_fault_path_cases, kprobes_fault_path_cases_end,
};

asm(".globl kprobes_fault_bare, kprobes_fault_bare_insn, kprobes_fault_bare_next\n"
	ASM_FUNCTION(kprobes_fault_bare,
		     ASM_PLACE(kprobes_fault_bare_insn)
		     "mov (" ARG "), " AX "\n"
		     ASM_PLACE(kprobes_fault_bare_next)
		     ASM_RET)
	ASM_UNCHECKED(kprobes_fault_bare));

static bool is_branch(const struct asm_case *c)
{
	return c->flags == JUMP || c->flags == CALL;
}

static unsigned long good_value = FAULT_GOOD;
static void *good_target = kprobes_fault_callee;

/**
 * kprobes_fault_init() - prepare a case of the suite
 * @test: the case
 *
 * Return: 0 or a negative errno.
 */
int kprobes_fault_init(struct kunit *test)
{
	return 0;
}

/**
 * kprobes_fault_there() - does this machine have the features that a row needs?
 * @c: the row
 */
bool kprobes_fault_there(const struct asm_case *c)
{
	return true;
}

/**
 * kprobes_fault_applies() - does a kind of bad argument apply to a row?
 * @c: the row
 * @bad: the kind of argument
 * @helped: a fault handler resolves the fault
 */
bool kprobes_fault_applies(const struct asm_case *c, enum fault_bad bad, bool helped)
{
	if (c->flags == DIVISOR)
		return true;
	/* Without the help of a fault handler, the kernel must not access user space. */
	if (bad == BAD_NULL)
		return helped;
	return bad != BAD_NON_CANONICAL || IS_ENABLED(CONFIG_X86_64);
}

/**
 * kprobes_fault_leaves() - does a row's instruction continue elsewhere when it is retried?
 * @c: the row
 */
bool kprobes_fault_leaves(const struct asm_case *c)
{
	return c->flags == JUMP;
}

/**
 * kprobes_fault_hits_again() - is a retry of a row's instruction another hit?
 * @c: the row
 */
bool kprobes_fault_hits_again(const struct asm_case *c)
{
	return c->flags == CALL;
}

/**
 * kprobes_fault_bad() - get a bad argument
 * @c: the row
 * @bad: the kind of argument
 * @guard_page: address of an unmapped page that follows a mapped one
 */
unsigned long kprobes_fault_bad(const struct asm_case *c, enum fault_bad bad,
				unsigned long guard_page)
{
	if (c->flags == DIVISOR)
		return 0;
	if (bad == BAD_UNMAPPED)
		return guard_page;
	return bad == BAD_NULL ? 0x10 : 0xdeadUL << (BITS_PER_LONG - 16);
}

/**
 * kprobes_fault_good() - get a good argument
 * @c: the row
 */
unsigned long kprobes_fault_good(const struct asm_case *c)
{
	if (c->flags == DIVISOR)
		return 100 / FAULT_GOOD;
	return (unsigned long)(is_branch(c) ? (void *)&good_target : &good_value);
}

/**
 * kprobes_fault_is() - is this the trap number that a fault handler must get?
 * @c: the row
 * @bad: the kind of argument
 * @trapnr: the number that the handler got
 */
bool kprobes_fault_is(const struct asm_case *c, enum fault_bad bad, int trapnr)
{
	if (c->flags == DIVISOR)
		return trapnr == X86_TRAP_DE;
	return trapnr == (bad == BAD_NON_CANONICAL ? X86_TRAP_GP : X86_TRAP_PF);
}

/**
 * kprobes_fault_repair() - replace the argument with which an instruction has faulted
 * @regs: registers at the fault
 * @argument: the new argument
 */
void kprobes_fault_repair(struct pt_regs *regs, unsigned long argument)
{
	regs->cx = argument;
}
