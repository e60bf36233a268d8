/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _LINUX_KPROBES_OBSTACLE_H
#define _LINUX_KPROBES_OBSTACLE_H
/*
 * Obstacles: reasons why a breakpoint does not become a jump, for the core and all
 * architectures.  Needs no kernel: tests on the build host include it.
 */
#include <linux/types.h>

/**
 * enum kprobe_obstacle - why a point that has its breakpoint does not get a jump
 * @KPROBE_OBSTACLE_NONE: it gets one, or has not been checked yet
 *
 * Obstacles that the core finds:
 * @KPROBE_OBSTACLE_OFF: the user has disabled jumps
 * @KPROBE_OBSTACLE_NEIGHBOUR: another probe is armed in the text that the jump would cover
 * @KPROBE_OBSTACLE_RESERVED: another subsystem patches an instruction in that text
 * @KPROBE_OBSTACLE_POST: the architecture's detours do not call post handlers
 * @KPROBE_OBSTACLE_MEMORY: an allocation has failed
 * @KPROBE_OBSTACLE_ARCH: the architecture has refused with an errno
 *
 * Properties of the copy, which may be another one when the handlers change:
 * @KPROBE_OBSTACLE_ROOM: the copy is too long for a detour
 * @KPROBE_OBSTACLE_OPERAND: the copy does not reach the operand of the original
 * @KPROBE_OBSTACLE_BRANCH: a branch to the detour, from it or in it does not reach
 * @KPROBE_OBSTACLE_POST_BRANCH: a post handler of an instruction that branches or stacks flags
 *
 * @KPROBE_OBSTACLE_DEBUGGER: a debugger has a breakpoint in the region
 *
 * The obstacles from here on last, see kprobe_obstacle_lasts().  Properties of instructions:
 * @KPROBE_OBSTACLE_INSN: an instruction of the region cannot be executed elsewhere
 * @KPROBE_OBSTACLE_ENCODING: no code at another address has the effect of the probed instruction
 * @KPROBE_OBSTACLE_CFI: the handler of failed kCFI checks reads an instruction of the region
 * @KPROBE_OBSTACLE_CALL: a call returns into the tail
 * @KPROBE_OBSTACLE_END: the function ends before the jump would
 * @KPROBE_OBSTACLE_SHADOW: the region's last instruction delays interrupts by one instruction
 * @KPROBE_OBSTACLE_STACK: a call's target is read through the stack pointer
 *
 * Properties of the text around the probe:
 * @KPROBE_OBSTACLE_TARGET: the tail is the target of a branch
 * @KPROBE_OBSTACLE_TABLE: a table sends execution into the tail
 * @KPROBE_OBSTACLE_PAD: the tail is a landing pad of indirect branches
 * @KPROBE_OBSTACLE_LANDING: the probed instruction is such a landing pad
 * @KPROBE_OBSTACLE_INDIRECT: the function has a branch with unknown targets
 * @KPROBE_OBSTACLE_CODE: the function cannot be decoded
 * @KPROBE_OBSTACLE_FAULT: an instruction of the tail may fault and be fixed up
 * @NR_KPROBE_OBSTACLES: number of the above
 */
enum kprobe_obstacle {
	KPROBE_OBSTACLE_NONE,
	KPROBE_OBSTACLE_OFF,
	KPROBE_OBSTACLE_NEIGHBOUR,
	KPROBE_OBSTACLE_RESERVED,
	KPROBE_OBSTACLE_POST,
	KPROBE_OBSTACLE_MEMORY,
	KPROBE_OBSTACLE_ARCH,
	KPROBE_OBSTACLE_ROOM,
	KPROBE_OBSTACLE_OPERAND,
	KPROBE_OBSTACLE_BRANCH,
	KPROBE_OBSTACLE_POST_BRANCH,
	KPROBE_OBSTACLE_DEBUGGER,
	KPROBE_OBSTACLE_INSN,
	KPROBE_OBSTACLE_ENCODING,
	KPROBE_OBSTACLE_CFI,
	KPROBE_OBSTACLE_CALL,
	KPROBE_OBSTACLE_END,
	KPROBE_OBSTACLE_SHADOW,
	KPROBE_OBSTACLE_STACK,
	KPROBE_OBSTACLE_TARGET,
	KPROBE_OBSTACLE_TABLE,
	KPROBE_OBSTACLE_PAD,
	KPROBE_OBSTACLE_LANDING,
	KPROBE_OBSTACLE_INDIRECT,
	KPROBE_OBSTACLE_CODE,
	KPROBE_OBSTACLE_FAULT,
	NR_KPROBE_OBSTACLES,
};

const char *kprobe_obstacle_text(enum kprobe_obstacle obstacle);
bool kprobe_obstacle_lasts(enum kprobe_obstacle obstacle);

#endif /* _LINUX_KPROBES_OBSTACLE_H */
