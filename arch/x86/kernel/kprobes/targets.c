// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: check whether execution can enter a range of text other than at its start.
 *
 * To find the branches of a function, decode it, and the part of it that the compiler has
 * split off (cold_parts.c): the two parts jump into each other.  All targets in
 * the function are kept for other probes of the batch in the same function.
 * Jump tables are read as far as they contain addresses of text.  The targets of other
 * indirect jumps are unknown; a function that has one is not optimized.  Decoding is only
 * needed if the bytes of the function leave a doubt (branch_bytes.c).
 *
 * table_targets.c searches the exception tables for fixups, and the tables of jump labels,
 * which may be enabled later.
 *
 * All functions run under kprobe_mutex, under jump_label_lock() because of table_targets.c,
 * and under text_mutex while text is read.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "common.h"
#include "targets.h"
#include "text.h"

/* --- Branches of a function -------------------------------------------------- */

/**
 * struct function_targets - branch targets within a function
 * @start:	first address of the function; 0 if no function is stored
 * @end:	address after the function
 * @scan_start:	first address of the text that is being scanned
 * @scan_end:	address after that text
 * @range_insn: instruction in the function, not after @range_start
 * @range_start: first address of the range that branches are only to be excluded for
 * @range_end:	address after that range; 0: note all targets.  With a range, a target in it only
 *		sets @obstacle
 * @landing_pads: indirect jumps to places in the function lead to landing pads only
 * @obstacle:	reason why no jump is possible in the function
 * @nr:		number of targets
 * @room:	size of @targets, in elements
 * @targets:	offsets from @start, not sorted
 */
static struct function_targets {
	unsigned long start, end;
	unsigned long scan_start, scan_end;
	unsigned long range_insn, range_start, range_end;
	bool landing_pads;
	enum kprobe_obstacle obstacle;
	unsigned int nr, room;
	u32 *targets;
} function;

/*
 * Limits for reading jump tables.  The address of a table may be biased; a table may have
 * holes.  Reading too many entries does no harm.
 */
#define MAX_TABLE_ENTRIES	1024
#define BEFORE_TABLE		8
#define MAX_HOLES		8

/* Number of bytes of text that are read together. */
#define DECODE_AT_ONCE		128

static bool grow(struct function_targets *f)
{
	unsigned int room = f->room ? f->room * 2 : 128;
	u32 *targets = kvrealloc(f->targets, room * sizeof(*targets), GFP_KERNEL);

	if (!targets)
		return false;
	f->targets = targets;
	f->room = room;
	return true;
}

static bool is_inside(const struct function_targets *f, unsigned long addr)
{
	return addr >= f->start && addr < f->end;
}

static void add_target(struct function_targets *f, unsigned long target)
{
	if (!is_inside(f, target))
		return;
	if (f->range_end) {
		if (target >= f->range_start && target < f->range_end)
			f->obstacle = KPROBE_OBSTACLE_TARGET;
		return;
	}
	if (f->nr == f->room && !grow(f)) {
		f->obstacle = KPROBE_OBSTACLE_MEMORY;
		return;
	}
	f->targets[f->nr++] = target - f->start;
}

/**
 * probe_needs_landing_pads() - do indirect jumps in a function lead to landing pads only?
 * @f: the function
 *
 * In a kernel with IBT, compilers make no jump tables, and begin each place of a function whose
 * address is taken with an endbr.  A region has none, so no indirect jump leads into it.
 *
 * Context: any; pure.
 * Return: false if an indirect jump may lead to any instruction, as in assembly.
 */
bool probe_needs_landing_pads(const struct function_targets *f)
{
	return f->landing_pads;
}

/**
 * probe_is_thunk() - may this be a thunk that jumps to the address in a register?
 * @target: target of a jump
 *
 * The thunks of all mitigations are called __x86_indirect_*.  Some are in memory that has no
 * symbols.
 *
 * Context: task.
 * Return: false if it is none.
 */
bool probe_is_thunk(unsigned long target)
{
	char name[KSYM_NAME_LEN], *module;
	unsigned long size, offset;
	const char *symbol;

	if (!IS_ENABLED(CONFIG_MITIGATION_RETPOLINE))
		return false;
	symbol = kallsyms_lookup(target, &size, &offset, &module, name);
	return !symbol || str_has_prefix(symbol, "__x86_indirect_");
}

static bool is_text(unsigned long addr)
{
	return core_kernel_text(addr) || is_module_text_address(addr);
}

/**
 * probe_may_be_code() - may there be code at an address to which bytes seem to jump?
 * @target: the address
 *
 * Memory is only read where no device can be mapped.  Thunks of mitigations may be in memory for
 * modules that belongs to none.
 *
 * Context: task.
 * Return: true if there may be code.
 */
bool probe_may_be_code(unsigned long target)
{
	u8 byte;

	if (IS_ENABLED(CONFIG_X86_64) && target >= MODULES_VADDR && target < MODULES_END)
		return !get_kernel_nofault(byte, (u8 *)target);
	return is_text(target);
}

/* Data in the text may look like a jump through a table, and any memory like its table. */
static bool may_be_table(unsigned long addr)
{
	return is_kernel_rodata(addr) || is_module_address(addr);
}

static bool is_scanned(const struct function_targets *f, unsigned long addr)
{
	return addr >= f->scan_start && addr < f->scan_end;
}

/*
 * Does an entry not belong to the table of @f?  A table leads to the function and to its parts.
 * An entry for another function after the last part is in a table that follows.
 */
static bool is_stranger(const struct function_targets *f, unsigned long target)
{
	if (is_inside(f, target) || is_scanned(f, target))
		return false;
	return __is_kernel_text(target) ? probe_after_parts(target) : !is_text(target);
}

/*
 * Finds an address that is not after the first entry of a table.  The lowest index may be negative:
 * then all entries from there to @table lead into the function.
 */
static unsigned long *before_table(const struct function_targets *f, unsigned long table)
{
	unsigned long *entry = (unsigned long *)table - BEFORE_TABLE, target;
	unsigned int i;

	for (i = 0; i < MAX_TABLE_ENTRIES; i++, entry--) {
		if (get_kernel_nofault(target, entry) ||
		    !(is_inside(f, target) || is_scanned(f, target)))
			break;
	}
	return entry;
}

/*
 * Reads the table of jmp *table(,index,word).  Returns false if the table has not been read to
 * its end, or if no entry leads into the function that jumps: then the table is at another
 * address, because the compiler has subtracted the lowest index from the displacement.
 *
 * Such a displacement may also lead to another table of the same function.  Compilers write the
 * tables of a function one after the other, so reading continues with the right one.
 */
static bool read_table(struct function_targets *f, unsigned long table)
{
	unsigned long *entry, target;
	unsigned int i, holes = 0;
	bool found = false;

	if (!may_be_table(table))
		return false;
	entry = before_table(f, table);
	for (i = 0; i < MAX_TABLE_ENTRIES && holes <= MAX_HOLES; i++, entry++) {
		bool before = (unsigned long)entry < table;

		if (get_kernel_nofault(target, entry)) {
			if (!before)
				return found;
			continue;
		}
		holes = !before && is_stranger(f, target) ? holes + 1 : 0;
		found |= is_scanned(f, target);
		add_target(f, target);
	}
	return found && i < MAX_TABLE_ENTRIES;
}

/**
 * probe_table_excludes() - does a jump through a table not lead into the range?
 * @f: the function, with a range; it gets an obstacle if the table leads there
 * @table: address of the table; it need not be one
 *
 * Context: task, kprobe_mutex and text_mutex held.
 * Return: true if all of the table is known, and no entry leads into the range.
 */
bool probe_table_excludes(struct function_targets *f, unsigned long table)
{
	return read_table(f, table) && !f->obstacle;
}

/*
 * Notes an indirect jump.  If its memory operand has an index, it reads a jump table; if not,
 * it reads the pointer of a tail call.  The target in a register is unknown.
 */
static void note_indirect(struct function_targets *f, const struct probe_insn *insn)
{
	if (f->landing_pads || (insn->reg == PROBE_REG_NONE && insn->index == PROBE_REG_NONE))
		return;
	if (insn->reg != PROBE_REG_NONE || insn->base != PROBE_REG_NONE ||
	    insn->scale != sizeof(long) || !read_table(f, insn->disp))
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
}

static void note_branch(struct function_targets *f, unsigned long addr,
			const struct probe_insn *insn)
{
	unsigned long target = addr + insn->len + insn->disp;

	if (insn->emul == EMUL_JMP && !f->landing_pads && !is_inside(f, target) &&
	    probe_is_thunk(target))
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
	if (probe_is_relative(insn))
		add_target(f, target);
	else if (insn->emul == EMUL_JMP_INDIRECT)
		note_indirect(f, insn);
	/* The fallback address of xbegin is a target that the classifier does not return. */
	if (insn->refusal == REFUSE_TRANSACTION)
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
	if (insn->refusal == REFUSE_BREAKPOINT && probe_debugger_in(addr, 1))
		f->obstacle = KPROBE_OBSTACLE_DEBUGGER;
}

/* Notes in @f the branches of the text from @start to @end. */
static void decode(struct function_targets *f, unsigned long start, unsigned long end)
{
	unsigned long pos = start, at = start;
	struct probe_insn insn;
	size_t nr = 0;
	int ret;
	u8 text[DECODE_AT_ONCE];

	while (pos < end && !f->obstacle) {
		/* The text from @at, @nr bytes, has been read. */
		if (at + nr < end && at + nr < pos + MAX_INSN_SIZE) {
			at = pos;
			nr = probe_read_original(at, text, min(sizeof(text), end - at));
		}
		ret = probe_classify(text + (pos - at), at + nr - pos, INSN_MODE_KERN, &insn);
		if (!nr || ret == -EILSEQ) {
			f->obstacle = KPROBE_OBSTACLE_CODE;
			return;
		}
		note_branch(f, pos, &insn);
		pos += insn.len;
	}
}

static void scan(struct function_targets *f, unsigned long start, unsigned long end)
{
	if (f->obstacle)
		return;
	f->scan_start = start;
	f->scan_end = end;
	if (!f->range_end)
		decode(f, start, end);
	else if (probe_bytes_may_branch(f, start, end, f->range_insn, f->range_start,
					f->range_end))
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
}

static int scan_symbol(void *data, unsigned long addr)
{
	unsigned long size, offset;

	if (kallsyms_lookup_size_offset(addr, &size, &offset))
		scan(data, addr - offset, addr - offset + size);
	return 0;
}

#ifdef CONFIG_MODULES
/* Most names of one function that are known; a merged function has two or three. */
#define MAX_NAMES	8

/**
 * struct module_part - search for the other part of a function in a module
 * @f: the function
 * @start: its address
 * @hashes: of its names; or, if it is a part itself, of the name of its function
 * @nr: number of @hashes
 * @cold: the other part is a cold part
 */
struct module_part {
	struct function_targets *f;
	unsigned long start;
	unsigned int hashes[MAX_NAMES], nr;
	bool cold;
};

/* The compiler may have merged functions, and the parts have the name of one of them. */
static int note_module_name(void *data, const char *name, unsigned long addr)
{
	struct module_part *part = data;

	if (addr != part->start)
		return 0;
	if (part->nr == MAX_NAMES) {
		part->f->obstacle = KPROBE_OBSTACLE_CODE;
		return 1;
	}
	part->hashes[part->nr++] = full_name_hash(NULL, name, strlen(name));
	return 0;
}

static bool is_other_part(const struct module_part *part, const char *name)
{
	size_t len = probe_part_of(name);
	unsigned int hash, i;

	if (!len == part->cold)
		return false;
	hash = full_name_hash(NULL, name, len ?: strlen(name));
	for (i = 0; i < part->nr && part->hashes[i] != hash; i++)
		;
	return i < part->nr;
}

static int scan_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct module_part *part = data;

	return is_other_part(part, name) ? scan_symbol(part->f, addr) : 0;
}

/* @name: the name of the function if the one at @start is its cold part, or NULL. */
static void scan_module_part(struct function_targets *f, const char *module, const char *name,
			     unsigned long start)
{
	struct module_part part = { .f = f, .start = start, .cold = !name };

	if (name)
		part.hashes[part.nr++] = full_name_hash(NULL, name, strlen(name));
	else
		module_kallsyms_on_each_symbol(module, note_module_name, &part);
	module_kallsyms_on_each_symbol(module, scan_module_symbol, &part);
}
#else
static void scan_module_part(struct function_targets *f, const char *module, const char *name,
			     unsigned long start)
{
}
#endif

/* Scans the other part of the function at @addr; several functions may have its name. */
static void scan_other_part(struct function_targets *f, unsigned long addr)
{
	char name[KSYM_NAME_LEN] __uninitialized;
	unsigned long size, offset;
	char *module = NULL;
	const char *symbol;
	size_t len;

	symbol = kallsyms_lookup(addr, &size, &offset, &module, name);
	if (!symbol) {
		f->obstacle = KPROBE_OBSTACLE_CODE;
		return;
	}
	if (symbol != name)
		strscpy(name, symbol, sizeof(name));
	len = probe_part_of(name);
	/* Parts of a function that clang has split by a profile branch to each other. */
	if (len && IS_ENABLED(CONFIG_PROPELLER_CLANG)) {
		f->obstacle = KPROBE_OBSTACLE_CODE;
		return;
	}
	if (len)
		name[len] = 0;
	if (module)
		scan_module_part(f, module, len ? name : NULL, addr - offset);
	else if (len)
		kallsyms_on_each_match_symbol(scan_symbol, name, f);
	else
		probe_parts_of(addr - offset, name, scan_symbol, f);
}

static void scan_function(struct function_targets *f, unsigned long addr)
{
	f->nr = 0;
	f->obstacle = KPROBE_OBSTACLE_NONE;
	if (!probe_function_of(addr, &f->start, &f->end)) {
		f->obstacle = KPROBE_OBSTACLE_CODE;
		return;
	}
	if (core_kernel_text(f->start) && !probe_parts_collect()) {
		f->obstacle = KPROBE_OBSTACLE_MEMORY;
		return;
	}
	f->landing_pads = IS_ENABLED(CONFIG_X86_KERNEL_IBT) && probe_is_compiled(f->start, f->end);
	scan(f, f->start, f->end);
	if (probe_may_have_parts(f->start))
		scan_other_part(f, addr);
	/* Assembly with a fixup in this function may also branch into it. */
	probe_table_targets_sources(f->start, f->end, scan_symbol, f);
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

/* The range into which the bytes of its function have excluded a branch last. */
static struct {
	unsigned long start, end;
} excluded;

/* Returns true if the bytes of the function exclude a branch into a range of it. */
static bool bytes_exclude(unsigned long insn, unsigned long start, unsigned long end)
{
	struct function_targets f = {
		.range_insn = insn, .range_start = start, .range_end = end,
	};

	if (start >= excluded.start && end <= excluded.end)
		return true;
	scan_function(&f, insn);
	if (f.obstacle || end > f.end)
		return false;
	excluded.start = start;
	excluded.end = end;
	return true;
}

/**
 * probe_targets_forget() - discard the targets, because text may have changed
 *
 * Context: kprobe_mutex held.
 */
void probe_targets_forget(void)
{
	function.start = 0;
	function.end = 0;
	excluded.end = 0;
}

/* --- Branches and tables --------------------------------------------------------- */

/**
 * probe_targets_check() - may execution be sent to a range of text, by a branch or a table?
 * @insn: address of an instruction, not after @start
 * @start: first address of the range
 * @end: address after the range; all in one function
 *
 * See Documentation/trace/kprobes.rst, "Probes that stay breakpoints" (JTPR).
 *
 * Context: task, may sleep; kprobe_mutex, jump_label_lock() and text_mutex held.
 * Return: %KPROBE_OBSTACLE_NONE, or the reason why that is possible or not known.
 */
enum kprobe_obstacle probe_targets_check(unsigned long insn, unsigned long start,
					 unsigned long end)
{
	struct function_targets *f = &function;

	if (insn < f->start || end > f->end) {
		if (bytes_exclude(insn, start, end))
			return probe_table_targets_check(start, end);
		scan_function(f, insn);
	}
	if (f->obstacle)
		return f->obstacle;
	if (is_target(f, start, end))
		return KPROBE_OBSTACLE_TARGET;
	return probe_table_targets_check(start, end);
}
