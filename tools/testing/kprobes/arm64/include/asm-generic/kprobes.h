/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_KPROBES_H
#define _KPROBES_TEST_KPROBES_H

/* Host programs have no blacklist, but the argument must be a function. */
#define NOKPROBE_SYMBOL(fname)	_Static_assert(sizeof(&(fname)), "not a function")

#endif /* _KPROBES_TEST_KPROBES_H */
