// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: detours, and the jumps to them.
 *
 * A jump replaces the region that begins at the probe (region.h).  While the jump is being
 * written or removed, the breakpoint is in the text: hits take the trap, and continue in
 * the detour's copy of the region.  The numbers of the following steps are in the code.  To
 * write jumps, while the breakpoints are in the text and no task is in the regions:
 *	1. write the bytes after the breakpoints, synchronise
 *	2. write the first bytes of the jumps, synchronise
 * To remove them:
 *	3. write breakpoints, synchronise: no CPU executes the tails of the jumps any more
 *	4. write the original bytes after the breakpoints, synchronise
 * In each step all points of a batch are written, and all CPUs are synchronised once.
 *
 * detour.h has the layout of a detour.
 */
#include <linux/bitops.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <asm/alternative.h>
#include <asm/text-patching.h>

#include "common.h"
#include "detour.h"
#include "region.h"
#include "targets.h"
#include "text.h"

static_assert(MAX_OPTINSN_SIZE * sizeof(kprobe_opcode_t) == DETOUR_SIZE);
static_assert(MAX_OPTIMIZED_LENGTH == PROBE_JUMP_LEN);
static_assert(ARRAY_SIZE(((struct detour_data *)0)->copy) == PROBE_REGION_INSNS - 1);
static_assert(PROBE_JUMP_LEN - 1 + MAX_INSN_SIZE < 1 << 5);

/* --- Check the region --------------------------------------------------------- */

/*
 * May an instruction of the region other than the first fault and have a fixup?  After a
 * fault the copy of the first instruction restarts at the original, as any copy does.  The
 * other instructions cannot restart, because the jump covers their originals.
 */
static bool tail_may_fault(unsigned long addr, const struct probe_region *region)
{
	return region->nr > 1 && probe_may_fault(addr + region->offset[1], addr + region->len);
}

/*
 * Does a region have a return or an indirect branch that affected processors may only execute in
 * the upper half of a cache line?  In the kernel's text they are in the upper half; a copy may be
 * in the lower one.
 */
static bool depends_on_address(const struct probe_region *region)
{
	unsigned int i;

	if (!cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS))
		return false;
	for (i = 0; i < region->nr; i++) {
		if (region->insns[i].emul >= EMUL_RET &&
		    region->insns[i].emul <= EMUL_CALL_INDIRECT)
			return true;
	}
	return false;
}

static enum kprobe_obstacle find_obstacle(unsigned long addr, const struct probe_region *region)
{
	if (depends_on_address(region))
		return KPROBE_OBSTACLE_INSN;
	if (probe_debugger_in(addr, PROBE_JUMP_LEN))
		return KPROBE_OBSTACLE_DEBUGGER;
	if (tail_may_fault(addr, region))
		return KPROBE_OBSTACLE_FAULT;
	return probe_targets_check(addr, addr + 1, addr + PROBE_JUMP_LEN);
}

/* --- Make a detour ------------------------------------------------------------ */

/* A region of the text, to be copied to a detour. */
struct source {
	unsigned long start, end;	/* of the function */
	u8 bytes[40];
	size_t avail;
	struct probe_region region;
};

static_assert(sizeof(((struct source *)0)->bytes) >= PROBE_JUMP_LEN + MAX_INSN_SIZE);

static enum kprobe_obstacle read_region(unsigned long addr, struct source *source)
{
	source->avail = probe_read_text(addr, source->bytes, sizeof(source->bytes));
	if (!source->avail || !probe_function_of(addr, &source->start, &source->end))
		return KPROBE_OBSTACLE_CODE;
	return probe_region_find(source->bytes, source->avail, INSN_MODE_KERN, &source->region);
}

/**
 * struct detour_entry - the beginning of a detour, before the copies; see detour.h
 * @function:	the called function
 * @pushf:	a pushf is before the call
 * @popf:	a popf is after the call
 */
struct detour_entry {
	void (*function)(void);
	bool pushf, popf;
};

static const struct detour_entry popf_entry = { .function = kprobe_detour_enter, .popf = true };
static const struct detour_entry return_entry = {
	.function = kprobe_detour_enter_return, .pushf = true, .popf = true,
};

#ifdef CONFIG_X86_64
static const struct detour_entry sahf_entry = { .function = kprobe_detour_enter_sahf };
static const struct detour_entry dead_entry = { .function = kprobe_detour_enter_dead };
static const struct detour_entry return_dead_entry = {
	.function = kprobe_detour_enter_return_dead,
};

/*
 * Are the arithmetic flags dead at @addr?  An instruction with a fixup may continue elsewhere, so
 * there the answer is no.
 */
static bool flags_dead(unsigned long addr, const struct source *source)
{
	bool at_return;
	u64 starts = probe_flags_dead(source->bytes, source->avail, &at_return);

	return starts && !probe_may_fault(addr, addr + fls64(starts)) &&
	       (!at_return || probe_is_compiled(source->start, source->end));
}

/* Can a function restore the arithmetic flags, with sahf, before it returns? */
static bool sahf_suffices(void)
{
	return boot_cpu_has(X86_FEATURE_LAHF_LM) &&
	       !cpu_feature_enabled(X86_FEATURE_CALL_DEPTH);
}

/*
 * The entries of return probes make no frame.  At the entry of a function the frame pointer is that
 * of the caller, so without a frame a stack trace would lack the caller, and seem to be reliable.
 */
static const struct detour_entry *find_entry(const struct kprobe *kp, const struct source *source)
{
	enum kprobe_detour_calls calls = kprobe_detour_calls(kp);
	bool dead = calls != KPROBE_DETOUR_CALLS_POST &&
		    flags_dead((unsigned long)kp->addr, source);

	if (calls == KPROBE_DETOUR_CALLS_RETURN && !IS_ENABLED(CONFIG_FRAME_POINTER))
		return dead ? &return_dead_entry : &return_entry;
	if (dead)
		return &dead_entry;
	return sahf_suffices() ? &sahf_entry : &popf_entry;
}
#else
static const struct detour_entry *find_entry(const struct kprobe *kp, const struct source *source)
{
	return kprobe_detour_calls(kp) == KPROBE_DETOUR_CALLS_RETURN ? &return_entry : &popf_entry;
}
#endif

/* Writes the beginning of a detour. */
static int put_entry(u8 *buf, const kprobe_opcode_t *slot, const struct detour_entry *entry)
{
	unsigned int call = (entry->popf ? DETOUR_POPF : DETOUR_COPY) - CALL_INSN_SIZE;

	if (entry->pushf)
		buf[call - 1] = PUSHF_INSN_OPCODE;
	if (entry->popf)
		buf[DETOUR_POPF] = POPF_INSN_OPCODE;
	if (probe_put_jump(INSN_MODE_KERN, buf + call, (unsigned long)slot + call,
			   (unsigned long)entry->function) < 0)
		return -ERANGE;
	buf[call] = CALL_INSN_OPCODE;
	return 0;
}

/* Makes the content of a detour in @buf. */
static enum kprobe_obstacle fill_detour(struct optimized_kprobe *op, const struct source *source,
					kprobe_opcode_t *slot, u8 *buf)
{
	struct kprobe *kp = &op->kp;
	enum kprobe_detour_calls calls = kprobe_detour_calls(kp);
	enum kprobe_obstacle obstacle;
	struct detour_data *data = (struct detour_data *)(buf + DETOUR_DATA);
	struct probe_copy copy = {
		.mode	= INSN_MODE_KERN,
		.src	= (unsigned long)kp->addr,
		.dst	= (unsigned long)slot + DETOUR_COPY,
		.post	= calls == KPROBE_DETOUR_CALLS_POST ?
			  (unsigned long)kprobe_detour_enter_post : 0,
		.out	= buf + DETOUR_COPY,
		.room	= DETOUR_DATA - DETOUR_COPY,
	};

	memset(buf, INT3_INSN_OPCODE, DETOUR_SIZE);
	obstacle = probe_region_copy(&source->region, source->bytes, &copy);
	if (obstacle)
		return obstacle;
	memcpy(buf, &kp, sizeof(kp));
	if (put_entry(buf, slot, find_entry(kp, source)))
		return KPROBE_OBSTACLE_OPERAND;

	data->len = source->region.len;
	data->nr = source->region.nr;
	memcpy(data->original, source->region.offset + 1, sizeof(data->original));
	memcpy(data->copy, copy.offset + 1, sizeof(data->copy));
	data->end = copy.len - (source->region.falls_through ? PROBE_JUMP_LEN : 0);
	memcpy(kp->text + 1, source->bytes + 1, sizeof(kp->text) - 1);
	return KPROBE_OBSTACLE_NONE;
}

static enum kprobe_obstacle make_detour(struct optimized_kprobe *op, const struct source *source)
{
	kprobe_opcode_t *slot = get_optinsn_slot_for(&op->kp);
	enum kprobe_obstacle obstacle;
	u8 buf[DETOUR_SIZE];

	if (!slot)
		return KPROBE_OBSTACLE_MEMORY;
	obstacle = fill_detour(op, source, slot, buf);
	if (obstacle) {
		free_optinsn_slot(slot, 0);
		return obstacle;
	}
	probe_collect_slot(slot, buf, sizeof(buf), NULL);
	kprobe_publish_slot(&op->optinsn.insn, slot, buf, sizeof(buf));
	return KPROBE_OBSTACLE_NONE;
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
	unsigned long addr = (unsigned long)op->kp.addr;
	enum kprobe_obstacle obstacle;
	struct source source;

	scoped_guard(probe_checks)
		obstacle = read_region(addr, &source) ?: find_obstacle(addr, &source.region);
	return obstacle ?: make_detour(op, &source);
}

/* See <linux/kprobes-optimize.h>. */
enum kprobe_obstacle arch_carrier_obstacle(unsigned long addr)
{
	guard(probe_checks)();
	/* The bytes after the first are checked for the jump, too, so check all at once. */
	return probe_targets_check(addr, addr, addr + PROBE_JUMP_LEN);
}

/* See <linux/kprobes-optimize.h>. */
bool arch_jump_is_one_insn(const struct optimized_kprobe *op)
{
	return detour_data(op->optinsn.insn)->nr == 1;
}

/* See <linux/kprobes-optimize.h>. */
int arch_check_optimized_kprobe(struct optimized_kprobe *op)
{
	return probe_debugger_in((unsigned long)op->kp.addr, PROBE_JUMP_LEN) ?
	       KPROBE_OBSTACLE_DEBUGGER : KPROBE_OBSTACLE_NONE;
}

/* --- Write jumps ---------------------------------------------------------------- */

static void jump_bytes(struct optimized_kprobe *op, u8 *bytes)
{
	kprobe_opcode_t *from = op->kp.addr;
	kprobe_opcode_t *detour = op->optinsn.insn;
	kprobe_opcode_t *to = detour + detour_entry(detour);

	__text_gen_insn(bytes, JMP32_INSN_OPCODE, from, to, JMP32_INSN_SIZE);
}

static void poke_tail(struct probe_pokes *pokes, struct optimized_kprobe *op, const u8 *bytes)
{
	probe_poke(pokes, op->kp.addr + INT3_INSN_SIZE, bytes + INT3_INSN_SIZE,
		   PROBE_JUMP_LEN - INT3_INSN_SIZE);
}

/**
 * arch_optimize_kprobes() - replace breakpoints by jumps
 * @oplist: list of points
 *
 * See <linux/kprobes-optimize.h>.
 */
void arch_optimize_kprobes(struct list_head *oplist)
{
	u8 jump[PROBE_JUMP_LEN], old[PROBE_JUMP_LEN];
	struct optimized_kprobe *op, *next;
	struct probe_pokes pokes = {};

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(op, oplist, list) {			/* 1 */
		jump_bytes(op, jump);
		poke_tail(&pokes, op, jump);
		probe_original_bytes(op, INT3_INSN_OPCODE, old);
		perf_event_text_poke(op->kp.addr, old, PROBE_JUMP_LEN, jump, PROBE_JUMP_LEN);
	}
	probe_poke_all(&pokes);
	smp_text_poke_sync_each_cpu();
	list_for_each_entry_safe(op, next, oplist, list) {	/* 2 */
		jump_bytes(op, jump);
		probe_poke(&pokes, op->kp.addr, jump, INT3_INSN_SIZE);
		list_del_init(&op->list);
	}
	probe_poke_all(&pokes);
	smp_text_poke_sync_each_cpu();
}

/**
 * arch_unoptimize_kprobes() - replace jumps by breakpoints
 * @oplist: list of points
 * @done_list: list to which the points are moved
 *
 * See <linux/kprobes-optimize.h>.
 */
void arch_unoptimize_kprobes(struct list_head *oplist, struct list_head *done_list)
{
	static const u8 breakpoint = INT3_INSN_OPCODE;
	u8 jump[PROBE_JUMP_LEN], old[PROBE_JUMP_LEN];
	struct probe_pokes pokes = {};
	struct optimized_kprobe *op;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(op, oplist, list)			/* 3 */
		probe_poke(&pokes, op->kp.addr, &breakpoint, INT3_INSN_SIZE);
	probe_poke_all(&pokes);
	smp_text_poke_sync_each_cpu();
	list_for_each_entry(op, oplist, list) {			/* 4 */
		jump_bytes(op, jump);
		probe_original_bytes(op, INT3_INSN_OPCODE, old);
		poke_tail(&pokes, op, old);
		perf_event_text_poke(op->kp.addr, jump, PROBE_JUMP_LEN, old, PROBE_JUMP_LEN);
	}
	probe_poke_all(&pokes);
	smp_text_poke_sync_each_cpu();
	list_splice_tail_init(oplist, done_list);
}
