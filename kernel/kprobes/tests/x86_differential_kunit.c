// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Bare and probed runs, compared register by register (x86).
 *
 * A piece begins with registers and flags from a table of inputs.  Afterwards, all that it may
 * have changed, including the stack pointer, is compared with the result without a probe: with
 * a probe that is boosted or emulated, with a post handler, and missed in handlers that a
 * breakpoint or ftrace has called.  For each of these, all pieces are probed as one batch.
 *
 * The suite fails if no piece has one of the kinds of enum probe_emul.
 */
#include <kunit/test.h>
#include <linux/irqflags.h>
#include <linux/slab.h>
#include <asm/processor-flags.h>

#include "../internal.h"
#include "counted.h"
#include "asm_case.h"
#include "../../../arch/x86/kernel/kprobes/classify.h"

/* --- The machine ------------------------------------------------------------- */

/**
 * struct cpu_image - registers before and after a piece
 * @ax: register
 * @cx: register
 * @dx: register
 * @si: register
 * @di: register
 * @flags: before: arithmetic and direction flags; after: all flags
 * @sp: before: stack pointer of the caller; after: the distance that the piece has moved it
 * @mem: used by the piece; si points to it, di to its third word
 */
struct cpu_image {
	unsigned long ax, cx, dx, si, di;
	unsigned long flags;
	unsigned long sp;
	unsigned long mem[8];
};

#define IMAGE_AX	"(" BX ")"
#define IMAGE_CX	"1*" WORD "(" BX ")"
#define IMAGE_DX	"2*" WORD "(" BX ")"
#define IMAGE_SI	"3*" WORD "(" BX ")"
#define IMAGE_DI	"4*" WORD "(" BX ")"
#define IMAGE_FLAGS	"5*" WORD "(" BX ")"
#define IMAGE_SP	"6*" WORD "(" BX ")"

static_assert(offsetof(struct cpu_image, sp) == 6 * sizeof(long));

/* CF, PF, AF, ZF, SF, DF and OF; pieces do not change other flags. */
#define GIVEN_FLAGS	0xcd5

/*
 * kprobes_run_piece(image, piece).  Pieces do not change bx and bp.  A wrong stack pointer is
 * recorded, then corrected.
 */
asm(ASM_FUNCTION(kprobes_run_piece,
		 "push " BP "\n"
		 "mov " SP ", " BP "\n"
		 "push " BX "\n"
		 "push %" _ASM_ARG2 "\n"
		 "mov " ARG ", " BX "\n"
		 "mov " SP ", " IMAGE_SP "\n"
		 "pushf\n"
		 "pop " AX "\n"
		 "and $~" __stringify(GIVEN_FLAGS) ", " AX "\n"
		 "or " IMAGE_FLAGS ", " AX "\n"
		 "push " AX "\n"
		 "mov " IMAGE_CX ", " CX "\n"
		 "mov " IMAGE_DX ", " DX "\n"
		 "mov " IMAGE_SI ", " SI "\n"
		 "mov " IMAGE_DI ", " DI "\n"
		 "mov " IMAGE_AX ", " AX "\n"
		 "popf\n"
		 ANNOTATE_RETPOLINE_SAFE "\n"
		 "call *(" SP ")\n"
		 "mov " AX ", " IMAGE_AX "\n"
		 "mov " CX ", " IMAGE_CX "\n"
		 "mov " DX ", " IMAGE_DX "\n"
		 "mov " SI ", " IMAGE_SI "\n"
		 "mov " DI ", " IMAGE_DI "\n"
		 "mov " SP ", " DX "\n"
		 "mov " IMAGE_SP ", " SP "\n"
		 "pushf\n"
		 "pop " AX "\n"
		 "cld\n"
		 "mov " AX ", " IMAGE_FLAGS "\n"
		 "sub " SP ", " DX "\n"
		 "mov " DX ", " IMAGE_SP "\n"
		 "pop %" _ASM_ARG2 "\n"
		 "pop " BX "\n"
		 "pop " BP "\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_run_piece));

/* --- Pieces ------------------------------------------------------------------ */

#define CONDITION	1	/* run with all combinations of flags */
#define ENABLES		2	/* enables interrupts: not run in a breakpoint trap */

#define PIECE_TEXT(name, flags, before, insn, skip, after)		\
	ASM_CASE_TEXT(kprobes_differential_cases, kprobes_piece_##name,	\
		      flags, before, insn, skip, after ASM_BARE_RET)
#define PIECE(...)	asm(PIECE_TEXT(__VA_ARGS__))

/* A branch over a mov, and one back to it; ax shows which instructions were executed. */
#define BRANCH_TEXT(name, flags, insn)					\
	"" PIECE_TEXT(name, flags, "", insn " 1f\n", "mov $0x111, %eax\n", "1:\n") \
	PIECE_TEXT(name##_back, flags,					\
		   "jmp 2f\n1: mov $0x222, %eax\njmp 3f\n2:\n",	\
		   insn " 1b\n", "mov $0x111, %eax\n", "3:\n")
#define BRANCH(...)	asm(BRANCH_TEXT(__VA_ARGS__))

/* Both lengths of a conditional jump. */
#define CONDITIONAL(cc)							\
	asm(BRANCH_TEXT(j##cc, CONDITION, "j" #cc)			\
	    BRANCH_TEXT(j##cc##_near, CONDITION, "j" #cc ".d32"))

#ifdef CONFIG_X86_64
#define ADDR_SHORT	".byte 0x67\n"	/* ecx instead of rcx */
#define JCXZ		"jrcxz"
#define SUFFIX		"q"
#define IN_TEXT(symbol)	#symbol "(%rip)"
#define LOAD_ADDR(symbol, reg)	"lea " #symbol "(%rip), " reg "\n"
#else
#define ADDR_SHORT	".byte 0x67\n"	/* cx instead of ecx */
#define JCXZ		"jecxz"
#define SUFFIX		"l"
#define IN_TEXT(symbol)	#symbol
#define LOAD_ADDR(symbol, reg)	"mov $" #symbol ", " reg "\n"
#endif

/*
 * The callee: stores the low byte of its return address in dx.  A direct call skips the nop:
 * with call depth tracking, calls of a function's entry are counted, which changes flags.
 */
#define CALLEE		"kprobes_piece_callee + " __stringify(ENDBR_INSN_SIZE) " + 1"
asm(ASM_FUNCTION(kprobes_piece_callee,
		 "nop\n"
		 "mov (" SP "), " DX "\n"
		 "lea 0x30(" AX "), " AX "\n"
		 ASM_BARE_RET)
	ASM_UNCHECKED(kprobes_piece_callee)
	".pushsection .data\n"
	".balign " WORD "\n"
	"kprobes_piece_pointer: " _ASM_PTR " kprobes_piece_callee\n"
	"kprobes_piece_target: " _ASM_PTR " kprobes_piece_landing\n"
	"kprobes_piece_word: " _ASM_PTR " 0x1234567\n"
	".popsection\n");

ASM_TABLE_BEGIN(kprobes_differential_cases);

CONDITIONAL(o);
CONDITIONAL(no);
CONDITIONAL(b);
CONDITIONAL(ae);
CONDITIONAL(e);
CONDITIONAL(ne);
CONDITIONAL(be);
CONDITIONAL(a);
CONDITIONAL(s);
CONDITIONAL(ns);
CONDITIONAL(p);
CONDITIONAL(np);
CONDITIONAL(l);
CONDITIONAL(ge);
CONDITIONAL(le);
CONDITIONAL(g);

BRANCH(jmp, 0, "jmp");
BRANCH(jmp_near, 0, "jmp.d32");
BRANCH(loop, CONDITION, "loop");
BRANCH(loope, CONDITION, "loope");
BRANCH(loopne, CONDITION, "loopne");
BRANCH(jcxz, 0, JCXZ);
BRANCH(loop_short, CONDITION, ADDR_SHORT "loop");
BRANCH(loope_short, CONDITION, ADDR_SHORT "loope");
BRANCH(loopne_short, CONDITION, ADDR_SHORT "loopne");
BRANCH(jcxz_short, 0, ADDR_SHORT JCXZ);

PIECE(call, 0, "", "call " CALLEE "\n", "", "");
PIECE(call_reg, 0, LOAD_ADDR(kprobes_piece_callee, DX),
	ANNOTATE_RETPOLINE_SAFE "\ncall *" DX "\n", "", "");
PIECE(call_mem, 0, "",
	ANNOTATE_RETPOLINE_SAFE "\ncall *" IN_TEXT(kprobes_piece_pointer) "\n", "", "");
PIECE(call_sib, 0, LOAD_ADDR(kprobes_piece_pointer, DI) "mov $3, %edx\n",
	ANNOTATE_RETPOLINE_SAFE "\ncall *-3*" WORD "(" DI "," DX "," WORD ")\n", "", "");
PIECE(call_stack, 0, LOAD_ADDR(kprobes_piece_callee, DX) "push " DX "\n",
	ANNOTATE_RETPOLINE_SAFE "\ncall *(" SP ")\n", "", "pop " DI "\n");
PIECE(call_stack_disp, 0, LOAD_ADDR(kprobes_piece_callee, DX) "push " DX "\npush " DX "\n",
	ANNOTATE_RETPOLINE_SAFE "\ncall *" WORD "(" SP ")\n", "", "pop " DI "\npop " DI "\n");

PIECE(jmp_reg, 0, LOAD_ADDR(1f, DX), ANNOTATE_RETPOLINE_SAFE "\njmp *" DX "\n",
	"int3\n", "1: " ASM_ENDBR);
PIECE(jmp_mem, 0, "",
	ANNOTATE_RETPOLINE_SAFE "\njmp *" IN_TEXT(kprobes_piece_target) "\n",
	"int3\n", "kprobes_piece_landing: " ASM_ENDBR);
PIECE(jmp_sib, 0, LOAD_ADDR(1f, DX) "mov " DX ", 5*" WORD "(" SI ")\nmov $2, %edx\n",
	ANNOTATE_RETPOLINE_SAFE "\njmp *3*" WORD "(" SI "," DX "," WORD ")\n",
	"int3\n", "1: " ASM_ENDBR "mov $0, %edx\nmov " DX ", 5*" WORD "(" SI ")\n");

PIECE(ret, 0, LOAD_ADDR(1f, DX) "push " DX "\n", ANNOTATE_RETPOLINE_SAFE "\nret\n",
	"int3\n", "1: " ANNOTATE_NOENDBR "\n");
PIECE(ret_drop, 0, "push $1\npush $2\npush $3\n" LOAD_ADDR(1f, DX) "push " DX "\n",
	ANNOTATE_RETPOLINE_SAFE "\nret $2*" WORD "\n",
	"int3\n", "1: " ANNOTATE_NOENDBR "\npop " DI "\n");

PIECE(pushf, CONDITION, "", "pushf\n", "", "pop " AX "\n");
PIECE(popf, CONDITION,
	"pushf\npop " DX "\nand $~0xcd5, " DX "\nand $0xcd5, %ecx\nor " CX ", " DX "\n"
	"push " DX "\n", "popf\n", "", "");
PIECE(popf_off, 0, "pushf\npushf\nand" SUFFIX " $~0x200, (" SP ")\n",
	"popf\n", "", "pushf\npop " AX "\npopf\n");
PIECE(popf_on, ENABLES, "pushf\ncli\npushf\nor" SUFFIX " $0x200, (" SP ")\n",
	"popf\n", "", "pushf\npop " AX "\npopf\n");
PIECE(cli, 0, "pushf\n", "cli\n", "", "pushf\npop " AX "\npopf\n");
PIECE(sti, ENABLES, "pushf\ncli\n", "sti\n", "nop\n", "pushf\npop " AX "\npopf\n");

/* Copied instructions; on 64 bits the first five are re-based. */
PIECE(load, 0, "", "mov " IN_TEXT(kprobes_piece_word) ", " DX "\n", "", "");
PIECE(store, 0, "", "mov " AX ", " IN_TEXT(kprobes_piece_word) "\n", "",
	"mov " IN_TEXT(kprobes_piece_word) ", " DX "\n"
	"mov" SUFFIX " $0x1234567, " IN_TEXT(kprobes_piece_word) "\n");
PIECE(lea, 0, "", LOAD_ADDR(kprobes_piece_word, DX), "", "");
PIECE(compare, 0, "", "cmp " CX ", " IN_TEXT(kprobes_piece_word) "\n", "", "");
PIECE(compare_imm, 0, "",
	"cmp" SUFFIX " $0x1234567, " IN_TEXT(kprobes_piece_word) "\n", "", "");
PIECE(push_sp, 0, "", "push " SP "\n", "", "pop " DX "\n");
PIECE(pop_mem, 0, "push " CX "\n", "pop " WORD "(" SI ")\n", "", "");
PIECE(pop_sp_mem, 0, "push $0\npush " CX "\n", "pop (" SP ")\n", "", "pop " DX "\n");
PIECE(xchg, 0, "", "xchg " CX ", " WORD "(" SI ")\n", "", "");
PIECE(rep_movsb, 0, "cld\nmov $5, %ecx\n", "rep movsb\n", "", "");
PIECE(rep_stosb_back, 0, "std\nmov $5, %ecx\nadd $5, " DI "\n", "rep stosb\n", "", "cld\n");
PIECE(adc, CONDITION, "", "adc " DX ", " CX "\n", "", "");
PIECE(rcl, CONDITION, "", "rcl $1, " CX "\n", "", "");
PIECE(cmpxchg, 0, "", "lock cmpxchg " CX ", (" SI ")\n", "", "");
PIECE(leave, 0, "push " BP "\nmov " SP ", " BP "\npush $7\n", "leave\n", "", "");

ASM_TABLE_END(kprobes_differential_cases);

/* --- Inputs ------------------------------------------------------------------ */

struct input {
	unsigned long ax, cx, dx;
};

static const struct input inputs[] = {
	{ 0, 0, 0 },
	{ 1, 1, 2 },
	{ 2, 2, -1UL },
	{ 0x1234567, 0x1234567, 7 },
	{ -1UL, 0x10000, LONG_MAX },		/* cx is 0, ecx is not */
	{ LONG_MAX, 0x10001, LONG_MIN },
	{ 5, 1UL << (BITS_PER_LONG / 2), 1 },	/* ecx is 0, rcx is not */
	{ 6, (1UL << (BITS_PER_LONG / 2)) + 1, 1 },
	{ 7, -1UL, -1UL },
	{ 8, LONG_MIN, LONG_MIN },
};

/* CF, PF, ZF, SF, OF, in the order of the bits of a number. */
static const unsigned long flag_bits[] = {
	X86_EFLAGS_CF, X86_EFLAGS_PF, X86_EFLAGS_ZF, X86_EFLAGS_SF, X86_EFLAGS_OF,
};

#define NR_FLAGS	(1 << ARRAY_SIZE(flag_bits))

static unsigned int nr_inputs(const struct asm_case *c)
{
	return c->flags & CONDITION ? NR_FLAGS : ARRAY_SIZE(inputs);
}

/* The state with number @nr before a piece.  Only word 5 of its memory is zero. */
static void fill_image(struct cpu_image *image, unsigned int nr)
{
	const struct input *in = &inputs[nr % ARRAY_SIZE(inputs)];
	unsigned int i;

	memset(image, 0, sizeof(*image));
	image->ax = in->ax;
	image->cx = in->cx;
	image->dx = in->dx;
	image->si = (unsigned long)&image->mem[0];
	image->di = (unsigned long)&image->mem[2];
	for (i = 0; i < ARRAY_SIZE(flag_bits); i++) {
		if (nr & BIT(i))
			image->flags |= flag_bits[i];
	}
	for (i = 0; i < ARRAY_SIZE(image->mem); i++)
		image->mem[i] = 0x1111 * (i + 1);
	image->mem[5] = 0;
}

/* --- Runs --------------------------------------------------------------------- */

struct probed {
	struct counted counted;
	const struct asm_case *c;
};

static struct {
	unsigned int nr;
	struct probed *probed;
	struct kprobe **kps;
	struct cpu_image *bare;		/* NR_FLAGS states for every piece */
	struct cpu_image image;		/* one for all runs: it contains pointers to itself */
} all;

static struct cpu_image *bare_image(unsigned int piece, unsigned int input)
{
	return &all.bare[piece * NR_FLAGS + input];
}

static noinline void run(const struct asm_case *c, unsigned int input)
{
	fill_image(&all.image, input);
	kprobes_run_piece(&all.image, c->fn);
}

TRAP_TARGET(trap_site, 1)
TRACED_TARGET(traced_site, 1)

static const struct asm_case *nested_case;
static unsigned int nested_input;

static int run_nested(struct kprobe *kp, struct pt_regs *regs)
{
	run(nested_case, nested_input);
	return 0;
}

typedef int (*site_t)(int x);

/* One run: without a handler if there is no @site, else in a handler of a probe there. */
static void run_at(site_t site, const struct asm_case *c, unsigned int input)
{
	nested_case = c;
	nested_input = input;
	if (site)
		site(1);
	else
		run(c, input);
}

static bool skipped(site_t site, const struct asm_case *c)
{
	return site == trap_site && (c->flags & ENABLES);
}

static void run_all_bare(site_t site)
{
	unsigned int i, n;

	for (i = 0; i < all.nr; i++) {
		const struct asm_case *c = all.probed[i].c;

		for (n = 0; n < nr_inputs(c) && !skipped(site, c); n++) {
			run_at(site, c, n);
			*bare_image(i, n) = all.image;
		}
	}
}

/* Reports the first difference of a piece only. */
static void run_all_probed(struct kunit *test, site_t site)
{
	unsigned int i, n;

	for (i = 0; i < all.nr; i++) {
		const struct asm_case *c = all.probed[i].c;
		bool told = false;

		for (n = 0; n < nr_inputs(c) && !skipped(site, c); n++) {
			struct cpu_image *bare = bare_image(i, n), *now = &all.image;

			run_at(site, c, n);
			if (told || !memcmp(bare, now, sizeof(*bare)))
				continue;
			told = true;
			KUNIT_FAIL(test,
				   "%s, input %u: ax %lx/%lx cx %lx/%lx dx %lx/%lx si %lx/%lx di %lx/%lx flags %lx/%lx sp %lx/%lx mem %lx/%lx %lx/%lx",
				   c->name, n, bare->ax, now->ax, bare->cx, now->cx,
				   bare->dx, now->dx, bare->si, now->si, bare->di, now->di,
				   bare->flags, now->flags, bare->sp, now->sp,
				   bare->mem[0], now->mem[0], bare->mem[1], now->mem[1]);
		}
	}
}

static void check_counts(struct kunit *test, bool post, site_t site)
{
	unsigned int i;

	for (i = 0; i < all.nr; i++) {
		const struct probed *p = &all.probed[i];
		unsigned int runs = skipped(site, p->c) ? 0 : nr_inputs(p->c);

		KUNIT_EXPECT_EQ_MSG(test, p->counted.pre, site ? 0 : runs, "%s", p->c->name);
		KUNIT_EXPECT_EQ_MSG(test, p->counted.post, post && !site ? runs : 0,
				    "%s", p->c->name);
		KUNIT_EXPECT_EQ_MSG(test, p->counted.kp.nmissed, site ? runs : 0,
				    "%s", p->c->name);
	}
}

static void differ(struct kunit *test, bool post, site_t site)
{
	struct kprobe outer = { .addr = (void *)site, .pre_handler = run_nested };
	unsigned int i;

	for (i = 0; i < all.nr; i++)
		all.probed[i].counted = counted_at(all.probed[i].c->insn, true, post);
	if (site)
		KUNIT_ASSERT_EQ(test, register_kprobe(&outer), 0);
	run_all_bare(site);
	KUNIT_EXPECT_EQ(test, register_kprobes(all.kps, all.nr), 0);
	run_all_probed(test, site);
	unregister_kprobes(all.kps, all.nr);
	if (site)
		unregister_kprobe(&outer);
	check_counts(test, post, site);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void boosted_or_emulated(struct kunit *test)
{
	differ(test, false, NULL);
}

static void stepped_or_emulated(struct kunit *test)
{
	differ(test, true, NULL);
}

static void missed_in_a_breakpoint(struct kunit *test)
{
	differ(test, true, trap_site);
}

static void missed_at_a_traced_entry(struct kunit *test)
{
	differ(test, true, traced_site);
}

static void every_kind_has_a_piece(struct kunit *test)
{
	bool visited[NR_EMUL] = {};
	struct probe_insn insn;
	unsigned int i;

	for (i = 0; i < all.nr; i++) {
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    probe_classify(all.probed[i].c->insn, MAX_INSN_SIZE,
						   INSN_MODE_KERN, &insn),
				    "%s", all.probed[i].c->name);
		visited[insn.emul] = true;
	}
	for (i = 0; i < NR_EMUL; i++)
		KUNIT_EXPECT_TRUE_MSG(test, visited[i], "kind %u", i);
}

static bool allowed_before;

/*
 * No probe becomes a jump: whether the optimizer comes in time is chance, and a detour may change
 * the arithmetic flags at calls.
 */
static int differential_init(struct kunit *test)
{
	unsigned int i;

	allowed_before = kprobe_optimization_allowed;
	kprobe_optimizer_allow(false);
	all.nr = kprobes_differential_cases_end - kprobes_differential_cases;
	all.probed = kunit_kcalloc(test, all.nr, sizeof(*all.probed), GFP_KERNEL);
	all.kps = kunit_kcalloc(test, all.nr, sizeof(*all.kps), GFP_KERNEL);
	all.bare = kunit_kcalloc(test, all.nr * NR_FLAGS, sizeof(*all.bare), GFP_KERNEL);
	if (!all.probed || !all.kps || !all.bare)
		return -ENOMEM;
	for (i = 0; i < all.nr; i++) {
		all.probed[i].c = &kprobes_differential_cases[i];
		all.kps[i] = &all.probed[i].counted.kp;
	}
	return 0;
}

static void differential_exit(struct kunit *test)
{
	kprobe_optimizer_allow(allowed_before);
}

static struct kunit_case differential_cases[] = {
	KUNIT_CASE(every_kind_has_a_piece),
	KUNIT_CASE(boosted_or_emulated),
	KUNIT_CASE(stepped_or_emulated),
	KUNIT_CASE(missed_in_a_breakpoint),
	KUNIT_CASE(missed_at_a_traced_entry),
	{}
};

static struct kunit_suite differential_suite = {
	.name = "kprobes_x86_differential",
	.init = differential_init,
	.exit = differential_exit,
	.test_cases = differential_cases,
};

kunit_test_suite(differential_suite);
