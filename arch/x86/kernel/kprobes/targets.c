// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: is a piece of text entered other than at its start?
 *
 * The branches of a function are found by decoding it, together with the part that the
 * compiler has put elsewhere (name.cold or name.cold.7): those two jump into each other.
 * All targets in the function are remembered, for other probes of a batch that are in it,
 * too.
 * Jump tables are read as far as they hold addresses of text; where an indirect jump
 * goes otherwise is not known, and nothing in that function is sure.
 *
 * Exception tables are asked for where they let execution go on, and those of jump
 * labels, which may be switched later (table_targets.c).
 *
 * Everything is used under kprobe_mutex, jump_label_lock() for table_targets.c, and text_mutex
 * while text is read.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/stringhash.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/sections.h>

#include "common.h"
#include "targets.h"
#include "text.h"

/* --- Branches of a function -------------------------------------------------- */

/**
 * struct function_targets - branch targets within a function
 * @start:	its first address; 0: nothing is remembered
 * @end:	behind its last
 * @scan_start:	first address of the text that is being scanned
 * @scan_end:	behind its last
 * @obstacle:	what makes any jump in it impossible
 * @nr:		how many
 * @room:	of @targets
 * @targets:	offsets from @start, in no order
 */
static struct function_targets {
	unsigned long start, end;
	unsigned long scan_start, scan_end;
	enum kprobe_obstacle obstacle;
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

static bool is_inside(const struct function_targets *f, unsigned long addr)
{
	return addr >= f->start && addr < f->end;
}

static void add_target(struct function_targets *f, unsigned long target)
{
	if (!is_inside(f, target))
		return;
	if (f->nr == f->room && !grow(f)) {
		f->obstacle = KPROBE_OBSTACLE_MEMORY;
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
	rcu_read_lock();
	text = __module_text_address(addr);
	rcu_read_unlock();
	return text;
}

/*
 * jmp *table(,index,word).  Returns false if the table has not been read to its end, or if
 * no entry leads into the function that jumps: then the table is somewhere else, because
 * the compiler has subtracted the lowest index from the displacement.
 */
static bool read_table(struct function_targets *f, const struct probe_insn *insn)
{
	unsigned long *entry = (unsigned long *)(long)insn->disp - BEFORE_TABLE, target;
	unsigned int i, holes = 0;
	bool found = false;

	for (i = 0; i < MOST_TABLE_ENTRIES && holes <= MOST_HOLES; i++, entry++) {
		if (get_kernel_nofault(target, entry)) {
			if (i >= BEFORE_TABLE)
				return found;
			continue;
		}
		holes = i >= BEFORE_TABLE && !is_text(target) ? holes + 1 : 0;
		found |= target >= f->scan_start && target < f->scan_end;
		add_target(f, target);
	}
	return found && i < MOST_TABLE_ENTRIES;
}

/*
 * With an index it is a jump table, without one a pointer to a function that is called
 * last.  What a register holds nobody knows.
 */
static void note_indirect(struct function_targets *f, const struct probe_insn *insn)
{
	if (insn->reg != PROBE_REG_NONE)
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
	else if (insn->index == PROBE_REG_NONE)
		return;
	else if (insn->base == PROBE_REG_NONE && insn->scale == sizeof(long))
		f->obstacle = read_table(f, insn) ? f->obstacle : KPROBE_OBSTACLE_INDIRECT;
	else
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
}

static void note_branch(struct function_targets *f, unsigned long addr,
			const struct probe_insn *insn)
{
	unsigned long target = addr + insn->len + insn->disp;

	switch (insn->emul) {
	case EMUL_JMP:
		if (!is_inside(f, target) && is_thunk(target))
			f->obstacle = KPROBE_OBSTACLE_INDIRECT;
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
		f->obstacle = KPROBE_OBSTACLE_INDIRECT;
}

/* Notes in @f the branches of the text from @start to @end. */
static void scan(struct function_targets *f, unsigned long start, unsigned long end)
{
	unsigned long pos = start;
	struct probe_insn insn;
	u8 bytes[MAX_INSN_SIZE];
	size_t avail;

	f->scan_start = start;
	f->scan_end = end;
	while (pos < end && !f->obstacle) {
		avail = probe_read_text(pos, bytes, min(sizeof(bytes), end - pos));
		if (!avail || probe_classify(bytes, avail, INSN_MODE_KERN, &insn) == -EILSEQ) {
			f->obstacle = KPROBE_OBSTACLE_CODE;
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

/**
 * struct cold_part - a part of a kernel function that the compiler has split off
 * @hash: of the function's name
 * @start: address of the part
 */
struct cold_part {
	unsigned int hash;
	unsigned long start;
};

/* The parts of all functions, sorted by @hash; NULL if they have not been collected. */
static struct cold_part *cold_parts;
static unsigned int nr_cold_parts;

/* Length of the function's name in "name.cold" or, from older compilers, "name.cold.7". */
static size_t part_of(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.') ? cold - name : 0;
}

static int count_part(void *data, const char *name, unsigned long addr)
{
	nr_cold_parts += part_of(name) > 0;
	return 0;
}

static int add_part(void *data, const char *name, unsigned long addr)
{
	size_t len = part_of(name);

	if (len)
		cold_parts[nr_cold_parts++] = (struct cold_part) {
			.hash = full_name_hash(NULL, name, len), .start = addr,
		};
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct cold_part *l = a, *r = b;

	return l->hash == r->hash ? 0 : l->hash < r->hash ? -1 : 1;
}

/*
 * The number in a part's name is not known, so a part cannot be looked up by its name.
 * Returns false if there is no memory.
 */
static bool collect_parts(void)
{
	nr_cold_parts = 0;
	kallsyms_on_each_symbol(count_part, NULL);
	cold_parts = kvmalloc_array(nr_cold_parts + 1, sizeof(*cold_parts), GFP_KERNEL);
	if (!cold_parts)
		return false;
	nr_cold_parts = 0;
	kallsyms_on_each_symbol(add_part, NULL);
	sort(cold_parts, nr_cold_parts, sizeof(*cold_parts), compare_parts, NULL);
	return true;
}

/* Another function's part with the same hash is scanned too, which does no harm. */
static void scan_kernel_parts(struct function_targets *f, const char *name)
{
	unsigned int hash = full_name_hash(NULL, name, strlen(name));
	unsigned int low = 0, high, mid;

	if (!cold_parts && !collect_parts()) {
		f->obstacle = KPROBE_OBSTACLE_MEMORY;
		return;
	}
	high = nr_cold_parts;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (cold_parts[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < nr_cold_parts && cold_parts[low].hash == hash; low++)
		scan_symbol(f, cold_parts[low].start);
}

#ifdef CONFIG_MODULES
/* The other part of @name: its cold parts, or the function if @name is a part itself. */
struct module_part {
	struct function_targets *f;
	const char *name;
	bool cold;
};

static bool is_other_part(const struct module_part *part, const char *name)
{
	if (!part->cold)
		return !strcmp(name, part->name);
	return part_of(name) == strlen(part->name) && str_has_prefix(name, part->name);
}

static int scan_module_symbol(void *data, const char *name, unsigned long addr)
{
	struct module_part *part = data;

	return is_other_part(part, name) ? scan_symbol(part->f, addr) : 0;
}

static void scan_module_part(struct function_targets *f, const char *module, const char *name,
			     bool cold)
{
	struct module_part part = { .f = f, .name = name, .cold = cold };

	module_kallsyms_on_each_symbol(module, scan_module_symbol, &part);
}
#else
static void scan_module_part(struct function_targets *f, const char *module, const char *name,
			     bool cold)
{
}
#endif

/* The other part of the function @name; several may be called like that. */
static void scan_other_part(struct function_targets *f, const char *module, char *name)
{
	size_t len = part_of(name);

	if (len)
		name[len] = 0;
	if (module)
		scan_module_part(f, module, name, !len);
	else if (len)
		kallsyms_on_each_match_symbol(scan_symbol, name, f);
	else
		scan_kernel_parts(f, name);
}

static void scan_function(struct function_targets *f, unsigned long addr)
{
	unsigned long size = 0, offset;
	char name[KSYM_NAME_LEN], *module = NULL;
	const char *symbol;

	f->nr = 0;
	f->obstacle = KPROBE_OBSTACLE_NONE;
	symbol = kallsyms_lookup(addr, &size, &offset, &module, name);
	if (!symbol) {
		f->obstacle = KPROBE_OBSTACLE_CODE;
		return;
	}
	f->start = addr - offset;
	f->end = f->start + size;
	scan(f, f->start, f->end);
	if (symbol != name)
		strscpy(name, symbol, sizeof(name));
	scan_other_part(f, module, name);
	/* Assembly goes to where its exceptions land by branches, too. */
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
 * Context: task, may sleep; kprobe_mutex, jump_label_lock() and text_mutex held.
 * Return: %KPROBE_OBSTACLE_NONE, or why that may be.
 */
enum kprobe_obstacle probe_targets_check(unsigned long start, unsigned long end)
{
	struct function_targets *f = &function;

	if (start - 1 < f->start || end > f->end)
		scan_function(f, start - 1);
	if (f->obstacle)
		return f->obstacle;
	if (is_target(f, start, end))
		return KPROBE_OBSTACLE_TARGET;
	return probe_table_targets_check(start, end);
}
