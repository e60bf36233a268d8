// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The CPU as its own oracle: small pieces of code are run bare, then with a
 * probe on one instruction, and must give the same result, flags and memory.
 * Every kind of emulated instruction is there, and some that are copied.
 *
 * A piece is called as piece(in, mem).  It may change ax, cx and mem, leaves its
 * result in ax, and stores the flags in mem[0].
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/string.h>
#include <asm/asm.h>
#include <asm/nospec-branch.h>

#include "counted.h"

#ifdef CONFIG_X86_64
#define IN	"%rdi"		/* first argument */
#define MEM	"%rsi"		/* second argument */
#define AX	"%rax"
#define CX	"%rcx"
#define SP	"%rsp"
#define WORD	"8"
#define PTR	".quad"
#define AT(s)	#s "(%rip)"
#define JCXZ	"jrcxz"
#define PIECE_SUFFIX	"q"
#else
#define IN	"%eax"
#define MEM	"%edx"
#define AX	"%eax"
#define CX	"%ecx"
#define SP	"%esp"
#define WORD	"4"
#define PTR	".long"
#define AT(s)	#s
#define JCXZ	"jecxz"
#define PIECE_SUFFIX	"l"
#endif

typedef unsigned long (*piece_fn)(unsigned long in, unsigned long *mem);

/* Code up to the probed instruction, that, and the rest. */
#define PIECE(name, before, probed, after)				\
unsigned long kprobes_piece_##name(unsigned long in, unsigned long *mem);	\
extern char kprobes_probed_##name[];					\
asm(".pushsection .text\n"						\
    ".global kprobes_piece_" #name "\n"					\
    ".type kprobes_piece_" #name ", @function\n"			\
    "kprobes_piece_" #name ":\n"					\
    before "\n"								\
    "kprobes_probed_" #name ":\n"					\
    probed "\n"								\
    after "\n"								\
    "	pushf\n"							\
    "	pop (" MEM ")\n"						\
    "	" ASM_RET "\n"							\
    ".size kprobes_piece_" #name ", . - kprobes_piece_" #name "\n"	\
    ".popsection\n");							\
STACK_FRAME_NON_STANDARD(kprobes_piece_##name)

/* The comparison gives every condition for some input; the branch skips a mov. */
#define JCC(cc)								\
PIECE(j##cc, "	mov " IN ", " CX "\n	mov $0, %eax\n	cmp $7, %cl",	\
      "	j" #cc " 1f",							\
      "	mov $1, %eax\n1:	add $2, %eax\n	cmp $7, %cl");		\
PIECE(near_j##cc, "	mov " IN ", " CX "\n	mov $0, %eax\n	cmp $7, %cl", \
      "	j" #cc ".d32 1f",						\
      "	mov $1, %eax\n1:	add $2, %eax\n	cmp $7, %cl")

JCC(o);
JCC(no);
JCC(b);
JCC(ae);
JCC(e);
JCC(ne);
JCC(be);
JCC(a);
JCC(s);
JCC(ns);
JCC(p);
JCC(np);
JCC(l);
JCC(ge);
JCC(le);
JCC(g);

PIECE(jmp, "	mov $5, %eax", "	jmp 1f", "	mov $6, %eax\n1:");
PIECE(near_jmp, "	mov $5, %eax", "	jmp.d32 1f", "	mov $6, %eax\n1:");

/* One to eight rounds, ZF set in the third. */
#define LOOP(op)							\
PIECE(op, "	mov " IN ", " CX "\n	and $7, %ecx\n	inc %ecx\n"	\
	  "	mov $0, %eax\n1:	add $3, %eax\n	cmp $9, %eax",	\
      "	" #op " 1b", "")

LOOP(loop);
LOOP(loope);
LOOP(loopne);
PIECE(jcxz, "	mov " IN ", " CX "\n	and $1, %ecx\n	mov $0, %eax",
      "	" JCXZ " 1f", "	inc %eax\n1:");

/* Returns where it was called from; the other one drops its argument too. */
asm(".pushsection .text\n"
    ".type kprobes_callee, @function\n"
    "kprobes_callee:\n"
    "	mov (" SP "), " AX "\n"
    "	" ASM_RET "\n"
    ".size kprobes_callee, . - kprobes_callee\n"
    ".popsection\n"
    ".pushsection .data\n"
    ".balign 8\n"
    "kprobes_callee_ptr: " PTR " kprobes_callee\n"
    "kprobes_jump_ptr: " PTR " kprobes_jump_target\n"
    "kprobes_var: " PTR " 0x1234567\n"
    ".popsection\n");

PIECE(call, "", "	call kprobes_callee", "");
PIECE(call_reg, "	mov $kprobes_callee, " CX,
      ANNOTATE_RETPOLINE_SAFE "	call *" CX, "");
PIECE(call_mem, "", ANNOTATE_RETPOLINE_SAFE "	call *" AT(kprobes_callee_ptr), "");
PIECE(call_sib, "	mov $kprobes_callee_ptr - 24, " CX "\n	mov $2, %eax",
      ANNOTATE_RETPOLINE_SAFE "	call *8(" CX "," AX ",8)", "");
PIECE(call_stack, "	push $kprobes_callee",
      ANNOTATE_RETPOLINE_SAFE "	call *(" SP ")", "	lea " WORD "(" SP "), " SP);

PIECE(jmp_reg, "	mov $1f, " CX "\n	mov $5, %eax",
      ANNOTATE_RETPOLINE_SAFE "	jmp *" CX, "	mov $6, %eax\n1:");
PIECE(jmp_mem, "	mov $5, %eax",
      ANNOTATE_RETPOLINE_SAFE "	jmp *" AT(kprobes_jump_ptr),
      "	mov $6, %eax\nkprobes_jump_target:");

PIECE(ret, "	push $1f\n	mov $5, %eax", "	ret", "	mov $6, %eax\n1:");
PIECE(ret_imm, "	push $42\n	push $1f\n	mov $5, %eax",
      "	ret $" WORD, "	mov $6, %eax\n1:");

PIECE(pushf, "	cmp $7, %eax", "	pushf", "	pop " AX);
PIECE(popf, "	mov " IN ", " CX "\n	and $0xd5, %ecx\n	pushf\n	pop " AX "\n"
	    "	and $~0x8d5, %eax\n	or " CX ", " AX "\n	push " AX,
      "	popf", "");
PIECE(cli, "	pushf", "	cli", "	pushf\n	pop " AX "\n	popf");
PIECE(sti, "	pushf\n	cli", "	sti", "	pushf\n	pop " AX "\n	popf");

/* Copied, some of them re-based. */
PIECE(load, "", "	mov " AT(kprobes_var) ", " AX, "");
PIECE(lea, "", "	lea " AT(kprobes_var) ", " AX, "");
PIECE(compare, "	mov " IN ", " CX, "	cmp " CX ", " AT(kprobes_var), "	mov " CX ", " AX);
PIECE(compare_imm, "", "	cmp" PIECE_SUFFIX " $0x1234567, " AT(kprobes_var), "");
PIECE(exchange, "	mov " IN ", " CX, "	xchg " CX ", " WORD "(" MEM ")", "	mov " CX ", " AX);
PIECE(push_sp, "", "	push " SP, "	pop " AX "\n	sub " SP ", " AX);
PIECE(pop_mem, "	push " IN, "	pop " WORD "(" MEM ")", "");
PIECE(adc, "	mov " IN ", " CX "\n	cmp $7, %cl", "	adc $100, " CX, "	mov " CX ", " AX);
PIECE(shift, "	mov " IN ", " CX "\n	mov $0x55, %eax", "	shl %cl, %eax", "	cmp $1, %eax");

struct piece {
	const char *name;
	piece_fn fn;
	char *probed;
};

#define ROW(name)	{ #name, kprobes_piece_##name, kprobes_probed_##name }
#define JCC_ROWS(cc)	ROW(j##cc), ROW(near_j##cc)

static const struct piece pieces[] = {
	JCC_ROWS(o), JCC_ROWS(no), JCC_ROWS(b), JCC_ROWS(ae), JCC_ROWS(e),
	JCC_ROWS(ne), JCC_ROWS(be), JCC_ROWS(a), JCC_ROWS(s), JCC_ROWS(ns),
	JCC_ROWS(p), JCC_ROWS(np), JCC_ROWS(l), JCC_ROWS(ge), JCC_ROWS(le),
	JCC_ROWS(g),
	ROW(jmp), ROW(near_jmp), ROW(loop), ROW(loope), ROW(loopne), ROW(jcxz),
	ROW(call), ROW(call_reg), ROW(call_mem), ROW(call_sib), ROW(call_stack),
	ROW(jmp_reg), ROW(jmp_mem), ROW(ret), ROW(ret_imm),
	ROW(pushf), ROW(popf), ROW(cli), ROW(sti),
	ROW(load), ROW(lea), ROW(compare), ROW(compare_imm), ROW(exchange),
	ROW(push_sp), ROW(pop_mem), ROW(adc), ROW(shift),
};

static const unsigned long inputs[] = {
	0, 1, 2, 5, 6, 7, 8, 0x7f, 0x80, 0x86, 0x87, 0xff, 0x1234567, -1UL, LONG_MAX,
};

struct outcome {
	unsigned long value;
	unsigned long mem[4];
};

static void run_piece(const struct piece *piece, unsigned long in, struct outcome *out)
{
	memset(out, 0, sizeof(*out));
	out->mem[1] = 0x55aa;
	out->value = piece->fn(in, out->mem);
}

static void compare_outcomes(struct kunit *test, const struct piece *piece,
			     const char *mode, unsigned long in,
			     const struct outcome *bare, const struct outcome *probed)
{
	KUNIT_EXPECT_EQ_MSG(test, memcmp(bare, probed, sizeof(*bare)), 0,
			    "%s %s(%#lx): value %#lx/%#lx flags %#lx/%#lx mem %#lx/%#lx",
			    mode, piece->name, in, bare->value, probed->value,
			    bare->mem[0], probed->mem[0], bare->mem[1], probed->mem[1]);
}

#define NR_INPUTS	ARRAY_SIZE(inputs)

/* All inputs bare, then all of them probed. */
static void compare_runs(struct kunit *test, bool post)
{
	struct outcome bare[NR_INPUTS], probed;
	const struct piece *piece;
	int i;

	for (piece = pieces; piece < pieces + ARRAY_SIZE(pieces); piece++) {
		struct counted c = counted_at(piece->probed, true, post);

		for (i = 0; i < NR_INPUTS; i++)
			run_piece(piece, inputs[i], &bare[i]);
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&c.kp), 0, "%s", piece->name);
		for (i = 0; i < NR_INPUTS; i++) {
			run_piece(piece, inputs[i], &probed);
			compare_outcomes(test, piece, post ? "post" : "plain",
					 inputs[i], &bare[i], &probed);
			KUNIT_EXPECT_FALSE(test, irqs_disabled());
		}
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_GE(test, c.pre, NR_INPUTS);
		KUNIT_EXPECT_EQ(test, c.post, post ? c.pre : 0);
	}
}

static void boosted_or_emulated(struct kunit *test)
{
	compare_runs(test, false);
}

static void stepped_or_emulated(struct kunit *test)
{
	compare_runs(test, true);
}

/* --- Missed: the instruction is executed, the handlers are not ---------------- */

static const struct piece *nested_piece;
static unsigned long nested_in;
static struct outcome nested_outcome;

static noinline __noclone notrace int nested_trigger(int x)
{
	KEEP_CALL(x);
	return x + 1;
}

static int nested_pre(struct kprobe *p, struct pt_regs *regs)
{
	run_piece(nested_piece, nested_in, &nested_outcome);
	return 0;
}
NOKPROBE_SYMBOL(nested_pre);

static void missed(struct kunit *test)
{
	struct kprobe outer = { .addr = (void *)nested_trigger, .pre_handler = nested_pre };
	struct outcome bare[NR_INPUTS];
	const struct piece *piece;
	int i;

	KUNIT_ASSERT_EQ(test, register_kprobe(&outer), 0);
	for (piece = pieces; piece < pieces + ARRAY_SIZE(pieces); piece++) {
		struct counted c = counted_at(piece->probed, true, true);

		/* A breakpoint trap is no place to enable interrupts. */
		if (piece->fn == kprobes_piece_sti)
			continue;
		nested_piece = piece;
		for (i = 0; i < NR_INPUTS; i++) {
			nested_in = inputs[i];
			nested_trigger(1);
			bare[i] = nested_outcome;
		}
		KUNIT_ASSERT_EQ_MSG(test, register_kprobe(&c.kp), 0, "%s", piece->name);
		for (i = 0; i < NR_INPUTS; i++) {
			nested_in = inputs[i];
			nested_trigger(1);
			compare_outcomes(test, piece, "missed", inputs[i], &bare[i],
					 &nested_outcome);
		}
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_EQ(test, c.pre, 0);
		KUNIT_EXPECT_GE(test, c.kp.nmissed, NR_INPUTS);
	}
	unregister_kprobe(&outer);
}

static struct kunit_case emulate_cases[] = {
	KUNIT_CASE(boosted_or_emulated),
	KUNIT_CASE(stepped_or_emulated),
	KUNIT_CASE(missed),
	{}
};

static struct kunit_suite emulate_suite = {
	.name = "kprobes_x86_emulate",
	.test_cases = emulate_cases,
};
kunit_test_suite(emulate_suite);
