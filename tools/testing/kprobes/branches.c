// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics of a listing: the number of addresses at which a jump is possible, and the
 * obstacles at the others. They are no tests, but show the cost of the rules.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "places.h"
#include "tap.h"

#define NOTES_MAX	20

/* The function with the branch that leads into a tail; the nearest one counts. */
enum origin {
	FROM_NOBODY,
	FROM_ITSELF,	/* the same function */
	FROM_PART,	/* the split-off part of it: .cold */
	FROM_OTHERS,
	NR_ORIGINS
};

struct branch {
	u64 target;
	u32 function;	/* the function that contains it */
};

static struct branch *branches;
static size_t nr_branches;

static struct {
	unsigned long addresses;
	unsigned long obstacles[NR_KPROBE_OBSTACLES];
	unsigned long targets[NR_ORIGINS];
	unsigned long jumps[8];		/* remaining addresses, by JUMPS_* of the function */
	unsigned long functions[8];
} stats;

static int by_target(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->target < y->target ? -1 : x->target > y->target;
}

static void add_branch(const struct places *all, const struct place *place)
{
	struct probe_insn insn;
	u64 target;

	if (probe_classify(all->text + place->text, place->len, all->mode, &insn) ||
	    insn.emul < EMUL_JMP || insn.emul > EMUL_JCXZ)
		return;
	target = place->address + place->len + insn.disp;
	branches[nr_branches++] = (struct branch) {
		.target = all->mode == INSN_MODE_64 ? target : (u32)target,
		.function = place->function,
	};
}

static void collect(const struct places *all)
{
	size_t i;

	branches = malloc((all->nr_places + 1) * sizeof(*branches));
	if (!branches) {
		printf("Bail out! no memory\n");
		exit(2);
	}
	for (i = 0; i < all->nr_places; i++)
		if (all->place[i].kind != KIND_BAD && all->place[i].kind != KIND_INT3 &&
		    !all->function[all->place[i].function].gone)
			add_branch(all, &all->place[i]);
	qsort(branches, nr_branches, sizeof(*branches), by_target);
}

/* Returns the index of the first branch to @target or to a higher address. */
static size_t first_branch(u64 target)
{
	size_t low = 0, high = nr_branches;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (branches[middle].target < target)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Are the names equal up to ".cold"? */
static bool same_family(const char *a, const char *b)
{
	const char *cold_a = strstr(a, ".cold"), *cold_b = strstr(b, ".cold");
	size_t len_a = cold_a ? cold_a - a : strlen(a), len_b = cold_b ? cold_b - b : strlen(b);

	return len_a == len_b && !strncmp(a, b, len_a);
}

static enum origin origin_of(const struct places *all, const struct branch *branch,
			     const struct place *place)
{
	if (branch->function == place->function)
		return FROM_ITSELF;
	if (same_family(all->function[branch->function].name,
			all->function[place->function].name))
		return FROM_PART;
	return FROM_OTHERS;
}

static enum origin who_enters_tail(const struct places *all, const struct place *place)
{
	size_t i = first_branch(place->address + 1);
	enum origin nearest = FROM_NOBODY, origin;

	for (; i < nr_branches && branches[i].target < place->address + PROBE_JUMP_LEN; i++) {
		origin = origin_of(all, &branches[i], place);
		if (!nearest || origin < nearest)
			nearest = origin;
	}
	return nearest;
}

static void count_place(const struct places *all, const struct place *place)
{
	enum origin origin;

	stats.addresses++;
	stats.obstacles[place->obstacle]++;
	if (place->obstacle)
		return;
	origin = who_enters_tail(all, place);
	stats.targets[origin]++;
	if (origin == FROM_OTHERS && stats.targets[origin] <= NOTES_MAX)
		tap_note("%llx in %s: another function enters its tail",
			 (unsigned long long)place->address,
			 all->function[place->function].name);
	if (origin == FROM_NOBODY)
		stats.jumps[all->function[place->function].jumps]++;
}

static void note_share(unsigned long nr, const char *what)
{
	tap_note("%8lu %6.2f %% %s", nr, stats.addresses ? 100.0 * nr / stats.addresses : 0, what);
}

/* Number of addresses, or of functions, with any of these jumps. */
static unsigned long with_jumps(const unsigned long *counts, unsigned int jumps)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < 8; i++)
		if (i & jumps)
			sum += counts[i];
	return sum;
}

static void note_jumps(unsigned int jumps, const char *what)
{
	tap_note("%lu functions have %s; without them", with_jumps(stats.functions, jumps), what);
	note_share(stats.targets[FROM_NOBODY] - with_jumps(stats.jumps, jumps), "are left");
}

void branches_report(const struct places *all)
{
	size_t i;

	collect(all);
	for (i = 0; i < all->nr_functions; i++)
		if (all->function[i].counted)
			stats.functions[all->function[i].jumps]++;
	for (i = 0; i < all->nr_places; i++)
		if (all->function[all->place[i].function].counted &&
		    all->place[i].kind != KIND_INT3)
			count_place(all, &all->place[i]);

	note_share(stats.addresses, "of the addresses in .text that are no int3");
	for (i = 0; i < NR_KPROBE_OBSTACLES; i++)
		if (stats.obstacles[i])
			note_share(stats.obstacles[i], kprobe_obstacle_text(i));
	note_share(stats.targets[FROM_ITSELF], "entered by the function itself");
	note_share(stats.targets[FROM_PART], "entered by another part of it only");
	note_share(stats.targets[FROM_OTHERS], "entered by other functions only");
	note_share(stats.targets[FROM_NOBODY], "are left");
	note_jumps(JUMPS_REGISTER | JUMPS_TABLE | JUMPS_MEMORY, "any indirect jump");
	note_jumps(JUMPS_REGISTER | JUMPS_TABLE, "a jump by register or table");
	note_jumps(JUMPS_REGISTER, "a jump by register");
	note_jumps(JUMPS_TABLE, "a jump by table");
}
