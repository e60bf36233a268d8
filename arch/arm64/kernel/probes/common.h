/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_COMMON_H
#define _ARM64_PROBES_COMMON_H
/*
 * What the files of the arm64 backend share.
 *
 * The strategy.  A BRK replaces the instruction.  One whose effect does not depend on
 * where it runs is copied to a slot, with a branch back behind it: the exception returns
 * into the slot, and nothing else is needed (it is boosted).  Branches and PC-relative
 * instructions are emulated in the exception, and for post handlers, or where the slot is
 * out of a branch's reach, also what only computes.  For the rest there is a slot with
 * another BRK behind the copy then.
 *
 * Where it can be, the BRK is replaced by a branch to a detour (detour.h).
 */
#include <linux/kprobes.h>

#include "classify.h"

static_assert(sizeof(struct probe_insn) <=
	      sizeof(((struct arch_specific_insn *)0)->desc));

static __always_inline struct probe_insn *probe_desc(struct kprobe *p)
{
	return (struct probe_insn *)p->ainsn.desc;
}

/**
 * enum probe_cpus - what the CPUs do while text is written
 * @CPUS_RUN:	they may execute it: B and BRK become each other
 * @CPUS_STOP:	they wait
 */
enum probe_cpus {
	CPUS_RUN,
	CPUS_STOP,
};

/* prepare.c */
u32 probe_original(unsigned long addr, u32 insn);

/* exclusive.c */
bool probe_splits_exclusive(unsigned long start, unsigned long addr);

/* write.c */
void probe_write_queue(void *addr, u32 insn, enum probe_cpus cpus);
void probe_write_finish(enum probe_cpus cpus);
void probe_write(kprobe_opcode_t *to, const u32 *insns, unsigned int nr);
void probe_tell_perf(void *addr, u32 old, u32 new);

#endif /* _ARM64_PROBES_COMMON_H */
