/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_UPROBES_H
#define _KPROBES_TEST_UPROBES_H

#include "../machine.h"
#include "../../fault.h"
#include "../../../../../arch/x86/include/asm/uprobes.h"

#define UPROBE_NO_TRAMPOLINE_VADDR	(~0UL)

struct return_instance {
	unsigned long stack;
};

enum rp_check {
	RP_CHECK_CALL,
	RP_CHECK_CHAIN_CALL,
	RP_CHECK_RET,
};

unsigned long uprobe_get_trampoline_vaddr(void);
void uprobe_handle_trampoline(struct pt_regs *regs);
int arch_uretprobe_undo(struct pt_regs *regs, unsigned long offset);
int arch_uretprobe_peek(struct pt_regs *regs, unsigned long *ret);
int arch_uretprobe_replace(struct pt_regs *regs, unsigned long entry, unsigned long *ret);
bool arch_uretprobe_is_alive(struct return_instance *ri, enum rp_check ctx,
			     struct pt_regs *regs);
long test_sys_uretprobe(void);

#include "../../../../../include/linux/uprobes-call.h"

int arch_uprobe_emulate(const struct arch_uprobe *arch, struct pt_regs *regs);

#endif /* _KPROBES_TEST_UPROBES_H */
