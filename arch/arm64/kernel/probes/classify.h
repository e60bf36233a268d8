/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What can be done with an A64 instruction that is to run somewhere else.
 *
 * Everything declared here is pure: a word in, a verdict out. No globals, no
 * allocation, no locks, any context. The file behind it builds in the kernel
 * and on any build host (tools/testing/kprobes). Words are in the byte order of
 * the machine that runs this code; A64 text is little-endian always, so a
 * big-endian kernel converts when it reads and writes text.
 */
#ifndef _ARM64_PROBES_CLASSIFY_H
#define _ARM64_PROBES_CLASSIFY_H

#include <linux/types.h>

/**
 * enum probe_action - how an instruction is carried out away from its place
 * @PROBE_COPY: the word means the same anywhere
 * @PROBE_EMULATE: it depends on its own address: probe_emulate() does its work
 *	in a trap, probe_relocate() writes code that does the same elsewhere
 * @PROBE_REFUSE: no probe can sit on it, see &enum probe_refusal
 */
enum probe_action {
	PROBE_COPY,
	PROBE_EMULATE,
	PROBE_REFUSE,
};

/**
 * enum probe_kind - what there is to emulate
 * @KIND_NONE: nothing, the action is not %PROBE_EMULATE
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
 * enum probe_exclusive - part that an instruction plays in an exclusive sequence
 * @EXCLUSIVE_NONE: none
 * @EXCLUSIVE_LOAD: begins one: sets the exclusive monitor
 * @EXCLUSIVE_STORE: ends one: stores if the monitor is still set
 * @EXCLUSIVE_CLEAR: gives one up: clrex
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
 * enum probe_refusal - why no probe can sit on an instruction
 * @REFUSE_NONE: it can
 * @REFUSE_UNALLOCATED: no instruction of the architecture, or none that this
 *	code knows and where guessing would be dangerous
 * @REFUSE_UNDEFINED: udf, undefined for ever
 * @REFUSE_BREAKPOINT: a brk already, and its handler looks at the address
 * @REFUSE_EXCEPTION: traps on purpose, or stops the CPU for a debugger
 * @REFUSE_ERET: returns from an exception, or from debug state
 * @REFUSE_STACK: chooses another stack pointer
 * @REFUSE_DEBUG: writes a debug register
 * @REFUSE_SYNDROME: reads what the probe's own exception has overwritten
 * @REFUSE_EXCLUSIVE: load or store exclusive
 * @REFUSE_SEQUENCE: part of a memory copy or set that is not its first: the
 *	kernel restarts these one or two instructions further up
 * @REFUSE_VECTOR_LITERAL: loads a literal into a SIMD register
 * @REFUSE_SIGNED_CALL: a call to an authenticated address
 * @REFUSE_POSITION: depends on its address in a way nothing here can redo
 * @REFUSE_PREFIX: makes one operation with the next instruction: the manual does not say
 *	what happens if another one follows, a branch of a slot or detour for example
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
 * struct probe_insn - everything the classifier found out
 * @action: &enum probe_action
 * @kind: &enum probe_kind
 * @refusal: &enum probe_refusal
 * @exclusive: &enum probe_exclusive
 * @landing: an indirect branch may land here in a guarded page, and on nothing
 *	else but an exception-generating instruction: bti c, j, jc, paciasp, pacibsp
 * @no_step: the copy is right if it runs with the probed code's own PSTATE and
 *	nothing traps behind it: boosted or in a detour, never in front of a brk
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
 * Where in the encoding all rows are that take part in a sequence: loads and stores of one
 * kind, and clrex.  Most words are somewhere else, and a search reads many of them.
 */
static inline bool probe_may_be_exclusive(u32 insn)
{
	return (insn & 0x3e000000) == 0x08000000 || (insn & 0xfffff0ff) == 0xd503305f;
}

int probe_classify(u32 insn, struct probe_insn *out);
enum probe_exclusive probe_exclusive(u32 insn);
bool probe_is_prefix(u32 insn);
const char *probe_refusal_name(enum probe_refusal refusal);

#endif /* _ARM64_PROBES_CLASSIFY_H */
