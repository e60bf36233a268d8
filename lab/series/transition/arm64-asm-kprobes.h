/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The old implementation, or the new one: see KPROBES_CORE. */
#ifndef CONFIG_KPROBES_CORE
#include <asm/kprobes-stock.h>

/* Each has one more BRK, of the same number. */
#define kprobe_leave_brk_handler	kretprobe_brk_handler
#else
@new@
#endif
