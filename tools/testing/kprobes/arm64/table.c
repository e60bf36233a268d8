// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Laws of the classifier's tables. This file includes the classifier instead of linking it,
 * because its tables are static.
 */
#include <string.h>

#include "../../../../arch/arm64/kernel/probes/classify.c"
#include "../refusals.h"
#include "../tap.h"
#include "tests.h"

#define NR_ROWS		(ARRAY_SIZE(probe_reserved_rows) + ARRAY_SIZE(probe_vector_rows) + \
			 ARRAY_SIZE(probe_immediate_rows) + ARRAY_SIZE(probe_register_rows) + \
			 ARRAY_SIZE(probe_exclusive_rows) + ARRAY_SIZE(probe_literal_rows) + \
			 ARRAY_SIZE(probe_branch_rows) + ARRAY_SIZE(probe_system_rows))
#define NR_GROUPS	ARRAY_SIZE(probe_groups)

static bool row_visited[NR_ROWS], group_visited[NR_GROUPS];

/* The rows of all tables, one after the other. */
static const struct probe_row *row_at(unsigned int i)
{
	const struct probe_table *table = probe_tables;

	while (i >= table->nr)
		i -= table++->nr;
	return &table->rows[i];
}

static const struct probe_row *deciding_row(u32 insn)
{
	return probe_own_row(insn) ?: probe_find_row(probe_groups, NR_GROUPS, insn);
}

const char *table_name(u32 insn)
{
	return deciding_row(insn)->name;
}

bool table_force(const char *name, u32 *insn)
{
	unsigned int i;

	for (i = 0; i < NR_ROWS; i++)
		if (!strcmp(row_at(i)->name, name)) {
			*insn = (*insn & ~row_at(i)->mask) | row_at(i)->value;
			return true;
		}
	return false;
}

void table_force_any(u32 dice, u32 *insn)
{
	const struct probe_row *row = row_at(dice % NR_ROWS);

	*insn = (*insn & ~row->mask) | row->value;
}

void table_visit(u32 insn)
{
	const struct probe_row *row = probe_own_row(insn);
	unsigned int i;

	if (!row)
		group_visited[deciding_row(insn) - probe_groups] = true;
	for (i = 0; i < NR_ROWS; i++)
		row_visited[i] |= row_at(i) == row;
}

/* No word matches both rows if a bit is in both masks and has different values. */
static bool disjoint(const struct probe_row *a, const struct probe_row *b)
{
	return (a->mask & b->mask) & (a->value ^ b->value);
}

/* Number of words that match both rows. */
static u64 words_in_both(const struct probe_row *a, const struct probe_row *b)
{
	return disjoint(a, b) ? 0 : 1ULL << __builtin_popcount(~(a->mask | b->mask));
}

/*
 * Do rows decide about all words of a group? Rows do not overlap, so the words can be counted.
 */
static bool left_to_rows(const struct probe_row *group)
{
	u64 left = words_in_both(group, group);
	unsigned int i;

	for (i = 0; i < NR_ROWS; i++)
		left -= words_in_both(group, row_at(i));
	return !left;
}

static void note_unvisited(const struct probe_row *row)
{
	tap_note("no vector for %08x/%08x, %s", row->mask, row->value, row->name);
}

unsigned int table_unvisited(void)
{
	unsigned int i, missing = 0;

	for (i = 0; i < NR_ROWS; i++)
		if (!row_visited[i]) {
			note_unvisited(row_at(i));
			missing++;
		}
	for (i = 0; i < NR_GROUPS; i++)
		if (!group_visited[i] && !left_to_rows(&probe_groups[i])) {
			note_unvisited(&probe_groups[i]);
			missing++;
		}
	return missing;
}

static unsigned int count_overlaps(const struct probe_row *rows, unsigned int count)
{
	unsigned int i, j, overlaps = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			if (!disjoint(&rows[i], &rows[j])) {
				tap_note("%s and %s overlap", rows[i].name, rows[j].name);
				overlaps++;
			}
	return overlaps;
}

/* Are all words of a row searched for in a table? Bits 31 to 24 select it. */
static bool row_is_of(const struct probe_row *row, const struct probe_table *table)
{
	u32 top;

	for (top = 0; top < 256; top++) {
		u32 word = (row->value & 0x00ffffff) | top << 24;

		if (probe_row_matches(row, word) && probe_table_of(word) != table)
			return false;
	}
	return true;
}

/* A row in the wrong table would never be found. */
static unsigned int count_astray(const struct probe_table *table)
{
	unsigned int i, astray = 0;

	for (i = 0; i < table->nr; i++) {
		if (row_is_of(&table->rows[i], table))
			continue;
		tap_note("%s is in the wrong table", table->rows[i].name);
		astray++;
	}
	return astray;
}

static void test_rows_are_in_their_table(void)
{
	unsigned int i, astray = 0;

	for (i = 0; i < ARRAY_SIZE(probe_tables); i++)
		astray += count_astray(&probe_tables[i]);
	tap_ok(!astray, "every row is in the table that is searched for all of its words");
}

/* Rows of different tables cannot overlap, because each row is in the right table. */
static void test_no_overlap(void)
{
	unsigned int i, overlaps = 0;

	for (i = 0; i < ARRAY_SIZE(probe_tables); i++)
		overlaps += count_overlaps(probe_tables[i].rows, probe_tables[i].nr);
	tap_ok(!overlaps, "no two rows overlap");
	tap_ok(!count_overlaps(probe_groups, NR_GROUPS), "no two groups overlap");
}

static void test_groups_are_complete(void)
{
	unsigned int i;
	u64 words = 0;

	for (i = 0; i < NR_GROUPS; i++)
		words += words_in_both(&probe_groups[i], &probe_groups[i]);
	tap_note("%zu groups with %llu words", NR_GROUPS, (unsigned long long)words);
	tap_ok(words == 1ULL << 32, "the groups, which do not overlap, have all 2^32 words");
}

/* A row with the verdict of its group, for all or some of its words, is redundant. */
static void test_rows_differ_from_groups(void)
{
	unsigned int i, g, useless = 0;

	for (i = 0; i < NR_ROWS; i++)
		for (g = 0; g < NR_GROUPS; g++) {
			if (disjoint(&probe_groups[g], row_at(i)) ||
			    !same_verdict(&probe_groups[g].insn, &row_at(i)->insn))
				continue;
			tap_note("%s repeats its group", row_at(i)->name);
			useless++;
		}
	tap_note("%zu rows", NR_ROWS);
	tap_ok(!useless, "every row differs from its groups");
}

static bool row_is_sane(const struct probe_row *row)
{
	const struct probe_insn *insn = &row->insn;
	bool refused = insn->action == PROBE_REFUSE, emulated = insn->action == PROBE_EMULATE;

	if ((row->value & ~row->mask) || !row->name)
		return false;
	if (insn->kind >= NR_KINDS || insn->refusal >= NR_REFUSE ||
	    insn->exclusive > EXCLUSIVE_CLEAR)
		return false;
	if (emulated != !!insn->kind || refused != !!insn->refusal)
		return false;
	if (insn->action != PROBE_COPY && (insn->no_step || insn->landing))
		return false;
	/* The row's mask must include the bits that probe_may_be_exclusive() reads. */
	if (insn->exclusive && !(probe_may_be_exclusive(row->value) &&
				 probe_may_be_exclusive(row->value | ~row->mask)))
		return false;
	return (insn->exclusive == EXCLUSIVE_LOAD || insn->exclusive == EXCLUSIVE_STORE) ==
	       (insn->refusal == REFUSE_EXCLUSIVE);
}

static unsigned int count_insane(const struct probe_row *rows, unsigned int count)
{
	unsigned int i, j, bad = 0;

	for (i = 0; i < count; i++) {
		if (!row_is_sane(&rows[i])) {
			tap_note("%08x/%08x is malformed", rows[i].mask, rows[i].value);
			bad++;
			continue;
		}
		for (j = 0; j < i; j++)
			if (!strcmp(rows[i].name, rows[j].name)) {
				tap_note("two rows are named %s", rows[i].name);
				bad++;
			}
	}
	return bad;
}

static void test_rows_are_sane(void)
{
	unsigned int i, insane = count_insane(probe_groups, NR_GROUPS);

	for (i = 0; i < ARRAY_SIZE(probe_tables); i++)
		insane += count_insane(probe_tables[i].rows, probe_tables[i].nr);
	tap_ok(!insane, "every row has one action with its fields, and a name of its own");
}

void test_table(void)
{
	test_rows_are_sane();
	test_rows_are_in_their_table();
	test_no_overlap();
	test_groups_are_complete();
	test_rows_differ_from_groups();
	test_refusals_have_names();
	tap_ok(sizeof(struct probe_insn) <= 16, "a verdict has at most 16 bytes");
}
