// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decide how a probed instruction of user space is carried out.
 *
 * The classifier of kprobes decides for the kernel, where more instructions are refused, and
 * more are emulated, than in user space:
 *
 * - An instruction that traps on purpose, traps in the copy, too.  The engine reports the address
 *   of the original.
 * - In user space cli, in or hlt fault, at the copy as at the original.
 * - The interrupt flag is not changed for the time of the copy, so that pushf can be copied.
 *
 * So this file accepts most refused instructions as copies.  The emulator knows all near branches;
 * those that a slot can have are copied, because that costs less.  Far branches are refused.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/inat.h>
#include <asm/insn.h>

#include "decide.h"

#define BREAKPOINT	0xcc
#define PREFIX_CS	0x2e	/* ignored before a near branch */
#define PREFIX_FS	0x64
#define PREFIX_GS	0x65
#define PREFIX_OPERAND	0x66
#define PREFIX_ADDRESS	0x67

/* How an instruction is handled that the classifier refuses in the kernel. */
enum rule {
	RULE_REFUSE,
	RULE_COPY,	/* unless it is a branch */
	RULE_OPERANDS,	/* likewise; a branch may be emulated in spite of its prefixes */
};

static const u8 rules[NR_REFUSE] = {
	[REFUSE_UNDECODABLE]	= RULE_REFUSE,
	[REFUSE_BREAKPOINT]	= RULE_REFUSE,
	[REFUSE_EXCEPTION]	= RULE_COPY,
	[REFUSE_BUG]		= RULE_COPY,
	[REFUSE_FAR]		= RULE_COPY,
	[REFUSE_SHADOW]		= RULE_COPY,
	[REFUSE_TRANSACTION]	= RULE_COPY,
	[REFUSE_PREFIX]		= RULE_COPY,
	[REFUSE_OPERAND16]	= RULE_OPERANDS,
	[REFUSE_SEGMENT]	= RULE_OPERANDS,
	[REFUSE_ADDRSIZE]	= RULE_OPERANDS,
};

/* The opcode and its map: 0 without an escape, 1 after 0f, 2 for others. */
static unsigned int opcode_map(struct insn *insn, u8 *opcode)
{
	*opcode = insn->opcode.bytes[insn->opcode.nbytes - 1];
	if (insn_is_avx_or_xop(insn))
		return 2;
	if (insn_is_rex2(insn))
		return X86_REX2_M(insn->rex_prefix.bytes[1]) ? 1 : 0;
	return insn->opcode.nbytes - 1U;
}

/* Does the instruction continue elsewhere than after its end?  System calls are not meant. */
static bool is_branch(struct insn *insn)
{
	u8 opcode, modrm = insn->modrm.bytes[0];
	unsigned int map = opcode_map(insn, &opcode);

	if (map)
		return map == 1 && (opcode & 0xf0) == 0x80;	/* jcc */

	switch (opcode) {
	case 0x70 ... 0x7f:	/* jcc */
	case 0xc2 ... 0xc3:	/* ret */
	case 0xca ... 0xcb:	/* far ret */
	case 0xcf:		/* iret */
	case 0xe0 ... 0xe3:	/* loop, jcxz */
	case 0xe8:		/* call */
	case 0xe9 ... 0xeb:	/* jmp, far jmp */
	case 0x9a:		/* far call */
		return true;
	case 0xff:		/* near and far, call and jmp, by register or memory */
		return X86_MODRM_REG(modrm) >= 2 && X86_MODRM_REG(modrm) <= 5;
	case 0xc7:		/* xbegin; a transaction that is aborted continues elsewhere */
		return modrm == 0xf8;
	case 0xa1:		/* jmpabs */
		return insn_is_rex2(insn);
	default:
		return false;
	}
}

enum syscall_kind {
	NO_SYSCALL,
	SYSCALL_RETURNS,	/* to the next instruction */
	SYSCALL_ELSEWHERE,	/* to an address that the kernel knows */
};

static enum syscall_kind syscall_kind(struct insn *insn, enum insn_mode mode)
{
	unsigned int map;
	u8 opcode;

	map = opcode_map(insn, &opcode);
	if (map == 0 && opcode == 0xcd && insn->immediate.bytes[0] == 0x80)
		return SYSCALL_RETURNS;
	if (map == 1 && opcode == 0x05)			/* syscall */
		return mode == INSN_MODE_64 ? SYSCALL_RETURNS : SYSCALL_ELSEWHERE;
	if (map == 1 && opcode == 0x34)			/* sysenter */
		return SYSCALL_ELSEWHERE;
	return NO_SYSCALL;
}

/*
 * Is it the breakpoint of two bytes, whose trap is that of the breakpoints in a slot, or a popf
 * of a width that the emulator does not know?  A popf that sets the trap flag would trap in the
 * slot.
 */
static bool traps_in_slot(struct insn *insn)
{
	unsigned int map;
	u8 opcode;

	map = opcode_map(insn, &opcode);
	return !map && ((opcode == 0xcd && insn->immediate.bytes[0] == 3) || opcode == 0x9d);
}

/* The fix-up of the vDSO for an exception of enclu is found by the address of the original. */
static bool has_fixup(struct insn *insn)
{
	u8 opcode;

	return opcode_map(insn, &opcode) == 1 && opcode == 0x01 && insn->modrm.bytes[0] == 0xd7;
}

static int accept_copy(struct user_insn *out)
{
	out->insn.action = out->insn.riprel ? PROBE_REBASE : PROBE_COPY;
	out->insn.emul = EMUL_NONE;
	out->insn.refusal = REFUSE_NONE;
	return 0;
}

/*
 * Classifies a near branch whose prefixes the classifier does not allow, with prefixes in their
 * place that have no effect.  Returns false if the prefixes do have an effect which the emulator
 * does not know.
 */
static bool classify_prefixed(struct insn *insn, const u8 *bytes, enum insn_mode mode,
			      struct user_insn *out)
{
	u8 plain[MAX_INSN_SIZE], segment = INAT_SEG_REG_IGNORE;
	bool operand = false, address = false;
	unsigned int i;

	memcpy(plain, bytes, insn->length);
	for (i = 0; i < insn->prefixes.nbytes; i++) {
		switch (plain[i]) {
		case PREFIX_FS:
			segment = INAT_SEG_REG_FS;
			break;
		case PREFIX_GS:
			segment = INAT_SEG_REG_GS;
			break;
		case PREFIX_OPERAND:
			operand = true;
			break;
		case PREFIX_ADDRESS:
			address = true;
			break;
		case 0x26:	/* es and ss, whose base is 0 */
		case 0x36:
			break;
		default:
			continue;
		}
		plain[i] = PREFIX_CS;
	}
	/* REX.W overrides the operand size, on all processors. */
	if (operand && !(mode == INSN_MODE_64 && X86_REX_W(insn->rex_prefix.bytes[0])))
		return false;
	/* Other registers form a 16-bit address. */
	if (address && mode != INSN_MODE_64)
		return false;
	if (probe_classify(plain, insn->length, mode, &out->insn))
		return false;
	if (address)
		out->insn.asize = 4;
	out->segment = segment;
	return true;
}

static int refuse(struct user_insn *out, enum probe_refusal refusal)
{
	out->insn.action = PROBE_REFUSE;
	out->insn.emul = EMUL_NONE;
	out->insn.refusal = refusal;
	return -EOPNOTSUPP;
}

/* Decides about an instruction that the classifier has refused. */
static noinline int decide_refused(const u8 *bytes, size_t avail, enum insn_mode mode,
				   struct user_insn *out)
{
	enum probe_refusal refusal = out->insn.refusal;
	enum syscall_kind syscall;
	struct insn insn __uninitialized;

	/* Cannot fail: the classifier has decoded the same bytes. */
	insn_decode(&insn, bytes, avail < MAX_INSN_SIZE ? avail : MAX_INSN_SIZE, mode);
	syscall = syscall_kind(&insn, mode);
	if (rules[refusal] == RULE_REFUSE || syscall == SYSCALL_ELSEWHERE ||
	    traps_in_slot(&insn) || has_fixup(&insn))
		return refuse(out, refusal);
	if (!is_branch(&insn)) {
		out->syscall = syscall == SYSCALL_RETURNS;
		return accept_copy(out);
	}
	if (rules[refusal] == RULE_OPERANDS && classify_prefixed(&insn, bytes, mode, out))
		return 0;
	return refuse(out, refusal);
}

/* Does an instruction that the kernel emulates run as a copy in user space? */
static bool copy_suffices(const struct user_insn *user)
{
	switch (user->insn.emul) {
	case EMUL_PUSHF:
	case EMUL_CLI:
	case EMUL_STI:
		return true;
	default:
		return false;
	}
}

/**
 * uprobe_decide() - decide how a probed instruction of user space is carried out
 * @bytes: the instruction, as it is without any probe
 * @avail: number of bytes that may be read
 * @mode: %INSN_MODE_32 or %INSN_MODE_64
 * @out: the result; always filled
 *
 * Context: any; pure.
 * Return: 0, or
 *	-EILSEQ if the bytes are not a known instruction,
 *	-EOPNOTSUPP if the instruction cannot be probed; the reason of both is
 *	&probe_insn.refusal.
 */
int uprobe_decide(const u8 *bytes, size_t avail, enum insn_mode mode, struct user_insn *out)
{
	int ret;

	out->segment = INAT_SEG_REG_IGNORE;
	out->syscall = false;
	ret = probe_classify(bytes, avail, mode, &out->insn);
	if (ret == -EILSEQ)
		return ret;
	if (ret)
		return decide_refused(bytes, avail, mode, out);
	return copy_suffices(out) ? accept_copy(out) : 0;
}

/**
 * uprobe_write_slot() - write the slot of an instruction
 * @user: from uprobe_decide() for @bytes
 * @bytes: the instruction
 * @mode: mode in which it runs
 * @vaddr: address of the instruction
 * @slot: address of the slot
 * @out: room for %USER_SLOT_SIZE bytes
 *
 * The slot has two copies of the length of the original.  A jump to the instruction after the
 * original follows the first one, which may be longer if it is a branch; the second copy of a
 * branch is the original itself.  All other bytes are breakpoints.
 *
 * Context: any; pure.
 * Return: 0, or
 *	-EINVAL if the instruction has no copy,
 *	-ERANGE if @slot is too far from the text, or from the operand or target of the
 *	instruction.
 */
int uprobe_write_slot(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
		      u64 vaddr, u64 slot, u8 *out)
{
	unsigned int len = user->insn.len;
	int ret = 0, copied;

	if (!uprobe_has_copy(user))
		return -EINVAL;
	memset(out, BREAKPOINT, USER_SLOT_SIZE);
	copied = probe_relocate(&user->insn, bytes, mode, vaddr, slot, out);
	if (copied < 0)
		return copied;
	if (uprobe_is_copied_branch(user))
		memcpy(out + USER_SLOT_HELD, bytes, len);
	else
		ret = probe_rebase(&user->insn, bytes, vaddr, slot + USER_SLOT_HELD,
				   out + USER_SLOT_HELD);
	if (ret < 0)
		return ret;
	ret = probe_put_jump(mode, out + copied, slot + copied, vaddr + len);
	return ret < 0 ? ret : 0;
}
