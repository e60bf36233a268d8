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

#include <linux/kprobes-obstacle.h>

#include "classify.h"

/* As many instructions as can begin within a jump. */
#define PROBE_REGION_INSNS	PROBE_JUMP_LEN

/* A call of the post handlers, and a popf. */
#define PROBE_POST_LEN		(PROBE_JUMP_LEN + 1)

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

enum kprobe_obstacle probe_region_find(const u8 *bytes, size_t avail, enum insn_mode mode,
				       struct probe_region *region);
enum kprobe_obstacle probe_region_copy(const struct probe_region *region, const u8 *bytes,
				       struct probe_copy *copy);

#endif /* _X86_KPROBES_REGION_H */
