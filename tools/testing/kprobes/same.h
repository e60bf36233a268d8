/* SPDX-License-Identifier: GPL-2.0-only */
/* What makes a region a region, and a copy of it a copy: laws, not vectors. */
#ifndef _KPROBES_TEST_SAME_H
#define _KPROBES_TEST_SAME_H

#include "region.h"

/* The law that a region breaks which probe_region_find() has accepted, or NULL. */
const char *region_flaw(const struct probe_region *region, const u8 *bytes, enum insn_mode mode);

/* The law that the copy in @copy->out breaks, or NULL if it does what @bytes do. */
const char *copy_flaw(const struct probe_region *region, const u8 *bytes,
		      const struct probe_copy *copy);

#endif /* _KPROBES_TEST_SAME_H */
