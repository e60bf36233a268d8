// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions and their copies: region.vec has the expected results. */
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "region.h"
#include "same.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

#define TEXT_MAX	64	/* maximum length of a function */
#define COPY_MAX	128

/* Words of the vector file, for the obstacles that instructions alone show. */
static const char * const obstacle_words[NR_KPROBE_OBSTACLES] = {
	[KPROBE_OBSTACLE_NONE]		= "none",
	[KPROBE_OBSTACLE_INSN]		= "insn",
	[KPROBE_OBSTACLE_ENCODING]	= "encoding",
	[KPROBE_OBSTACLE_CFI]		= "cfi",
	[KPROBE_OBSTACLE_CALL]		= "call",
	[KPROBE_OBSTACLE_END]		= "end",
	[KPROBE_OBSTACLE_SHADOW]	= "shadow",
	[KPROBE_OBSTACLE_STACK]	= "stack",
	[KPROBE_OBSTACLE_ROOM]		= "room",
	[KPROBE_OBSTACLE_OPERAND]	= "distance",
	[KPROBE_OBSTACLE_POST_BRANCH]		= "post",
	[KPROBE_OBSTACLE_PAD]		= "pad",
};

static unsigned int obstacle_seen[NR_KPROBE_OBSTACLES];

/**
 * struct expectation - a line of region.vec
 * @bytes: the text up to the end of the function
 * @len: number of bytes
 * @find: expected result of probe_region_find()
 * @region: expected region, without its instructions
 * @copy: expected result of probe_region_copy()
 * @want: expected bytes of the copy
 * @want_len: number of these bytes
 */
struct expectation {
	unsigned char bytes[TEXT_MAX];
	unsigned int len;
	int find;
	struct probe_region region;
	int copy;
	unsigned char want[COPY_MAX];
	unsigned int want_len;
};

static int parse_obstacle(const char *word)
{
	return vector_word(obstacle_words, ARRAY_SIZE(obstacle_words), word);
}

/* An obstacle; or length, number of instructions, and "on" or "ends". */
static bool parse_region(const char *text, struct expectation *want)
{
	unsigned int len, nr;
	char how[8];

	want->find = parse_obstacle(text);
	if (want->find > KPROBE_OBSTACLE_NONE)
		return true;
	want->find = KPROBE_OBSTACLE_NONE;
	if (sscanf(text, "%u %u %7s", &len, &nr, how) != 3)
		return false;
	want->region.len = len;
	want->region.nr = nr;
	want->region.falls_through = !strcmp(how, "on");
	return want->region.falls_through || !strcmp(how, "ends");
}

/* An obstacle, or the bytes of the copy; "-" if there is no region. */
static bool parse_copy(const char *text, struct expectation *want)
{
	want->copy = parse_obstacle(text);
	if (want->copy > KPROBE_OBSTACLE_NONE)
		return true;
	want->copy = KPROBE_OBSTACLE_NONE;
	want->want_len = vector_hex(text, want->want, sizeof(want->want));
	return want->want_len || (want->find && !strcmp(text, "-"));
}

/* Options of the copy. Members that the line does not set keep their values. */
static bool parse_options(char *text, struct probe_copy *copy)
{
	char *word, *value;

	while ((word = strsep(&text, " "))) {
		value = strchr(word, '=');
		if (!strcmp(word, "post"))
			copy->post = copy->mode == INSN_MODE_64 ? 0xffffffff82000000 : 0xc2000000;
		else if (value && !strncmp(word, "room=", 5))
			copy->room = strtoul(value + 1, NULL, 0);
		else if (value && !strncmp(word, "src=", 4))
			copy->src = strtoull(value + 1, NULL, 16);
		else if (value && !strncmp(word, "dst=", 4))
			copy->dst = strtoull(value + 1, NULL, 16);
		else if (strcmp(word, "-"))
			return false;
	}
	return true;
}

static bool parse(struct vector_file *vectors, struct expectation *want, struct probe_copy *copy)
{
	char options[128];

	want->len = vector_hex(vectors->column[1], want->bytes, sizeof(want->bytes));
	snprintf(options, sizeof(options), "%s", vectors->column[2]);
	return want->len && parse_options(options, copy) &&
	       parse_region(vectors->column[3], want) && parse_copy(vectors->column[4], want);
}

static bool region_is(const struct probe_region *got, const struct expectation *want,
		      enum insn_mode mode)
{
	const char *flaw = region_flaw(got, want->bytes, mode);

	if (flaw)
		tap_note("the law: %s", flaw);
	return !flaw && got->len == want->region.len && got->nr == want->region.nr &&
	       got->falls_through == want->region.falls_through;
}

static bool copy_is(const struct probe_region *region, const struct expectation *want,
		    struct probe_copy *copy)
{
	enum kprobe_obstacle got = probe_region_copy(region, want->bytes, copy);
	const char *flaw = NULL;

	obstacle_seen[got]++;
	if (!all_untouched(copy->out, copy->room, COPY_MAX)) {
		tap_note("written after the end of the room");
		return false;
	}
	if (got || want->copy) {
		if (got != want->copy)
			tap_note("the copy: %s", kprobe_obstacle_text(got));
		return got == want->copy;
	}
	flaw = copy_flaw(region, want->bytes, copy);
	if (flaw)
		tap_note("the law: %s", flaw);
	if (copy->len == want->want_len && !memcmp(copy->out, want->want, copy->len))
		return !flaw;
	tap_note("written:");
	tap_bytes(copy->out, copy->len);
	return false;
}

static void check_region(struct vector_file *vectors)
{
	enum insn_mode mode = strcmp(vectors->column[0], "64") ? INSN_MODE_32 : INSN_MODE_64;
	unsigned char out[COPY_MAX];
	struct probe_copy copy = {
		.mode = mode, .out = out, .room = COPY_MAX / 2,
		.src = mode == INSN_MODE_64 ? 0xffffffff81000000 : 0xc1000000,
		.dst = mode == INSN_MODE_64 ? 0xffffffffa0000000 : 0xf8000000,
	};
	struct expectation want = { .find = KPROBE_OBSTACLE_NONE };
	struct probe_region region;
	enum kprobe_obstacle got;
	bool ok = parse(vectors, &want, &copy);

	if (!ok)
		tap_note("bad expectation");
	memset(out, UNTOUCHED, sizeof(out));
	got = probe_region_find(want.bytes, want.len, mode, &region);
	obstacle_seen[got]++;
	if (got != want.find || (!got && !region_is(&region, &want, mode))) {
		tap_note("found: %s, len %u nr %u %s", kprobe_obstacle_text(got), region.len,
			 region.nr, region.falls_through ? "on" : "ends");
		ok = false;
	} else if (!got && !copy_is(&region, &want, &copy)) {
		ok = false;
	}
	if (!ok)
		tap_note("%s:%u", vectors->name, vectors->line);
	tap_ok(ok, "in %s-bit mode %s (%s): %s, copied %s", vectors->column[0],
	       vectors->column[5], vectors->column[2], vectors->column[3],
	       want.copy ? vectors->column[4] : want.find ? "not at all" : "right");
}

static unsigned int obstacles_unseen(void)
{
	unsigned int i, missing = 0;

	for (i = 0; i < NR_KPROBE_OBSTACLES; i++)
		if (obstacle_words[i] && !obstacle_seen[i]) {
			tap_note("no vector has obstacle %s", obstacle_words[i]);
			missing++;
		}
	return missing;
}

static void test_names(void)
{
	unsigned int i, j, bad = 0;

	for (i = 0; i < NR_KPROBE_OBSTACLES; i++) {
		const char *name = kprobe_obstacle_text(i);

		if (!name || !*name) {
			tap_note("obstacle %u has no name", i);
			bad++;
			continue;
		}
		for (j = 0; j < i; j++)
			bad += !strcmp(name, kprobe_obstacle_text(j));
	}
	tap_ok(!bad, "every obstacle has a name of its own");
	tap_ok(!strcmp(kprobe_obstacle_text(NR_KPROBE_OBSTACLES), "unknown"),
	       "a number that is no obstacle has a name too");
}

void test_regions(const char *dir)
{
	struct vector_file vectors;

	if (!vector_open(&vectors, dir, "region.vec", 6))
		return;
	while (vector_next(&vectors))
		check_region(&vectors);
	tap_ok(!obstacles_unseen(), "every obstacle of instructions has a vector");
	test_names();
}
