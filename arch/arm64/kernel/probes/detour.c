// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: detours, and the branches to them.
 *
 * A branch replaces the BRK.  Both are of the kinds of instructions that may be written while
 * other CPUs execute them (Arm ARM, B2.2.5): a CPU executes the old or the new one until it is
 * synchronised.  The branch covers one instruction, so the instructions after it need no
 * checks.
 *
 * detour.h has the layout of a detour.
 */
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>

#include "common.h"
#include "detour.h"
#include "relocate.h"

static_assert(MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t) == DETOUR_BYTES);
static_assert(sizeof(struct kprobe *) == DETOUR_CODE * sizeof(kprobe_opcode_t));

/* --- Make a detour ------------------------------------------------------------- */

/**
 * struct draft - a detour that is being written
 * @slot:	address where it will run
 * @words:	contents
 * @nr:		number of words so far
 * @obstacle:	reason why the detour cannot be written
 */
struct draft {
	kprobe_opcode_t *slot;
	u32 words[MAX_OPTINSN_SIZE];
	unsigned int nr;
	enum kprobe_obstacle obstacle;
};

static void put(struct draft *draft, u32 insn)
{
	if (draft->nr == MAX_OPTINSN_SIZE)
		draft->obstacle = KPROBE_OBSTACLE_ROOM;
	else
		draft->words[draft->nr++] = insn;
}

static unsigned long here(const struct draft *draft)
{
	return (unsigned long)(draft->slot + draft->nr);
}

static void put_branch(struct draft *draft, unsigned long target)
{
	u32 insn;

	if (probe_gen_branch(here(draft), target, &insn) < 0)
		draft->obstacle = KPROBE_OBSTACLE_BRANCH;
	else
		put(draft, insn);
}

/* Returns an stp or ldp of x29 and x30 that allocates or frees a struct pt_regs on the stack. */
static u32 move_pair(enum aarch64_insn_ldst_type type, int offset)
{
	return aarch64_insn_gen_load_store_pair(AARCH64_INSN_REG_29, AARCH64_INSN_REG_30,
						AARCH64_INSN_REG_SP, offset,
						AARCH64_INSN_VARIANT_64BIT, type);
}

static void put_call(struct draft *draft, void (*function)(void))
{
	const int size = sizeof(struct pt_regs);
	u32 insn;

	put(draft, move_pair(AARCH64_INSN_LDST_STORE_PAIR_PRE_INDEX, -size));
	if (probe_gen_branch(here(draft), (unsigned long)function, &insn) < 0)
		draft->obstacle = KPROBE_OBSTACLE_BRANCH;
	else
		put(draft, insn | BIT(31));	/* with a link */
	put(draft, move_pair(AARCH64_INSN_LDST_LOAD_PAIR_POST_INDEX, size));
}

static void put_copy(struct draft *draft, struct kprobe *kp)
{
	u32 copy[PROBE_RELOCATED_WORDS];
	int nr, i;

	nr = probe_relocate(kp->opcode, probe_desc(kp), (unsigned long)kp->addr, here(draft), copy);
	if (nr < 0) {
		draft->obstacle = nr == -ERANGE ? KPROBE_OBSTACLE_BRANCH : KPROBE_OBSTACLE_ENCODING;
		return;
	}
	for (i = 0; i < nr; i++)
		put(draft, copy[i]);
}

/* Stores the address of the representative, as data in the byte order of the CPU. */
static void put_point(struct draft *draft, struct kprobe *kp)
{
	__le32 halves[DETOUR_CODE];

	memcpy(halves, &kp, sizeof(halves));
	draft->words[0] = le32_to_cpu(halves[0]);
	draft->words[1] = le32_to_cpu(halves[1]);
}

static void write_detour(struct draft *draft, struct kprobe *kp,
			 struct arch_optimized_insn *optinsn)
{
	enum kprobe_detour_calls calls = kprobe_detour_calls(kp);
	bool post = calls == KPROBE_DETOUR_CALLS_POST, whole = post && kp->ainsn.run;

	put_point(draft, kp);
	if (whole)
		put_call(draft, kprobe_detour_enter_whole);
	else if (calls == KPROBE_DETOUR_CALLS_RETURN)
		put_call(draft, kprobe_detour_enter_return);
	else
		put_call(draft, kprobe_detour_enter);
	optinsn->copy = draft->nr;
	if (!whole)
		put_copy(draft, kp);
	optinsn->end = draft->nr;
	if (post && !whole)
		put_call(draft, kprobe_detour_enter_post);
	put_branch(draft, (unsigned long)kp->addr + AARCH64_INSN_SIZE);
}

static enum kprobe_obstacle make_detour(struct optimized_kprobe *op)
{
	struct draft draft = {
		.slot = get_optinsn_slot_for(&op->kp),
		.nr = DETOUR_CODE,
	};
	u32 branch;

	if (!draft.slot)
		return KPROBE_OBSTACLE_MEMORY;
	if (probe_gen_branch((unsigned long)op->kp.addr,
			     (unsigned long)(draft.slot + DETOUR_CODE), &branch) < 0)
		draft.obstacle = KPROBE_OBSTACLE_BRANCH;
	else
		write_detour(&draft, &op->kp, &op->optinsn);
	if (draft.obstacle) {
		free_optinsn_slot(draft.slot, 0);
		return draft.obstacle;
	}
	probe_write(draft.slot, draft.words, draft.nr);
	kprobe_publish_slot(&op->optinsn.insn, draft.slot, draft.slot, DETOUR_BYTES);
	return KPROBE_OBSTACLE_NONE;
}

/*
 * With BTI, indirect branches may land on a BRK but not on a B, so a B must not replace a
 * landing pad.  A BLR cannot become a BR either, because from a guarded page a BR may land
 * only on the pads of jump tables.
 */
static enum kprobe_obstacle forbidden_by_bti(const struct probe_insn *desc)
{
	if (!system_supports_bti_kernel())
		return KPROBE_OBSTACLE_NONE;
	if (desc->landing)
		return KPROBE_OBSTACLE_LANDING;
	return desc->kind == KIND_BLR ? KPROBE_OBSTACLE_ENCODING : KPROBE_OBSTACLE_NONE;
}

/*
 * May the instruction branch?  Then execution would not reach the call of the post handlers
 * after its copy.  At a breakpoint such an instruction is emulated, without a second exception.
 */
static bool may_branch(const struct probe_insn *desc)
{
	return (desc->kind >= KIND_B && desc->kind <= KIND_TBZ) || desc->kind >= KIND_BR;
}

/**
 * arch_prepare_optimized_kprobe() - make the detour of a point
 * @op: the point
 * @orig: its representative
 *
 * See <linux/kprobes-optimize.h>, and Documentation/trace/kprobes.rst, "Jumps in place of
 * breakpoints".
 */
int arch_prepare_optimized_kprobe(struct optimized_kprobe *op, struct kprobe *orig)
{
	const struct probe_insn *desc = probe_desc(&op->kp);
	enum kprobe_obstacle obstacle = forbidden_by_bti(desc);

	if (op->kp.post_handler && may_branch(desc))
		obstacle = KPROBE_OBSTACLE_POST_BRANCH;
	return obstacle ?: make_detour(op);
}

/* See <linux/kprobes-optimize.h>. */
int arch_check_optimized_kprobe(struct optimized_kprobe *op)
{
	return 0;
}

/* --- Write branches ------------------------------------------------------------- */

static u32 branch_of(struct optimized_kprobe *op)
{
	u32 insn;

	/* The branch reached when the detour was made, so it must reach now. */
	WARN_ON_ONCE(probe_gen_branch((unsigned long)op->kp.addr,
				      (unsigned long)(op->optinsn.insn + DETOUR_CODE),
				      &insn) < 0);
	return insn;
}

/**
 * arch_optimize_kprobes() - replace breakpoints by branches
 * @oplist: list of points
 *
 * A branch takes no exception, which would synchronise the CPU, so the other CPUs have to be
 * synchronised before a branch leads them into a detour that was written a moment ago.
 *
 * See <linux/kprobes-optimize.h>.
 */
void arch_optimize_kprobes(struct list_head *oplist)
{
	struct optimized_kprobe *op, *next;

	lockdep_assert_held(&text_mutex);

	kick_all_cpus_sync();
	list_for_each_entry(op, oplist, list)
		probe_write_queue(op->kp.addr, branch_of(op), CPUS_RUN);
	probe_write_finish(CPUS_RUN);
	list_for_each_entry_safe(op, next, oplist, list) {
		probe_report_poke(op->kp.addr, BRK64_OPCODE_KPROBES, branch_of(op));
		list_del_init(&op->list);
	}
	kick_all_cpus_sync();
}

/**
 * arch_unoptimize_kprobes() - replace branches by breakpoints
 * @oplist: list of points
 * @done_list: list to which the points are moved
 *
 * See <linux/kprobes-optimize.h>.
 */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(op, oplist, list)
		probe_write_queue(op->kp.addr, BRK64_OPCODE_KPROBES, CPUS_RUN);
	probe_write_finish(CPUS_RUN);
	list_for_each_entry(op, oplist, list)
		probe_report_poke(op->kp.addr, branch_of(op), BRK64_OPCODE_KPROBES);
	kick_all_cpus_sync();
	list_splice_tail_init(oplist, done_list);
}
