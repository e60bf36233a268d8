// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Texts of the obstacles: reasons why a breakpoint does not become a jump.
 *
 * debugfs and tracepoints show the texts, and documentation and tests quote them.  This file
 * needs no kernel: tests on the build host include it.
 */
#include <linux/kprobes-obstacle.h>

static const char *const texts[NR_KPROBE_OBSTACLES] = {
	[KPROBE_OBSTACLE_NONE]		= "waiting",
	[KPROBE_OBSTACLE_OFF]		= "switched off",
	[KPROBE_OBSTACLE_NEIGHBOUR]	= "another probe in the region",
	[KPROBE_OBSTACLE_RESERVED]	= "the region is patched by others",
	[KPROBE_OBSTACLE_POST]		= "a post handler",
	[KPROBE_OBSTACLE_MEMORY]	= "no memory",
	[KPROBE_OBSTACLE_ARCH]		= "the architecture cannot",
	[KPROBE_OBSTACLE_INSN]		= "an instruction that cannot be moved",
	[KPROBE_OBSTACLE_ENCODING]	= "the instruction cannot be re-encoded",
	[KPROBE_OBSTACLE_CFI]		= "a check of a call's type",
	[KPROBE_OBSTACLE_CALL]		= "a call before the end of the region",
	[KPROBE_OBSTACLE_END]		= "the function ends too soon",
	[KPROBE_OBSTACLE_SHADOW]	= "sti at the end of the region",
	[KPROBE_OBSTACLE_STACK]		= "a call through memory on the stack",
	[KPROBE_OBSTACLE_ROOM]		= "the copy is too long",
	[KPROBE_OBSTACLE_OPERAND]	= "an operand out of reach",
	[KPROBE_OBSTACLE_BRANCH]	= "a branch does not reach that far",
	[KPROBE_OBSTACLE_POST_BRANCH]	= "a post handler after a branch",
	[KPROBE_OBSTACLE_TARGET]	= "a branch into the region",
	[KPROBE_OBSTACLE_TABLE]		= "a table leads into the region",
	[KPROBE_OBSTACLE_PAD]		= "a landing pad in the region",
	[KPROBE_OBSTACLE_LANDING]	= "an indirect branch may land there",
	[KPROBE_OBSTACLE_INDIRECT]	= "an indirect branch in the function",
	[KPROBE_OBSTACLE_CODE]		= "the function cannot be decoded",
	[KPROBE_OBSTACLE_FAULT]		= "an instruction of the region may fault",
	[KPROBE_OBSTACLE_DEBUGGER]	= "a debugger's breakpoint in the region",
};

/**
 * kprobe_obstacle_text() - get the text of an obstacle
 * @obstacle: the obstacle
 *
 * Context: any; pure.
 * Return: a constant string for users, never NULL.
 */
const char *kprobe_obstacle_text(enum kprobe_obstacle obstacle)
{
	return obstacle < NR_KPROBE_OBSTACLES ? texts[obstacle] : "unknown";
}

/**
 * kprobe_obstacle_lasts() - will an obstacle exist as long as the text?
 * @obstacle: the obstacle
 *
 * Context: any; pure.
 * Return: false if the obstacle may disappear, or depends on the point's handlers.
 */
bool kprobe_obstacle_lasts(enum kprobe_obstacle obstacle)
{
	return obstacle >= KPROBE_OBSTACLE_INSN;
}
