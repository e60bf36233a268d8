// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Many points at once: the table and the slots grow, find the right point, and shrink, and
 * every probe is hit exactly once.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../table.h"
#include "asm_text.h"
#include "counted.h"

#define SLED	600

#define SLED_BYTES	(SLED * NOP_BYTES)

/* @SLED instructions of the shortest kind in a row. */
asmlinkage void kprobes_kunit_sled(void);
TEXT_FUNCTION(kprobes_kunit_sled,
	      ".rept " __stringify(SLED) "\n"
	      "nop\n"
	      ".endr\n"
	      TEXT_RETURN);

static void *sled_insn(int i)
{
	return text_at(kprobes_kunit_sled, i * NOP_BYTES);
}

static struct counted *sled;
static struct kprobe **sled_kps;

static void sled_expect(struct kunit *test, int from, int step, int pre)
{
	int i, wrong = 0, lost = 0;

	for (i = from; i < SLED; i += step) {
		struct kprobe *kp = probe_at(sled_insn(i));

		wrong += sled[i].pre != pre;
		lost += !kp || kp->addr != sled[i].kp.addr;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, lost, 0);
}

static void every_point_is_found(struct kunit *test)
{
	u8 *text = kunit_kmalloc(test, SLED_BYTES, GFP_KERNEL);
	int i, round, n, found;

	sled = kunit_kcalloc(test, SLED, sizeof(*sled), GFP_KERNEL);
	sled_kps = kunit_kcalloc(test, SLED, sizeof(*sled_kps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_NOT_NULL(test, sled);
	KUNIT_ASSERT_NOT_NULL(test, sled_kps);
	memcpy(text, sled_insn(0), SLED_BYTES);

	for (round = 0; round < 3; round++) {
		for (i = 0; i < SLED; i++) {
			/* Some probes have a post handler, which needs a second slot. */
			sled[i] = counted_at(sled_insn(i), true, i % 7 == 0);
			sled_kps[i] = &sled[i].kp;
		}
		KUNIT_ASSERT_EQ(test, register_kprobes(sled_kps, SLED), 0);
		kprobes_kunit_sled();
		sled_expect(test, 0, 1, 1);
		KUNIT_EXPECT_EQ(test, sled[7].post, 1);
		KUNIT_EXPECT_EQ(test, sled[8].post, 0);
		KUNIT_EXPECT_PTR_EQ(test, probe_at(sled_insn(-1)), NULL);
		KUNIT_EXPECT_PTR_EQ(test, probe_at(sled_insn(SLED)), NULL);

		/* Unregister the even probes; the odd ones are still found. */
		for (i = 0, n = 0; i < SLED; i += 2)
			sled_kps[n++] = &sled[i].kp;
		unregister_kprobes(sled_kps, n);
		kprobes_kunit_sled();
		sled_expect(test, 1, 2, 2);
		for (i = 0, found = 0; i < SLED; i += 2)
			found += !!probe_at(sled_insn(i));
		KUNIT_EXPECT_EQ(test, found, 0);

		for (i = 1, n = 0; i < SLED; i += 2)
			sled_kps[n++] = &sled[i].kp;
		unregister_kprobes(sled_kps, n);
		kprobes_kunit_sled();
		KUNIT_EXPECT_EQ(test, memcmp(text, sled_insn(0), SLED_BYTES), 0);
		KUNIT_EXPECT_EQ(test, sled[0].pre, 1);
		KUNIT_EXPECT_EQ(test, sled[1].pre, 2);
	}
}

/* Deleted entries of the table are used again, so it does not grow without end. */
static void deleted_entries_are_used_again(struct kunit *test)
{
	struct counted c;
	int i;

	for (i = 0; i < SLED; i += 3) {
		c = counted_at(sled_insn(i), true, false);
		KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
		kprobes_kunit_sled();
		unregister_kprobe(&c.kp);
		KUNIT_EXPECT_EQ(test, c.pre, 1);
	}
}

#define FIRST_SIZE	100
#define LAST_SIZE	400
#define COMINGS		50

/* No instruction is there, so nothing looks for such a point. */
static void place_nowhere(struct kprobe_point *point, unsigned long nr)
{
	point->kp.addr = (kprobe_opcode_t *)(PAGE_SIZE + nr * sizeof(long));
}

/* Inserts a point.  Returns true if the table was copied for that. */
static bool insert(struct kunit *test, struct kprobe_point *point)
{
	const void *before = rcu_access_pointer(kprobe_table);

	KUNIT_EXPECT_EQ(test, kprobe_table_reserve(1), 0);
	kprobe_table_insert(point);
	return rcu_access_pointer(kprobe_table) != before;
}

/* A probe that comes and goes must not copy a table that is nearly full again and again. */
static void a_full_table_is_seldom_copied(struct kunit *test)
{
	struct kprobe_point *points, *comes;
	unsigned long nr, i, copies, most;

	points = kunit_kcalloc(test, LAST_SIZE + 1, sizeof(*points), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, points);
	comes = &points[LAST_SIZE];
	mutex_lock(&kprobe_mutex);
	for (nr = 0; nr < LAST_SIZE; nr++) {
		place_nowhere(&points[nr], nr);
		insert(test, &points[nr]);
		if (nr < FIRST_SIZE)
			continue;
		for (i = 0, copies = 0; i < COMINGS; i++) {
			place_nowhere(comes, LAST_SIZE + nr * COMINGS + i);
			copies += insert(test, comes);
			kprobe_table_remove(comes);
		}
		most = COMINGS / (nr / 16) + 2;
		KUNIT_EXPECT_LE_MSG(test, copies, most, "%lu points", nr + 1);
	}
	for (nr = 0; nr < LAST_SIZE; nr++)
		kprobe_table_remove(&points[nr]);
	mutex_unlock(&kprobe_mutex);
	/* Look-ups may still read the points. */
	synchronize_rcu();
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(every_point_is_found),
	KUNIT_CASE(deleted_entries_are_used_again),
	KUNIT_CASE(a_full_table_is_seldom_copied),
	{}
};

static struct kunit_suite table_suite = {
	.name = "kprobes_table",
	.test_cases = table_cases,
};
kunit_test_suite(table_suite);
