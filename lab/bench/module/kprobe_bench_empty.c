// SPDX-License-Identifier: GPL-2.0
/*
 * A module without code, to measure the loading of a module.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("A module to be loaded by the measurements of kprobes");
MODULE_LICENSE("GPL");
