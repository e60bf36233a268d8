/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_UPROBES_ARM_H
#define _KERNEL_UPROBES_ARM_H
/*
 * Shared by the files that arm in all mappings of a file, and in one mapping.
 */
#include <linux/kprobes-tables.h>

#include "internal.h"

/**
 * uprobe_first_at() - index of the first point that is not before an offset
 * @start: the offset
 * @points: points, in the order of offsets
 * @nr: number of points
 *
 * Context: any.
 */
static inline unsigned int uprobe_first_at(loff_t start, struct uprobe_point **points,
					   unsigned int nr)
{
	return kprobe_lower_bound(nr, i, points[i]->offset < start);
}

/* How much of an operation an error ends: this page, this process, this attempt, or all. */
static inline unsigned int uprobe_error_weight(int err)
{
	switch (err) {
	case 0:
		return 0;
	case -EFAULT:
		return 1;
	case -EPERM:
	case -EOPNOTSUPP:
	case -EILSEQ:
	case -EEXIST:
	case -EINVAL:
		return 2;
	case -EAGAIN:
		return 3;
	default:
		return 4;
	}
}

/**
 * uprobe_first_error() - the error to return of two
 * @err: the first, or 0
 * @next: the next, or 0
 *
 * Errors that a caller may ignore, or tries again after, do not hide others.
 *
 * Context: any.
 */
static inline int uprobe_first_error(int err, int next)
{
	return uprobe_error_weight(next) > uprobe_error_weight(err) ? next : err;
}

#endif /* _KERNEL_UPROBES_ARM_H */
