// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: is a piece of text entered other than at its start?
 *
 * The branches of a function are found by decoding it, together with the part that the
 * compiler has put elsewhere (name.cold): those two jump into each other.  All targets in
 * the function are remembered, for other probes of a batch that are in it, too.
 * Jump tables are read as far as they hold addresses of text; where an indirect jump
 * goes otherwise is not known, and nothing in that function is sure.
 *
 * Exception tables are asked for where they let execution go on, and those of jump
 * labels, which may be switched later (landings.c).
 *
 * Everything is used under kprobe_mutex, and text_mutex while text is read.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "common.h"
#include "targets.h"

/* --- Branches of a function -------------------------------------------------- */

/**
 * struct function_targets - branch targets within a function
 * @start:	its first address; 0: nothing is remembered
 * @end:	behind its last
 * @obstacle:	what makes any jump in it impossible
 * @nr:		how many
 * @room:	of @targets
 * @targets:	offsets from @start, in no order
 */
static struct function_targets {
	unsigned long start, end;
	enum probe_obstacle obstacle;
	unsigned int nr, room;
	u32 *targets;
} function;

/*
 * A table's address may be biased, a table may have holes, and be followed by another:
 * what is read too much does no harm.
 */
#define MOST_TABLE_ENTRIES	1024
#define BEFORE_TABLE		8
#define MOST_HOLES		8

static bool grow(struct function_targets *f)
{
	unsigned int room = f->room ? f->room * 2 : 128;
	u32 *targets = kvmalloc_array(room, sizeof(*targets), GFP_KERNEL);

	if (!targets)
		return false;
	memcpy(targets, f->targets, f->nr * sizeof(*targets));
	kvfree(f->targets);
	f->targets = targets;
	f->room = room;
	return true;
}

static void add_target(struct function_targets *f, unsigned long target)
{
	if (target < f->start || target >= f->end)
		return;
	if (f->nr == f->room && !grow(f)) {
		f->obstacle = OBSTACLE_MEMORY;
		return;
	}
	f->targets[f->nr++] = target - f->start;
}

/*
 * Thunks that jump to where a register points, for all mitigations: __x86_indirect_*.
 * Some are in memory that has no symbols.
 */
static bool is_thunk(unsigned long target)
{
	char name[KSYM_NAME_LEN], *module;
	unsigned long size, offset;
	const char *symbol;

	symbol = kallsyms_lookup(target, &size, &offset, &module, name);
	return !symbol || str_has_prefix(symbol, "__x86_indirect_");
}

static bool is_text(unsigned long addr)
{
	bool text;

	if (core_kernel_text(addr))
		return true;
	preempt_disable();
	text = __module_text_address(addr);
	preempt_enable();
	return text;
}

/* jmp *table(,index,word) */
static void read_table(struct function_targets *f, const struct probe_insn *insn)
{
	unsigned long *entry = (unsigned long *)(long)insn->disp - BEFORE_TABLE, target;
	unsigned int i, holes = 0;

	for (i = 0; i < MOST_TABLE_ENTRIES && holes <= MOST_HOLES; i++, entry++) {
		if (get_kernel_nofault(target, entry)) {
			if (i >= BEFORE_TABLE)
				return;
			continue;
		}
		holes = i >= BEFORE_TABLE && !is_text(target) ? holes + 1 : 0;
		add_target(f, target);
	}
}

/*
 * With an index it is a jump table, without one a pointer to a function that is called
 * last.  What a register holds nobody knows.
 */
static void note_indirect(struct function_targets *f, const struct probe_insn *insn)
{
	if (insn->reg != PROBE_REG_NONE)
		f->obstacle = OBSTACLE_INDIRECT;
	else if (insn->index == PROBE_REG_NONE)
		return;
	else if (insn->base == PROBE_REG_NONE && insn->scale == sizeof(long))
		read_table(f, insn);
	else
		f->obstacle = OBSTACLE_INDIRECT;
}

static void note_branch(struct function_targets *f, unsigned long addr,
			const struct probe_insn *insn)
{
	unsigned long target = addr + insn->len + insn->disp;

	switch (insn->emul) {
	case EMUL_JMP:
		if ((target < f->start || target >= f->end) && is_thunk(target))
			f->obstacle = OBSTACLE_INDIRECT;
		fallthrough;
	case EMUL_JCC:
	case EMUL_CALL:
	case EMUL_LOOP:
	case EMUL_LOOPE:
	case EMUL_LOOPNE:
	case EMUL_JCXZ:
		add_target(f, target);
		break;
	case EMUL_JMP_INDIRECT:
		note_indirect(f, insn);
		break;
	}
	/* Its fallback address is one more, which nothing else tells. */
	if (insn->refusal == REFUSE_TRANSACTION)
		f->obstacle = OBSTACLE_INDIRECT;
}

/* Notes in @f the branches of the text from @start to @end. */
static void scan(struct function_targets *f, unsigned long start, unsigned long end)
{
	unsigned long pos = start;
	struct probe_insn insn;
	u8 bytes[MAX_INSN_SIZE];
	size_t avail;

	while (pos < end && !f->obstacle) {
		avail = probe_read_text(pos, bytes, min(sizeof(bytes), end - pos));
		if (!avail || probe_classify(bytes, avail, INSN_MODE_KERN, &insn) == -EILSEQ) {
			f->obstacle = OBSTACLE_CODE;
			return;
		}
		note_branch(f, pos, &insn);
		pos += insn.len;
	}
}

static int scan_symbol(void *data, unsigned long addr)
{
	unsigned long size, offset;

	if (kallsyms_lookup_size_offset(addr, &size, &offset))
		scan(data, addr - offset, addr - offset + size);
	return 0;
}

#ifdef CONFIG_MODULES
struct module_part {
	struct function_targets *f;
	const char *name;
};

static int scan_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct module_part *part = data;

	return strcmp(name, part->name) ? 0 : scan_symbol(part->f, addr);
}

static void scan_module_part(struct function_targets *f, const char *module, const char *name)
{
	struct module_part part = { .f = f, .name = name };

	module_kallsyms_on_each_symbol(module, scan_module_symbol, &part);
}
#else
static void scan_module_part(struct function_targets *f, const char *module, const char *name)
{
}
#endif

/* The other part of the function @name; several may be called like that. */
static void scan_other_part(struct function_targets *f, const char *module, char *name)
{
	char *cold = strstr(name, ".cold");

	if (cold)
		*cold = 0;
	else if (strlcat(name, ".cold", KSYM_NAME_LEN) >= KSYM_NAME_LEN)
		return;
	if (module)
		scan_module_part(f, module, name);
	else
		kallsyms_on_each_match_symbol(scan_symbol, name, f);
}

static void scan_function(struct function_targets *f, unsigned long addr)
{
	unsigned long size = 0, offset;
	char name[KSYM_NAME_LEN], *module = NULL;
	const char *symbol;

	f->nr = 0;
	f->obstacle = OBSTACLE_NONE;
	symbol = kallsyms_lookup(addr, &size, &offset, &module, name);
	if (!symbol) {
		f->obstacle = OBSTACLE_CODE;
		return;
	}
	f->start = addr - offset;
	f->end = f->start + size;
	scan(f, f->start, f->end);
	if (symbol != name)
		strscpy(name, symbol, sizeof(name));
	scan_other_part(f, module, name);
	/* Assembly goes to where its exceptions land by branches, too. */
	probe_landings_sources(f->start, f->end, scan_symbol, f);
}

static bool is_target(const struct function_targets *f, unsigned long start, unsigned long end)
{
	unsigned int i;

	for (i = 0; i < f->nr; i++) {
		if (f->targets[i] >= start - f->start && f->targets[i] < end - f->start)
			return true;
	}
	return false;
}

/**
 * probe_targets_forget() - text may be another one now
 *
 * Context: kprobe_mutex held.
 */
void probe_targets_forget(void)
{
	function.start = 0;
	function.end = 0;
}

/* --- Both ------------------------------------------------------------------------ */

/**
 * probe_targets_check() - is anything in a piece of text the target of a branch?
 * @start: its first address
 * @end: the first one after it; in the same function
 *
 * Spec: kprobes.txt sections 1.4.2 and 5 (JTPR).
 *
 * Context: task, may sleep; kprobe_mutex and text_mutex held.
 * Return: %OBSTACLE_NONE, or why that may be.
 */
enum probe_obstacle probe_targets_check(unsigned long start, unsigned long end)
{
	struct function_targets *f = &function;

	if (start - 1 < f->start || end > f->end)
		scan_function(f, start - 1);
	if (f->obstacle)
		return f->obstacle;
	if (is_target(f, start, end))
		return OBSTACLE_TARGET;
	return probe_landings_check(start, end);
}
