/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KERNEL_KPROBES_TARGETS_H
#define _X86_KERNEL_KPROBES_TARGETS_H
/*
 * Check whether branches or tables can send execution to a range of text.
 */
#include <linux/cleanup.h>
#include <linux/jump_label.h>
#include <linux/memory.h>
#include <linux/mutex.h>

#include "region.h"

struct function_targets;

/* guard(probe_checks): the locks that these checks need.  Context: kprobe_mutex held. */
DEFINE_LOCK_GUARD_0(probe_checks, jump_label_lock(); mutex_lock(&text_mutex),
		    mutex_unlock(&text_mutex); jump_label_unlock())

/* targets.c */
enum kprobe_obstacle probe_targets_check(unsigned long insn, unsigned long start,
					 unsigned long end);
void probe_targets_forget(void);
bool probe_needs_landing_pads(const struct function_targets *f);
bool probe_is_thunk(unsigned long target);
bool probe_may_be_code(unsigned long target);
bool probe_table_excludes(struct function_targets *f, unsigned long table);

/* cold_parts.c */
size_t probe_part_of(const char *name);
bool probe_parts_collect(void);
bool probe_after_parts(unsigned long addr);
bool probe_may_have_parts(unsigned long start);
void probe_parts_of(unsigned long start, const char *name,
		    int (*fn)(void *data, unsigned long addr), void *data);

/* branch_bytes.c */
bool probe_bytes_may_branch(struct function_targets *f, unsigned long text,
			    unsigned long text_end, unsigned long insn, unsigned long start,
			    unsigned long end);

struct exception_table_entry;

/* table_targets.c */
extern const struct exception_table_entry __start___ex_table[], __stop___ex_table[];
enum kprobe_obstacle probe_table_targets_check(unsigned long start, unsigned long end);
void probe_table_targets_sources(unsigned long start, unsigned long end,
				 int (*fn)(void *data, unsigned long from), void *data);
bool probe_may_fault(unsigned long start, unsigned long end);

#endif /* _X86_KERNEL_KPROBES_TARGETS_H */
