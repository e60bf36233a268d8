// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: an instruction is a hit of probes on its first and last byte, whichever of them the
 * processor reports, but not of probes on the bytes next to these.
 */
#include <linux/bits.h>
#include <asm/sysreg.h>

#include "../internal.h"
#include "watched.h"

/* The largest block that dc zva can have. */
#define MAX_BLOCK	2048

static u8 data[3 * MAX_BLOCK] __aligned(MAX_BLOCK);

/* x11 is the address of the second block. */
#define FORM(name, text)						\
static noinline void name(void)						\
{									\
	asm volatile("mov x11, %0\n"					\
		     "mov x10, #0\n"					\
		     "mov x12, #24\n"					\
		     text						\
		     : : "r" (&data[MAX_BLOCK])				\
		     : "x10", "x11", "x12", "memory");			\
}

FORM(str_x, "str x10, [x11, #24]")
FORM(str_h, "strh w10, [x11, #6]")
FORM(str_unaligned, "stur x10, [x11, #5]")
FORM(ldr_before, "ldr w10, [x11, #-20]!")
FORM(ldr_after, "ldrb w10, [x11], #7")
FORM(ldr_by_x, "ldr x10, [x11, x12]")
FORM(ldr_by_sxtw_scaled, "ldrh w10, [x11, w12, sxtw #1]")
FORM(ldar_x, "ldar x10, [x11]")
FORM(stp_x, "stp x10, x12, [x11, #8]")
FORM(stp_w, "stp w10, w12, [x11, #-12]")
FORM(stnp_x, "stnp x10, x12, [x11, #16]")
FORM(ldp_before, "ldp x10, x12, [x11, #-32]!")
FORM(ldp_after, "ldp x10, x12, [x11], #32")
FORM(ldpsw, "ldpsw x10, x12, [x11, #20]")
/* Zeroes the block that has the address. */
FORM(dc_zva, "add x11, x11, #9\n dc zva, x11")

struct form {
	const char *name;
	void (*run)(void);
	int first;		/* accessed byte, from the second block */
	int size;
};

static const struct form forms[] = {
#define BYTES(name, first, size) { #name, name, first, size }
	BYTES(str_x, 24, 8), BYTES(str_h, 6, 2), BYTES(str_unaligned, 5, 8),
	BYTES(ldr_before, -20, 4), BYTES(ldr_after, 0, 1), BYTES(ldr_by_x, 24, 8),
	BYTES(ldr_by_sxtw_scaled, 48, 2), BYTES(ldar_x, 0, 8),
	BYTES(stp_x, 8, 16), BYTES(stp_w, -12, 8), BYTES(stnp_x, 16, 16),
	BYTES(ldp_before, -32, 16), BYTES(ldp_after, 0, 16), BYTES(ldpsw, 20, 8),
};

/* Expects @a_hits hits of a probe on byte @a, and @b_hits of one on byte @b. */
static void check_bytes(struct kunit *test, const struct form *form, int a, int a_hits,
			int b, int b_hits)
{
	struct watched at_a = watched_at(&data[MAX_BLOCK + a], 1);
	struct watched at_b = watched_at(&data[MAX_BLOCK + b], 1);

	at_a.wp.type = WPROBE_RW;
	at_b.wp.type = WPROBE_RW;
	KUNIT_ASSERT_EQ(test, register_wprobe(&at_a.wp), 0);
	KUNIT_ASSERT_EQ(test, register_wprobe(&at_b.wp), 0);
	form->run();
	unregister_wprobe(&at_b.wp);
	unregister_wprobe(&at_a.wp);
	KUNIT_EXPECT_EQ_MSG(test, hits_of(&at_a), a_hits, "%s, byte %d", form->name, a);
	KUNIT_EXPECT_EQ_MSG(test, hits_of(&at_b), b_hits, "%s, byte %d", form->name, b);
}

static void check_form(struct kunit *test, const struct form *form)
{
	int first = form->first, last = first + form->size - 1;

	check_bytes(test, form, first, 1, first - 1, 0);
	check_bytes(test, form, last, 1, last + 1, 0);
	/* The processor may report either byte. */
	check_bytes(test, form, first, 1, last, 1);
	check_bytes(test, form, last, 1, first, 1);
}

static void accesses_end_at_their_last_byte(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		check_form(test, &forms[i]);
}

static void zeroed_blocks_end_at_their_last_byte(struct kunit *test)
{
	u64 block = read_sysreg(dczid_el0);
	struct form form = BYTES(dc_zva, 0, 4 << (block & 15));

	if (block & BIT(4))
		kunit_skip(test, "dc zva is not allowed");
	check_form(test, &form);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(accesses_end_at_their_last_byte),
	KUNIT_CASE(zeroed_blocks_end_at_their_last_byte),
	{}
};

static struct kunit_suite suite = {
	.name = "wprobes_arm64_bytes",
	.test_cases = cases,
};
kunit_test_suite(suite);
