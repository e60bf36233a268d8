// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86: return probes.
 *
 * At a function's entry the return address is what the stack pointer points to; it
 * is replaced by that of the trampoline (arch_prepare_kretprobe()).  The function's
 * return jumps there (trampoline_32.S, trampoline_64.S), and what the trampoline
 * builds on the stack are the registers at the return, right below the place of the
 * return address: where that stood tells one call from another.
 */
#include <linux/kprobes.h>

#include "common.h"

/* __switch_to() leaves on another stack than the one it was entered on. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ .name = "__switch_to" },
	{ }
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);
