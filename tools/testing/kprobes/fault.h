/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_FAULT_H
#define _KPROBES_TEST_FAULT_H
/* The part of <linux/uprobes-task.h> that the emulators of uprobes use. */
#include <stdbool.h>
#include <linux/types.h>

struct uprobe_fault {
	unsigned long addr;
	u8 len;
	bool write;
};

struct uprobe_task {
	struct uprobe_fault fault;
};

#endif /* _KPROBES_TEST_FAULT_H */
