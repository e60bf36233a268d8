// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Jump optimization (x86): regions that can become a jump.
 */
#include <linux/jump_label.h>
#include <linux/memory.h>
#include <linux/unaligned.h>
#include <asm/alternative.h>
#include <asm/unwind.h>

#include "../../../arch/x86/kernel/kprobes/detour.h"
#include "asm_case.h"
#include "attempt.h"
#include "opt_functions.h"
#include "x86_tables.h"

/* The second instruction is the target of a branch. */
asm(ASM_FUNCTION(kprobes_opt_loop,
		 "xor %eax, %eax\n"
		 "1: add $1, %eax\n"
		 "cmp $3, %eax\n"
		 "jne 1b\n"
		 ASM_RET));

/* The first instruction is the target of a branch, which does not prevent a jump. */
asm(ASM_FUNCTION(kprobes_opt_first_loop,
		 "1: or $-1, %eax\n"
		 "mov %eax, %eax\n"
		 "mov $3, %eax\n"
		 "jz 1b\n"
		 ASM_RET));

/* The function is shorter than a jump and followed by padding. */
asm(ASM_FUNCTION(kprobes_opt_ends,
		 "push $3\n"
		 "pop " AX "\n"
		 ASM_BARE_RET
		 "int3\nint3\nint3\n")
	ASM_UNCHECKED(kprobes_opt_ends));

/* A split-off part, named as gcc 8 does, branches to the second instruction. */
asm(ASM_FUNCTION(kprobes_opt_parted,
		 "xor %eax, %eax\n"
		 "1: add $3, %eax\n"
		 ASM_RET)
	".pushsection .text\n"
	".type kprobes_opt_parted.cold.7, @function\n"
	"kprobes_opt_parted.cold.7:\n"
	"jmp 1b\n"
	".size kprobes_opt_parted.cold.7, . - kprobes_opt_parted.cold.7\n"
	".popsection\n"
	ASM_UNCHECKED(kprobes_opt_parted.cold.7));

/* A part that is before all other functions, where linkers put them. */
asm(ASM_FUNCTION(kprobes_opt_early,
		 "xor %eax, %eax\n"
		 "1: add $3, %eax\n"
		 ASM_RET)
	".pushsection .text.unlikely, \"ax\"\n"
	".type kprobes_opt_early.cold, @function\n"
	"kprobes_opt_early.cold:\n"
	"jmp 1b\n"
	".size kprobes_opt_early.cold, . - kprobes_opt_early.cold\n"
	".popsection\n"
	ASM_UNCHECKED(kprobes_opt_early.cold));

/* The same for a function that has another name, which kallsyms finds first. */
asm(ASM_FUNCTION(kprobes_opt_named,
		 "xor %eax, %eax\n"
		 "1: add $3, %eax\n"
		 ASM_RET)
	".global kprobes_opt_aliased\n"
	".set kprobes_opt_aliased, kprobes_opt_named\n"
	".pushsection .text.unlikely, \"ax\"\n"
	".type kprobes_opt_named.cold, @function\n"
	"kprobes_opt_named.cold:\n"
	"jmp 1b\n"
	".size kprobes_opt_named.cold, . - kprobes_opt_named.cold\n"
	".popsection\n"
	ASM_UNCHECKED(kprobes_opt_named.cold));

/* The same with the name that clang gives to a group of basic blocks. */
asm(ASM_FUNCTION(kprobes_opt_grouped,
		 "xor %eax, %eax\n"
		 "1: add $3, %eax\n"
		 ASM_RET)
	".pushsection .text.unlikely, \"ax\"\n"
	".type kprobes_opt_grouped.__part.1, @function\n"
	"kprobes_opt_grouped.__part.1:\n"
	"jmp 1b\n"
	".size kprobes_opt_grouped.__part.1, . - kprobes_opt_grouped.__part.1\n"
	".popsection\n"
	ASM_UNCHECKED(kprobes_opt_grouped.__part.1));

/* The jump of a probe at the first instruction hides a branch to the one after the nop. */
asm(ASM_FUNCTION(kprobes_opt_hidden,
		 "or $-1, %eax\n"
		 "jz 1f\n"
		 "xor %eax, %eax\n"
		 "nop\n"
		 "1: add $3, %eax\n"
		 ASM_RET));

/* A lock prefix after the first instruction, which has four bytes. */
asm(ASM_FUNCTION(kprobes_opt_locked,
		 ".byte 0x0f, 0x1f, 0x40, 0x00\n"
		 LOCK_PREFIX "orl $0, (" SP ")\n"
		 "mov $3, %eax\n"
		 ASM_RET));

#ifdef CONFIG_X86_64
/* A kCFI check after the first instruction; it finds the expected type. */
asm(ASM_FUNCTION(kprobes_opt_checked,
		 "push $0x12345678\n"
		 "lea 4(%rsp), %r11\n"
		 TEXT_PLACE "nop\n"
		 "movl $-0x12345678, %r10d\n"
		 "addl -4(%r11), %r10d\n"
		 ".byte 0x74, 0x02\n"
		 "ud2\n"
		 "pop %rax\n"
		 "mov $3, %eax\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_opt_checked));
#define OPT_CHECKED_NOP	((void *)kprobes_opt_checked + ENDBR_INSN_SIZE + 10)
#endif

/* The second instruction is probed, and passes the carry flag to the third. */
asm(ASM_FUNCTION(kprobes_opt_carry,
		 "stc\n"
		 ASM_PLACE(kprobes_opt_carry_mov)
		 "mov $0, %eax\n"
		 ASM_PLACE(kprobes_opt_carry_adc)
		 "adc $2, %eax\n"
		 ASM_RET));

/* Reads the carry flag of its caller. */
asm(ASM_FUNCTION(kprobes_opt_caller_carry,
		 "mov $0, %eax\n"
		 "adc $2, %eax\n"
		 ASM_RET));

#ifdef CONFIG_X86_64
/*
 * A function whose popf sets the flags in the argument, and that returns the flags at its end.
 * The probed instruction follows the popf, and @next that.
 */
#define FLAGS_FUNCTION(name, next)			\
	asm(ASM_FUNCTION(name,				\
			 "pushf\n"			\
			 "pop %rcx\n"			\
			 "and $~0x8d5, %rcx\n"		\
			 "or %rcx, %rdi\n"		\
			 "push %rdi\n"			\
			 "popf\n"			\
			 ASM_PLACE(name ## _mov)	\
			 "mov $1, %eax\n"		\
			 next				\
			 "pushf\n"			\
			 "pop %rax\n"			\
			 "push %rcx\n"			\
			 "popf\n"			\
			 ASM_RET)			\
		ASM_UNCHECKED(name))

/* The arithmetic flags are overwritten, or read. */
FLAGS_FUNCTION(kprobes_opt_dead, "test %eax, %eax\n");
FLAGS_FUNCTION(kprobes_opt_live, "");

/* Returns the flags at its entry, but the arithmetic ones, and sets those in %rdx. */
asm(ASM_FUNCTION(kprobes_opt_entry,
		 "mov $1, %eax\n"
		 "test %eax, %eax\n"
		 "pushf; pop %rax\n"
		 "push %rdx; popf\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_opt_entry));

/* Calls it with the flags in the argument.  It returns with them, too, but without DF. */
asm(ASM_FUNCTION(kprobes_opt_dead_entry,
		 "pushf; pop %rcx\n"
		 "or %rcx, %rdi\n"
		 "mov %rdi, %rdx\n"
		 "and $~0x400, %rdx\n"
		 "push %rdi; popf\n"
		 "call kprobes_opt_entry\n"
		 "push %rcx; popf\n"
		 ASM_RET)
	ASM_UNCHECKED(kprobes_opt_dead_entry));
#endif

/* A direct call, see kprobes_opt_call(). */
static int call_three(void)
{
	return kprobes_opt_call(kprobes_opt_three);
}

/* Direct calls of functions in assembly, which have no type hash. */
#define CALL(fn)	static int call_##fn(void) { return kprobes_opt_##fn(); }
CALL(first_loop) CALL(loop) CALL(ends) CALL(parted) CALL(grouped) CALL(early) CALL(locked)
CALL(hidden) CALL(aliased) CALL(table) CALL(table_back) CALL(data_table) CALL(long_table)
CALL(biased_table) CALL(negative_table) CALL(two_tables)
#ifdef CONFIG_X86_64
CALL(checked) CALL(r12_table)

#define CALL_SET(fn)	\
	static unsigned long call_##fn(unsigned long set) { return kprobes_opt_##fn(set); }
CALL_SET(dead) CALL_SET(live)
#endif

#define PLACE(name, fn, obstacle)	{ name, kprobes_opt_##fn, call_##fn, obstacle }

static const struct opt_place places[] = {
	{ "two instructions", kprobes_opt_three, call_three, "" },
	{ "inside a function", OPT_SECOND, call_three, "" },
	PLACE("a branch to the first", first_loop, ""),
	PLACE("a branch to the second", loop, "a branch into the region"),
	PLACE("padding", ends, ""),
	PLACE("a jump table", table, ""),
	PLACE("a jump table with the second", table_back, "a branch into the region"),
	PLACE("a jump table in data", data_table, "an indirect branch in the function"),
	PLACE("a jump table that is too long", long_table, "an indirect branch in the function"),
	PLACE("a jump table that is not found", biased_table, "an indirect branch in the function"),
	PLACE("a jump table with a negative index", negative_table, "a branch into the region"),
	PLACE("a jump table after another one", two_tables, "a branch into the region"),
	PLACE("a branch from another part", parted, "a branch into the region"),
	PLACE("a branch from a group of blocks", grouped, "a branch into the region"),
	PLACE("a branch from a part before it", early, "a branch into the region"),
	PLACE("a branch from a part with another name", aliased, "a branch into the region"),
#ifdef CONFIG_X86_64
	PLACE("a jump table with its index in r12", r12_table, "a branch into the region"),
	{ "a kCFI check", OPT_CHECKED_NOP, call_checked, "a check of a call's type" },
#endif
};

KUNIT_ARRAY_PARAM_DESC(place, places, name);

static void regions(struct kunit *test)
{
	opt_expect_place(test, test->param_value);
}

static void neighbours_take_turns(struct kunit *test)
{
	struct counted first = counted_at(kprobes_opt_three, true, false);
	struct counted second = counted_at(OPT_SECOND, true, false);
	struct counted third = counted_at(OPT_THIRD, true, false);

	second.kp.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	KUNIT_ASSERT_EQ(test, register_kprobe(&second.kp), 0);
	/* The third probe is outside of the region of the first. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&third.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	KUNIT_EXPECT_EQ(test, enable_kprobe(&second.kp), 0);
	KUNIT_EXPECT_FALSE(test, is_jump(kprobes_opt_three));
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_STREQ(test, said_at(kprobes_opt_three), "another probe in the region");
	/* The third probe is in the region of the second. */
	EXPECT_JUMP(test, &second.kp, false);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	unregister_kprobe(&third.kp);
	EXPECT_JUMP(test, &second.kp, true);
	EXPECT_JUMP(test, &first.kp, false);
	KUNIT_EXPECT_EQ(test, call_three(), 3);

	KUNIT_EXPECT_EQ(test, disable_kprobe(&second.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	KUNIT_EXPECT_EQ(test, call_three(), 3);
	unregister_kprobe(&first.kp);
	unregister_kprobe(&second.kp);
	KUNIT_EXPECT_EQ(test, first.pre, 5);
	KUNIT_EXPECT_EQ(test, second.pre, 3);
	KUNIT_EXPECT_EQ(test, third.pre, 3);
}

/* The kernel does not patch lock prefixes, not even when a second processor comes online. */
static void a_lock_prefix(struct kunit *test)
{
	struct opt_place place = {
		.addr = probe_entry(kprobes_opt_locked),
		.fn = call_locked,
		.obstacle = "",
	};

	opt_expect_place(test, &place);
}

static void a_jump_that_hides_a_branch(struct kunit *test)
{
	struct counted first = counted_at(kprobes_opt_hidden, true, false);
	struct opt_place place = {
		.addr = text_at(kprobes_opt_hidden, ENDBR_INSN_SIZE + 7),
		.fn = call_hidden,
		.obstacle = "a branch into the region",
	};

	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	EXPECT_JUMP(test, &first.kp, true);
	opt_expect_place(test, &place);
	unregister_kprobe(&first.kp);
	KUNIT_EXPECT_EQ(test, first.pre, 1);
}

static int skip_mov(struct kprobe *p, struct pt_regs *regs)
{
	regs->ax = 0;
	regs->ip = (unsigned long)kprobes_opt_carry_adc;
	return 1;
}

static int skip_and_clear_carry(struct kprobe *p, struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_CF;
	return skip_mov(p, regs);
}

static int clear_carry(struct kprobe *p, struct pt_regs *regs)
{
	regs->flags &= ~X86_EFLAGS_CF;
	return 0;
}

/* A detour does not change the flags, unless its handler does. */
static const struct flags_case {
	const char *name;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	int result;
} flags_cases[] = {
	{ "left alone", counted_pre, NULL, 3 },
	{ "left alone by both handlers", counted_pre, counted_post, 3 },
	{ "changed", clear_carry, NULL, 2 },
	{ "left alone on another path", skip_mov, NULL, 3 },
	{ "changed on another path", skip_and_clear_carry, NULL, 2 },
};

KUNIT_ARRAY_PARAM_DESC(flags, flags_cases, name);

static void flags_of_a_detour(struct kunit *test)
{
	const struct flags_case *f = test->param_value;
	struct counted c = counted_at(kprobes_opt_carry_mov, true, false);

	c.kp.pre_handler = f->pre;
	c.kp.post_handler = f->post;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, kprobes_opt_carry(), f->result);
	EXPECT_JUMP(test, &c.kp, true);
	KUNIT_EXPECT_EQ(test, kprobes_opt_carry(), f->result);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, kprobes_opt_carry(), 3);
}

static unsigned long __maybe_unused detour_of(void *addr)
{
	struct kprobe_point *point;

	guard(mutex)(&kprobe_mutex);
	point = kprobe_table_find((unsigned long)addr);
	return point ? (unsigned long)point->op.optinsn.insn : 0;
}

#ifdef CONFIG_X86_64
#define ARITHMETIC	(X86_EFLAGS_CF | X86_EFLAGS_PF | X86_EFLAGS_AF | X86_EFLAGS_ZF |	\
			 X86_EFLAGS_SF | X86_EFLAGS_OF)
#define DF_AC		(X86_EFLAGS_DF | X86_EFLAGS_AC)
#define NT_IOPL		(X86_EFLAGS_NT | X86_EFLAGS_IOPL)
#define TESTED		(ARITHMETIC | DF_AC | NT_IOPL | X86_EFLAGS_IF)

static unsigned long seen_flags, flip;

static int flip_flags(struct kprobe *p, struct pt_regs *regs)
{
	seen_flags = regs->flags | native_save_fl() << 32;
	regs->flags ^= flip;
	return 0;
}

/* A detour restores all flags, or all but the arithmetic ones if its copies overwrite these. */
static const struct restored_case {
	const char *name;
	unsigned long set, flip;
} restored_cases[] = {
	{ "left alone", 0, 0 },
	{ "an arithmetic flag changed", 0, X86_EFLAGS_CF },
	{ "all arithmetic flags changed", 0, ARITHMETIC },
	{ "others set by the handler", 0, DF_AC },
	{ "others set before", DF_AC, 0 },
	{ "others cleared by the handler", DF_AC, DF_AC },
	{ "flags above the overflow flag set by the handler", 0, NT_IOPL },
	{ "flags above the overflow flag set before", NT_IOPL, 0 },
};

KUNIT_ARRAY_PARAM_DESC(restored, restored_cases, name);

/* Calls @function with all arithmetic flags; @kept are the flags that it returns as they are. */
static void expect_restored(struct kunit *test, unsigned long (*function)(unsigned long set),
			    unsigned long kept)
{
	const struct restored_case *r = test->param_value;
	unsigned long flags = 0, got;

	flip = r->flip;
	do {
		seen_flags = 0;
		/* A switch of tasks does not change NT and IOPL: another task would get them. */
		scoped_guard(preempt)
			got = function(flags | r->set);
		KUNIT_EXPECT_EQ(test, got & kept, ((flags | r->set | X86_EFLAGS_IF) ^ flip) & kept);
		KUNIT_EXPECT_EQ(test, seen_flags & TESTED, flags | r->set | X86_EFLAGS_IF);
		/* DF and AC are clear in the handler. */
		KUNIT_EXPECT_EQ(test, seen_flags >> 32 & DF_AC, 0);
		flags = (flags - ARITHMETIC) & ARITHMETIC;
	} while (flags);
}

/* Does the detour of a probe at @addr call that function? */
static bool detour_calls(void *addr, const char *function)
{
	u8 *call = (u8 *)detour_of(addr) + detour_entry((u8 *)detour_of(addr));
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps",
		 call + CALL_INSN_SIZE + get_unaligned((s32 *)(call + 1)));
	return !strcmp(name, function);
}

static void dead_flags(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_dead_mov, true, false);

	c.kp.pre_handler = flip_flags;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	KUNIT_EXPECT_TRUE(test, detour_calls(c.kp.addr, "kprobe_detour_enter_dead"));
	expect_restored(test, call_dead, TESTED & ~ARITHMETIC);
	unregister_kprobe(&c.kp);
}

static void live_flags(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_live_mov, true, false);
	const char *function = boot_cpu_has(X86_FEATURE_LAHF_LM) &&
			       !boot_cpu_has(X86_FEATURE_CALL_DEPTH) ?
			       "kprobe_detour_enter_sahf" : "kprobe_detour_enter";

	c.kp.pre_handler = flip_flags;
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	KUNIT_EXPECT_TRUE(test, detour_calls(c.kp.addr, function));
	expect_restored(test, call_live, TESTED);
	unregister_kprobe(&c.kp);
}

static unsigned int returns;	/* whose handler cannot access user memory */

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	returns += !(native_save_fl() & X86_EFLAGS_AC);
	return 0;
}

/* The detour of a return probe restores DF and AC where the arithmetic flags are dead. */
static void dead_flags_of_a_return_probe(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = (void *)kprobes_opt_entry, .handler = count_return };
	static const unsigned long sets[] = { 0, X86_EFLAGS_DF, X86_EFLAGS_AC, DF_AC };
	unsigned int i;

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	EXPECT_JUMP(test, &rp.kp, true);
	KUNIT_EXPECT_TRUE(test, detour_calls(rp.kp.addr, "kprobe_detour_enter_return_dead"));
	returns = 0;
	for (i = 0; i < ARRAY_SIZE(sets); i++)
		KUNIT_EXPECT_EQ(test, kprobes_opt_dead_entry(sets[i]) & (DF_AC | X86_EFLAGS_IF),
				sets[i] | X86_EFLAGS_IF);
	KUNIT_EXPECT_EQ(test, returns, ARRAY_SIZE(sets));
	unregister_kretprobe(&rp);
}
#endif

#ifdef CONFIG_UNWINDER_ORC
/*
 * An interrupt after the first @done bytes of a detour, and before the copies, finds the caller.
 */
static void expect_caller(struct kunit *test, void *addr, unsigned int done)
{
	unsigned long stack[] = { 0, _THIS_IP_, 0, 0 }, detour = detour_of(addr);
	struct pt_regs regs = { .cs = __KERNEL_CS, .flags = X86_EFLAGS_FIXED };
	unsigned int offset = detour_entry((u8 *)detour) + done;
	struct unwind_state state;

	KUNIT_EXPECT_LE(test, offset, DETOUR_COPY);
	for (; offset <= DETOUR_COPY; offset++) {
		regs.ip = detour + offset;
		/* In the copy, the stack is that of the original instruction. */
		regs.sp = (unsigned long)&stack[offset == DETOUR_COPY];
		/* The unwinder continues to the caller without help. */
		unwind_start(&state, current, &regs, NULL);
		KUNIT_EXPECT_EQ(test, unwind_get_return_address(&state), stack[1]);
	}
}

static void unwinding_after_the_call(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_carry_mov, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, true);
	expect_caller(test, c.kp.addr, CALL_INSN_SIZE);
	unregister_kprobe(&c.kp);
}

#ifdef CONFIG_X86_64
/* The flags are on the stack until the detour's popf. */
static void unwinding_after_pushf(struct kunit *test)
{
	struct kretprobe rp = {
		.kp.addr = (void *)kprobes_opt_caller_carry, .handler = count_return,
	};

	KUNIT_ASSERT_EQ(test, register_kretprobe(&rp), 0);
	EXPECT_JUMP(test, &rp.kp, true);
	KUNIT_EXPECT_EQ(test, *(u8 *)(detour_of(rp.kp.addr) + DETOUR_POPF), POPF_INSN_OPCODE);
	expect_caller(test, rp.kp.addr, 1);
	unregister_kretprobe(&rp);
}
#endif
#endif

/* --- Tables that other code sorts ------------------------------------------------ */

static int allow_jumps(void *unused)
{
	kprobe_optimizer_allow(true);
	wait_for_kprobe_optimizer();
	return 0;
}

/* Loading a module sorts its jump labels, so a search for targets waits for the lock. */
static void jump_labels_are_read_under_their_lock(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	struct attempt optimize;

	if (!IS_ENABLED(CONFIG_JUMP_LABEL))
		kunit_skip(test, "there are no jump labels");
	attempt_prepare(test, &optimize, allow_jumps, NULL);
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), 0);
	attempt_measure(&optimize);
	EXPECT_JUMP(test, &c.kp, true);
	/* The next jump needs another detour. */
	unregister_kprobe(&c.kp);
	kprobe_optimizer_allow(false);
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), 0);
	jump_label_lock();
	attempt_start(&optimize);
	KUNIT_EXPECT_TRUE(test, attempt_waits(&optimize));
	KUNIT_EXPECT_FALSE(test, is_jump(c.kp.addr));
	jump_label_unlock();
	attempt_end(&optimize);
	EXPECT_JUMP(test, &c.kp, true);
	unregister_kprobe(&c.kp);
}

static struct kunit_case optimizer_cases[] = {
	KUNIT_CASE_PARAM(regions, place_gen_params),
	KUNIT_CASE(a_jump_that_hides_a_branch),
	KUNIT_CASE(a_lock_prefix),
	KUNIT_CASE_PARAM(flags_of_a_detour, flags_gen_params),
#ifdef CONFIG_X86_64
	KUNIT_CASE_PARAM(dead_flags, restored_gen_params),
	KUNIT_CASE_PARAM(live_flags, restored_gen_params),
	KUNIT_CASE(dead_flags_of_a_return_probe),
#endif
#ifdef CONFIG_UNWINDER_ORC
	KUNIT_CASE(unwinding_after_the_call),
#ifdef CONFIG_X86_64
	KUNIT_CASE(unwinding_after_pushf),
#endif
#endif
	KUNIT_CASE(neighbours_take_turns),
	KUNIT_CASE(jump_labels_are_read_under_their_lock),
	{}
};

static struct kunit_suite optimizer_suite = {
	.name = "kprobes_x86_optimizer",
	.init = opt_init,
	.test_cases = optimizer_cases,
};

kunit_test_suite(optimizer_suite);
