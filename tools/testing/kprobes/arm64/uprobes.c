// SPDX-License-Identifier: GPL-2.0-only
/* What uprobes are told, beside what the classifier says. */
#include <string.h>
#include <linux/types.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "decode-insn.h"
#include "simulate.h"
#include "../random.h"
#include "tests.h"

/* The kernel does not load from a user's address for a user, nor step what leaves. */
static bool must_be_rejected(const struct probe_insn *desc)
{
	return desc->action == PROBE_REFUSE || desc->no_step ||
	       desc->kind == KIND_LDR_LITERAL || desc->kind == KIND_LDRSW_LITERAL;
}

static bool same_effect(probes_handler_t *handler, u32 insn, const struct probe_insn *desc)
{
	struct pt_regs regs, want;
	unsigned int i;

	memset(&regs, 0, sizeof(regs));
	for (i = 0; i < 31; i++)
		regs.regs[i] = random_next();
	regs.pc = random_next() & ~3ULL;
	regs.pstate = random_next();
	want = regs;
	probe_simulate(insn, desc, &want);
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs));
}

const char *broken_uprobe(u32 insn, const struct probe_insn *desc)
{
	struct arch_probe_insn asi = { .handler = NULL };
	enum arm_probe_verdict verdict = arm_probe_decode_insn(insn, &asi);

	if (must_be_rejected(desc))
		return verdict == INSN_REJECTED ? NULL : "accepted for a uprobe";
	if (desc->action == PROBE_COPY)
		return verdict == INSN_GOOD && !asi.handler ? NULL :
		       "not stepped for a uprobe";
	if (verdict != INSN_GOOD_NO_SLOT || !asi.handler)
		return "not simulated for a uprobe";
	return same_effect(asi.handler, insn, desc) ? NULL : "simulated differently for a uprobe";
}
