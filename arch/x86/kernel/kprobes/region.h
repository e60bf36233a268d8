/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The region of a probed address that a jump takes the place of, and the copy of it
 * that a detour executes.
 *
 *	addr                         addr + 5
 *	  |                              |
 *	[ first ][ second ][        last    ]
 *	[            jump               ]
 *	          [        tail         ]
 *
 * The region are the whole instructions that the jump's five bytes touch.  Nobody may
 * enter it in the tail, or execute anything that is left of it there.
 *
 * Pure, like all of classify.h.
 */
#ifndef _X86_KPROBES_REGION_H
#define _X86_KPROBES_REGION_H

#include "classify.h"

/* As many instructions as can begin within a jump. */
#define PROBE_REGION_INSNS	PROBE_JUMP_LEN

/* A call of the post handlers, and a popf. */
#define PROBE_POST_LEN		(PROBE_JUMP_LEN + 1)

/**
 * enum probe_obstacle - why there cannot be a jump at an address
 * @OBSTACLE_NONE: there can
 * @OBSTACLE_INSN: an instruction of the region cannot be executed elsewhere
 * @OBSTACLE_CFI: an instruction of the region is read when a kCFI check fails
 * @OBSTACLE_CALL: a call returns into the tail
 * @OBSTACLE_END: the function ends before the jump would
 * @OBSTACLE_SHADOW: the region's last instruction holds back interrupts for one more
 * @OBSTACLE_STACK: a call's target is read through the stack pointer
 * @OBSTACLE_ROOM: the copy is too long for a detour
 * @OBSTACLE_DISTANCE: the copy cannot refer to what the original refers to
 * @OBSTACLE_POST: a post handler behind an instruction that branches or stacks flags
 * @OBSTACLE_TARGET: the tail is the target of a branch
 * @OBSTACLE_PAD: the tail is a landing pad of indirect branches
 * @OBSTACLE_INDIRECT: the function has a branch whose targets are not known
 * @OBSTACLE_CODE: the function cannot be decoded
 * @OBSTACLE_LANDING: execution may go on in the tail, behind a fault or by a jump label
 * @OBSTACLE_FAULT: an instruction of the tail may fault and be fixed up
 * @OBSTACLE_DEBUGGER: a debugger has a breakpoint in the region
 * @OBSTACLE_MEMORY: there was none
 * @NR_OBSTACLES: number of the above
 */
enum probe_obstacle {
	OBSTACLE_NONE,
	OBSTACLE_INSN,
	OBSTACLE_CFI,
	OBSTACLE_CALL,
	OBSTACLE_END,
	OBSTACLE_SHADOW,
	OBSTACLE_STACK,
	OBSTACLE_ROOM,
	OBSTACLE_DISTANCE,
	OBSTACLE_POST,
	OBSTACLE_TARGET,
	OBSTACLE_PAD,
	OBSTACLE_INDIRECT,
	OBSTACLE_CODE,
	OBSTACLE_LANDING,
	OBSTACLE_FAULT,
	OBSTACLE_DEBUGGER,
	OBSTACLE_MEMORY,
	NR_OBSTACLES
};

/**
 * struct probe_region - the instructions of a region
 * @len: bytes to the end of the last one that is executed
 * @nr: how many
 * @goes_on: execution can go on behind the last one
 * @offset: where each begins
 * @insns: what they are
 */
struct probe_region {
	u8 len;
	u8 nr;
	bool goes_on;
	u8 offset[PROBE_REGION_INSNS];
	struct probe_insn insns[PROBE_REGION_INSNS];
};

/**
 * struct probe_copy - where to put a region's copy, and how it came out
 * @mode: mode in which it runs
 * @src: address of the region
 * @dst: address where the copy will run
 * @post: address of what is called behind the first instruction, or 0
 * @out: where it is written
 * @room: how many bytes there are
 * @len: filled in: how many it takes
 * @offset: filled in: where the copy of each instruction begins
 */
struct probe_copy {
	enum insn_mode mode;
	u64 src, dst, post;
	u8 *out;
	unsigned int room;
	unsigned int len;
	u8 offset[PROBE_REGION_INSNS];
};

enum probe_obstacle probe_region_find(const u8 *bytes, size_t avail, enum insn_mode mode,
				      struct probe_region *region);
enum probe_obstacle probe_region_copy(const struct probe_region *region, const u8 *bytes,
				      struct probe_copy *copy);
const char *probe_obstacle_name(enum probe_obstacle obstacle);

#endif /* _X86_KPROBES_REGION_H */
