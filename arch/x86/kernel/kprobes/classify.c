// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Classify x86 instructions for probes.
 *
 * The kernel's decoder finds the end of an instruction and its parts; the table
 * below decides how the instruction is carried out. An instruction without a row
 * is copied, or rebased if its memory operand is RIP-relative. So a row
 * exists for one of three reasons: the instruction reads or writes its own
 * address, other code identifies it by its address, or the decoder's length for
 * it is not reliable.
 *
 * Rows never overlap, so their order does not matter and each can be reviewed
 * alone. tools/testing/kprobes proves that for every opcode map, opcode, ModRM
 * byte and mode.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/inat.h>
#include <asm/insn.h>

#include "classify.h"
#include "plain.h"

/* The tables an opcode byte can belong to. */
enum opcode_map {
	MAP_ONE,	/* no escape */
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_VEX,	/* VEX, EVEX and XOP; no instruction there branches or traps */
	MAP_REX2,	/* registers 16 to 31, which the kernel does not use */
	MAP_FORCED,	/* preceded by ud2 and a hypervisor's name */
	NR_MAPS
};

/**
 * struct probe_key - the parts of an instruction that rows are compared with
 * @map: &enum opcode_map
 * @opcode: last opcode byte
 * @has_modrm: the decoder saw a ModRM byte
 * @modrm: that byte
 * @mode: %MODE_32 or %MODE_64
 * @prefixes: legacy prefixes, BIT(INAT_PFX_*)
 */
struct probe_key {
	u8 map;
	u8 opcode;
	bool has_modrm;
	u8 modrm;
	u8 mode;
	u16 prefixes;
};

#define MODE_32		BIT(0)
#define MODE_64		BIT(1)
#define MODE_BOTH	(MODE_32 | MODE_64)

/*
 * Condition on the ModRM byte: the low byte is a value, the next byte the mask with
 * which it is compared; the bits above are flags.
 */
#define MODRM_ANY		0
#define MODRM_REG(n)		(0x3800 | (n) << 3)
#define MODRM_REG_DIRECT(n)	(0xf800 | 0xc0 | (n) << 3)
#define MODRM_REG_MEMORY(n)	(MODRM_REG(n) | MODRM_MEMORY)
#define MODRM_EXACT(v)		(0xff00 | (v))
#define MODRM_BITS_NOT_0(mask)	((mask) << 8 | MODRM_NOT)
#define MODRM_NOT		BIT(16)	/* must differ from the value */
#define MODRM_MEMORY		BIT(17)	/* must select a memory operand */
#define MODRM_ABSENT		BIT(18)	/* the decoder must have found no ModRM byte */

#define PFX_REP		(BIT(INAT_PFX_REPE) | BIT(INAT_PFX_REPNE))
#define PFX_LOCK	BIT(INAT_PFX_LOCK)
#define PFX_OPERAND	BIT(INAT_PFX_OPNDSZ)
#define PFX_ADDRESS	BIT(INAT_PFX_ADDRSZ)
/* CS and DS are left out: before a branch they are hints, or notrack. */
#define PFX_SEGMENT	(BIT(INAT_PFX_ES) | BIT(INAT_PFX_SS) | \
			 BIT(INAT_PFX_FS) | BIT(INAT_PFX_GS))

/* Prefixes that an emulated instruction must not have; prefix_refusals has the reasons. */
#define DENY_FLAG	PFX_LOCK
#define DENY_NEAR	(PFX_LOCK | PFX_OPERAND)
#define DENY_MEMORY	(DENY_NEAR | PFX_SEGMENT | PFX_ADDRESS)

/**
 * struct probe_row - one row of the table
 * @map: &enum opcode_map
 * @first: first opcode of the row
 * @last: last opcode of the row
 * @modes: modes in which the row applies
 * @action: &enum probe_action
 * @emul: &enum probe_emul
 * @refusal: &enum probe_refusal
 * @need: the instruction must have at least one of these prefixes; 0 for no condition
 * @deny: prefixes that turn the row into a refusal
 * @modrm: condition on the ModRM byte
 * @name: description for people
 */
struct probe_row {
	u8 map, first, last, modes;
	u8 action, emul, refusal;
	u16 need, deny;
	u32 modrm;
	const char *name;
};

#define EMULATE(_map, _first, _last, _modrm, _emul, _deny, _name)	\
	{								\
		.map = _map, .first = _first, .last = _last,		\
		.modes = MODE_BOTH, .modrm = _modrm,			\
		.action = PROBE_EMULATE, .emul = _emul,			\
		.deny = _deny, .name = _name,				\
	}

#define REFUSE(_map, _first, _last, _modes, _modrm, _refusal, _name)	\
	REFUSE_IF(_map, _first, _last, _modes, 0, _modrm, _refusal, _name)

#define REFUSE_IF(_map, _first, _last, _modes, _need, _modrm, _refusal, _name) \
	{								\
		.map = _map, .first = _first, .last = _last,		\
		.modes = _modes, .need = _need, .modrm = _modrm,	\
		.action = PROBE_REFUSE, .refusal = _refusal,		\
		.name = _name,						\
	}

/* An opcode that exists in 32-bit mode only; the decoder does not check that. */
#define NOT_IN_64(_first, _last, _name) \
	REFUSE(MAP_ONE, _first, _last, MODE_64, MODRM_ANY, REFUSE_UNDECODABLE, _name)

/* A prefix in the place of an opcode: after a REX prefix, or after four other prefixes. */
#define STRAY(_first, _last, _name) \
	REFUSE(MAP_ONE, _first, _last, MODE_BOTH, MODRM_ANY, REFUSE_UNDECODABLE, _name)

/*
 * Opcodes of the range for which the decoder finds no ModRM byte. With the prefixes
 * of the instruction they are undefined, or do have operands.
 */
#define HOLE(_map, _first, _last, _name) \
	REFUSE(_map, _first, _last, MODE_BOTH, MODRM_ABSENT, REFUSE_UNDECODABLE, _name)

static const struct probe_row probe_rows[] = {
	/* Near branches. */
	EMULATE(MAP_ONE, 0x70, 0x7f, MODRM_ANY, EMUL_JCC, DENY_NEAR, "jcc rel8"),
	EMULATE(MAP_0F, 0x80, 0x8f, MODRM_ANY, EMUL_JCC, DENY_NEAR, "jcc rel32"),
	EMULATE(MAP_ONE, 0xe0, 0xe0, MODRM_ANY, EMUL_LOOPNE, DENY_NEAR, "loopne"),
	EMULATE(MAP_ONE, 0xe1, 0xe1, MODRM_ANY, EMUL_LOOPE, DENY_NEAR, "loope"),
	EMULATE(MAP_ONE, 0xe2, 0xe2, MODRM_ANY, EMUL_LOOP, DENY_NEAR, "loop"),
	EMULATE(MAP_ONE, 0xe3, 0xe3, MODRM_ANY, EMUL_JCXZ, DENY_NEAR, "jcxz"),
	EMULATE(MAP_ONE, 0xe8, 0xe8, MODRM_ANY, EMUL_CALL, DENY_NEAR, "call rel32"),
	EMULATE(MAP_ONE, 0xe9, 0xe9, MODRM_ANY, EMUL_JMP, DENY_NEAR, "jmp rel32"),
	EMULATE(MAP_ONE, 0xeb, 0xeb, MODRM_ANY, EMUL_JMP, DENY_NEAR, "jmp rel8"),
	EMULATE(MAP_ONE, 0xc2, 0xc2, MODRM_ANY, EMUL_RET, DENY_NEAR, "ret imm16"),
	EMULATE(MAP_ONE, 0xc3, 0xc3, MODRM_ANY, EMUL_RET, DENY_NEAR, "ret"),
	EMULATE(MAP_ONE, 0xff, 0xff, MODRM_REG_DIRECT(2), EMUL_CALL_INDIRECT, DENY_NEAR,
		"call by register"),
	EMULATE(MAP_ONE, 0xff, 0xff, MODRM_REG_MEMORY(2), EMUL_CALL_INDIRECT, DENY_MEMORY,
		"call by memory"),
	EMULATE(MAP_ONE, 0xff, 0xff, MODRM_REG_DIRECT(4), EMUL_JMP_INDIRECT, DENY_NEAR,
		"jmp by register"),
	EMULATE(MAP_ONE, 0xff, 0xff, MODRM_REG_MEMORY(4), EMUL_JMP_INDIRECT, DENY_MEMORY,
		"jmp by memory"),

	/*
	 * Flags. A copy would read or change the interrupt and trap flags that are
	 * set while it is stepped, not those of the probed code.
	 */
	EMULATE(MAP_ONE, 0x9c, 0x9c, MODRM_ANY, EMUL_PUSHF, DENY_NEAR, "pushf"),
	EMULATE(MAP_ONE, 0x9d, 0x9d, MODRM_ANY, EMUL_POPF, DENY_NEAR, "popf"),
	EMULATE(MAP_ONE, 0xfa, 0xfa, MODRM_ANY, EMUL_CLI, DENY_FLAG, "cli"),
	EMULATE(MAP_ONE, 0xfb, 0xfb, MODRM_ANY, EMUL_STI, DENY_FLAG, "sti"),

	/* Traps on purpose. BUG(), WARN() and hypervisors use the address of the trap. */
	REFUSE(MAP_ONE, 0xcc, 0xcc, MODE_BOTH, MODRM_ANY, REFUSE_BREAKPOINT, "int3"),
	REFUSE(MAP_ONE, 0xcd, 0xcd, MODE_BOTH, MODRM_ANY, REFUSE_EXCEPTION, "int imm8"),
	REFUSE(MAP_ONE, 0xce, 0xce, MODE_32, MODRM_ANY, REFUSE_EXCEPTION, "into"),
	REFUSE(MAP_ONE, 0xf1, 0xf1, MODE_BOTH, MODRM_ANY, REFUSE_EXCEPTION, "int1"),
	REFUSE(MAP_ONE, 0x62, 0x62, MODE_32, MODRM_ANY, REFUSE_EXCEPTION, "bound"),
	REFUSE(MAP_ONE, 0xd6, 0xd6, MODE_64, MODRM_ANY, REFUSE_EXCEPTION, "udb"),
	REFUSE(MAP_0F, 0x0b, 0x0b, MODE_BOTH, MODRM_ANY, REFUSE_BUG, "ud2"),
	REFUSE(MAP_0F, 0xb9, 0xb9, MODE_BOTH, MODRM_ANY, REFUSE_EXCEPTION, "ud1"),
	REFUSE(MAP_0F, 0xff, 0xff, MODE_BOTH, MODRM_ANY, REFUSE_EXCEPTION, "ud0"),
	REFUSE(MAP_FORCED, 0x00, 0xff, MODE_BOTH, MODRM_ANY, REFUSE_EXCEPTION,
	       "forced emulation"),

	/* Far transfers. */
	REFUSE(MAP_ONE, 0x9a, 0x9a, MODE_32, MODRM_ANY, REFUSE_FAR, "far call"),
	REFUSE(MAP_ONE, 0xea, 0xea, MODE_32, MODRM_ANY, REFUSE_FAR, "far jmp"),
	REFUSE(MAP_ONE, 0xff, 0xff, MODE_BOTH, MODRM_REG(3), REFUSE_FAR, "far call by memory"),
	REFUSE(MAP_ONE, 0xff, 0xff, MODE_BOTH, MODRM_REG(5), REFUSE_FAR, "far jmp by memory"),
	REFUSE(MAP_ONE, 0xca, 0xcb, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "far ret"),
	REFUSE(MAP_ONE, 0xcf, 0xcf, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "iret"),
	REFUSE(MAP_0F, 0x05, 0x05, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "syscall"),
	REFUSE(MAP_0F, 0x07, 0x07, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "sysret"),
	REFUSE(MAP_0F, 0x34, 0x34, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "sysenter"),
	REFUSE(MAP_0F, 0x35, 0x35, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "sysexit"),
	REFUSE(MAP_0F, 0x37, 0x37, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "getsec"),
	REFUSE(MAP_0F, 0xaa, 0xaa, MODE_BOTH, MODRM_ANY, REFUSE_FAR, "rsm"),
	REFUSE_IF(MAP_0F, 0x01, 0x01, MODE_BOTH, PFX_REP, MODRM_EXACT(0xca), REFUSE_FAR,
		  "eretu, erets"),
	REFUSE_IF(MAP_0F, 0x01, 0x01, MODE_BOTH, PFX_REP, MODRM_EXACT(0xec), REFUSE_FAR,
		  "uiret"),
	REFUSE(MAP_0F, 0x01, 0x01, MODE_BOTH, MODRM_EXACT(0xd7), REFUSE_FAR, "enclu"),
	REFUSE(MAP_0F, 0x01, 0x01, MODE_BOTH, MODRM_EXACT(0xde), REFUSE_FAR, "skinit"),

	/* Both hold back interrupts until after the next instruction, which would be the trap. */
	REFUSE(MAP_ONE, 0x17, 0x17, MODE_32, MODRM_ANY, REFUSE_SHADOW, "pop ss"),
	REFUSE(MAP_ONE, 0x8e, 0x8e, MODE_BOTH, MODRM_REG(2), REFUSE_SHADOW, "mov ss"),

	/* The fallback address of xbegin is relative, and a trap aborts the transaction. */
	REFUSE(MAP_ONE, 0xc6, 0xc6, MODE_BOTH, MODRM_EXACT(0xf8), REFUSE_TRANSACTION, "xabort"),
	REFUSE(MAP_ONE, 0xc7, 0xc7, MODE_BOTH, MODRM_EXACT(0xf8), REFUSE_TRANSACTION, "xbegin"),

	REFUSE(MAP_REX2, 0x00, 0xff, MODE_64, MODRM_ANY, REFUSE_PREFIX, "rex2 prefix"),

	NOT_IN_64(0x06, 0x07, "push es, pop es in 64-bit mode"),
	NOT_IN_64(0x0e, 0x0e, "push cs in 64-bit mode"),
	NOT_IN_64(0x16, 0x17, "push ss, pop ss in 64-bit mode"),
	NOT_IN_64(0x1e, 0x1f, "push ds, pop ds in 64-bit mode"),
	NOT_IN_64(0x27, 0x27, "daa in 64-bit mode"),
	NOT_IN_64(0x2f, 0x2f, "das in 64-bit mode"),
	NOT_IN_64(0x37, 0x37, "aaa in 64-bit mode"),
	NOT_IN_64(0x3f, 0x3f, "aas in 64-bit mode"),
	NOT_IN_64(0x40, 0x4f, "second rex prefix"),
	NOT_IN_64(0x60, 0x61, "pusha, popa in 64-bit mode"),
	NOT_IN_64(0x82, 0x82, "alias of opcode 80 in 64-bit mode"),
	NOT_IN_64(0x9a, 0x9a, "far call in 64-bit mode"),
	NOT_IN_64(0xce, 0xce, "into in 64-bit mode"),
	NOT_IN_64(0xd4, 0xd5, "aam, aad in 64-bit mode"),
	NOT_IN_64(0xea, 0xea, "far jmp in 64-bit mode"),

	STRAY(0x26, 0x26, "stray es prefix"),
	STRAY(0x2e, 0x2e, "stray cs prefix"),
	STRAY(0x36, 0x36, "stray ss prefix"),
	STRAY(0x3e, 0x3e, "stray ds prefix"),
	STRAY(0x64, 0x67, "stray fs, gs or size prefix"),
	STRAY(0xf0, 0xf0, "stray lock prefix"),
	STRAY(0xf2, 0xf3, "stray rep prefix"),

	REFUSE(MAP_ONE, 0xfe, 0xfe, MODE_BOTH, MODRM_BITS_NOT_0(0x30), REFUSE_UNDECODABLE,
	       "undefined in group 4"),
	REFUSE(MAP_ONE, 0xff, 0xff, MODE_BOTH, MODRM_REG(7), REFUSE_UNDECODABLE,
	       "undefined in group 5"),

	HOLE(MAP_0F, 0x04, 0x04, "hole at 0f 04"),
	HOLE(MAP_0F, 0x0a, 0x0a, "hole at 0f 0a"),
	HOLE(MAP_0F, 0x0c, 0x0c, "hole at 0f 0c"),
	HOLE(MAP_0F, 0x10, 0x2f, "hole in 0f 10..2f"),
	HOLE(MAP_0F, 0x36, 0x36, "hole at 0f 36"),
	HOLE(MAP_0F, 0x38, 0x76, "hole in 0f 38..76"),
	HOLE(MAP_0F, 0x78, 0x7f, "hole in 0f 78..7f"),
	HOLE(MAP_0F, 0x90, 0x9f, "hole in 0f 90..9f"),
	HOLE(MAP_0F, 0xb0, 0xb8, "hole in 0f b0..b8"),
	HOLE(MAP_0F, 0xba, 0xc7, "hole in 0f ba..c7"),
	HOLE(MAP_0F, 0xd0, 0xfe, "hole in 0f d0..fe"),
	HOLE(MAP_0F38, 0x00, 0xff, "hole in 0f 38"),
	HOLE(MAP_0F3A, 0x00, 0xff, "hole in 0f 3a"),
};

/* The first match is used, so an instruction with two denied prefixes has one stable reason. */
static const struct {
	u16 prefixes;
	u8 refusal;
} prefix_refusals[] = {
	{ PFX_LOCK,	REFUSE_PREFIX },
	{ PFX_OPERAND,	REFUSE_OPERAND16 },
	{ PFX_SEGMENT,	REFUSE_SEGMENT },
	{ PFX_ADDRESS,	REFUSE_ADDRSIZE },
};

static const char * const refusal_names[NR_REFUSE] = {
	[REFUSE_NONE]		= "not refused",
	[REFUSE_UNDECODABLE]	= "not a known instruction",
	[REFUSE_BREAKPOINT]	= "a breakpoint of another owner",
	[REFUSE_EXCEPTION]	= "traps on purpose",
	[REFUSE_BUG]		= "traps on purpose, unless it is a BUG() or WARN()",
	[REFUSE_FAR]		= "far transfer",
	[REFUSE_SHADOW]		= "holds back the trap that follows it",
	[REFUSE_TRANSACTION]	= "begins or aborts a transaction",
	[REFUSE_PREFIX]		= "impossible prefix",
	[REFUSE_OPERAND16]	= "16-bit operand size",
	[REFUSE_SEGMENT]	= "branch target in another segment",
	[REFUSE_ADDRSIZE]	= "branch target with another address size",
};

static bool probe_modrm_matches(u32 cond, const struct probe_key *key)
{
	u8 mask = cond >> 8, value = cond;

	if (cond & MODRM_ABSENT)
		return !key->has_modrm;
	if ((cond & MODRM_MEMORY) && X86_MODRM_MOD(key->modrm) == 3)
		return false;
	return ((key->modrm & mask) == value) == !(cond & MODRM_NOT);
}

static bool probe_row_matches(const struct probe_row *row, const struct probe_key *key)
{
	return row->map == key->map &&
	       key->opcode >= row->first && key->opcode <= row->last &&
	       (row->modes & key->mode) &&
	       (!row->need || (row->need & key->prefixes)) &&
	       probe_modrm_matches(row->modrm, key);
}

/*
 * By map, of the first two, and opcode: where to begin in the table.  0 before
 * probe_classify_init().
 */
static u8 probe_first_rows[MAP_0F + 1][256];

static const struct probe_row *probe_find_row(const struct probe_key *key)
{
	/* Instructions of the other maps are rare in the kernel. */
	unsigned int i = key->map <= MAP_0F ? probe_first_rows[key->map][key->opcode] : 0;

	for (; i < ARRAY_SIZE(probe_rows); i++)
		if (probe_row_matches(&probe_rows[i], key))
			return &probe_rows[i];
	return NULL;
}

/**
 * probe_classify_init() - find the first row of each opcode
 *
 * Most opcodes have none, and are not compared with all rows then.
 *
 * Context: boot.
 */
void __init probe_classify_init(void)
{
	unsigned int i = ARRAY_SIZE(probe_rows), opcode;

	memset(probe_first_rows, ARRAY_SIZE(probe_rows), sizeof(probe_first_rows));
	while (i--) {
		if (probe_rows[i].map > MAP_0F)
			continue;
		for (opcode = probe_rows[i].first; opcode <= probe_rows[i].last; opcode++)
			probe_first_rows[probe_rows[i].map][opcode] = i;
	}
}

static u8 probe_map_of(struct insn *insn)
{
	if (insn_has_emulate_prefix(insn))
		return MAP_FORCED;
	if (insn_is_rex2(insn))
		return MAP_REX2;
	if (insn_is_avx_or_xop(insn))
		return MAP_VEX;
	if (insn->opcode.nbytes == 1)
		return MAP_ONE;
	if (insn->opcode.nbytes == 2)
		return MAP_0F;
	return insn->opcode.bytes[1] == 0x38 ? MAP_0F38 : MAP_0F3A;
}

static void probe_make_key(struct insn *insn, const u8 *bytes, struct probe_key *key)
{
	unsigned int i;

	key->map = probe_map_of(insn);
	key->opcode = insn->opcode.bytes[insn->opcode.nbytes - 1];
	key->has_modrm = insn->modrm.nbytes;
	key->modrm = insn->modrm.bytes[0];
	key->mode = insn->x86_64 ? MODE_64 : MODE_32;
	key->prefixes = 0;
	/* Read them from the bytes: the decoder's own list drops repeated prefixes. */
	for (i = 0; i < insn->prefixes.nbytes; i++)
		key->prefixes |= BIT(inat_get_opcode_attribute(bytes[i]) & INAT_PFX_MASK);
}

static enum probe_refusal probe_denied(const struct probe_row *row, const struct probe_key *key)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prefix_refusals); i++)
		if (row->deny & key->prefixes & prefix_refusals[i].prefixes)
			return prefix_refusals[i].refusal;
	return REFUSE_NONE;
}

static void probe_memory_operand(struct insn *insn, struct probe_insn *out)
{
	u8 mod = X86_MODRM_MOD(insn->modrm.bytes[0]);
	u8 rm = X86_MODRM_RM(insn->modrm.bytes[0]);
	u8 rex = insn->rex_prefix.bytes[0];
	u8 sib = insn->sib.bytes[0];

	out->disp = insn->displacement.value;
	if (insn->sib.nbytes) {
		rm = X86_SIB_BASE(sib);
		/* sp cannot be an index; r12, which differs in a REX bit only, can. */
		if (X86_SIB_INDEX(sib) != 4 || X86_REX_X(rex)) {
			out->index = X86_SIB_INDEX(sib) | (X86_REX_X(rex) ? 8 : 0);
			out->scale = 1 << X86_SIB_SCALE(sib);
		}
	}
	/* bp and r13 cannot be a base without a displacement: with mod 0 there is no base. */
	if (mod == 0 && rm == 5)
		out->base = out->riprel ? PROBE_REG_NEXT : PROBE_REG_NONE;
	else
		out->base = rm | (X86_REX_B(rex) ? 8 : 0);
}

static void probe_operands(struct insn *insn, const struct probe_key *key, struct probe_insn *out)
{
	if (out->emul == EMUL_JCC)
		out->cc = key->opcode & 0xf;

	if (probe_is_relative(out))
		out->disp = insn->immediate.value;

	switch (out->emul) {
	case EMUL_RET:
		out->disp = insn->immediate.value & 0xffff;
		break;
	case EMUL_JMP_INDIRECT:
	case EMUL_CALL_INDIRECT:
		if (X86_MODRM_MOD(key->modrm) == 3)
			out->reg = X86_MODRM_RM(key->modrm) |
				   (X86_REX_B(insn->rex_prefix.bytes[0]) ? 8 : 0);
		else
			probe_memory_operand(insn, out);
		break;
	}
}

static int probe_refuse(struct probe_insn *out, enum probe_refusal refusal)
{
	out->action = PROBE_REFUSE;
	out->emul = EMUL_NONE;
	out->refusal = refusal;
	return refusal == REFUSE_UNDECODABLE ? -EILSEQ : -EINVAL;
}

/* Most opcodes have no row. */
static bool probe_plain_has_row(const struct plain_insn *insn)
{
	u8 first = probe_first_rows[insn->escaped ? MAP_0F : MAP_ONE][insn->opcode];

	return first < ARRAY_SIZE(probe_rows);
}

static noinline const struct probe_row *probe_plain_row(const struct plain_insn *insn,
							bool mode_64)
{
	const struct probe_key key = {
		.map = insn->escaped ? MAP_0F : MAP_ONE, .opcode = insn->opcode,
		.modrm = insn->modrm, .has_modrm = insn->has_modrm,
		.mode = mode_64 ? MODE_64 : MODE_32,
	};

	return probe_find_row(&key);
}

/* Classifies an instruction without the kernel's decoder.  Returns false if it is needed. */
static bool probe_classify_plain(const u8 *bytes, size_t avail, enum insn_mode mode,
				 struct probe_insn *out)
{
	bool mode_64 = probe_mode_64(mode);
	const struct probe_row *row = NULL;
	struct plain_insn insn;

	if (!probe_decode_plain(bytes, avail, mode_64, &insn))
		return false;
	if (probe_plain_has_row(&insn))
		row = probe_plain_row(&insn, mode_64);
	if (row && (row->action != PROBE_EMULATE || insn.has_modrm))
		return false;
	out->len = insn.len;
	out->asize = mode_64 ? 8 : 4;
	out->riprel = insn.riprel;
	out->action = row ? PROBE_EMULATE : insn.riprel ? PROBE_REBASE : PROBE_COPY;
	if (row) {
		out->emul = row->emul;
		out->cc = row->emul == EMUL_JCC ? insn.opcode & 0xf : 0;
		out->disp = insn.imm;
	}
	return true;
}

static noinline int probe_classify_any(const u8 *bytes, size_t avail, enum insn_mode mode,
				       struct probe_insn *out)
{
	const struct probe_row *row;
	enum probe_refusal refusal;
	struct probe_key key;
	struct insn insn __uninitialized;

	if (insn_decode(&insn, bytes, avail < MAX_INSN_SIZE ? avail : MAX_INSN_SIZE, mode))
		return probe_refuse(out, REFUSE_UNDECODABLE);

	out->len = insn.length;
	out->asize = insn.addr_bytes;
	if (insn_rip_relative(&insn))
		out->riprel = insn_offset_displacement(&insn);

	probe_make_key(&insn, bytes, &key);
	row = probe_find_row(&key);
	if (!row) {
		out->action = out->riprel ? PROBE_REBASE : PROBE_COPY;
		return 0;
	}
	if (row->action == PROBE_REFUSE)
		return probe_refuse(out, row->refusal);
	refusal = probe_denied(row, &key);
	if (refusal)
		return probe_refuse(out, refusal);

	out->action = row->action;
	out->emul = row->emul;
	probe_operands(&insn, &key, out);
	return 0;
}

/**
 * probe_classify() - decide how a probed instruction is carried out
 * @bytes: the instruction, as it is without any probe
 * @avail: number of bytes that may be read; an instruction is never longer than
 *	%MAX_INSN_SIZE, and no byte after @avail is read
 * @mode: mode in which the instruction runs
 * @out: the result; always filled
 *
 * Context: any; pure.
 * Return: 0, or
 *	-EILSEQ if the bytes are not a known instruction (%REFUSE_UNDECODABLE),
 *	-EINVAL if the instruction cannot be probed; &probe_insn.refusal is the reason.
 */
int probe_classify(const u8 *bytes, size_t avail, enum insn_mode mode, struct probe_insn *out)
{
	memset(out, 0, sizeof(*out));
	out->reg = PROBE_REG_NONE;
	out->base = PROBE_REG_NONE;
	out->index = PROBE_REG_NONE;
	out->scale = 1;
	return probe_classify_plain(bytes, avail, mode, out) ? 0 :
	       probe_classify_any(bytes, avail, mode, out);
}

/**
 * probe_waits() - may an instruction wait for an interrupt?
 * @bytes: the instruction
 * @avail: number of bytes that may be read
 * @mode: mode in which it runs
 *
 * While interrupts are masked, it may wait forever.
 *
 * Context: any; pure.
 * Return: true for hlt, mwait and mwaitx; umwait and tpause also end at a masked interrupt.
 */
bool probe_waits(const u8 *bytes, size_t avail, enum insn_mode mode)
{
	struct probe_key key;
	struct insn insn __uninitialized;

	if (insn_decode(&insn, bytes, avail < MAX_INSN_SIZE ? avail : MAX_INSN_SIZE, mode))
		return false;
	probe_make_key(&insn, bytes, &key);
	if (key.map == MAP_ONE)
		return key.opcode == 0xf4;
	return key.map == MAP_0F && key.opcode == 0x01 &&
	       (key.modrm == 0xc9 || key.modrm == 0xfb);
}

/**
 * probe_refusal_name() - describe the reason of a refusal
 * @refusal: the reason
 *
 * Context: any; pure.
 * Return: a constant string that a person can read, never NULL.
 */
const char *probe_refusal_name(enum probe_refusal refusal)
{
	return refusal < NR_REFUSE ? refusal_names[refusal] : "unknown refusal";
}
