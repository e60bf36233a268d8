// SPDX-License-Identifier: GPL-2.0-only
/* The verdicts and handlers that uprobes get, compared with the classifier's verdict. */
#include <string.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <asm/gcs.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "decode-insn.h"
#include "emulate.h"
#include "../random.h"
#include "../tap.h"
#include "tests.h"

/*
 * Uprobes reject literal loads, because the kernel does not load from a user's address on
 * behalf of the task, and instructions that leave the copy, because they cannot be stepped.
 */
static bool must_be_rejected(const struct probe_insn *desc)
{
	return desc->action == PROBE_REFUSE || desc->no_step ||
	       desc->kind == KIND_LDR_LITERAL || desc->kind == KIND_LDRSW_LITERAL;
}

struct task_struct test_task;

/* The guarded control stack of the task, and the accesses to it. */
static struct {
	u64 top;	/* value that a return pops */
	u64 pushed;
	unsigned int pushes, pops;
	int err;	/* result of the next access */
} guarded;

void push_user_gcs(unsigned long val, int *err)
{
	*err = guarded.err;
	guarded.pushed = val;
	guarded.pushes++;
}

u64 pop_user_gcs(int *err)
{
	*err = guarded.err;
	guarded.pops++;
	return guarded.top;
}

static void random_regs(struct pt_regs *regs)
{
	unsigned int i;

	memset(regs, 0, sizeof(*regs));
	for (i = 0; i < 31; i++)
		regs->regs[i] = random_next();
	regs->pc = random_next() & ~3ULL;
	regs->pstate = random_next();
}

/* The expected effect on the registers: that of the emulator, or of a nop. */
static void expected(u32 insn, const struct probe_insn *desc, struct pt_regs *regs)
{
	if (desc->action == PROBE_EMULATE) {
		probe_emulate(insn, desc, regs);
		return;
	}
	regs->pc += 4;
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

static bool same_effect(probes_handler_t *handler, u32 insn, const struct probe_insn *desc)
{
	struct pt_regs regs, want;

	random_regs(&regs);
	want = regs;
	expected(insn, desc, &want);
	memset(&guarded, 0, sizeof(guarded));
	test_task = (struct task_struct) { .gcs = false };
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs)) && !test_task.signal &&
	       !guarded.pushes && !guarded.pops;
}

static bool is_call(const struct probe_insn *desc)
{
	return desc->kind == KIND_BL || desc->kind == KIND_BLR;
}

/*
 * The task has a guarded control stack. If @match, the value on its top is the target of a
 * return. An access to the stack returns @err.
 */
static bool guarded_effect(probes_handler_t *handler, u32 insn, const struct probe_insn *desc,
			   bool match, int err)
{
	bool call = is_call(desc), ret = desc->kind == KIND_RET;
	bool killed = (err && (call || ret)) || (ret && !match);
	struct pt_regs regs, want;
	u64 from;

	random_regs(&regs);
	from = regs.pc;
	want = regs;
	expected(insn, desc, &want);
	guarded = (typeof(guarded)) { .top = want.pc + !match, .err = err };
	test_task = (struct task_struct) { .gcs = true };
	if (killed)
		want = regs;
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs)) &&
	       test_task.signal == (killed ? SIGSEGV : 0) &&
	       guarded.pushes == call && guarded.pops == ret &&
	       (!call || guarded.pushed == from + 4);
}

static bool guards(probes_handler_t *handler, u32 insn, const struct probe_insn *desc)
{
	return guarded_effect(handler, insn, desc, true, 0) &&
	       guarded_effect(handler, insn, desc, false, 0) &&
	       guarded_effect(handler, insn, desc, true, -14);
}

static bool is_nop(u32 insn)
{
	return insn == 0xd503201f;
}

const char *broken_uprobe(u32 insn, const struct probe_insn *desc)
{
	struct arch_probe_insn asi = { .handler = NULL };
	enum arm_probe_verdict verdict = arm_probe_decode_insn(insn, &asi);

	if (must_be_rejected(desc))
		return verdict == INSN_REJECTED ? NULL : "accepted for a uprobe";
	if (desc->action == PROBE_COPY && !is_nop(insn))
		return verdict == INSN_GOOD && !asi.handler ? NULL :
		       "not stepped for a uprobe";
	if (verdict != INSN_GOOD_NO_SLOT || !asi.handler)
		return "not emulated for a uprobe";
	if (!same_effect(asi.handler, insn, desc))
		return "emulated differently for a uprobe";
	return guards(asi.handler, insn, desc) ? NULL :
	       "a uprobe leaves the guarded control stack as it must not be";
}

/*
 * Words that random tests hardly ever produce, and one of each kind that uses a guarded stack.
 */
void test_uprobes(void)
{
	static const struct {
		u32 insn;
		const char *name;
	} words[] = {
		{ 0xd503201f, "nop" },
		{ 0xd503203f, "yield" },
		{ 0x94000010, "bl" },
		{ 0xd63f0020, "blr x1" },
		{ 0xd63f03c0, "blr x30" },
		{ 0xd65f03c0, "ret" },
		{ 0xd65f0020, "ret x1" },
		{ 0xd65f03e0, "ret xzr" },
		{ 0x14000010, "b" },
		{ 0xd61f0020, "br x1" },
	};
	struct probe_insn desc;
	const char *law;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		probe_classify(words[i].insn, &desc);
		law = broken_uprobe(words[i].insn, &desc);
		if (law)
			tap_note("%s", law);
		tap_ok(!law, "uprobe on %s", words[i].name);
	}
}
