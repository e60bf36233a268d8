/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find instructions that must not be separated from their neighbours; pure, as classify.h. */
#ifndef _ARM64_PROBES_UPROBE_CONTEXT_H
#define _ARM64_PROBES_UPROBE_CONTEXT_H

#include <linux/types.h>

const char *uprobe_context_refusal(const u8 *text, size_t before, size_t len);
bool uprobe_context_ties(const u8 *text, size_t len);

#endif /* _ARM64_PROBES_UPROBE_CONTEXT_H */
