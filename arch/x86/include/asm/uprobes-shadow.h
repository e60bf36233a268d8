/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_X86_UPROBES_SHADOW_H
#define _ASM_X86_UPROBES_SHADOW_H
/*
 * The shadow stack of a task with uprobes; see arch/x86/kernel/uprobes/shadow.c.
 */
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/prctl.h>

int uprobe_shadow_push(u64 value);
int uprobe_shadow_pop(u64 *value);

/* Does current have a shadow stack?  Without a call, unlike shstk_is_enabled(). */
#ifdef CONFIG_X86_USER_SHADOW_STACK
static __always_inline bool uprobe_has_shadow(void)
{
	return current->thread.features & ARCH_SHSTK_SHSTK;
}
#else
static __always_inline bool uprobe_has_shadow(void)
{
	return false;
}
#endif

#endif /* _ASM_X86_UPROBES_SHADOW_H */
