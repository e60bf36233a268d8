// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Laws of the classifier's table. This file includes the classifier instead of linking it,
 * because its table and row matching are static.
 */
#include "../../../arch/x86/kernel/kprobes/classify.c"
#include "refusals.h"
#include "tap.h"
#include "tests.h"

static bool row_visited[ARRAY_SIZE(probe_rows)];

void table_visit(const unsigned char *bytes, unsigned int len, int mode)
{
	const struct probe_row *row;
	struct probe_key key;
	struct insn insn;

	if (insn_decode(&insn, bytes, len, mode))
		return;
	probe_make_key(&insn, bytes, &key);
	row = probe_find_row(&key);
	if (row)
		row_visited[row - probe_rows] = true;
}

unsigned int table_unvisited(void)
{
	unsigned int i, missing = 0;

	for (i = 0; i < ARRAY_SIZE(probe_rows); i++) {
		if (row_visited[i])
			continue;
		tap_note("no vector for row %u: %s", i, probe_rows[i].name);
		missing++;
	}
	return missing;
}

static unsigned int count_matches(const struct probe_key *key)
{
	unsigned int i, matches = 0;

	for (i = 0; i < ARRAY_SIZE(probe_rows); i++)
		matches += probe_row_matches(&probe_rows[i], key);
	if (matches < 2)
		return matches;
	for (i = 0; i < ARRAY_SIZE(probe_rows); i++)
		if (probe_row_matches(&probe_rows[i], key))
			tap_note("map %u opcode %02x modrm %02x: %s", key->map, key->opcode,
				 key->modrm, probe_rows[i].name);
	return matches;
}

static void test_no_overlap(void)
{
	static const u16 prefixes[] = { 0, BIT(INAT_PFX_REPE), BIT(INAT_PFX_REPNE) };
	unsigned int opcode, modrm, mode, p, overlaps = 0, matched = 0, keys = 0;
	struct probe_key key;

	for (key.map = 0; key.map < NR_MAPS; key.map++)
		for (opcode = 0; opcode < 256; opcode++)
			for (modrm = 0; modrm <= 256; modrm++)
				for (mode = MODE_32; mode <= MODE_64; mode++)
					for (p = 0; p < ARRAY_SIZE(prefixes); p++) {
						unsigned int matches;

						key.opcode = opcode;
						key.has_modrm = modrm < 256;
						key.modrm = modrm;
						key.mode = mode;
						key.prefixes = prefixes[p];
						matches = count_matches(&key);
						matched += !!matches;
						overlaps += matches > 1;
						keys++;
					}
	tap_note("%u keys, %u matched by a row, %u by several", keys, matched, overlaps);
	tap_ok(matched && !overlaps, "no two rows of the table overlap");
}

static bool row_is_sane(const struct probe_row *row)
{
	if (row->map >= NR_MAPS || row->first > row->last || !row->modes || !row->name)
		return false;
	if (row->action == PROBE_EMULATE)
		return row->emul && row->emul < NR_EMUL && !row->refusal;
	return row->action == PROBE_REFUSE && row->refusal && row->refusal < NR_REFUSE &&
	       !row->emul && !row->deny;
}

static void test_rows_are_sane(void)
{
	unsigned int i, j, bad = 0;

	for (i = 0; i < ARRAY_SIZE(probe_rows); i++) {
		if (!row_is_sane(&probe_rows[i])) {
			tap_note("row %u is malformed", i);
			bad++;
			continue;
		}
		for (j = 0; j < i; j++)
			if (!strcmp(probe_rows[i].name, probe_rows[j].name)) {
				tap_note("rows %u and %u are both named %s", j, i,
					 probe_rows[i].name);
				bad++;
			}
	}
	tap_note("%zu rows", ARRAY_SIZE(probe_rows));
	tap_ok(!bad, "every row has one action, its argument and a name of its own");
}

static void test_every_denial_has_a_reason(void)
{
	unsigned int i, bit, bad = 0;

	for (i = 0; i < ARRAY_SIZE(probe_rows); i++)
		for (bit = 0; bit < 16; bit++) {
			struct probe_key key = { .prefixes = BIT(bit) };
			bool denied = probe_denied(&probe_rows[i], &key) != REFUSE_NONE;

			if (denied != !!(probe_rows[i].deny & BIT(bit)))
				bad++;
		}
	tap_ok(!bad, "every prefix that a row denies has a refusal");
}

void test_table(void)
{
	test_rows_are_sane();
	test_no_overlap();
	test_every_denial_has_a_reason();
	test_refusals_have_names();
}
