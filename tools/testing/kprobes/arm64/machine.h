/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that runs the A64 instructions that depend on their address, and those that the
 * relocator writes. The emulator and the relocator are tested against it; it shares no code
 * with them.
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
 * Sets the memory with literals, which the tested code can read, too. Reads from other
 * addresses return values that are computed from the address.
 */
void machine_memory(const unsigned char *start, u64 len);

/* Runs the instruction at pc. Returns false, with no effect, for instructions of other kinds. */
bool machine_step(struct machine *machine, u32 insn);

/* The target of a direct branch if it is taken, or the address of a literal; else 0. */
u64 machine_target(u32 insn, u64 pc);

/* Sets random registers; some have values that decide branches: 0, or a single bit. */
void machine_random(struct machine *machine);

bool machine_same(const struct machine *a, const struct machine *b);
void machine_show(const char *whose, const struct machine *machine);

#endif /* _KPROBES_TEST_ARM64_MACHINE_H */
