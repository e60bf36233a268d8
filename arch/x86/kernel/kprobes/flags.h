/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_KPROBES_FLAGS_H
#define _X86_KPROBES_FLAGS_H

#include <linux/types.h>

/* flags.c */
u64 probe_flags_dead(const u8 *bytes, size_t avail, bool *at_return);

#endif /* _X86_KPROBES_FLAGS_H */
