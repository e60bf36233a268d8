/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Re-encode an A64 instruction for another address. The functions are pure, as in
 * classify.h, and can be built on any host.
 */
#ifndef _ARM64_PROBES_RELOCATE_H
#define _ARM64_PROBES_RELOCATE_H

#include <linux/types.h>

/* Building an address takes at most four words, and using it one. */
#define PROBE_RELOCATED_WORDS	5

struct probe_insn;

int probe_gen_branch(u64 from, u64 to, u32 *out);
int probe_relocate(u32 insn, const struct probe_insn *desc, u64 src, u64 dst, u32 *out);

#endif /* _ARM64_PROBES_RELOCATE_H */
