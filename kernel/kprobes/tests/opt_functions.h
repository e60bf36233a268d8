/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_OPT_FUNCTIONS_H
#define _KPROBES_TESTS_OPT_FUNCTIONS_H
/*
 * The functions that the suites of jump optimization probe, and places in them.
 */
#include <linux/ptrace.h>

#include "asm_text.h"
#include "counted.h"
#include "optimized.h"

/*
 * They return 3.  The first has three instructions and a return; the second saves registers on
 * its stack.
 */
int kprobes_opt_three(void);
int kprobes_opt_framed(void);
/* Calls one of them directly, because they have no landing pads. */
int kprobes_opt_call(int (*fn)(void));

/*
 * Places inside the functions, where a symbol would end them: after the first instructions,
 * and where the frame is complete.
 */
#ifdef CONFIG_X86
#define OPT_SECOND	((void *)kprobes_opt_three + 2)
#define OPT_THIRD	((void *)kprobes_opt_three + 5)
#define OPT_PUSHED	((void *)kprobes_opt_framed + 1)
#define OPT_FRAMED	OPT_PUSHED
#else
#define OPT_SECOND	((void *)kprobes_opt_three + 4)
#define OPT_THIRD	((void *)kprobes_opt_three + 8)
#define OPT_PUSHED	((void *)kprobes_opt_framed + 4)
#define OPT_FRAMED	((void *)kprobes_opt_framed + 8)
#endif

/**
 * struct opt_place - an address, and whether a probe there becomes a jump
 * @name:	for messages
 * @addr:	the address
 * @fn:		executes the address, and returns 3
 * @obstacle:	reason that is reported if there is no jump; empty if there is one
 */
struct opt_place {
	const char *name;
	void *addr;
	int (*fn)(void);
	const char *obstacle;
};

static inline void opt_expect_place(struct kunit *test, const struct opt_place *place)
{
	struct counted c = counted_at(place->addr, true, false);

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, !*place->obstacle);
	KUNIT_EXPECT_STREQ(test, said_at(place->addr), place->obstacle);
	KUNIT_EXPECT_EQ(test, place->fn(), 3);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
}

static inline int opt_init(struct kunit *test)
{
	if (!kprobe_optimization_allowed)
		kunit_skip(test, "debug.kprobes-optimization is off");
	return 0;
}

#endif /* _KPROBES_TESTS_OPT_FUNCTIONS_H */
