// SPDX-License-Identifier: GPL-2.0-or-later
/* The simulated task of machine.h: memory, shadow stack, and the signal that was sent to it. */
#include <string.h>

#include "usertask.h"

struct test_task test_user_task;

struct pt_regs test_user_regs;
struct user_task task;

static u8 *user_memory(unsigned long addr, unsigned int size)
{
	if (addr < STACK || addr + size > STACK + STACK_SIZE)
		return NULL;
	return task.memory + (addr - STACK);
}

int test_read_user(void *to, unsigned long addr, unsigned int size)
{
	u8 *from = user_memory(addr, size);

	if (!from)
		return -EFAULT;
	memcpy(to, from, size);
	return 0;
}

int test_write_user(u64 value, unsigned long addr, unsigned int size)
{
	u8 *to = user_memory(addr, size);

	if (!to)
		return -EFAULT;
	memcpy(to, &value, size);
	return 0;
}

int uprobe_shadow_push(u64 value)
{
	if (!is_guarded())
		return -EOPNOTSUPP;
	if (task.shadow_fails || !task.ssp)
		return -EFAULT;
	task.shadow[--task.ssp] = value;
	return 0;
}

int uprobe_shadow_pop(u64 *value)
{
	if (!is_guarded())
		return -EOPNOTSUPP;
	if (task.shadow_fails || task.ssp == ARRAY_SIZE(task.shadow))
		return -EFAULT;
	*value = task.shadow[task.ssp++];
	return 0;
}

unsigned long insn_get_seg_base(struct pt_regs *regs, int segment)
{
	return task.segment;
}

/* Only the conditions that the tests use. */
bool __emulate_cc(unsigned long flags, u8 cc)
{
	return !!(flags & X86_EFLAGS_ZF) != (cc & 1);
}

void force_sig(int signal)
{
	current->signal = signal;
}

void force_sig_fault(int signal, int code, void *addr)
{
	current->signal = signal;
	current->code = code;
	current->addr = (unsigned long)addr;
}

void send_sigtrap(struct pt_regs *regs, int error_code, int code)
{
	current->stepped = true;
	current->signal = SIGTRAP;
	current->code = code;
}

void set_user_word(unsigned long addr, u64 value, unsigned int width)
{
	test_write_user(value, addr, width);
}

u64 user_word_at(unsigned long addr, unsigned int width)
{
	u64 value = 0;

	test_read_user(&value, addr, width);
	return value;
}

unsigned long copy_to_user(void *to, const void *from, unsigned int size)
{
	u8 *at = user_memory((unsigned long)to, size);

	if (!at)
		return size;
	memcpy(at, from, size);
	return 0;
}

bool shstk_is_enabled(void)
{
	return is_guarded();
}

int shstk_update_last_frame(unsigned long value)
{
	if (!is_guarded())
		return 0;
	if (task.shadow_fails)
		return -EFAULT;
	task.shadow[task.ssp] = value;
	return 0;
}
