/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KPROBES_TEST_KPROBES_H
#define _KPROBES_TEST_KPROBES_H

/* Nothing can be probed here; but it must name a function. */
#define NOKPROBE_SYMBOL(fname)	_Static_assert(sizeof(&(fname)), "not a function")

#endif /* _KPROBES_TEST_KPROBES_H */
