// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classify A64 instructions for probes.
 *
 * The tables consist of patterns. The groups divide all 2^32 words by the top levels
 * of the encoding (Arm ARM, C4.1 "A64 instruction set encoding"), and have the
 * verdict for words without a row. If the instructions of a group only compute a
 * function of registers and memory, the group's verdict is "copy", so new
 * arithmetic, loads, vectors and atomics need no row. Groups of branches, exceptions
 * and PSTATE accesses have the verdict "refuse", because an unknown instruction there
 * may have any effect. A row exists if the verdict differs from that of the group.
 * Bits 29 to 25 divide the rows into tables, so that the search is short: most words are
 * arithmetic, loads and stores, which few rows are about. The groups of most words come first.
 *
 * Neither rows nor groups overlap, so their order does not matter and each can be
 * reviewed alone. tools/testing/kprobes proves that, and that the groups cover all
 * words, and that the masks agree with <asm/insn.h>, whose predicates
 * cannot be used in a table.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "classify.h"

/**
 * struct probe_row - one row of a table: the words with insn & @mask == @value
 * @mask: the bits that are compared
 * @value: the value of these bits
 * @insn: the verdict
 * @name: description for people
 */
struct probe_row {
	u32 mask, value;
	struct probe_insn insn;
	const char *name;
};

#define ROW(_mask, _value, _name, ...)				\
	{							\
		.mask = _mask, .value = _value, .name = _name,	\
		.insn = { __VA_ARGS__ },			\
	}

#define COPY(_mask, _value, _name) \
	ROW(_mask, _value, _name, .action = PROBE_COPY)

#define NO_STEP(_mask, _value, _name) \
	ROW(_mask, _value, _name, .action = PROBE_COPY, .no_step = true)

#define LANDING(_mask, _value, _name) \
	ROW(_mask, _value, _name, .action = PROBE_COPY, .landing = true)

#define EMULATE(_mask, _value, _kind, _name) \
	ROW(_mask, _value, _name, .action = PROBE_EMULATE, .kind = _kind)

#define REFUSE(_mask, _value, _refusal, _name) \
	ROW(_mask, _value, _name, .action = PROBE_REFUSE, .refusal = _refusal)

#define EXCLUSIVE(_mask, _value, _exclusive, _name)		\
	ROW(_mask, _value, _name, .action = PROBE_REFUSE,	\
	    .refusal = REFUSE_EXCLUSIVE, .exclusive = _exclusive)

static const struct probe_row probe_groups[] = {
	/* By bits 28 to 25, and bit 31 if these are 0. */
	COPY(0x0a000000, 0x08000000, "loads and stores"),
	COPY(0x1c000000, 0x10000000, "data processing, immediate"),
	COPY(0x0e000000, 0x0a000000, "data processing, register"),
	COPY(0x0e000000, 0x0e000000, "SIMD and floating point"),
	COPY(0x1e000000, 0x04000000, "SVE"),
	COPY(0x9e000000, 0x80000000, "SME"),
	REFUSE(0x9e000000, 0x00000000, REFUSE_UNALLOCATED, "reserved"),
	REFUSE(0x1a000000, 0x02000000, REFUSE_UNALLOCATED, "unallocated groups 1 and 3"),

	/* Branches, exceptions and system: by bits 31 to 29, 110 in more detail. */
	REFUSE(0x9c000000, 0x14000000, REFUSE_UNALLOCATED, "branches, 32 bit"),
	REFUSE(0xdc000000, 0x94000000, REFUSE_UNALLOCATED, "branches, 64 bit"),
	REFUSE(0xfc000000, 0xf4000000, REFUSE_UNALLOCATED, "branches, 64 bit, bit 30"),
	REFUSE(0xff000000, 0xd4000000, REFUSE_UNALLOCATED, "exception generation"),
	REFUSE(0xfe000000, 0xd6000000, REFUSE_UNALLOCATED, "branches by register"),

	/* System: by bits 23 to 19, where 21 is "read" and 20, 19 are op0. */
	REFUSE(0xfff80000, 0xd5000000, REFUSE_UNALLOCATED, "hints, barriers, PSTATE"),
	COPY(0xfff80000, 0xd5080000, "sys"),
	REFUSE(0xfff80000, 0xd5100000, REFUSE_DEBUG, "msr, debug and trace"),
	COPY(0xfff80000, 0xd5180000, "msr"),
	REFUSE(0xfff80000, 0xd5200000, REFUSE_UNALLOCATED, "system with result"),
	COPY(0xfff80000, 0xd5280000, "sysl"),
	COPY(0xfff00000, 0xd5300000, "mrs"),
	REFUSE(0xfff80000, 0xd5400000, REFUSE_UNALLOCATED, "128-bit system, write"),
	COPY(0xfff80000, 0xd5480000, "sysp"),
	COPY(0xfff00000, 0xd5500000, "msrr"),
	REFUSE(0xfff00000, 0xd5600000, REFUSE_UNALLOCATED, "128-bit system, read"),
	COPY(0xfff00000, 0xd5700000, "mrrs"),
	REFUSE(0xff800000, 0xd5800000, REFUSE_UNALLOCATED, "system, bit 23"),
};

static const struct probe_row probe_immediate_rows[] = {
	/* Instructions that read their own address. */
	EMULATE(0x9f000000, 0x10000000, KIND_ADR, "adr"),
	EMULATE(0x9f000000, 0x90000000, KIND_ADRP, "adrp"),
	/* FEAT_PAuth_LR authenticates with the address of an instruction. */
	REFUSE(0xffc0001f, 0xf380001f, REFUSE_POSITION, "autiasppc, autibsppc"),
};

static const struct probe_row probe_register_rows[] = {
	/* FEAT_PAuth_LR signs with the address of the instruction. */
	REFUSE(0xffffdbff, 0xdac183fe, REFUSE_POSITION, "paciasppc and the like"),
};

static const struct probe_row probe_reserved_rows[] = {
	REFUSE(0xffff0000, 0x00000000, REFUSE_UNDEFINED, "udf"),
};

static const struct probe_row probe_vector_rows[] = {
	/* SVE: the next instruction must be one that can have this prefix, and no branch. */
	REFUSE(0xfffffc00, 0x0420bc00, REFUSE_PREFIX, "movprfx"),
	REFUSE(0xff3ee000, 0x04102000, REFUSE_PREFIX, "movprfx, predicated"),
};

/* Loads and stores with bit 28, and without bit 29. */
static const struct probe_row probe_literal_rows[] = {
	/* Instructions that read their own address. */
	EMULATE(0xbf000000, 0x18000000, KIND_LDR_LITERAL, "ldr literal"),
	EMULATE(0xff000000, 0x98000000, KIND_LDRSW_LITERAL, "ldrsw literal"),
	EMULATE(0xff000000, 0xd8000000, KIND_PRFM_LITERAL, "prfm literal"),
	/* The vector registers are not in pt_regs, and may belong to user space. */
	REFUSE(0x3f000000, 0x1c000000, REFUSE_VECTOR_LITERAL, "ldr literal, SIMD"),

	/* FEAT_MOPS: do_el1_mops() moves the pc back to the prologue, which no slot has. */
	REFUSE(0x3be00c00, 0x19400400, REFUSE_SEQUENCE, "cpym, cpyfm"),
	REFUSE(0x3be00c00, 0x19800400, REFUSE_SEQUENCE, "cpye, cpyfe"),
	REFUSE(0x3be0cc00, 0x19c04400, REFUSE_SEQUENCE, "setm, setgm"),
	REFUSE(0x3be0cc00, 0x19c08400, REFUSE_SEQUENCE, "sete, setge"),
};

/* Loads and stores without bits 29, 28 and 26. */
static const struct probe_row probe_exclusive_rows[] = {
	/* The single and pair forms, and those of FEAT_LSUI. */
	EXCLUSIVE(0x3fe00000, 0x08400000, EXCLUSIVE_LOAD, "ldxr, ldaxr"),
	EXCLUSIVE(0x3fe00000, 0x08000000, EXCLUSIVE_STORE, "stxr, stlxr"),
	EXCLUSIVE(0xbfe00000, 0x88600000, EXCLUSIVE_LOAD, "ldxp, ldaxp"),
	EXCLUSIVE(0xbfe00000, 0x88200000, EXCLUSIVE_STORE, "stxp, stlxp"),
	EXCLUSIVE(0xbfe00000, 0x89400000, EXCLUSIVE_LOAD, "ldtxr, ldatxr"),
	EXCLUSIVE(0xbfe00000, 0x89000000, EXCLUSIVE_STORE, "sttxr, stltxr"),
};

static const struct probe_row probe_branch_rows[] = {
	/* Instructions that read their own address. */
	EMULATE(0xfc000000, 0x14000000, KIND_B, "b"),
	EMULATE(0xfc000000, 0x94000000, KIND_BL, "bl"),
	EMULATE(0xff000000, 0x54000000, KIND_B_COND, "b.cond, bc.cond"),
	EMULATE(0x7e000000, 0x34000000, KIND_CBZ, "cbz, cbnz"),
	EMULATE(0x7e000000, 0x36000000, KIND_TBZ, "tbz, tbnz"),

	/* Branches by register: execution would never reach the instruction after the copy. */
	EMULATE(0xfffffc1f, 0xd61f0000, KIND_BR, "br"),
	EMULATE(0xfffffc1f, 0xd63f0000, KIND_BLR, "blr"),
	EMULATE(0xfffffc1f, 0xd65f0000, KIND_RET, "ret"),

	/*
	 * Authenticated branches need the CPU's keys, so they run as copies. They must
	 * not be stepped, because they would branch away before the brk after the copy. Calls
	 * are refused, because they would leave the copy's address in the link register.
	 */
	NO_STEP(0xfffff81f, 0xd61f081f, "braaz, brabz"),
	NO_STEP(0xfffff800, 0xd71f0800, "braa, brab"),
	NO_STEP(0xfffffbff, 0xd65f0bff, "retaa, retab"),
	REFUSE(0xfffff81f, 0xd63f081f, REFUSE_SIGNED_CALL, "blraaz, blrabz"),
	REFUSE(0xfffff800, 0xd73f0800, REFUSE_SIGNED_CALL, "blraa, blrab"),

	/* FEAT_PAuth_LR authenticates with the address of an instruction; FEAT_CMPBR branches. */
	REFUSE(0xffc0001f, 0x5500001f, REFUSE_POSITION, "retaasppc, retabsppc"),
	REFUSE(0x7e000000, 0x74000000, REFUSE_POSITION, "cb<cc>"),

	/* Instructions that take exceptions, and that return from them. */
	REFUSE(0xffe0001f, 0xd4000001, REFUSE_EXCEPTION, "svc"),
	REFUSE(0xffe0001f, 0xd4000002, REFUSE_EXCEPTION, "hvc"),
	REFUSE(0xffe0001f, 0xd4000003, REFUSE_EXCEPTION, "smc"),
	REFUSE(0xffe0001f, 0xd4200000, REFUSE_BREAKPOINT, "brk"),
	REFUSE(0xffe0001f, 0xd4400000, REFUSE_EXCEPTION, "hlt"),
	REFUSE(0xffe0001c, 0xd4a00000, REFUSE_EXCEPTION, "dcps1, dcps2, dcps3"),
	REFUSE(0xffffffff, 0xd69f03e0, REFUSE_ERET, "eret"),
	REFUSE(0xfffffbff, 0xd69f0bff, REFUSE_ERET, "eretaa, eretab"),
	REFUSE(0xffffffff, 0xd6bf03e0, REFUSE_ERET, "drps"),
};

static const struct probe_row probe_system_rows[] = {
	/* FEAT_PAuth_LR */
	REFUSE(0xffffffff, 0xd50324ff, REFUSE_POSITION, "pacm"),

	/* Copied: the exception of the probe has cleared the monitor already. */
	ROW(0xfffff0ff, 0xd503305f, "clrex", .action = PROBE_COPY,
	    .exclusive = EXCLUSIVE_CLEAR),

	/* Hints, by CRm and op2. Unallocated hints are nops on every processor. */
	COPY(0xfffffe1f, 0xd503201f, "hints 0 to 15: nop, wfe, xpaclri, ..."),
	COPY(0xffffff1f, 0xd503221f, "hints 16 to 23: esb, psb, tsb, csdb, ..."),
	COPY(0xffffff3f, 0xd503231f, "hints 24, 26, 28, 30: paciaz, ..."),
	LANDING(0xffffffbf, 0xd503233f, "paciasp, pacibsp"),
	COPY(0xffffffbf, 0xd50323bf, "autiasp, autibsp"),
	COPY(0xffffffff, 0xd503241f, "bti without targets"),
	COPY(0xffffff7f, 0xd503243f, "hints 33, 37"),
	COPY(0xffffffff, 0xd503247f, "hint 35"),
	LANDING(0xffffffff, 0xd503245f, "bti c"),
	LANDING(0xffffffbf, 0xd503249f, "bti j, bti jc"),
	COPY(0xffffff1f, 0xd503251f, "hints 40 to 47: chkfeat, ..."),
	COPY(0xfffffe1f, 0xd503261f, "hints 48 to 63"),
	COPY(0xfffff81f, 0xd503281f, "hints 64 to 127"),
	COPY(0xffffffc0, 0xd5031000, "wfet, wfit"),

	/* Barriers */
	COPY(0xfffff0ff, 0xd503309f, "dsb, ssbb, pssbb"),
	COPY(0xfffff3ff, 0xd503323f, "dsb nXS"),
	COPY(0xfffff0ff, 0xd50330bf, "dmb"),
	COPY(0xfffff0ff, 0xd50330df, "isb"),
	COPY(0xffffffff, 0xd50330ff, "sb"),

	/*
	 * PSTATE. An exception saves it in SPSR, and the return restores it, so a copy
	 * finds most of it as the original would, and its changes persist. The
	 * interrupt masks are different: a copy that is followed by a brk runs with
	 * interrupts masked, and the masks of the probed code are restored after it.
	 */
	COPY(0xfffff0ff, 0xd500401f, "cfinv"),
	COPY(0xfffff0ff, 0xd500403f, "xaflag"),
	COPY(0xfffff0ff, 0xd500405f, "axflag"),
	COPY(0xfffff0ff, 0xd500407f, "msr uao, imm"),
	COPY(0xfffff0ff, 0xd500409f, "msr pan, imm"),
	COPY(0xfffff0ff, 0xd501401f, "msr allint, pm, imm"),
	COPY(0xfffff0ff, 0xd503403f, "msr ssbs, imm"),
	COPY(0xfffff0ff, 0xd503405f, "msr dit, imm"),
	COPY(0xfffff0ff, 0xd503407f, "smstart, smstop"),
	COPY(0xfffff0ff, 0xd503409f, "msr tco, imm"),
	NO_STEP(0xfffff0ff, 0xd50340df, "msr daifset, imm"),
	NO_STEP(0xfffff0ff, 0xd50340ff, "msr daifclr, imm"),
	NO_STEP(0xffdfffe0, 0xd51b4220, "msr, mrs daif"),
	/* The kernel takes no exception, and so no hit, with the other stack pointer. */
	REFUSE(0xfffff0ff, 0xd50040bf, REFUSE_STACK, "msr spsel, imm"),
	REFUSE(0xffffffe0, 0xd5184200, REFUSE_STACK, "msr spsel, xt"),

	/* current, and the base of per-CPU data, must be the same in both traps of a hit. */
	NO_STEP(0xffffffe0, 0xd5184100, "msr sp_el0"),
	NO_STEP(0xffffffe0, 0xd518d080, "msr tpidr_el1"),
	NO_STEP(0xffffffe0, 0xd51cd040, "msr tpidr_el2"),
	/*
	 * Registers that an exception writes, with their EL1 and EL2 names: a hit overwrites
	 * the value before a read, and a second trap overwrites the value after a write.
	 */
	NO_STEP(0xfffbffc0, 0xd5184000, "msr spsr, elr"),
	NO_STEP(0xfffbffe0, 0xd5185200, "msr esr"),
	NO_STEP(0xfffbffe0, 0xd5186000, "msr far"),
	REFUSE(0xfffbffc0, 0xd5384000, REFUSE_SYNDROME, "mrs spsr, elr"),
	REFUSE(0xfffbffe0, 0xd5385200, REFUSE_SYNDROME, "mrs esr"),
	REFUSE(0xfffbffe0, 0xd5386000, REFUSE_SYNDROME, "mrs far"),
	/* FEAT_GCS: they save or restore spsr and elr. */
	REFUSE(0xffffffdf, 0xd508779f, REFUSE_SYNDROME, "gcspushx, gcspopcx"),
	REFUSE(0xffffffff, 0xd50877df, REFUSE_SYNDROME, "gcspopx"),
	/*
	 * Trace and branch records observe the CPU and do not stop it. op1 is 1; the second
	 * row has the control registers of other exception levels.
	 */
	COPY(0xffff0000, 0xd5110000, "msr, trace"),
	COPY(0xfffeffe0, 0xd5149000, "msr brbcr"),
};

static const char * const refusal_names[NR_REFUSE] = {
	[REFUSE_NONE]		= "not refused",
	[REFUSE_UNALLOCATED]	= "not a known instruction",
	[REFUSE_UNDEFINED]	= "undefined on purpose",
	[REFUSE_BREAKPOINT]	= "a breakpoint of another owner",
	[REFUSE_EXCEPTION]	= "traps on purpose",
	[REFUSE_ERET]		= "returns from an exception",
	[REFUSE_STACK]		= "switches stack pointers",
	[REFUSE_DEBUG]		= "writes a debug register",
	[REFUSE_SYNDROME]	= "reads a register that a breakpoint overwrites",
	[REFUSE_EXCLUSIVE]	= "load or store exclusive",
	[REFUSE_SEQUENCE]	= "later part of a memory copy or set",
	[REFUSE_VECTOR_LITERAL]	= "vector load relative to its address",
	[REFUSE_SIGNED_CALL]	= "call to an authenticated address",
	[REFUSE_POSITION]	= "inseparable from its address",
	[REFUSE_PREFIX]		= "one operation with its neighbour",
};

static bool probe_row_matches(const struct probe_row *row, u32 insn)
{
	return (insn & row->mask) == row->value;
}

static const struct probe_row *probe_find_row(const struct probe_row *rows, unsigned int count,
					      u32 insn)
{
	const struct probe_row *end = rows + count;

	for (; rows < end; rows++)
		if (probe_row_matches(rows, insn))
			return rows;
	return NULL;
}

/* A part of the rows.  Those of one part do not match words of another. */
struct probe_table {
	const struct probe_row *rows;
	unsigned int nr;
};

enum probe_part {
	PART_NONE,
	PART_RESERVED,
	PART_VECTOR,
	PART_IMMEDIATE,
	PART_REGISTER,
	PART_EXCLUSIVE,
	PART_LITERAL,
	PART_BRANCH,
	PART_SYSTEM,
};

static const struct probe_table probe_tables[] = {
	[PART_NONE] = { NULL, 0 },
	[PART_RESERVED] = { probe_reserved_rows, ARRAY_SIZE(probe_reserved_rows) },
	[PART_VECTOR] = { probe_vector_rows, ARRAY_SIZE(probe_vector_rows) },
	[PART_IMMEDIATE] = { probe_immediate_rows, ARRAY_SIZE(probe_immediate_rows) },
	[PART_REGISTER] = { probe_register_rows, ARRAY_SIZE(probe_register_rows) },
	[PART_EXCLUSIVE] = { probe_exclusive_rows, ARRAY_SIZE(probe_exclusive_rows) },
	[PART_LITERAL] = { probe_literal_rows, ARRAY_SIZE(probe_literal_rows) },
	[PART_BRANCH] = { probe_branch_rows, ARRAY_SIZE(probe_branch_rows) },
	[PART_SYSTEM] = { probe_system_rows, ARRAY_SIZE(probe_system_rows) },
};

/* By bits 29 to 25.  Most loads and stores have bit 29, and no row is about them. */
static const u8 probe_parts[32] = {
	[0x00] = PART_RESERVED,
	[0x02] = PART_VECTOR,
	[0x04] = PART_EXCLUSIVE,
	[0x08] = PART_IMMEDIATE, [0x18] = PART_IMMEDIATE, [0x19] = PART_IMMEDIATE,
	[0x0c] = PART_LITERAL, [0x0e] = PART_LITERAL,
	[0x0d] = PART_REGISTER,
	[0x0a] = PART_BRANCH, [0x0b] = PART_BRANCH,
	[0x1a] = PART_BRANCH, [0x1b] = PART_BRANCH,
};

static const struct probe_table *probe_table_of(u32 insn)
{
	enum probe_part part = probe_parts[(insn >> 25) % ARRAY_SIZE(probe_parts)];

	/* System instructions: the first byte is d5. */
	if (part == PART_BRANCH && insn >> 24 == 0xd5)
		part = PART_SYSTEM;
	return &probe_tables[part];
}

/* Returns the row of @insn, or NULL if only its group has a verdict. */
static const struct probe_row *probe_own_row(u32 insn)
{
	const struct probe_table *table = probe_table_of(insn);

	return probe_find_row(table->rows, table->nr, insn);
}

/**
 * probe_classify() - decide how a probed instruction is carried out
 * @insn: the instruction, as it is without any probe
 * @out: filled in completely, also if the instruction is refused
 *
 * Encodings are those of the Arm ARM, C4.1. In a group that can be copied, an instruction
 * without a row is copied: if it is undefined, the copy takes the same exception.
 *
 * Context: any; pure.
 * Return: 0, or -EINVAL with the reason in @out.
 */
int probe_classify(u32 insn, struct probe_insn *out)
{
	const struct probe_row *row = probe_own_row(insn);

	if (!row)
		row = probe_find_row(probe_groups, ARRAY_SIZE(probe_groups), insn);
	*out = row->insn;
	return out->action == PROBE_REFUSE ? -EINVAL : 0;
}

/**
 * probe_find_exclusive() - effect of an instruction on the exclusive monitor
 * @insn: the instruction, as it is without any probe
 *
 * The search around a probe uses it, because there must be no probe between a load
 * exclusive and its store. Arm ARM, B2.17 "Synchronization and semaphores".
 *
 * Context: any; pure.
 */
enum probe_exclusive probe_find_exclusive(u32 insn)
{
	struct probe_insn desc;

	probe_classify(insn, &desc);
	return desc.exclusive;
}

/**
 * probe_is_prefix() - does an instruction form one operation with the next?
 * @insn: the instruction, as it is without any probe
 *
 * Context: any; pure.
 */
bool probe_is_prefix(u32 insn)
{
	struct probe_insn desc;

	/* All prefixes, and few other instructions, have these bits. */
	if ((insn & 0xff000000) != 0x04000000)
		return false;
	probe_classify(insn, &desc);
	return desc.refusal == REFUSE_PREFIX;
}

/**
 * probe_refusal_name() - describe the reason of a refusal
 * @refusal: the reason; any number
 *
 * Context: any; pure.
 * Return: a phrase, never NULL.
 */
const char *probe_refusal_name(enum probe_refusal refusal)
{
	if (refusal >= NR_REFUSE)
		return "unknown refusal";
	return refusal_names[refusal];
}
