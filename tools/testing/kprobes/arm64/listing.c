// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every instruction of a disassembly, compared with objdump, which has a decoder of its own
 * and prints mnemonics and target addresses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "classify.h"
#include "fields.h"
#include "listing.h"
#include "../tap.h"
#include "../vector.h"
#include "same.h"
#include "tests.h"

#define NOTES_MAX	20

/*
 * The mnemonic and operands of objdump, and the expected verdict. A star in a mnemonic matches
 * any rest. Text of operands matches anywhere, or only at the beginning if it has a caret in
 * front. The first matching row decides. An instruction without a row must be copied and have
 * no other property.
 */
static const struct verdict {
	const char *mnemonic, *operand;
	struct probe_insn insn;
} verdicts[] = {
	{ "b", "", { .action = PROBE_EMULATE, .kind = KIND_B } },
	{ "bl", "", { .action = PROBE_EMULATE, .kind = KIND_BL } },
	{ "b.*", "", { .action = PROBE_EMULATE, .kind = KIND_B_COND } },
	{ "bc.*", "", { .action = PROBE_EMULATE, .kind = KIND_B_COND } },
	{ "cbz", "", { .action = PROBE_EMULATE, .kind = KIND_CBZ } },
	{ "cbnz", "", { .action = PROBE_EMULATE, .kind = KIND_CBZ } },
	{ "tbz", "", { .action = PROBE_EMULATE, .kind = KIND_TBZ } },
	{ "tbnz", "", { .action = PROBE_EMULATE, .kind = KIND_TBZ } },
	{ "adr", "^z", { .action = PROBE_COPY } },		/* of SVE */
	{ "adr", "", { .action = PROBE_EMULATE, .kind = KIND_ADR } },
	{ "adrp", "", { .action = PROBE_EMULATE, .kind = KIND_ADRP } },
	{ "ldr", "[", { .action = PROBE_COPY } },
	{ "ldr", "^x", { .action = PROBE_EMULATE, .kind = KIND_LDR_LITERAL } },
	{ "ldr", "^w", { .action = PROBE_EMULATE, .kind = KIND_LDR_LITERAL } },
	{ "ldr", "", { .action = PROBE_REFUSE, .refusal = REFUSE_VECTOR_LITERAL } },
	{ "ldrsw", "[", { .action = PROBE_COPY } },
	{ "ldrsw", "", { .action = PROBE_EMULATE, .kind = KIND_LDRSW_LITERAL } },
	{ "prfm", "[", { .action = PROBE_COPY } },
	{ "prfm", "", { .action = PROBE_EMULATE, .kind = KIND_PRFM_LITERAL } },
	{ "br", "", { .action = PROBE_EMULATE, .kind = KIND_BR } },
	{ "blr", "", { .action = PROBE_EMULATE, .kind = KIND_BLR } },
	{ "ret", "", { .action = PROBE_EMULATE, .kind = KIND_RET } },
	{ "braa*", "", { .action = PROBE_COPY, .no_step = true } },
	{ "brab*", "", { .action = PROBE_COPY, .no_step = true } },
	{ "retaa", "", { .action = PROBE_COPY, .no_step = true } },
	{ "retab", "", { .action = PROBE_COPY, .no_step = true } },
	{ "blra*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SIGNED_CALL } },
	{ "bti", "^c", { .action = PROBE_COPY, .landing = true } },
	{ "bti", "^j", { .action = PROBE_COPY, .landing = true } },
	{ "paciasp", "", { .action = PROBE_COPY, .landing = true } },
	{ "pacibsp", "", { .action = PROBE_COPY, .landing = true } },
	{ "udf", "", { .action = PROBE_REFUSE, .refusal = REFUSE_UNDEFINED } },
	{ "brk", "", { .action = PROBE_REFUSE, .refusal = REFUSE_BREAKPOINT } },
	{ "svc", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCEPTION } },
	{ "hvc", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCEPTION } },
	{ "smc", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCEPTION } },
	{ "hlt", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCEPTION } },
	{ "dcps*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCEPTION } },
	{ "eret*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_ERET } },
	{ "drps", "", { .action = PROBE_REFUSE, .refusal = REFUSE_ERET } },
	{ "ldxr*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			 .exclusive = EXCLUSIVE_LOAD } },
	{ "ldaxr*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			  .exclusive = EXCLUSIVE_LOAD } },
	{ "ldxp", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			.exclusive = EXCLUSIVE_LOAD } },
	{ "ldaxp", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			 .exclusive = EXCLUSIVE_LOAD } },
	{ "stxr*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			 .exclusive = EXCLUSIVE_STORE } },
	{ "stlxr*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			  .exclusive = EXCLUSIVE_STORE } },
	{ "stxp", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			.exclusive = EXCLUSIVE_STORE } },
	{ "stlxp", "", { .action = PROBE_REFUSE, .refusal = REFUSE_EXCLUSIVE,
			 .exclusive = EXCLUSIVE_STORE } },
	{ "clrex", "", { .action = PROBE_COPY, .exclusive = EXCLUSIVE_CLEAR } },
	{ "cpym*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "cpyfm*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "cpye*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "cpyfe*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "setm*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "setgm*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "sete*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "setge*", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SEQUENCE } },
	{ "movprfx", "", { .action = PROBE_REFUSE, .refusal = REFUSE_PREFIX } },
	{ "msr", "^daif", { .action = PROBE_COPY, .no_step = true } },
	{ "mrs", "daif", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^sp_el0,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^tpidr_el1,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^tpidr_el2,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^spsel,", { .action = PROBE_REFUSE, .refusal = REFUSE_STACK } },
	{ "msr", "^elr_el1,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^elr_el2,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^spsr_el1,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^spsr_el2,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^esr_el1,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^esr_el2,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^far_el1,", { .action = PROBE_COPY, .no_step = true } },
	{ "msr", "^far_el2,", { .action = PROBE_COPY, .no_step = true } },
	{ "mrs", "_el12", { .action = PROBE_COPY } },		/* a register of the guest */
	{ "mrs", ", elr_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", elr_el2", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", spsr_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", spsr_el2", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", esr_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", esr_el2", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", far_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "mrs", ", far_el2", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "gcspushx", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "gcspopx", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "gcspopcx", "", { .action = PROBE_REFUSE, .refusal = REFUSE_SYNDROME } },
	{ "msr", "^dbg", { .action = PROBE_REFUSE, .refusal = REFUSE_DEBUG } },
	{ "msr", "^mdscr_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_DEBUG } },
	{ "msr", "^mdccint_el1", { .action = PROBE_REFUSE, .refusal = REFUSE_DEBUG } },
	{ "msr", "^os", { .action = PROBE_REFUSE, .refusal = REFUSE_DEBUG } },
};

static const struct probe_insn plain_copy = { .action = PROBE_COPY };

static struct {
	unsigned long actions[PROBE_REFUSE + 1], kinds[NR_KINDS], refusals[NR_REFUSE];
	unsigned long landings, no_step, undefined, undefined_copied;
	unsigned long verdict, target, moved, emulated;	/* disagreements */
} count;

static void complain(unsigned long *counter, const struct line *line,
		     const struct probe_insn *insn, const char *what)
{
	if ((*counter)++ < NOTES_MAX)
		tap_note("%s: %llx: %08x %s %s | %s %s, refusal %s", what,
			 (unsigned long long)line->address, line->insn, line->mnemonic,
			 line->operands, action_words[insn->action], kind_words[insn->kind],
			 refusal_words[insn->refusal]);
}

static bool fits(const struct line *line, const struct verdict *verdict)
{
	size_t len = strlen(verdict->mnemonic);

	if (verdict->mnemonic[len - 1] == '*') {
		if (strncmp(line->mnemonic, verdict->mnemonic, len - 1))
			return false;
	} else if (strcmp(line->mnemonic, verdict->mnemonic)) {
		return false;
	}
	if (verdict->operand[0] == '^')
		return !strncmp(line->operands, verdict->operand + 1, strlen(verdict->operand) - 1);
	return strstr(line->operands, verdict->operand);
}

static void check_verdict(const struct line *line, const struct probe_insn *insn)
{
	const struct probe_insn *want = &plain_copy;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verdicts); i++)
		if (fits(line, &verdicts[i])) {
			want = &verdicts[i].insn;
			break;
		}
	if (!same_verdict(insn, want))
		complain(&count.verdict, line, insn, "verdict");
}

/* objdump prints the target last, after other operands and commas. */
static bool printed_target(const struct line *line, u64 *target)
{
	const char *last = strrchr(line->operands, ',');
	char *end;

	last = last ? last + 1 : line->operands;
	*target = strtoull(last, &end, 16);
	return end != last;
}

static void check_target(const struct line *line, const struct probe_insn *insn)
{
	u64 target, printed;

	switch (insn->kind) {
	case KIND_B:
	case KIND_BL:
		target = a64_target26(line->insn, line->address);
		break;
	case KIND_TBZ:
		target = a64_target14(line->insn, line->address);
		break;
	case KIND_ADR:
		target = a64_adr(line->insn, line->address);
		break;
	case KIND_ADRP:
		target = a64_adrp(line->insn, line->address);
		break;
	case KIND_B_COND:
	case KIND_CBZ:
	case KIND_LDR_LITERAL:
	case KIND_LDRSW_LITERAL:
	case KIND_PRFM_LITERAL:
		target = a64_target19(line->insn, line->address);
		break;
	default:
		return;
	}
	if (!printed_target(line, &printed) || printed != target)
		complain(&count.target, line, insn, "target");
}

/* Literals are not in this program's memory, so their loads are moved, but not emulated. */
static bool reads_literal(const struct probe_insn *insn)
{
	return insn->kind == KIND_LDR_LITERAL || insn->kind == KIND_LDRSW_LITERAL;
}

static void check_line(const struct line *line)
{
	struct probe_insn insn;

	probe_classify(line->insn, &insn);
	if (line->mnemonic[0] == '.') {
		/* Data, or an instruction that is newer than objdump. */
		count.undefined++;
		count.undefined_copied += insn.action == PROBE_COPY;
		return;
	}
	count.actions[insn.action]++;
	count.kinds[insn.kind]++;
	count.refusals[insn.refusal]++;
	count.landings += insn.landing;
	count.no_step += insn.no_step;
	check_verdict(line, &insn);
	check_target(line, &insn);
	if (broken_move(line->insn, &insn, line->address, line->address + 0x5432100))
		complain(&count.moved, line, &insn, "moved");
	if (insn.action == PROBE_EMULATE && !reads_literal(&insn) &&
	    broken_emulation(line->insn, &insn, line->address))
		complain(&count.emulated, line, &insn, "emulated");
}

/* "  address:\tword \tmnemonic\toperands" */
static bool parse_line(const char *text, struct line *line)
{
	char *at, *rest;

	line->address = strtoull(text, &at, 16);
	if (at == text || at[0] != ':' || at[1] != '\t')
		return false;
	at += 2;
	line->insn = strtoul(at, &rest, 16);
	/* Literal pools are printed with other widths, or as ".word". */
	if (rest != at + 8)
		return false;
	snprintf(line->text, sizeof(line->text), "%.*s",
		 (int)strcspn(rest + strspn(rest, " \t"), "\n"), rest + strspn(rest, " \t"));
	line->operands = line->text + strcspn(line->text, " \t");
	snprintf(line->mnemonic, sizeof(line->mnemonic), "%.*s",
		 (int)(line->operands - line->text), line->text);
	line->operands += strspn(line->operands, " \t");
	line->text[strcspn(line->text, "/")] = '\0';		/* a comment */
	return line->mnemonic[0];
}

static void report(unsigned long instructions)
{
	unsigned int i;

	tap_note("%lu instructions: %lu copied (%lu not stepped), %lu emulated, %lu refused",
		 instructions, count.actions[PROBE_COPY], count.no_step,
		 count.actions[PROBE_EMULATE], count.actions[PROBE_REFUSE]);
	tap_note("%lu landing pads; unknown to objdump %lu, %lu of these copied",
		 count.landings, count.undefined, count.undefined_copied);
	for (i = KIND_NONE + 1; i < NR_KINDS; i++)
		if (count.kinds[i])
			tap_note("%lu emulated: %s", count.kinds[i], kind_words[i]);
	for (i = REFUSE_NONE + 1; i < NR_REFUSE; i++)
		if (count.refusals[i])
			tap_note("%lu refused: %s", count.refusals[i], probe_refusal_name(i));
	tap_note("compared: %lu moved, %lu out of reach, %lu impossible, %lu emulated",
		 same_count.moved, same_count.out_of_reach, same_count.impossible,
		 same_count.emulated);
	tap_ok(instructions, "the listing has instructions");
	tap_ok(!count.refusals[REFUSE_UNALLOCATED], "every instruction is known");
	tap_ok(!count.verdict, "every verdict fits objdump's mnemonic");
	tap_ok(!count.target, "every target is the one objdump prints");
	tap_ok(!count.moved, "every instruction does the same elsewhere");
	tap_ok(!count.emulated, "every emulation has the effect of the instruction");
}

unsigned long read_listing(const char *path, check_line_fn check)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	unsigned long instructions = 0;
	struct line line;
	char text[1024];

	if (!file) {
		tap_ok(false, "%s can be read", path);
		return 0;
	}
	while (fgets(text, sizeof(text), file)) {
		if (strstr(text, "file format ")) {
			tap_note("%.*s", (int)strcspn(text, "\n"), text);
			if (!strstr(text, "aarch64"))
				tap_ok(false, "this is a file of this architecture");
		}
		if (!parse_line(text, &line))
			continue;
		instructions++;
		check(&line);
	}
	return instructions;
}

void test_listing(const char *path)
{
	report(read_listing(path, check_line));
}
