// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a per-CPU variable: usually the other half of the word with wp_half.
 */
#include <linux/module.h>
#include <linux/percpu.h>

DEFINE_PER_CPU(u32, wp_other_half);

MODULE_DESCRIPTION("A per-CPU variable of four bytes");
MODULE_LICENSE("GPL");
