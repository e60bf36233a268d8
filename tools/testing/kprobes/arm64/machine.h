/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine that runs the A64 instructions which depend on their address, and
 * those that the relocator writes: the second opinion about both. It shares no
 * code with them.
 */
#ifndef _KPROBES_TEST_ARM64_MACHINE_H
#define _KPROBES_TEST_ARM64_MACHINE_H

#include <stdbool.h>
#include <linux/types.h>

struct machine {
	u64 x[31];
	u64 pc;
	bool n, z, c, v;
};

/*
 * Literals that are really there, so that others can read them too. Wherever else
 * memory is read its content is made up from the address.
 */
void machine_memory(const unsigned char *start, u64 len);

/* Runs the instruction, which is at pc; false, and nothing done, if it is none of those. */
bool machine_step(struct machine *machine, u32 insn);

/* Where a direct branch leads if it is taken, or the address of a literal; else 0. */
u64 machine_target(u32 insn, u64 pc);

/* Chance, with values among it that branches like. */
void machine_random(struct machine *machine);

bool machine_same(const struct machine *a, const struct machine *b);
void machine_show(const char *whose, const struct machine *machine);

#endif /* _KPROBES_TEST_ARM64_MACHINE_H */
