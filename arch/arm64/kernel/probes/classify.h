/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classify an A64 instruction that is to run at another address.
 *
 * All functions declared here are pure: the input is a word, the output a verdict. No
 * globals, no allocation, no locks, any context. classify.c builds in the kernel
 * and on any build host (tools/testing/kprobes). Words are in the byte order of
 * the machine that runs this code; A64 text is always little-endian, so a
 * big-endian kernel converts when it reads and writes text.
 */
#ifndef _ARM64_PROBES_CLASSIFY_H
#define _ARM64_PROBES_CLASSIFY_H

#include <linux/types.h>

/**
 * enum probe_action - how an instruction is carried out away from its place
 * @PROBE_COPY: the word means the same anywhere
 * @PROBE_EMULATE: it depends on its own address: probe_emulate() emulates it in
 *	a trap, probe_relocate() writes code with the same effect for a detour
 * @PROBE_REFUSE: it cannot be probed, see &enum probe_refusal
 */
enum probe_action {
	PROBE_COPY,
	PROBE_EMULATE,
	PROBE_REFUSE,
};

/**
 * enum probe_kind - kind of an instruction that is emulated
 * @KIND_NONE: none, the action is not %PROBE_EMULATE
 * @KIND_B: b
 * @KIND_BL: bl
 * @KIND_B_COND: b.cond and bc.cond
 * @KIND_CBZ: cbz and cbnz
 * @KIND_TBZ: tbz and tbnz
 * @KIND_ADR: adr
 * @KIND_ADRP: adrp
 * @KIND_LDR_LITERAL: ldr of a literal into a W or X register
 * @KIND_LDRSW_LITERAL: ldrsw of a literal
 * @KIND_PRFM_LITERAL: prfm of a literal
 * @KIND_BR: br
 * @KIND_BLR: blr
 * @KIND_RET: ret
 * @NR_KINDS: number of the above
 *
 * %KIND_B to %KIND_TBZ are relative branches; those from %KIND_BR on have their target in a
 * register.
 */
enum probe_kind {
	KIND_NONE,
	KIND_B,
	KIND_BL,
	KIND_B_COND,
	KIND_CBZ,
	KIND_TBZ,
	KIND_ADR,
	KIND_ADRP,
	KIND_LDR_LITERAL,
	KIND_LDRSW_LITERAL,
	KIND_PRFM_LITERAL,
	KIND_BR,
	KIND_BLR,
	KIND_RET,
	NR_KINDS
};

/**
 * enum probe_exclusive - role of an instruction in an exclusive sequence
 * @EXCLUSIVE_NONE: none
 * @EXCLUSIVE_LOAD: begins a sequence: sets the exclusive monitor
 * @EXCLUSIVE_STORE: ends a sequence: stores if the monitor is still set
 * @EXCLUSIVE_CLEAR: abandons a sequence: clrex
 *
 * Every exception return clears the monitor, so a probe on, or between, a load
 * and its store would make the store fail each time round the loop.
 */
enum probe_exclusive {
	EXCLUSIVE_NONE,
	EXCLUSIVE_LOAD,
	EXCLUSIVE_STORE,
	EXCLUSIVE_CLEAR,
};

/**
 * enum probe_refusal - why an instruction cannot be probed
 * @REFUSE_NONE: it can be probed
 * @REFUSE_UNALLOCATED: not an instruction of the architecture, or one that has no
 *	row, in a group where copying unknown instructions is not safe
 * @REFUSE_UNDEFINED: udf, permanently undefined
 * @REFUSE_BREAKPOINT: a brk, whose handler uses its address
 * @REFUSE_EXCEPTION: traps on purpose, or stops the CPU for a debugger
 * @REFUSE_ERET: returns from an exception, or from debug state
 * @REFUSE_STACK: selects another stack pointer
 * @REFUSE_DEBUG: writes a debug register
 * @REFUSE_SYNDROME: reads registers that the probe's own exception has overwritten
 * @REFUSE_EXCLUSIVE: load or store exclusive
 * @REFUSE_SEQUENCE: part of a memory copy or set other than the first: the
 *	kernel restarts such a part one or two instructions earlier
 * @REFUSE_VECTOR_LITERAL: loads a literal into a SIMD register
 * @REFUSE_SIGNED_CALL: a call to an authenticated address
 * @REFUSE_POSITION: depends on its address in a way that cannot be emulated
 * @REFUSE_PREFIX: forms one operation with the next instruction: the manual does not define
 *	the effect if another one follows, for example the branch of a slot or detour
 * @NR_REFUSE: number of the above
 */
enum probe_refusal {
	REFUSE_NONE,
	REFUSE_UNALLOCATED,
	REFUSE_UNDEFINED,
	REFUSE_BREAKPOINT,
	REFUSE_EXCEPTION,
	REFUSE_ERET,
	REFUSE_STACK,
	REFUSE_DEBUG,
	REFUSE_SYNDROME,
	REFUSE_EXCLUSIVE,
	REFUSE_SEQUENCE,
	REFUSE_VECTOR_LITERAL,
	REFUSE_SIGNED_CALL,
	REFUSE_POSITION,
	REFUSE_PREFIX,
	NR_REFUSE
};

/**
 * struct probe_insn - result of the classifier
 * @action: &enum probe_action
 * @kind: &enum probe_kind
 * @refusal: &enum probe_refusal
 * @exclusive: &enum probe_exclusive
 * @landing: a landing pad: bti c, j, jc, paciasp, pacibsp.  In a guarded page an
 *	indirect branch may land only on these and on instructions that take an exception
 * @no_step: the copy needs the probed code's own PSTATE, and no trap may follow it: it
 *	must be boosted or in a detour, and no brk may follow it
 */
struct probe_insn {
	u8 action;
	u8 kind;
	u8 refusal;
	u8 exclusive;
	bool landing;
	bool no_step;
};

/*
 * Can @insn have a role in an exclusive sequence?  False for most words, without a look-up in
 * the tables, because a search reads many words.  Tests the part of the encoding that has all
 * such rows: loads and stores of one kind, and clrex.
 */
static inline bool probe_may_be_exclusive(u32 insn)
{
	return (insn & 0x3e000000) == 0x08000000 || (insn & 0xfffff0ff) == 0xd503305f;
}

int probe_classify(u32 insn, struct probe_insn *out);
enum probe_exclusive probe_find_exclusive(u32 insn);
bool probe_is_prefix(u32 insn);
const char *probe_refusal_name(enum probe_refusal refusal);

/* probe_find_exclusive(), faster for most instructions. */
static inline enum probe_exclusive probe_exclusive(u32 insn)
{
	return probe_may_be_exclusive(insn) ? probe_find_exclusive(insn) : EXCLUSIVE_NONE;
}

#endif /* _ARM64_PROBES_CLASSIFY_H */
