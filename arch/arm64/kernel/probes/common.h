/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_PROBES_COMMON_H
#define _ARM64_PROBES_COMMON_H
/*
 * Declarations that the files of the arm64 backend share.
 *
 * A BRK replaces the probed instruction.  An instruction whose effect does not depend on its
 * address is copied to a slot, and a branch back follows the copy: the exception returns into
 * the slot, and no second exception is needed (the instruction is boosted).  Branches and
 * PC-relative instructions are emulated in the exception.  For post handlers, or if a branch
 * does not reach back from the slot, instructions that only compute are emulated, too; all
 * others get a slot in which a BRK follows the copy.
 *
 * If possible, a branch to a detour replaces the BRK (detour.h).
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
 * enum probe_cpus - state of the other CPUs while text is written
 * @CPUS_RUN:	they may execute the text: a BRK is replaced by a B, or a B by a BRK
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
void probe_report_poke(void *addr, u32 old, u32 new);

#endif /* _ARM64_PROBES_COMMON_H */
