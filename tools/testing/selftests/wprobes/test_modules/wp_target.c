// SPDX-License-Identifier: GPL-2.0
/*
 * A module with data to be watched.  A write to the parameter "word" writes the variable.
 */
#include <linux/module.h>

unsigned long wp_target_word;
module_param_named(word, wp_target_word, ulong, 0600);

MODULE_DESCRIPTION("Data to be watched");
MODULE_LICENSE("GPL");
