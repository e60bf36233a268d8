// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every instruction of a disassembly, compared with objdump, which has a decoder of its own
 * and prints mnemonics and target addresses.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "classify.h"
#include "disasm.h"
#include "places.h"
#include "tap.h"
#include "tests.h"

#define NOTES_MAX	20

/* The mnemonic of objdump, and the expected verdict of the classifier. */
static const struct {
	const char *mnemonic;	/* a trailing star matches any ending */
	enum probe_emul emul;
	enum probe_refusal refusal;
} verdicts[] = {
	{ "jmp", EMUL_JMP, REFUSE_NONE },	/* or JMP_INDIRECT, by the operand */
	{ "call", EMUL_CALL, REFUSE_NONE },	/* or CALL_INDIRECT */
	{ "jcxz", EMUL_JCXZ, REFUSE_NONE },
	{ "jecxz", EMUL_JCXZ, REFUSE_NONE },
	{ "jrcxz", EMUL_JCXZ, REFUSE_NONE },
	{ "j*", EMUL_JCC, REFUSE_NONE },
	{ "loop", EMUL_LOOP, REFUSE_NONE },
	{ "loope", EMUL_LOOPE, REFUSE_NONE },
	{ "loopne", EMUL_LOOPNE, REFUSE_NONE },
	{ "ret", EMUL_RET, REFUSE_NONE },
	{ "pushf", EMUL_PUSHF, REFUSE_NONE },
	{ "popf", EMUL_POPF, REFUSE_NONE },
	{ "cli", EMUL_CLI, REFUSE_NONE },
	{ "sti", EMUL_STI, REFUSE_NONE },
	{ "int3", EMUL_NONE, REFUSE_BREAKPOINT },
	{ "int1", EMUL_NONE, REFUSE_EXCEPTION },
	{ "int", EMUL_NONE, REFUSE_EXCEPTION },
	{ "into", EMUL_NONE, REFUSE_EXCEPTION },
	{ "bound", EMUL_NONE, REFUSE_EXCEPTION },
	{ "ud2", EMUL_NONE, REFUSE_BUG },
	{ "ud*", EMUL_NONE, REFUSE_EXCEPTION },
	{ "lcall", EMUL_NONE, REFUSE_FAR },
	{ "ljmp", EMUL_NONE, REFUSE_FAR },
	{ "lret", EMUL_NONE, REFUSE_FAR },
	{ "iret", EMUL_NONE, REFUSE_FAR },
	{ "syscall", EMUL_NONE, REFUSE_FAR },
	{ "sysret", EMUL_NONE, REFUSE_FAR },
	{ "sysenter", EMUL_NONE, REFUSE_FAR },
	{ "sysexit", EMUL_NONE, REFUSE_FAR },
	{ "rsm", EMUL_NONE, REFUSE_FAR },
	{ "xbegin", EMUL_NONE, REFUSE_TRANSACTION },
	{ "xabort", EMUL_NONE, REFUSE_TRANSACTION },
};

static struct {
	unsigned long actions[PROBE_REFUSE + 1];
	unsigned long refusals[NR_REFUSE];
	unsigned long bad, prefixed, far;
	unsigned long length, action, target, copy;	/* disagreements */
} count;

static void complain(unsigned long *counter, const struct line *line,
		     const struct probe_insn *insn, const char *what)
{
	char hex[3 * MAX_INSN_SIZE + 1] = "";
	unsigned int i;

	if ((*counter)++ >= NOTES_MAX)
		return;
	for (i = 0; i < line->len; i++)
		sprintf(hex + 3 * i, "%02x ", line->bytes[i]);
	tap_note("%s: %llx: %s| %s | len %u action %u emul %u refusal %s", what,
		 (unsigned long long)line->address, hex, line->text, insn->len, insn->action,
		 insn->emul, probe_refusal_name(insn->refusal));
}

static bool mnemonic_is(const char *mnemonic, const char *pattern)
{
	size_t len = strlen(pattern);

	if (pattern[len - 1] == '*')
		return !strncmp(mnemonic, pattern, len - 1);
	return !strcmp(mnemonic, pattern);
}

/* A mnemonic that is emulated may be refused, but only because of a prefix that is present. */
static bool is_prefixed_refusal(const struct line *line, const struct probe_insn *insn)
{
	switch (insn->refusal) {
	case REFUSE_PREFIX:
		return strstr(line->text, "lock ");
	case REFUSE_OPERAND16:
		return memchr(line->bytes, 0x66, line->len);
	case REFUSE_SEGMENT:
		return line->operands[0] == '*' && strchr("defgs", line->operands[2]) &&
		       line->operands[3] == 's' && line->operands[4] == ':';
	case REFUSE_ADDRSIZE:
		return line->operands[0] == '*' && memchr(line->bytes, 0x67, line->len);
	default:
		return false;
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

static void check_verdict(const struct line *line, const struct probe_insn *insn)
{
	enum probe_refusal refusal = REFUSE_NONE;
	enum probe_emul emul = EMUL_NONE;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (mnemonic_is(line->mnemonic, verdicts[i].mnemonic)) {
			emul = verdicts[i].emul;
			refusal = verdicts[i].refusal;
			break;
		}
	if (line->operands[0] == '*' && emul == EMUL_JMP)
		emul = EMUL_JMP_INDIRECT;
	if (line->operands[0] == '*' && emul == EMUL_CALL)
		emul = EMUL_CALL_INDIRECT;
	if (!strncmp(line->mnemonic, "mov", 3) && ends_with(line->operands, ",%ss"))
		refusal = REFUSE_SHADOW;
	if (!strcmp(line->mnemonic, "pop") && !strncmp(line->operands, "%ss", 3))
		refusal = REFUSE_SHADOW;

	if (emul && is_prefixed_refusal(line, insn)) {
		count.prefixed++;
		return;
	}
	if (insn->refusal != refusal || insn->emul != emul)
		complain(&count.action, line, insn, "verdict");
}

/* The address that objdump has computed, or the printed target of a branch. */
static bool printed_target(const struct line *line, const struct probe_insn *insn, u64 *target)
{
	const char *text = line->operands;
	char *end;

	if (insn->riprel) {
		text = strchr(text, '#');
		if (!text)
			return false;
		text++;
	}
	*target = strtoull(text, &end, 16);
	return end != text;
}

static void check_target(const struct line *line, const struct probe_insn *insn)
{
	bool direct = insn->emul >= EMUL_JMP && insn->emul <= EMUL_JCXZ;
	u64 target = line->address + insn->len, printed;
	u64 mask = line->mode == INSN_MODE_64 ? ~0ULL : 0xffffffff;

	if (direct)
		target += insn->disp;
	else if (insn->riprel)
		target += (s32)get_unaligned_le32(line->bytes + insn->riprel);
	else
		return;
	if (insn->riprel && insn->asize == 4)
		mask = 0xffffffff;
	if (!printed_target(line, insn, &printed) || ((target ^ printed) & mask))
		complain(&count.target, line, insn, "target");
}

static bool in_reach(const struct line *line, const struct probe_insn *insn, u64 dst)
{
	s64 disp = (s32)get_unaligned_le32(line->bytes + insn->riprel);

	disp -= dst - line->address;
	return disp >= INT32_MIN && disp <= INT32_MAX;
}

/* Re-bases an instruction by most of a displacement's reach, and classifies the copy. */
static void check_copy(const struct line *line, const struct probe_insn *insn)
{
	u64 dst = line->address + 0x3f123457, target, again;
	unsigned char out[MAX_INSN_SIZE];
	struct probe_insn copy;
	int ret = probe_rebase(insn, line->bytes, line->address, dst, out);

	if (ret == -ERANGE && insn->riprel && !in_reach(line, insn, dst)) {
		count.far++;
		return;
	}
	if (ret != insn->len || probe_classify(out, ret, line->mode, &copy) ||
	    memcmp(&copy, insn, sizeof(copy))) {
		complain(&count.copy, line, insn, "copy");
		return;
	}
	if (!insn->riprel)
		return;
	if (!printed_target(line, insn, &target))
		return;		/* check_target() has reported it */
	again = dst + ret + (s32)get_unaligned_le32(out + copy.riprel);
	if (again != target && !(insn->asize == 4 && (u32)again == (u32)target))
		complain(&count.copy, line, insn, "copy refers to something else");
}

static void check_line(struct line *line)
{
	struct probe_insn insn;

	if (disasm_is_bad(line)) {
		count.bad++;
		return;
	}
	/* objdump joins a wait and the x87 instruction after it; the CPU does not. */
	if (line->bytes[0] == 0x9b && line->len > 1) {
		memmove(line->bytes, line->bytes + 1, --line->len);
		line->address++;
	}

	probe_classify(line->bytes, line->len, line->mode, &insn);
	count.actions[insn.action]++;
	count.refusals[insn.refusal]++;
	if (insn.len != line->len || insn.refusal == REFUSE_UNDECODABLE) {
		complain(&count.length, line, &insn, "length");
		return;
	}
	check_verdict(line, &insn);
	if (insn.action == PROBE_REFUSE)
		return;
	check_target(line, &insn);
	if (insn.action != PROBE_EMULATE)
		check_copy(line, &insn);
}

static void report(unsigned long instructions)
{
	unsigned int i;

	tap_note("%lu instructions: %lu copied, %lu rebased, %lu emulated, %lu refused",
		 instructions, count.actions[PROBE_COPY], count.actions[PROBE_REBASE],
		 count.actions[PROBE_EMULATE], count.actions[PROBE_REFUSE]);
	tap_note("%lu unreadable for objdump, %lu refused for a prefix, %lu copies out of reach",
		 count.bad, count.prefixed, count.far);
	for (i = REFUSE_NONE + 1; i < NR_REFUSE; i++)
		if (count.refusals[i])
			tap_note("%lu refused: %s", count.refusals[i], probe_refusal_name(i));
	tap_ok(instructions, "the listing has instructions");
	tap_ok(!count.length, "every instruction is known and as long as objdump says");
	tap_ok(!count.action, "every verdict fits objdump's mnemonic");
	tap_ok(!count.target, "every target is the one objdump prints");
	tap_ok(!count.copy, "every copy is the same instruction and refers to the same address");
}

unsigned long read_listing(const char *path, check_event_fn check)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	unsigned long instructions = 0;
	struct line line = { .known = false };
	enum disasm_event event;

	if (!file) {
		tap_ok(false, "%s can be read", path);
		return 0;
	}
	while ((event = disasm_next(file, &line)) != DISASM_END) {
		if (event == DISASM_FILE) {
			tap_note("%s", line.text);
			if (!line.known)
				tap_ok(false, "this is a file of this architecture");
		}
		if (!line.known)
			continue;
		instructions += event == DISASM_INSN;
		check(event, &line);
	}
	return instructions;
}

static void check_event(enum disasm_event event, struct line *line)
{
	places_add(event, line);
	if (event == DISASM_INSN)
		check_line(line);
}

void test_listing(const char *path)
{
	report(read_listing(path, check_event));
	places_check();
}
