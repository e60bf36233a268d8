// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The classifier's masks agree with those of the kernel, which are hidden in the functions of
 * <asm/insn.h>. To find a mask, bits are changed one after the other.
 */
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/insn.h>

#include "../random.h"
#include "../tap.h"
#include "tests.h"

#define SAMPLES	2000

/* A row that consists of several predicates has an entry for each of them. */
struct predicate {
	const char *row;
	bool (*is)(u32 insn);
	u32 (*value)(void);
	const char *name;
};

#define PREDICATE(_row, _abbr) \
	{ _row, aarch64_insn_is_##_abbr, aarch64_insn_get_##_abbr##_value, #_abbr }

static const struct predicate predicates[] = {
	PREDICATE("b", b),
	PREDICATE("bl", bl),
	PREDICATE("b.cond, bc.cond", bcond),
	PREDICATE("cbz, cbnz", cbz),
	PREDICATE("cbz, cbnz", cbnz),
	PREDICATE("tbz, tbnz", tbz),
	PREDICATE("tbz, tbnz", tbnz),
	PREDICATE("adr", adr),
	PREDICATE("adrp", adrp),
	PREDICATE("ldr literal", ldr_lit),
	PREDICATE("ldrsw literal", ldrsw_lit),
	PREDICATE("prfm literal", prfm_lit),
	PREDICATE("br", br),
	PREDICATE("blr", blr),
	PREDICATE("ret", ret),
	PREDICATE("retaa, retab", ret_auth),
	PREDICATE("svc", svc),
	PREDICATE("hvc", hvc),
	PREDICATE("smc", smc),
	PREDICATE("brk", brk),
	PREDICATE("eret", eret),
	PREDICATE("eretaa, eretab", eret_auth),
	PREDICATE("clrex", clrex),
	PREDICATE("dsb, ssbb, pssbb", dsb_base),
	PREDICATE("dsb nXS", dsb_nxs),
	PREDICATE("dmb", dmb),
	PREDICATE("isb", isb),
	PREDICATE("sb", sb),
};

/* A random word for which the predicate is true. */
static u32 random_word(const struct predicate *predicate)
{
	u32 value = predicate->value(), insn = random_next();
	unsigned int bit;

	for (bit = 0; bit < 32; bit++)
		if (!predicate->is(value ^ 1U << bit))
			insn = (insn & ~(1U << bit)) | (value & 1U << bit);
	return insn;
}

static bool any_predicate_holds(const char *row, u32 insn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(predicates); i++)
		if (!strcmp(predicates[i].row, row) && predicates[i].is(insn))
			return true;
	return false;
}

static bool agrees(const struct predicate *predicate)
{
	unsigned int i;
	u32 insn;

	for (i = 0; i < SAMPLES; i++) {
		insn = random_word(predicate);
		if (strcmp(table_name(insn), predicate->row)) {
			tap_note("%08x is %s, but the table says %s", insn, predicate->name,
				 table_name(insn));
			return false;
		}
		insn = random_next();
		if (!table_force(predicate->row, &insn) ||
		    !any_predicate_holds(predicate->row, insn)) {
			tap_note("%08x is in row %s, but not %s", insn, predicate->row,
				 predicate->name);
			return false;
		}
	}
	return true;
}

/* The kernel's "exclusive" is wider: it includes compare-and-swap of pairs. */
static bool exclusives_agree(void)
{
	static const char * const loads[] = { "ldxr, ldaxr", "ldxp, ldaxp" };
	static const char * const stores[] = { "stxr, stlxr", "stxp, stlxp" };
	unsigned int i, k;
	u32 load, store;

	for (i = 0; i < SAMPLES; i++)
		for (k = 0; k < ARRAY_SIZE(loads); k++) {
			load = random_next();
			store = random_next();
			if (!table_force(loads[k], &load) || !table_force(stores[k], &store) ||
			    !aarch64_insn_is_exclusive(load) || !aarch64_insn_is_load_ex(load) ||
			    !aarch64_insn_is_exclusive(store) || !aarch64_insn_is_store_ex(store))
				return false;
		}
	return true;
}

static bool mops_agree(void)
{
	static const char * const rows[] = {
		"cpym, cpyfm", "cpye, cpyfe", "setm, setgm", "sete, setge",
	};
	unsigned int i, k;
	u32 insn;

	for (i = 0; i < SAMPLES; i++)
		for (k = 0; k < ARRAY_SIZE(rows); k++) {
			insn = random_next();
			if (!table_force(rows[k], &insn) || !aarch64_insn_is_mops(insn))
				return false;
		}
	return true;
}

void test_predicates(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(predicates); i++)
		tap_ok(agrees(&predicates[i]), "row \"%s\" agrees with aarch64_insn_is_%s()",
		       predicates[i].row, predicates[i].name);
	tap_ok(exclusives_agree(), "the kernel takes the exclusives for exclusives");
	tap_ok(mops_agree(), "the kernel takes the parts of copies and sets for such");
}
