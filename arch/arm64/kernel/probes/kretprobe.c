// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: return probes.
 *
 * At a function's entry the return address is in the link register; that of the
 * trampoline takes its place (arch_prepare_kretprobe()), before the function signs it or
 * pushes it to any stack.  The function's return goes there (trampoline.S), and what the
 * trampoline builds are the registers at the return.
 */
#include <linux/kprobes.h>

/* Nothing is left on another stack than it was entered on; cpu_switch_to() cannot be probed. */
struct kretprobe_blackpoint kretprobe_blacklist[] = {
	{ }
};

const int kretprobe_blacklist_size = ARRAY_SIZE(kretprobe_blacklist);
