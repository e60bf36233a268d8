// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes of a simulated task: the trampoline is executed instruction by instruction, and
 * left from the state before each of them.
 */
#include <string.h>

#include "tap.h"
#include "tests.h"

#define SYSTEM_CALL	__NR_uretprobe
#include "userpage.h"

#define ENTRY		0x7fff0000UL	/* address of the trampoline */
#define CALLER		0x402000UL	/* the return address that was replaced */
#define FLAGS		0x246UL

/* The machine code of the trampoline is assembled for the kernel only. */
u8 uprobe_return_page[1], uprobe_return_page_end[1], uprobe_return_called[1];

static unsigned int handled;
static bool moves_stack;
static struct test_mm mm;

/* The registers that a handler must see. */
static const struct pt_regs returned = {
	.ax = 0x1111, .cx = 0x2222, .r11 = 0x3333, .bx = 0x4444, .sp = SP, .flags = FLAGS,
};

static bool seen_well;

/* A handler that changes all registers that the trampoline saves. */
void uprobe_handle_trampoline(struct pt_regs *user)
{
	handled++;
	seen_well = user->ax == returned.ax && user->cx == returned.cx &&
		    user->r11 == returned.r11 && user->bx == returned.bx && user->sp == SP;
	user->ax++;
	user->cx++;
	user->r11++;
	if (moves_stack)
		user->sp += 8;
	user->ip = CALLER;
}

static const struct step after_call[] = {
	{ 11, pop_r11 }, { 13, pop_cx }, { 14, NULL },
};

static void start(void)
{
	memset(&task, 0, sizeof(task));
	memset(&test_user_task, 0, sizeof(test_user_task));
	regs = returned;
	handled = 0;
	seen_well = false;
	test_user_task.mm = &mm;
	mm.uprobes_state.trampoline = ENTRY;
	moves_stack = false;
}

/* Executes the trampoline up to the system call. */
static void to_call(void)
{
	unsigned int i;

	for (i = 0; before_call[i].execute; i++)
		before_call[i].execute();
}

/* The registers at the system call, as the processor leaves them. */
static void enter(void)
{
	regs.ip = ENTRY + (uprobe_return_called - uprobe_return_page);
	regs.cx = regs.ip;
	regs.r11 = regs.flags;
}

static bool same(const struct pt_regs *want)
{
	return regs.ax == want->ax && regs.cx == want->cx && regs.r11 == want->r11 &&
	       regs.bx == want->bx && regs.sp == want->sp && regs.flags == want->flags;
}

static void test_before(void)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; i < ARRAY_SIZE(before_call); i++) {
		unsigned int j;

		start();
		for (j = 0; j < i; j++)
			before_call[j].execute();
		if (arch_uretprobe_undo(&regs, before_call[i].offset) || !same(&returned)) {
			tap_note("offset %u", before_call[i].offset);
			ok = false;
		}
	}
	tap_ok(ok, "before the call, the registers of the return come back");

	start();
	regs.sp = STACK + STACK_SIZE;
	tap_ok(arch_uretprobe_undo(&regs, 9) == -EFAULT && regs.sp == STACK + STACK_SIZE &&
	       arch_uretprobe_undo(&regs, 5) == -ENOENT &&
	       arch_uretprobe_undo(&regs, 15) == -ENOENT,
	       "without the words, or between instructions, nothing is undone");
}

static void test_call(void)
{
	struct pt_regs want = returned;
	unsigned int i, j;
	bool ok = true;

	want.ax++;
	want.cx++;
	want.r11++;
	for (i = 0; i < ARRAY_SIZE(after_call); i++) {
		start();
		to_call();
		enter();
		regs.ax = test_sys_uretprobe();
		ok &= handled == 1 && seen_well && regs.orig_ax == -1UL &&
		      regs.cx == regs.ip && regs.r11 == regs.flags;
		for (j = 0; j < i; j++)
			after_call[j].execute();
		if (arch_uretprobe_undo(&regs, after_call[i].offset) != 1 || !same(&want) ||
		    regs.ip != CALLER) {
			tap_note("offset %u", after_call[i].offset);
			ok = false;
		}
	}
	tap_ok(ok, "after the call, the registers are those that the handler left");

	start();
	to_call();
	enter();
	regs.ax = test_sys_uretprobe();
	after_call[0].execute();
	after_call[1].execute();
	tap_ok(pop() == CALLER && same(&want), "the trampoline returns to the caller");

	start();
	moves_stack = true;
	to_call();
	enter();
	regs.ax = test_sys_uretprobe();
	want.sp += 8;
	tap_ok(same(&want) && regs.ip == CALLER, "a handler can change the stack pointer");

	start();
	guard();
	to_call();
	enter();
	regs.ax = test_sys_uretprobe();
	want.sp -= 8;
	tap_ok(same(&want) && regs.ip == CALLER,
	       "with a shadow stack there is no return through the trampoline");
}

static void test_misuse(void)
{
	start();
	to_call();
	enter();
	regs.ip++;
	test_sys_uretprobe();
	tap_ok(current->signal == SIGILL && !handled, "the call is refused elsewhere");

	start();
	mm.uprobes_state.trampoline = 0;
	to_call();
	enter();
	test_sys_uretprobe();
	tap_ok(current->signal == SIGILL && !handled, "the call is refused without a trampoline");

	start();
	enter();
	regs.sp = 0x10000;
	test_sys_uretprobe();
	tap_ok(current->signal == SIGILL && !handled, "the call is refused without a stack");
}

static void test_entry(void)
{
	struct return_instance ri = { .stack = SP };
	unsigned long ret;

	start();
	set_user_word(SP, CALLER, 8);
	guard();
	task.ssp = 2;
	tap_ok(!arch_uretprobe_peek(&regs, &ret) && ret == CALLER, "the return address is read");
	ret = 0;
	tap_ok(!arch_uretprobe_replace(&regs, ENTRY, &ret) && ret == CALLER &&
	       user_word_at(SP, 8) == ENTRY && task.shadow[2] == ENTRY && !current->signal,
	       "the return address is replaced on both stacks");
	tap_ok(!arch_uretprobe_replace(&regs, ENTRY, &ret) && ret == ENTRY &&
	       user_word_at(SP, 8) == ENTRY && task.shadow[2] == ENTRY && !current->signal,
	       "a tail call has the trampoline as its return address");

	task.shadow_fails = true;
	tap_ok(!arch_uretprobe_replace(&regs, ENTRY, &ret) && current->signal == SIGSEGV,
	       "a shadow stack that cannot be written ends the program");

	start();
	regs.sp = 0x10000;
	tap_ok(arch_uretprobe_peek(&regs, &ret) == -EFAULT &&
	       arch_uretprobe_replace(&regs, ENTRY, &ret) == -EFAULT, "a task without a stack");

	start();
	tap_ok(!arch_uretprobe_is_alive(&ri, RP_CHECK_CALL, &regs) &&
	       arch_uretprobe_is_alive(&ri, RP_CHECK_CHAIN_CALL, &regs) &&
	       arch_uretprobe_is_alive(&ri, RP_CHECK_RET, &regs),
	       "at the same stack pointer only another call ends a function");
	regs.sp = SP + 8;
	tap_ok(!arch_uretprobe_is_alive(&ri, RP_CHECK_CHAIN_CALL, &regs) &&
	       !arch_uretprobe_is_alive(&ri, RP_CHECK_RET, &regs),
	       "above its stack pointer a function has ended");
}

void test_user_returns(void)
{
	test_before();
	test_call();
	test_misuse();
	test_entry();
	test_user_calls();
}
