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
#include "tap.h"
#include "tests.h"
#include "vector.h"

/* Words of the vector files, in the order of the enums. */
const char * const action_words[] = { "copy", "rebase", "emulate", "refuse" };

const char * const emul_words[NR_EMUL] = {
	"none", "jmp", "call", "jcc", "loop", "loope", "loopne", "jcxz", "ret",
	"jmp-indirect", "call-indirect", "pushf", "popf", "cli", "sti",
};

const char * const refusal_words[NR_REFUSE] = {
	"none", "undecodable", "breakpoint", "exception", "bug", "far", "shadow", "transaction",
	"prefix", "operand16", "segment", "addrsize",
};

static const char * const register_words[] = {
	"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static unsigned int action_seen[4], emul_seen[NR_EMUL], refusal_seen[NR_REFUSE];

static s8 parse_register(const char *word)
{
	if (!strcmp(word, "next"))
		return PROBE_REG_NEXT;
	return vector_word(register_words, ARRAY_SIZE(register_words), word);
}

/* Parses one word of an expectation; false if it is invalid. */
static bool parse_word(char *word, struct probe_insn *want)
{
	char *value = strchr(word, '=');

	if (!value) {
		int action = vector_word(action_words, ARRAY_SIZE(action_words), word);
		int emul = vector_word(emul_words, ARRAY_SIZE(emul_words), word);

		if (action >= 0)
			want->action = action;
		else if (emul > 0)
			want->emul = emul;
		return action >= 0 || emul > 0;
	}
	*value++ = '\0';
	if (!strcmp(word, "cc"))
		want->cc = strtoul(value, NULL, 0);
	else if (!strcmp(word, "riprel"))
		want->riprel = strtoul(value, NULL, 0);
	else if (!strcmp(word, "asize"))
		want->asize = strtoul(value, NULL, 0);
	else if (!strcmp(word, "scale"))
		want->scale = strtoul(value, NULL, 0);
	else if (!strcmp(word, "disp"))
		want->disp = strtol(value, NULL, 0);
	else if (!strcmp(word, "reg"))
		return (want->reg = parse_register(value)) >= 0;
	else if (!strcmp(word, "base"))
		return (want->base = parse_register(value)) != PROBE_REG_NONE;
	else if (!strcmp(word, "index"))
		return (want->index = parse_register(value)) >= 0;
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
	tap_note("%s len %u %s %s refusal %s", whose, insn->len, action_words[insn->action],
		 emul_words[insn->emul], refusal_words[insn->refusal]);
	tap_note("    cc %u riprel %u asize %u reg %d base %d index %d scale %u disp %d",
		 insn->cc, insn->riprel, insn->asize, insn->reg, insn->base, insn->index,
		 insn->scale, insn->disp);
}

static bool same_insn(const struct probe_insn *a, const struct probe_insn *b)
{
	return a->len == b->len && a->action == b->action && a->emul == b->emul &&
	       a->refusal == b->refusal && a->cc == b->cc && a->riprel == b->riprel &&
	       a->asize == b->asize && a->reg == b->reg && a->base == b->base &&
	       a->index == b->index && a->scale == b->scale && a->disp == b->disp;
}

static void check_accepted(struct vector_file *vectors, enum insn_mode mode,
			   const unsigned char *bytes, unsigned int len)
{
	struct probe_insn got, want = {
		.len = len, .scale = 1, .asize = mode == INSN_MODE_64 ? 8 : 4,
		.reg = PROBE_REG_NONE, .base = PROBE_REG_NONE, .index = PROBE_REG_NONE,
	};
	char text[256];
	bool ok;

	table_visit(bytes, len, mode);
	snprintf(text, sizeof(text), "%s", vectors->column[3]);
	ok = parse_expectation(text, &want);
	if (!ok)
		tap_note("%s:%u: bad expectation", vectors->name, vectors->line);
	if (probe_classify(bytes, len, mode, &got))
		ok = false;
	if (!same_insn(&got, &want)) {
		describe("expected", &want);
		describe("got     ", &got);
		ok = false;
	}
	action_seen[got.action]++;
	emul_seen[got.emul]++;
	tap_ok(ok, "in %s-bit mode %s is: %s", mode == INSN_MODE_64 ? "64" : "32",
	       vectors->column[2], vectors->column[3]);
}

static void check_refused(struct vector_file *vectors, enum insn_mode mode,
			  const unsigned char *bytes, unsigned int len)
{
	int want = vector_word(refusal_words, ARRAY_SIZE(refusal_words), vectors->column[3]);
	struct probe_insn got;
	int ret, errno_want = want == REFUSE_UNDECODABLE ? -EILSEQ : -EINVAL;
	bool ok;

	table_visit(bytes, len, mode);
	ret = probe_classify(bytes, len, mode, &got);
	ok = want > 0 && ret == errno_want && got.refusal == want &&
	     got.action == PROBE_REFUSE && got.emul == EMUL_NONE;
	if (!ok) {
		tap_note("returned %d, expected %d", ret, errno_want);
		describe("got     ", &got);
	}
	action_seen[got.action]++;
	refusal_seen[got.refusal]++;
	tap_ok(ok, "in %s-bit mode %s is refused: %s", mode == INSN_MODE_64 ? "64" : "32",
	       vectors->column[2], probe_refusal_name(want));
}

void check_in_modes(const char *dir, const char *name, check_in_mode_fn check)
{
	struct vector_file vectors;
	unsigned char bytes[MAX_INSN_SIZE + 1];
	unsigned int len, mode;

	if (!vector_open(&vectors, dir, name, 4))
		return;
	while (vector_next(&vectors)) {
		len = vector_hex(vectors.column[1], bytes, sizeof(bytes));
		for (mode = INSN_MODE_32; mode <= INSN_MODE_64; mode++) {
			const char *word = mode == INSN_MODE_64 ? "64" : "32";

			if (strcmp(vectors.column[0], "any") && strcmp(vectors.column[0], word))
				continue;
			check(&vectors, mode, bytes, len);
		}
	}
}

static void test_endbr(void)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const unsigned char endbr32[] = { 0xf3, 0x0f, 0x1e, 0xfb };
	static const unsigned char rdssp[] = { 0xf3, 0x0f, 0x1e, 0xc8 };
	static const unsigned char nop[] = { 0x66, 0x0f, 0x1e, 0xfa };

	tap_ok(probe_is_endbr(endbr64, 4) && probe_is_endbr(endbr32, 4),
	       "both landing pads are recognized");
	tap_ok(!probe_is_endbr(rdssp, 4) && !probe_is_endbr(nop, 4),
	       "their neighbours are no landing pads");
	tap_ok(!probe_is_endbr(endbr64, 3) && !probe_is_endbr(endbr64, 0),
	       "a landing pad that is cut off is none");
}

/* In both modes; bytes that follow the instruction do not matter. */
static bool waits(const char *bytes, size_t len)
{
	const unsigned char *insn = (const unsigned char *)bytes;
	bool in_32 = probe_waits(insn, len, INSN_MODE_32);

	return in_32 && probe_waits(insn, len, INSN_MODE_64);
}

static bool waits_in_a_mode(const char *bytes, size_t len)
{
	const unsigned char *insn = (const unsigned char *)bytes;

	return probe_waits(insn, len, INSN_MODE_32) || probe_waits(insn, len, INSN_MODE_64);
}

static void test_waits(void)
{
	tap_ok(waits("\xf4", 1) && waits("\xf4\xc3", 2) && waits("\xf3\xf4", 2),
	       "hlt waits for an interrupt, also with a prefix");
	tap_ok(waits("\x0f\x01\xc9", 3) && waits("\x0f\x01\xfb", 3),
	       "mwait and mwaitx wait for an interrupt");
	tap_ok(!waits_in_a_mode("\x0f\x01\xc8", 3) && !waits_in_a_mode("\x0f\x01\xfa", 3) &&
	       !waits_in_a_mode("\xf3\x90", 2) && !waits_in_a_mode("\xfb\xf4", 2),
	       "monitor, monitorx, pause and sti do not");
	tap_ok(!waits_in_a_mode("\xc5\xf1\xf4\xc2", 4) && !waits_in_a_mode("\x0f\xf4\xc1", 3) &&
	       !waits_in_a_mode("\x01\xc9", 2) && !waits_in_a_mode("\x0f\x01", 2),
	       "nor do instructions with some of their bytes");
}

void test_vectors(const char *dir)
{
	check_in_modes(dir, "accept.vec", check_accepted);
	check_in_modes(dir, "refuse.vec", check_refused);
	tap_ok(!table_unvisited(), "every row of the table decides a vector");
	tap_ok(!vector_unseen("action", action_words, action_seen, 0, 4),
	       "every action has a vector");
	tap_ok(!vector_unseen("emulation", emul_words, emul_seen, 1, NR_EMUL),
	       "every emulation has a vector");
	tap_ok(!vector_unseen("refusal", refusal_words, refusal_seen, 1, NR_REFUSE),
	       "every refusal has a vector");
	test_endbr();
	test_waits();
}
