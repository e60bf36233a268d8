// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A region at every instruction of a listing. The expected result is derived from objdump's
 * mnemonics. same.c proves that the copies do the same as the originals.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "places.h"
#include "same.h"
#include "tap.h"

#define NOTES_MAX	20
#define ROOM		51	/* size of a detour's copy */

static struct places all;
static bool in_function;

static struct {
	unsigned long regions, copies, posts;
	unsigned long found, flawed, wrong;	/* disagreements */
} count;

/* Makes room for one more element of an array whose size doubles. */
static void *grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	array = realloc(array, (nr ? 2 * nr : 1) * size);
	if (!array) {
		printf("Bail out! no memory\n");
		exit(2);
	}
	return array;
}

static enum place_kind kind_of(const struct line *line)
{
	const char *name = line->mnemonic;

	if (disasm_is_bad(line))
		return KIND_BAD;
	if (!strcmp(name, "int3"))
		return KIND_INT3;
	if (!strcmp(name, "nop") || !strcmp(line->text, "xchg   %ax,%ax"))
		return KIND_NOP;
	if (!strcmp(name, "call"))
		return KIND_CALL;
	if (!strcmp(name, "jmp") || !strcmp(name, "ret"))
		return KIND_END;
	if (!strcmp(name, "sti"))
		return KIND_STI;
	return !strncmp(name, "endbr", 5) ? KIND_PAD : KIND_PLAIN;
}

static u8 jumps_of(const struct line *line)
{
	if (line->mnemonic[0] != 'j')
		return 0;
	if (strstr(line->operands, "<__x86_indirect_thunk_") || !strncmp(line->operands, "*%", 2))
		return strchr(line->operands, ':') ? JUMPS_MEMORY : JUMPS_REGISTER;
	if (line->operands[0] != '*')
		return 0;
	return strstr(line->operands, "(,") ? JUMPS_TABLE : JUMPS_MEMORY;
}

static void add_function(const char *name, const char *section)
{
	all.function = grow(all.function, all.nr_functions, sizeof(*all.function));
	all.function[all.nr_functions++] = (struct function) {
		.name = strdup(name), .first = all.nr_places, .end = all.nr_places,
		.counted = !strcmp(section, ".text"), .gone = !strncmp(section, ".altinstr", 9),
	};
	in_function = true;
}

static void add_place(u64 address, const u8 *bytes, unsigned int len, enum place_kind kind)
{
	struct function *function = &all.function[all.nr_functions - 1];
	unsigned int i;

	all.place = grow(all.place, all.nr_places, sizeof(*all.place));
	all.place[all.nr_places++] = (struct place) {
		.address = address, .text = all.text_len, .function = all.nr_functions - 1,
		.len = len, .kind = kind,
	};
	for (i = 0; i < len; i++) {
		all.text = grow(all.text, all.text_len, 1);
		all.text[all.text_len++] = bytes[i];
	}
	function->end = all.nr_places;
}

/*
 * A kCFI check consists of a mov, an add, a je and a ud2. Marks the first two after the ud2
 * has been read; the mov may be missing. FineIBT's check of a paranoid call is a branch to the
 * byte before it.
 */
static void mark_kcfi(const struct line *line)
{
	static size_t movs, adds;	/* numbers of places, from 1 */
	const char *to = strstr(line->operands, ",%r10d");
	size_t at = all.nr_places;

	if (!strcmp(line->mnemonic, "mov") && to && line->operands[0] == '$')
		movs = at;
	if (line->mode == INSN_MODE_64 && !strcmp(line->mnemonic, "jne") &&
	    strtoull(line->operands, NULL, 16) == line->address - 1)
		all.place[at - 1].kind = KIND_KCFI;
	if (!strcmp(line->mnemonic, "add") && to && strchr(line->operands, '('))
		adds = at;
	if (strcmp(line->mnemonic, "ud2") || adds + 2 != at || all.place[at - 2].len != 2)
		return;
	all.place[adds - 1].kind = KIND_KCFI;
	if (movs + 1 == adds)
		all.place[movs - 1].kind = KIND_KCFI;
}

static void add_line(const struct line *line)
{
	const struct place *last = all.nr_places ? &all.place[all.nr_places - 1] : NULL;
	unsigned int wait = line->bytes[0] == 0x9b && line->len > 1;

	/* A gap in the listing, or a section without a symbol, begins a function. */
	if (!in_function || (last && last->function == all.nr_functions - 1 &&
			     last->address + last->len != line->address))
		add_function("?", line->section);
	/* objdump joins a wait and the x87 instruction after it; the CPU does not. */
	if (wait)
		add_place(line->address, line->bytes, wait, KIND_PLAIN);
	add_place(line->address + wait, line->bytes + wait, line->len - wait, kind_of(line));
	all.function[all.nr_functions - 1].jumps |= jumps_of(line);
	mark_kcfi(line);
}

void places_add(enum disasm_event event, const struct line *line)
{
	switch (event) {
	case DISASM_FILE:
		all.mode = line->mode;
		break;
	case DISASM_SECTION:
		in_function = false;
		break;
	case DISASM_SYMBOL:
		add_function(line->symbol, line->section);
		break;
	case DISASM_INSN:
		if (line->len)
			add_line(line);
		break;
	case DISASM_END:
		break;
	}
}

static const u8 *bytes_of(const struct place *place)
{
	return all.text + place->text;
}

static const struct place *function_end(const struct place *place)
{
	return &all.place[all.function[place->function].end];
}

static size_t avail_at(const struct place *place)
{
	const struct place *last = function_end(place) - 1;

	return last->text + last->len - place->text;
}

static bool is_refused(const struct place *place)
{
	struct probe_insn insn;

	return probe_classify(bytes_of(place), place->len, all.mode, &insn);
}

/**
 * expect() - derive the region at a place from objdump's listing
 * @place: the place
 * @region: set, except for the instructions
 *
 * Return: the obstacle, or -1 if objdump cannot decode an instruction.
 */
static int expect(const struct place *place, struct probe_region *region)
{
	const struct place *end = function_end(place);
	unsigned int len = 0;

	*region = (struct probe_region) { .falls_through = true };
	for (; region->falls_through && len < PROBE_JUMP_LEN; place++) {
		if (place == end)
			return KPROBE_OBSTACLE_END;
		if (place->kind == KIND_BAD)
			return -1;
		if (is_refused(place))
			return KPROBE_OBSTACLE_INSN;
		if (place->kind == KIND_KCFI)
			return KPROBE_OBSTACLE_CFI;
		if (place->kind == KIND_PAD && region->nr)
			return KPROBE_OBSTACLE_PAD;
		region->offset[region->nr++] = len;
		len += place->len;
		if (place->kind == KIND_CALL && len < PROBE_JUMP_LEN)
			return KPROBE_OBSTACLE_CALL;
		if (place->kind == KIND_STI && len >= PROBE_JUMP_LEN)
			return KPROBE_OBSTACLE_SHADOW;
		region->falls_through = place->kind != KIND_CALL && place->kind != KIND_END;
	}
	region->len = len;
	for (; len < PROBE_JUMP_LEN; len += place++->len)
		if (place == end || (place->kind != KIND_NOP && place->kind != KIND_INT3))
			return KPROBE_OBSTACLE_END;
	return KPROBE_OBSTACLE_NONE;
}

static void complain(unsigned long *counter, const struct place *place, const char *what,
		     const char *law)
{
	char hex[3 * 20 + 1] = "";
	unsigned int i;

	if ((*counter)++ >= NOTES_MAX)
		return;
	for (i = 0; i < 20 && i < avail_at(place); i++)
		sprintf(hex + 3 * i, "%02x ", bytes_of(place)[i]);
	tap_note("%s: %s: %llx in %s: %s", what, law, (unsigned long long)place->address,
		 all.function[place->function].name, hex);
}

static bool same_region(const struct probe_region *a, const struct probe_region *b)
{
	return a->len == b->len && a->nr == b->nr && a->falls_through == b->falls_through &&
	       !memcmp(a->offset, b->offset, a->nr);
}

/* As far away as a detour can be, without leaving the address space. */
static u64 detour_of(const struct place *place)
{
	if (all.mode == INSN_MODE_64)
		return place->address + 0x3f123457;
	return (u32)(place->address + 0x30123457);
}

static enum kprobe_obstacle check_copy(const struct place *place,
				       const struct probe_region *region, u64 post)
{
	u8 out[ROOM];
	struct probe_copy copy = {
		.mode = all.mode, .src = place->address, .dst = detour_of(place),
		.post = post, .out = out, .room = ROOM,
	};
	enum kprobe_obstacle obstacle = probe_region_copy(region, bytes_of(place), &copy);
	const char *flaw;

	if (obstacle)
		return obstacle;
	flaw = copy_flaw(region, bytes_of(place), &copy);
	if (flaw)
		complain(&count.wrong, place, post ? "copy with post handler" : "copy", flaw);
	return KPROBE_OBSTACLE_NONE;
}

static void check_place(struct place *place)
{
	struct probe_region region, want;
	int expected = expect(place, &want);
	const char *flaw;

	place->obstacle = probe_region_find(bytes_of(place), avail_at(place), all.mode, &region);
	if (expected >= 0 && place->obstacle != expected)
		complain(&count.found, place, "found", kprobe_obstacle_text(place->obstacle));
	if (place->obstacle)
		return;
	count.regions++;
	if (expected == KPROBE_OBSTACLE_NONE && !same_region(&region, &want))
		complain(&count.found, place, "found", "another region than objdump");
	flaw = region_flaw(&region, bytes_of(place), all.mode);
	if (flaw)
		complain(&count.flawed, place, "region", flaw);
	place->obstacle = check_copy(place, &region, 0);
	count.copies += !place->obstacle;
	count.posts += !check_copy(place, &region, place->address + 0x1234567);
}

void places_check(void)
{
	size_t i;

	for (i = 0; i < all.nr_places; i++)
		if (all.place[i].kind != KIND_INT3)
			check_place(&all.place[i]);
	tap_note("%zu functions, %lu regions, %lu copies, %lu with a post handler",
		 all.nr_functions, count.regions, count.copies, count.posts);
	tap_ok(count.copies, "there are regions that can be copied");
	tap_ok(!count.found, "every region or obstacle is the one that objdump's words imply");
	tap_ok(!count.flawed, "every region breaks no law");
	tap_ok(!count.wrong, "every copy has the effect of its region");
	branches_report(&all);
}
