// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Golden vectors: accept.vec has the expected description of every accepted instruction,
 * refuse.vec the reason why the others are refused. A member that a vector does not mention
 * must have its neutral value.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "classify.h"
#include "../tap.h"
#include "../vector.h"
#include "tests.h"

const char * const action_words[] = { "copy", "emulate", "refuse" };

const char * const kind_words[NR_KINDS] = {
	"none", "b", "bl", "b.cond", "cbz", "tbz", "adr", "adrp", "ldr-literal",
	"ldrsw-literal", "prfm-literal", "br", "blr", "ret",
};

const char * const refusal_words[NR_REFUSE] = {
	"none", "unallocated", "undefined", "breakpoint", "exception", "eret", "stack", "debug",
	"syndrome", "exclusive", "sequence", "vector-literal", "signed-call", "position", "prefix",
};

static const char * const exclusive_words[] = { "none", "load", "store", "clear" };

static unsigned int action_seen[3], kind_seen[NR_KINDS], refusal_seen[NR_REFUSE];
static unsigned int exclusive_seen[4];

bool same_verdict(const struct probe_insn *a, const struct probe_insn *b)
{
	return a->action == b->action && a->kind == b->kind && a->refusal == b->refusal &&
	       a->exclusive == b->exclusive && a->landing == b->landing &&
	       a->no_step == b->no_step;
}

static bool parse_word(const char *word, struct probe_insn *want)
{
	int action = vector_word(action_words, ARRAY_SIZE(action_words), word);
	int kind = vector_word(kind_words, ARRAY_SIZE(kind_words), word);
	int refusal = vector_word(refusal_words, ARRAY_SIZE(refusal_words), word);
	int exclusive = vector_word(exclusive_words, ARRAY_SIZE(exclusive_words), word);

	if (action >= 0)
		want->action = action;
	else if (kind > 0)
		want->kind = kind;
	else if (refusal > 0)
		want->refusal = refusal;
	else if (exclusive > 0)
		want->exclusive = exclusive;
	else if (!strcmp(word, "landing"))
		want->landing = true;
	else if (!strcmp(word, "no-step"))
		want->no_step = true;
	else
		return false;
	return true;
}

static bool parse_expectation(char *text, struct probe_insn *want)
{
	char *word;

	while ((word = strsep(&text, " ")))
		if (*word && !parse_word(word, want))
			return false;
	return true;
}

static void describe(const char *whose, const struct probe_insn *insn)
{
	tap_note("%s: %s %s, refusal %s, exclusive %s%s%s", whose, action_words[insn->action],
		 kind_words[insn->kind], refusal_words[insn->refusal],
		 exclusive_words[insn->exclusive], insn->landing ? ", landing" : "",
		 insn->no_step ? ", no step" : "");
}

static void check_vector(struct vector_file *vectors, int action, int want_ret)
{
	struct probe_insn want = { .action = action }, got;
	char text[256], *end;
	u32 insn = strtoul(vectors->column[0], &end, 16);
	int ret;
	bool ok;

	snprintf(text, sizeof(text), "%s", vectors->column[2]);
	ok = parse_expectation(text, &want) && !*end;
	if (!ok)
		tap_note("%s:%u: bad vector", vectors->name, vectors->line);

	memset(&got, UNTOUCHED, sizeof(got));
	ret = probe_classify(insn, &got);
	ok &= ret == want_ret && same_verdict(&got, &want);
	ok &= probe_exclusive(insn) == want.exclusive;
	if (!ok) {
		describe("expected", &want);
		describe("got", &got);
	}
	table_visit(insn);
	action_seen[got.action]++;
	kind_seen[got.kind]++;
	refusal_seen[got.refusal]++;
	exclusive_seen[got.exclusive]++;
	tap_ok(ok, "%08x %s: %s", insn, vectors->column[1], vectors->column[2]);
}

static void check_file(const char *dir, const char *name, int action, int want_ret)
{
	struct vector_file vectors;

	if (!vector_open(&vectors, dir, name, 3))
		return;
	while (vector_next(&vectors))
		check_vector(&vectors, action, want_ret);
}

void test_vectors(const char *dir)
{
	check_file(dir, "accept.vec", PROBE_COPY, 0);
	check_file(dir, "refuse.vec", PROBE_REFUSE, -EINVAL);
	tap_ok(!table_unvisited(), "every row and every group decides a vector");
	tap_ok(!vector_unseen("action", action_words, action_seen, 0, 3),
	       "every action has a vector");
	tap_ok(!vector_unseen("kind", kind_words, kind_seen, 0, NR_KINDS),
	       "every kind has a vector");
	tap_ok(!vector_unseen("refusal", refusal_words, refusal_seen, 0, NR_REFUSE),
	       "every refusal has a vector");
	tap_ok(!vector_unseen("exclusive role", exclusive_words, exclusive_seen, 0, 4),
	       "every role in an exclusive sequence has a vector");
}
