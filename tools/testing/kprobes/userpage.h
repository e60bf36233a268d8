/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of the pages that make a system call for the engine, which are executed one by
 * one: both pages begin alike.  The system call is made by the test, whose number is SYSTEM_CALL.
 */
#ifndef _KPROBES_TEST_USERPAGE_H
#define _KPROBES_TEST_USERPAGE_H

#include "usertask.h"

#define regs		test_user_regs

static void push(u64 value)
{
	regs.sp -= 8;
	set_user_word(regs.sp, value, 8);
}

static u64 pop(void)
{
	regs.sp += 8;
	return user_word_at(regs.sp - 8, 8);
}

static void push_ax(void) { push(regs.ax); }
static void push_cx(void) { push(regs.cx); }
static void push_r11(void) { push(regs.r11); }
static void mov_ax(void) { regs.ax = SYSTEM_CALL; }
static void pop_r11(void) { regs.r11 = pop(); }
static void pop_cx(void) { regs.cx = pop(); }

/* By their offsets in the page. */
static const struct step {
	unsigned int offset;
	void (*execute)(void);
} before_call[] = {
	{ 0, push_ax }, { 1, push_cx }, { 2, push_r11 }, { 4, mov_ax }, { 9, NULL },
};

#endif /* _KPROBES_TEST_USERPAGE_H */
