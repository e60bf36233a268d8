// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdicts and handlers that uprobes get, compared with the classifier's verdict. */
#include <string.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <linux/uprobes.h>
#include <asm/gcs.h>
#include <asm/insn.h>
#include <asm/ptrace.h>

#include "classify.h"
#include "decode-insn.h"
#include "emulate.h"
#include "uprobe-context.h"
#include "../random.h"
#include "../tap.h"
#include "tests.h"

/* Uprobes reject instructions that leave the copy, because they cannot be stepped. */
static bool must_be_rejected(const struct probe_insn *desc)
{
	return desc->action == PROBE_REFUSE || desc->no_step;
}

static bool loads_literal(const struct probe_insn *desc)
{
	return desc->kind == KIND_LDR_LITERAL || desc->kind == KIND_LDRSW_LITERAL;
}

struct task_struct test_task;
static struct uprobe_task test_utask;

/* The user's memory, which has the same value everywhere, and the last access to it. */
static struct {
	u64 value;
	int err;	/* result of the next access */
	u64 addr;
	unsigned int size;
} memory;

int test_get_user(void *to, u64 addr, unsigned int size)
{
	memory.addr = addr;
	memory.size = size;
	if (!memory.err)
		memcpy(to, &memory.value, size);
	return memory.err;
}

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

/* The value of BTYPE after a branch by a register, if the processor checks its target. */
static u64 branch_type(u32 insn)
{
	switch (insn & 0xfffffc1f) {
	case 0xd61f0000:	/* br */
		return 0x400;
	case 0xd63f0000:	/* blr */
		return 0x800;
	default:
		return 0;
	}
}

/* The expected effect on the registers: that of the emulator, or of a nop. */
static void expected(u32 insn, const struct probe_insn *desc, struct pt_regs *regs, bool bti)
{
	if (desc->action == PROBE_EMULATE) {
		probe_emulate(insn, desc, regs);
		regs->pstate |= bti ? branch_type(insn) : 0;
		return;
	}
	regs->pc += 4;
	regs->pstate &= ~(u64)PSR_BTYPE_MASK;
}

static bool same_effect(probes_handler_t *handler, u32 insn, const struct probe_insn *desc,
			bool bti)
{
	struct pt_regs regs, want;

	random_regs(&regs);
	want = regs;
	expected(insn, desc, &want, bti);
	memset(&guarded, 0, sizeof(guarded));
	test_task = (struct task_struct) { .bti = bti };
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs)) && !test_task.signal &&
	       !guarded.pushes && !guarded.pops;
}

/* The same without a guarded control stack, as arch_uprobe_emulate() does it. */
static bool same_quick_effect(u32 insn, const struct probe_insn *desc, bool bti)
{
	struct arch_probe_insn asi = {};
	struct pt_regs regs, want;

	random_regs(&regs);
	want = regs;
	expected(insn, desc, &want, bti);
	test_task = (struct task_struct) { .bti = bti };
	arm_probe_decode_insn(insn, &asi);
	if (!asi.emulate)
		return false;
	asi.emulate(insn, &regs);
	regs.pstate = (regs.pstate & ~(u64)PSR_BTYPE_MASK) | asi.btype;
	return !memcmp(&regs, &want, sizeof(regs));
}

/* The literal of a load: its address, its size, and the value of the register after the load. */
static u64 literal(u32 insn, u64 pc, unsigned int *size, u64 *value)
{
	bool is_signed = insn >> 31;

	*size = !is_signed && insn >> 30 & 1 ? 8 : 4;
	*value = is_signed ? (u64)(s64)(s32)memory.value :
		 *size == 8 ? memory.value : (u32)memory.value;
	return pc + (s64)((s32)(insn << 8) >> 13) * 4;
}

/* Has an access of @size bytes at @addr failed?  None if @size is 0. */
static bool is_fault(u64 addr, unsigned int size)
{
	const struct uprobe_fault *fault = &test_task.utask->fault;

	return fault->len == size && (!size || fault->addr == addr) && !fault->write;
}

/* Loads a literal from the user's memory, which fails if @err. */
static bool loads(probes_handler_t *handler, u32 insn, int err)
{
	struct pt_regs regs, want;
	unsigned int size;
	u64 value, addr;

	random_regs(&regs);
	want = regs;
	memory = (typeof(memory)) { .value = random_next(), .err = err };
	test_utask = (struct uprobe_task) {};
	test_task = (struct task_struct) { .utask = &test_utask };
	addr = literal(insn, regs.pc, &size, &value);
	if (!err) {
		if ((insn & 0x1f) != 31)
			want.regs[insn & 0x1f] = value;
		want.pc += 4;
		want.pstate &= ~(u64)PSR_BTYPE_MASK;
	}
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs)) && memory.addr == addr &&
	       memory.size == size && !test_task.signal && is_fault(addr, err ? size : 0);
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
	bool differs = ret && !match && !err;
	bool killed = (err && (call || ret)) || differs;
	struct pt_regs regs, want;
	u64 from;

	random_regs(&regs);
	from = regs.pc;
	want = regs;
	expected(insn, desc, &want, false);
	guarded = (typeof(guarded)) { .top = want.pc + !match, .err = err };
	test_task = (struct task_struct) { .gcs = true };
	if (killed)
		want = regs;
	handler(insn, regs.pc, &regs);
	return !memcmp(&regs, &want, sizeof(regs)) &&
	       test_task.signal == (killed ? SIGSEGV : 0) &&
	       test_task.code == (differs ? SEGV_CPERR : 0) &&
	       guarded.pushes == call + differs && guarded.pops == ret &&
	       (!call || guarded.pushed == from + 4) &&
	       (!differs || guarded.pushed == guarded.top);
}

static bool guards(probes_handler_t *handler, u32 insn, const struct probe_insn *desc)
{
	return guarded_effect(handler, insn, desc, true, 0) &&
	       guarded_effect(handler, insn, desc, false, 0) &&
	       guarded_effect(handler, insn, desc, true, -14);
}

/* adr, adrp */
static bool computes_address(const struct probe_insn *desc)
{
	return desc->kind == KIND_ADR || desc->kind == KIND_ADRP;
}

/* The verdict on an instruction that can be emulated. */
static enum arm_probe_verdict emulated_verdict(const struct probe_insn *desc)
{
	switch (desc->kind) {
	case KIND_BL:
		return INSN_GOOD_CALL;
	case KIND_BLR:
	case KIND_LDR_LITERAL:
	case KIND_LDRSW_LITERAL:
	case KIND_PRFM_LITERAL:
		return INSN_GOOD_NO_SLOT;
	default:
		return INSN_GOOD_BRANCH;
	}
}

/* uprobe-decode.c, compiled for the engine that steps copies. */
enum arm_probe_verdict stepped_decode_insn(u32 insn, struct arch_probe_insn *asi);

static const char *broken_stepped(u32 insn, const struct probe_insn *desc)
{
	struct arch_probe_insn asi = {};
	enum arm_probe_verdict verdict = stepped_decode_insn(insn, &asi);

	if (must_be_rejected(desc) || loads_literal(desc))
		return verdict == INSN_REJECTED ? NULL : "accepted for a step";
	if (desc->action == PROBE_COPY)
		return verdict == INSN_GOOD && !asi.handler ? NULL : "not copied for a step";
	if (verdict != INSN_GOOD_NO_SLOT || !asi.handler)
		return "not emulated for a step";
	return same_effect(asi.handler, insn, desc, false) ? NULL :
	       "emulated differently for a step";
}

const char *broken_uprobe(u32 insn, const struct probe_insn *desc)
{
	const char *stepped = broken_stepped(insn, desc);
	struct arch_probe_insn asi = {};
	enum arm_probe_verdict verdict = arm_probe_decode_insn(insn, &asi);

	if (stepped)
		return stepped;
	if (aarch64_insn_is_svc(insn))
		return verdict == INSN_GOOD_SYSCALL ? NULL : "no system call for a uprobe";
	if (must_be_rejected(desc))
		return verdict == INSN_REJECTED ? NULL : "accepted for a uprobe";
	if (desc->action == PROBE_COPY || computes_address(desc))
		return verdict == INSN_GOOD && !asi.handler ? NULL :
		       "not copied for a uprobe";
	if (verdict != emulated_verdict(desc) || !asi.handler)
		return "not emulated for a uprobe";
	if (loads_literal(desc))
		return loads(asi.handler, insn, 0) && loads(asi.handler, insn, -14) ? NULL :
		       "loads another literal for a uprobe";
	if (!same_effect(asi.handler, insn, desc, false) ||
	    !same_effect(asi.handler, insn, desc, true) ||
	    !same_quick_effect(insn, desc, false) || !same_quick_effect(insn, desc, true))
		return "emulated differently for a uprobe";
	return guards(asi.handler, insn, desc) ? NULL :
	       "a uprobe leaves the guarded control stack as it must not be";
}

#define LDXR	0x885f7c20
#define STXR	0x88027c20
#define CLREX	0xd5033f5f
#define MOVPRFX	0x0420bc20
#define NOP	0xd503201f

/* Text of up to four words, and the instruction in it that is to be probed. */
static void test_context(void)
{
	static const struct {
		u32 words[4];
		unsigned int nr, at;
		bool refused;
		const char *name;
	} texts[] = {
		{ { NOP, NOP, NOP }, 3, 1, false, "no exclusive" },
		{ { LDXR, NOP, STXR }, 3, 1, true, "between load and store" },
		{ { LDXR, STXR }, 2, 1, true, "at the store" },
		{ { LDXR, NOP, NOP, STXR }, 4, 0, false, "at the load" },
		{ { LDXR, STXR, NOP, NOP }, 4, 2, false, "after the store" },
		{ { NOP, LDXR, STXR, NOP }, 4, 0, false, "before the load" },
		{ { LDXR, CLREX, NOP, STXR }, 4, 2, false, "after clrex" },
		{ { LDXR, NOP, CLREX, STXR }, 4, 1, false, "before clrex" },
		{ { LDXR, NOP, NOP }, 3, 1, false, "after a load without a store" },
		{ { NOP, NOP, STXR }, 3, 1, false, "before a store without a load" },
		{ { LDXR, NOP, LDXR, STXR }, 4, 1, false, "between two loads" },
		{ { MOVPRFX, NOP }, 2, 1, true, "after movprfx" },
		{ { MOVPRFX, NOP, NOP }, 3, 2, false, "two words after movprfx" },
	};
	unsigned int i, j;
	const char *why;
	u8 text[16];

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		for (j = 0; j < texts[i].nr * 4; j++)
			text[j] = texts[i].words[j / 4] >> (8 * (j % 4));
		why = uprobe_context_refusal(text, texts[i].at * 4, texts[i].nr * 4);
		tap_ok(!!why == texts[i].refused &&
		       (!why || uprobe_context_ties(text, texts[i].at * 4)), "a uprobe is %s %s",
		       texts[i].refused ? "refused" : "accepted", texts[i].name);
	}
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
		{ 0x58000041, "ldr x1, .+8" },
		{ 0x58ffffdf, "ldr xzr, .-8" },
		{ 0x18000041, "ldr w1, .+8" },
		{ 0x98ffffc1, "ldrsw x1, .-8" },
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
	test_context();
}
