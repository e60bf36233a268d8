/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Laws that every region, and every copy of a region, must obey. */
#ifndef _KPROBES_TEST_SAME_H
#define _KPROBES_TEST_SAME_H

#include "region.h"

/* Returns the law that a region breaks although probe_region_find() has accepted it, or NULL. */
const char *region_flaw(const struct probe_region *region, const u8 *bytes, enum insn_mode mode);

/* Returns the law that the copy in @copy->out breaks, or NULL if it does the same as @bytes. */
const char *copy_flaw(const struct probe_region *region, const u8 *bytes,
		      const struct probe_copy *copy);

#endif /* _KPROBES_TEST_SAME_H */
