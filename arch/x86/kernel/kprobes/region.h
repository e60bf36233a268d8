/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The region of text that a jump replaces, and the copy of it that a detour executes.
 *
 *	addr                         addr + 5
 *	  |                              |
 *	[ first ][ second ][        last    ]
 *	[            jump               ]
 *	          [        tail         ]
 *
 * The region consists of every instruction that the five-byte jump overlaps.  No branch may
 * lead into its tail, and no task may still be in it.
 *
 * All functions are pure, as in classify.h.
 */
#ifndef _X86_KPROBES_REGION_H
#define _X86_KPROBES_REGION_H

#include <linux/kprobes-obstacle.h>

#include "classify.h"

/* The greatest number of instructions that can begin within a jump. */
#define PROBE_REGION_INSNS	PROBE_JUMP_LEN

/* Length of the call of the post handlers, and a popf. */
#define PROBE_POST_LEN		(PROBE_JUMP_LEN + 1)

/**
 * struct probe_region - the instructions of a region
 * @len: offset of the end of the last instruction that is executed
 * @nr: number of instructions
 * @falls_through: execution can continue after the last instruction
 * @offset: offset of each instruction
 * @insns: each instruction, from probe_classify()
 */
struct probe_region {
	u8 len;
	u8 nr;
	bool falls_through;
	u8 offset[PROBE_REGION_INSNS];
	struct probe_insn insns[PROBE_REGION_INSNS];
};

/**
 * struct probe_copy - parameters and results of copying a region
 * @mode: mode in which the copy runs
 * @src: address of the region
 * @dst: address where the copy will run
 * @post: address of the function to be called after the first instruction, or 0
 * @out: buffer to which the copy is written
 * @room: size of the buffer
 * @len: result: length of the copy
 * @offset: result: offset of the copy of each instruction
 */
struct probe_copy {
	enum insn_mode mode;
	u64 src, dst, post;
	u8 *out;
	unsigned int room;
	unsigned int len;
	u8 offset[PROBE_REGION_INSNS];
};

enum kprobe_obstacle probe_region_find(const u8 *bytes, size_t avail, enum insn_mode mode,
				       struct probe_region *region);
enum kprobe_obstacle probe_region_copy(const struct probe_region *region, const u8 *bytes,
				       struct probe_copy *copy);

#endif /* _X86_KPROBES_REGION_H */
