/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does an instruction have the same effect after it has been moved, or when it is emulated? */
#ifndef _KPROBES_TEST_ARM64_SAME_H
#define _KPROBES_TEST_ARM64_SAME_H

#include <linux/types.h>

struct probe_insn;

/*
 * Both run the instruction at an address on the machine, from random registers, and compare
 * the result with that of the tested code from the same registers. They return a description
 * of the difference, after notes about it, or NULL.
 */
const char *broken_move(u32 insn, const struct probe_insn *desc, u64 src, u64 dst);
const char *broken_emulation(u32 insn, const struct probe_insn *desc, u64 at);

/* Numbers of instructions that have been compared. */
struct same_count {
	unsigned long moved, taken, out_of_reach, impossible, emulated;
	unsigned int longest;
};

extern struct same_count same_count;

#endif /* _KPROBES_TEST_ARM64_SAME_H */
