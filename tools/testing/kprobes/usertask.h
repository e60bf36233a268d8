/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The simulated task of machine.h: its memory and its shadow stack, for the tests. */
#ifndef _KPROBES_TEST_USERTASK_H
#define _KPROBES_TEST_USERTASK_H

#include <linux/uprobes.h>

#define STACK		0x7ff000UL	/* address of the only memory, and its size */
#define STACK_SIZE	256
#define SP		(STACK + 128)

struct user_task {
	u8 memory[STACK_SIZE];
	u64 shadow[4];		/* grows down */
	unsigned int ssp;	/* index of its top */
	bool shadow_fails;
	unsigned long segment;	/* base of FS and GS */
};

extern struct user_task task;

/* Does the task use its shadow stack? */
static inline bool is_guarded(void)
{
	return current->thread.features & ARCH_SHSTK_SHSTK;
}

static inline void guard(void)
{
	current->thread.features = ARCH_SHSTK_SHSTK;
}

void set_user_word(unsigned long addr, u64 value, unsigned int width);
u64 user_word_at(unsigned long addr, unsigned int width);

#endif /* _KPROBES_TEST_USERTASK_H */
