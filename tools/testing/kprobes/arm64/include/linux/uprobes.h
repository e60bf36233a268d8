/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_ARM64_UPROBES_H
#define _KPROBES_TEST_ARM64_UPROBES_H

#include <stdbool.h>
#include <linux/types.h>

/* See <linux/uprobes-task.h>. */
struct uprobe_fault {
	unsigned long addr;
	u8 len;
	bool write;
};

struct uprobe_task {
	struct uprobe_fault fault;
};

#endif /* _KPROBES_TEST_ARM64_UPROBES_H */
