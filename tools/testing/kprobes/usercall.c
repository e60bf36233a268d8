// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls in place of nops of a simulated task: the call is executed instruction by instruction, and
 * left from the state before each of them.
 */
#include <string.h>
#include <asm/uprobes-call.h>

#include "tap.h"
#include "tests.h"

#define SYSTEM_CALL	__NR_uprobe
#include "userpage.h"

#define PAGE		0x7fff0000UL	/* address of the call page */
#define NOP		0x401000UL
#define AFTER		(NOP + UPROBE_CALL_BYTES)
#define TOP		(STACK + STACK_SIZE - 16)	/* the stack pointer at the nop */
#define ELSEWHERE	0x402000UL
#define FLAGS		0x246UL

/* The code of the page is assembled for the kernel only; here it has the right size. */
asm(".data\n"
	".globl uprobe_call_code, uprobe_call_code_end\n"
	"uprobe_call_code: .skip 19\n"
	"uprobe_call_code_end: .skip 1\n"
	".text\n");

static struct test_mm mm;
static unsigned int handled;
static bool seen_well;
static enum { NO_CHANGE, CHANGE_REGISTERS, CHANGE_STACK, CHANGE_IP } change;

/* The registers that a handler must see. */
static const struct pt_regs at_nop = {
	.ax = 0x1111, .cx = 0x2222, .r11 = 0x3333, .bx = 0x4444, .sp = TOP, .flags = FLAGS,
	.ip = NOP,
};

static bool same(const struct pt_regs *want)
{
	return regs.ax == want->ax && regs.cx == want->cx && regs.r11 == want->r11 &&
	       regs.bx == want->bx && regs.sp == want->sp && regs.flags == want->flags &&
	       regs.ip == want->ip;
}

/* Returns false if the instruction pointer has been changed. */
static bool handle(void)
{
	handled++;
	seen_well = same(&at_nop);
	if (change == CHANGE_REGISTERS) {
		regs.ax++;
		regs.cx++;
		regs.r11++;
	}
	if (change == CHANGE_STACK)
		regs.sp += 8;
	if (change == CHANGE_IP)
		regs.ip = ELSEWHERE;
	return change != CHANGE_IP;
}

/* The registers are handled as in the system call of kernel/uprobes/call_hit.c. */
static int system_call(void)
{
	struct arch_uprobe_call made;

	if (arch_uprobe_call_begin(&regs, &made))
		return -EFAULT;
	if (handle())
		arch_uprobe_call_finish(&regs, &made);
	return 0;
}

void smp_text_poke_sync_each_cpu(void)
{
}

static void call(void)
{
	regs.sp -= 128;
	push(AFTER);
	if (is_guarded())
		task.shadow[--task.ssp] = AFTER;
}

static void pop_ax(void) { regs.ax = pop(); }

static void ret(void)
{
	regs.ip = pop();
	regs.sp += 128;
}

static const struct step after_call[] = {
	{ 11, pop_r11 }, { 13, pop_cx }, { 14, pop_ax }, { 15, ret },
};

static void start(void)
{
	memset(&task, 0, sizeof(task));
	memset(&test_user_task, 0, sizeof(test_user_task));
	test_user_task.mm = &mm;
	task.ssp = ARRAY_SIZE(task.shadow);
	regs = at_nop;
	handled = 0;
	seen_well = false;
	change = NO_CHANGE;
}

static void to_syscall(void)
{
	unsigned int i;

	call();
	for (i = 0; before_call[i].execute; i++)
		before_call[i].execute();
	regs.ip = PAGE + 11;
	regs.cx = regs.ip;
	regs.r11 = regs.flags;
}

static void test_text(void)
{
	static const u8 far[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8, 0xf6, 0xff, 0xff, 0x7f };
	u8 text[UPROBE_CALL_BYTES];

	arch_uprobe_write_call(text, NOP, NOP + 0x80000000UL);
	tap_ok(!memcmp(text, far, sizeof(far)), "the bytes of a call");
	tap_ok(arch_uprobe_call_target(text + UPROBE_CALL_KEPT, NOP + UPROBE_CALL_KEPT) ==
	       NOP + 0x80000000UL, "the target of a call");
	arch_uprobe_write_call(text, NOP, 0x1000);
	tap_ok(arch_uprobe_call_target(text + UPROBE_CALL_KEPT, NOP + UPROBE_CALL_KEPT) == 0x1000 &&
	       !arch_uprobe_call_target(arch_uprobe_call_nop + UPROBE_CALL_KEPT, NOP),
	       "the target of a call back, and of none");

	start();
	regs.sp -= 128;
	regs.ip += UPROBE_CALL_KEPT;
	arch_uprobe_uncall(&regs);
	tap_ok(same(&at_nop), "before the call, the registers are those at the nop");
}

static void test_undo(void)
{
	struct pt_regs after = at_nop;
	bool before_ok = true, after_ok = true;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(before_call); i++) {
		start();
		call();
		for (j = 0; j < i; j++)
			before_call[j].execute();
		before_ok &= !arch_uprobe_call_undo(&regs, before_call[i].offset) && same(&at_nop);
	}
	tap_ok(before_ok, "before the system call, the registers are those at the nop");

	after.ip = AFTER;
	for (i = 0; i < ARRAY_SIZE(after_call); i++) {
		start();
		to_syscall();
		system_call();
		for (j = 0; j < i; j++)
			after_call[j].execute();
		after_ok &= arch_uprobe_call_undo(&regs, after_call[i].offset) == 1 && same(&after);
	}
	tap_ok(after_ok, "after the system call, the registers are those after the nop");

	start();
	regs.sp = STACK + STACK_SIZE;
	tap_ok(arch_uprobe_call_undo(&regs, 9) == -EFAULT && regs.sp == STACK + STACK_SIZE &&
	       arch_uprobe_call_undo(&regs, 5) == -ENOENT &&
	       arch_uprobe_call_undo(&regs, 18) == -ENOENT,
	       "without the words, or between instructions, nothing is undone");
}

/* Makes the system call, and executes the end of the page if the task continues there. */
static void hit(int what, bool guarded)
{
	unsigned int i;

	start();
	if (guarded)
		guard();
	change = what;
	to_syscall();
	system_call();
	if (regs.ip != PAGE + 11)
		return;
	seen_well &= !guarded && what == NO_CHANGE && regs.cx == regs.ip && regs.r11 == FLAGS;
	for (i = 0; i < ARRAY_SIZE(after_call); i++)
		after_call[i].execute();
}

static void test_hits(void)
{
	struct pt_regs want = at_nop;

	want.ip = AFTER;
	hit(NO_CHANGE, false);
	tap_ok(handled == 1 && seen_well && regs.orig_ax == -1UL && same(&want),
	       "a hit leads through the end of the page");
	hit(NO_CHANGE, true);
	tap_ok(handled == 1 && seen_well && same(&want) && task.ssp == ARRAY_SIZE(task.shadow),
	       "with a shadow stack, it leads after the nop at once");
	hit(CHANGE_STACK, false);
	want.sp += 8;
	tap_ok(seen_well && same(&want), "a handler can change the stack pointer");
	hit(CHANGE_REGISTERS, false);
	want.sp -= 8;
	want.ax++;
	want.cx++;
	want.r11++;
	tap_ok(seen_well && same(&want), "a handler can change the other registers");
	hit(CHANGE_IP, false);
	want = at_nop;
	want.ip = ELSEWHERE;
	tap_ok(seen_well && same(&want), "a handler can change the instruction pointer");
}

static void test_misuse(void)
{
	start();
	to_syscall();
	regs.sp = 0x10000;
	tap_ok(system_call() == -EFAULT && !handled, "the call is refused without a stack");
	start();
	guard();
	to_syscall();
	task.shadow[task.ssp]++;
	tap_ok(system_call() == -EFAULT && !handled,
	       "the call is refused if the shadow stack does not match");
}

void test_user_calls(void)
{
	test_text();
	test_undo();
	test_hits();
	test_misuse();
}
