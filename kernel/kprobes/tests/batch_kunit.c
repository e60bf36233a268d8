// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cost of a batch: one synchronisation of the CPUs and one update of ftrace, however
 * many probes it has.  Probes on those functions count them.  Also the order of the probes
 * in the batch, on which the result must not depend.
 */
#include <linux/ftrace.h>
#include <linux/prandom.h>

#include "asm_text.h"
#include "counted.h"
#include "../internal.h"

/* Enough instructions for a batch inside one function. */
#define NR_ROUNDS	40
#define INSNS_A_ROUND	5
#define NR_INSNS	(NR_ROUNDS * INSNS_A_ROUND)

/*
 * A round: instructions of one to five bytes, if the architecture has such. @offsets has
 * the offset of each instruction and that of the end.
 */
#ifdef CONFIG_X86
#define ROUND							\
	"	nop\n"						\
	"	xor	%eax, %eax\n"				\
	"	lea	1(%eax), %eax\n"			\
	"	mov	$1, %ecx\n"				\
	"	nop\n"
/* On 32 bits, "lea" needs no prefix. */
static const unsigned int offsets[INSNS_A_ROUND + 1] = {
	0, 1, 3, IS_ENABLED(CONFIG_X86_64) ? 7 : 6, IS_ENABLED(CONFIG_X86_64) ? 12 : 11,
	IS_ENABLED(CONFIG_X86_64) ? 13 : 12,
};

#define SYNCHRONISATION	"smp_text_poke_sync_each_cpu"
#else
#define ROUND							\
	"	nop\n"						\
	"	mov	w0, #0\n"				\
	"	add	w0, w0, #1\n"				\
	"	mov	w1, #1\n"				\
	"	nop\n"
static const unsigned int offsets[INSNS_A_ROUND + 1] = { 0, 4, 8, 12, 16, 20 };

#define SYNCHRONISATION	"stop_machine_cpuslocked"
#endif

asmlinkage void kprobes_kunit_long(void);

TEXT_FUNCTION(kprobes_kunit_long,
	      ".rept " __stringify(NR_ROUNDS) "\n"
	      ROUND
	      ".endr\n"
	      TEXT_RETURN);
STACK_FRAME_NON_STANDARD(kprobes_kunit_long);

static unsigned int insn_offset(unsigned int i)
{
	return i / INSNS_A_ROUND * offsets[INSNS_A_ROUND] + offsets[i % INSNS_A_ROUND];
}

struct many {
	struct counted c[NR_INSNS];
	struct kprobe *kps[NR_INSNS];
};

static struct many *make_many(struct kunit *test)
{
	struct many *many = kunit_kzalloc(test, sizeof(*many), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, many);
	for (i = 0; i < NR_INSNS; i++) {
		many->c[i] = counted_at(text_at(kprobes_kunit_long, insn_offset(i)), true, false);
		many->kps[i] = &many->c[i].kp;
	}
	return many;
}

static void shuffle(struct many *many, struct rnd_state *rnd)
{
	unsigned int i, other;

	for (i = NR_INSNS - 1; i > 0; i--) {
		other = prandom_u32_state(rnd) % (i + 1);
		swap(many->kps[i], many->kps[other]);
	}
}

static void every_instruction_of_a_function_in_any_order(struct kunit *test)
{
	struct many *many = make_many(test);
	struct rnd_state rnd;
	int i, round;

	prandom_seed_state(&rnd, 6012);
	for (round = 1; round <= 4; round++) {
		shuffle(many, &rnd);
		KUNIT_ASSERT_EQ(test, register_kprobes(many->kps, NR_INSNS), 0);
		kprobes_kunit_long();
		shuffle(many, &rnd);
		unregister_kprobes(many->kps, NR_INSNS);
		kprobes_kunit_long();
		for (i = 0; i < NR_INSNS; i++)
			KUNIT_EXPECT_EQ(test, many->c[i].pre, round);
	}
}

/* A higher address comes first, so the function has to be decoded from its start again. */
static void inside_an_instruction_in_any_order(struct kunit *test)
{
	struct many *many = make_many(test);
	unsigned int bad;

	swap(many->kps[0], many->kps[NR_INSNS - 1]);
	for (bad = 0; bad < NR_INSNS; bad += 23) {
		struct kprobe *kp = many->kps[bad];
		kprobe_opcode_t *addr = kp->addr;

		/* The third instruction of a round is the first with more than two bytes. */
		kp->addr = text_at(kprobes_kunit_long, 0) +
			   insn_offset(bad - bad % INSNS_A_ROUND + 2) + 1;
		KUNIT_EXPECT_EQ(test, register_kprobes(many->kps, NR_INSNS), -EILSEQ);
		KUNIT_EXPECT_PTR_EQ(test, probe_at(kprobes_kunit_long), NULL);
		kp->addr = addr;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(many->kps, NR_INSNS), 0);
	unregister_kprobes(many->kps, NR_INSNS);
}

asmlinkage void kprobes_kunit_halves(void);
extern char kprobes_kunit_undefined[];

TEXT_FUNCTION(kprobes_kunit_halves,
	      ROUND
	      "kprobes_kunit_undefined:\n" TEXT_PLACE
	      UNDEFINED_INSN);
STACK_FRAME_NON_STANDARD(kprobes_kunit_halves);

/*
 * One address is inside an instruction; at a higher one is an instruction that cannot be
 * probed.
 */
static void the_error_is_that_of_the_first(struct kunit *test)
{
	struct counted split = counted_at(text_at(kprobes_kunit_halves, offsets[2] + 1),
					  true, false);
	struct counted undefined = counted_at(kprobes_kunit_undefined, true, false);
	struct kprobe *split_first[] = { &split.kp, &undefined.kp };
	struct kprobe *undefined_first[] = { &undefined.kp, &split.kp };

	KUNIT_EXPECT_EQ(test, register_kprobes(split_first, 2), -EILSEQ);
	KUNIT_EXPECT_EQ(test, register_kprobes(undefined_first, 2), -EINVAL);
}

/* --- How often --------------------------------------------------------------- */

static void one_synchronisation_a_batch(struct kunit *test)
{
	struct counted sync = counted_at(NULL, true, false);
	struct many *many = make_many(test);

	sync.kp.symbol_name = SYNCHRONISATION;
	KUNIT_ASSERT_EQ(test, register_kprobe(&sync.kp), 0);
	wait_for_kprobe_optimizer();
	sync.pre = 0;
	KUNIT_EXPECT_EQ(test, register_kprobes(many->kps, NR_INSNS), 0);
	KUNIT_EXPECT_EQ(test, sync.pre, 1);
	sync.pre = 0;
	unregister_kprobes(many->kps, NR_INSNS);
	KUNIT_EXPECT_EQ(test, sync.pre, 1);
	unregister_kprobe(&sync.kp);
}

#ifdef CONFIG_KPROBES_ON_FTRACE
TRACED_TARGET(batch_traced_1, 1)
TRACED_TARGET(batch_traced_2, 1)
TRACED_TARGET(batch_traced_3, 1)
TRACED_TARGET(batch_traced_4, 1)

static int (*const traced[])(int x) = {
	batch_traced_1, batch_traced_2, batch_traced_3, batch_traced_4,
};

static void one_update_of_ftrace_a_batch(struct kunit *test)
{
	struct counted update = counted_at(NULL, true, false);
	struct counted c[ARRAY_SIZE(traced)];
	struct kprobe *kps[ARRAY_SIZE(traced)];
	int i;

	for (i = 0; i < ARRAY_SIZE(traced); i++) {
		c[i] = counted_at((void *)ftrace_location((unsigned long)traced[i]), true, false);
		kps[i] = &c[i].kp;
	}
	/* Without jumps, the points have no carriers. */
	kprobe_optimizer_allow(false);
	/* ftrace does not trace itself, so this probe is a breakpoint. */
	update.kp.symbol_name = "ftrace_modify_all_code";
	KUNIT_ASSERT_EQ(test, register_kprobe(&update.kp), 0);

	KUNIT_EXPECT_EQ(test, register_kprobes(kps, ARRAY_SIZE(traced)), 0);
	KUNIT_EXPECT_EQ(test, update.pre, 1);
	for (i = 0; i < ARRAY_SIZE(traced); i++)
		traced[i](1);
	update.pre = 0;
	unregister_kprobes(kps, ARRAY_SIZE(traced));
	KUNIT_EXPECT_EQ(test, update.pre, 1);
	unregister_kprobe(&update.kp);
	kprobe_optimizer_allow(true);
	for (i = 0; i < ARRAY_SIZE(traced); i++) {
		traced[i](1);
		KUNIT_EXPECT_EQ(test, c[i].pre, 1);
	}
}
#endif

static struct kunit_case batch_cases[] = {
	KUNIT_CASE(every_instruction_of_a_function_in_any_order),
	KUNIT_CASE(inside_an_instruction_in_any_order),
	KUNIT_CASE(the_error_is_that_of_the_first),
	KUNIT_CASE(one_synchronisation_a_batch),
#ifdef CONFIG_KPROBES_ON_FTRACE
	KUNIT_CASE(one_update_of_ftrace_a_batch),
#endif
	{}
};

static struct kunit_suite batch_suite = {
	.name = "kprobes_batch",
	.test_cases = batch_cases,
};
kunit_test_suite(batch_suite);
