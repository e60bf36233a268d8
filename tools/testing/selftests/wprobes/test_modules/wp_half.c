// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a per-CPU variable: the first half of an aligned word.
 */
#include <linux/module.h>
#include <linux/percpu.h>

DEFINE_PER_CPU(u32, wp_half) __aligned(sizeof(long));

MODULE_DESCRIPTION("A per-CPU variable of four bytes");
MODULE_LICENSE("GPL");
