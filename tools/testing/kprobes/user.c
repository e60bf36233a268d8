// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions of user space: user.vec has the decision about each, and every copy is written to
 * slots at several distances and decoded again.  Random instructions are, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm/inat.h>

#include "decide.h"
#include "random.h"
#include "tap.h"
#include "tests.h"
#include "vector.h"

static unsigned int actions_seen[4];

/* Writes a decision in the words of user.vec. */
static void describe(const struct user_insn *user, enum insn_mode mode, char *text, size_t size)
{
	const struct probe_insn *insn = &user->insn;
	const char *second = "";
	int len;

	if (insn->action == PROBE_REFUSE)
		second = refusal_words[insn->refusal];
	else if (insn->action == PROBE_EMULATE)
		second = emul_words[insn->emul];
	len = snprintf(text, size, "%s%s%s", action_words[insn->action], *second ? " " : "",
		       second);
	if (insn->action == PROBE_REFUSE)
		return;
	if (user->syscall)
		len += snprintf(text + len, size - len, " syscall");
	if (user->segment != INAT_SEG_REG_IGNORE)
		len += snprintf(text + len, size - len, " segment=%s",
				user->segment == INAT_SEG_REG_FS ? "fs" : "gs");
	if (insn->asize != (mode == INSN_MODE_64 ? 8 : 4))
		snprintf(text + len, size - len, " asize=%u", insn->asize);
}

static u64 operand(const struct probe_insn *insn, const u8 *bytes, u64 at)
{
	u64 target = at + insn->len + (s32)get_unaligned_le32(bytes + insn->riprel);

	return insn->asize == 4 ? (u32)target : target;
}

/* Returns the reason why bytes of a slot are no copy of the instruction, or NULL. */
static const char *bad_copy(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
			    u64 vaddr, u64 at, const u8 *out)
{
	const struct probe_insn *insn = &user->insn;
	struct user_insn copy;
	unsigned int i;

	for (i = 0; i < insn->len; i++)
		if (out[i] != bytes[i] && !(insn->riprel && i - insn->riprel < 4))
			return "another instruction";
	if (uprobe_decide(out, insn->len, mode, &copy) || copy.insn.len != insn->len)
		return "the copy is not accepted";
	if (insn->riprel && operand(&copy.insn, out, at) != operand(insn, bytes, vaddr))
		return "another operand";
	return NULL;
}

static bool only_breakpoints(const u8 *out, unsigned int first, unsigned int end)
{
	while (first < end)
		if (out[first++] != 0xcc)
			return false;
	return true;
}

static u64 mode_mask(enum insn_mode mode)
{
	return mode == INSN_MODE_64 ? ~0ULL : 0xffffffff;
}

/* Returns the reason why a slot does not begin with the same branch, or NULL; sets its length. */
static const char *bad_branch(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
			      u64 vaddr, u64 slot, const u8 *out, unsigned int *len)
{
	const struct probe_insn *insn = &user->insn;
	u64 from = vaddr + insn->len + insn->disp, to;
	struct user_insn copy;

	if (uprobe_decide(out, USER_SLOT_HELD, mode, &copy) || copy.insn.emul != insn->emul)
		return "another branch";
	*len = copy.insn.len;
	if (!probe_is_relative(insn))
		return bad_copy(user, bytes, mode, vaddr, slot, out);
	to = slot + copy.insn.len + copy.insn.disp;
	if ((to & mode_mask(mode)) != (from & mode_mask(mode)))
		return "the branch leads elsewhere";
	return insn->emul == EMUL_JCC && copy.insn.cc != insn->cc ? "another condition" : NULL;
}

static const char *bad_copies(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
			      u64 vaddr, u64 slot, const u8 *out)
{
	const unsigned int held = USER_SLOT_HELD;
	const char *bad;

	bad = bad_copy(user, bytes, mode, vaddr, slot, out) ?:
	      bad_copy(user, bytes, mode, vaddr, slot + held, out + held);
	if (!bad && !only_breakpoints(out, held + user->insn.len, USER_SLOT_SIZE))
		return "no breakpoints after the second copy";
	return bad;
}

/* Returns the reason why a slot is not as <linux/uprobes-arch.h> wants it, or NULL. */
static const char *bad_slot(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
			    u64 vaddr, u64 slot, const u8 *out)
{
	bool branch = uprobe_is_copied_branch(user);
	unsigned int len = user->insn.len;
	struct probe_insn back;
	const char *bad;
	u64 target;

	bad = branch ? bad_branch(user, bytes, mode, vaddr, slot, out, &len) :
		       bad_copies(user, bytes, mode, vaddr, slot, out);
	if (bad)
		return bad;
	if (probe_classify(out + len, USER_SLOT_HELD - len, mode, &back) || back.emul != EMUL_JMP)
		return "no jump back";
	target = slot + len + back.len + back.disp;
	if ((target & mode_mask(mode)) != ((vaddr + user->insn.len) & mode_mask(mode)))
		return "the jump leads elsewhere";
	if (!only_breakpoints(out, len + back.len, USER_SLOT_HELD))
		return "no breakpoints after the jump";
	if (branch && (memcmp(out + USER_SLOT_HELD, bytes, user->insn.len) ||
		       !only_breakpoints(out, USER_SLOT_HELD + user->insn.len, USER_SLOT_SIZE)))
		return "no original after the branch";
	return NULL;
}

/* Writes a slot at @slot.  Returns the reason why it is bad, or NULL. */
static const char *check_slot(const struct user_insn *user, const u8 *bytes, enum insn_mode mode,
			      u64 vaddr, u64 slot, bool *written)
{
	u8 out[2 * USER_SLOT_SIZE];
	int ret;

	memset(out, UNTOUCHED, sizeof(out));
	ret = uprobe_write_slot(user, bytes, mode, vaddr, slot, out);
	*written = !ret;
	if (!all_untouched(out, USER_SLOT_SIZE, sizeof(out)))
		return "written after the slot";
	if (!uprobe_has_copy(user))
		return ret == -EINVAL ? NULL : "an emulated instruction has a slot";
	if (ret)
		return ret == -ERANGE && mode == INSN_MODE_64 ? NULL : "not written";
	return bad_slot(user, bytes, mode, vaddr, slot, out);
}

/* Checks slots around the text, two of which only unsigned 32-bit displacements reach. */
static const char *check_slots(const struct user_insn *user, const u8 *bytes, enum insn_mode mode)
{
	const u64 vaddr = mode == INSN_MODE_64 ? 0x7f0012345678 : 0x56789012;
	const u64 slots[] = {
		vaddr - 0x100000, vaddr + 0x40000000, vaddr - 0x7fffff00,
		vaddr - 0xffffffff, vaddr + 0x100000000,
	};
	bool written, near = false, far = false;
	const char *bad = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(slots) && !bad; i++) {
		u64 slot = mode == INSN_MODE_64 ? slots[i] : (u32)slots[i];

		bad = check_slot(user, bytes, mode, vaddr, slot, &written);
		near |= written && i < 3;
		far |= written && i >= 3;
	}
	if (!bad && near != uprobe_has_copy(user))
		return "no slot at all";
	if (!bad && mode == INSN_MODE_64 && far)
		return "a slot out of reach";
	return bad;
}

static void check_decision(struct vector_file *vectors, enum insn_mode mode,
			   const unsigned char *bytes, unsigned int len)
{
	struct user_insn user;
	const char *bad = NULL;
	char text[128];
	int ret, want;
	bool ok;

	ret = uprobe_decide(bytes, len, mode, &user);
	describe(&user, mode, text, sizeof(text));
	want = user.insn.action != PROBE_REFUSE ? 0 :
	       user.insn.refusal == REFUSE_UNDECODABLE ? -EILSEQ : -EOPNOTSUPP;
	ok = !strcmp(text, vectors->column[3]) && ret == want &&
	     (ret || user.insn.len == len);
	if (!ok)
		tap_note("%s:%u: length %u, %d, decision: %s", vectors->name, vectors->line,
			 user.insn.len, ret, text);
	if (!ret)
		bad = check_slots(&user, bytes, mode);
	if (bad)
		tap_note("%s:%u: slot: %s", vectors->name, vectors->line, bad);
	actions_seen[user.insn.action]++;
	tap_ok(ok && !bad, "in %s-bit mode of user space %s: %s",
	       mode == INSN_MODE_64 ? "64" : "32", vectors->column[2], vectors->column[3]);
}

/* Calls that are emulated with another prefix have the operands of the plain call. */
static void test_prefixed_call(void)
{
	static const unsigned char call[] = { 0x64, 0x67, 0x41, 0xff, 0x54, 0x8d, 0x10 };
	struct user_insn user;
	bool ok;

	ok = !uprobe_decide(call, sizeof(call), INSN_MODE_64, &user) &&
	     user.insn.len == sizeof(call) && user.insn.base == 13 && user.insn.index == 1 &&
	     user.insn.scale == 4 && user.insn.disp == 16 && user.insn.asize == 4 &&
	     user.segment == INAT_SEG_REG_FS;
	tap_ok(ok, "call *%%fs:0x10(%%r13d,%%ecx,4) keeps its operands");
}

static void test_random_user(unsigned long rounds)
{
	unsigned char *end = page_end(), *bytes = end - MAX_INSN_SIZE;
	unsigned long i, slots = 0;
	const char *bad = NULL;
	struct user_insn user;

	for (i = 0; i < rounds / 4 && !bad; i++) {
		enum insn_mode mode = i & 1 ? INSN_MODE_64 : INSN_MODE_32;

		random_bytes(bytes, MAX_INSN_SIZE);
		if (uprobe_decide(bytes, MAX_INSN_SIZE, mode, &user))
			continue;
		bad = check_slots(&user, bytes, mode);
		slots += uprobe_has_copy(&user);
	}
	if (bad) {
		tap_note("round %lu: %s", i, bad);
		tap_bytes(bytes, MAX_INSN_SIZE);
	}
	tap_ok(!bad && slots > rounds / 100, "%lu random instructions have correct slots", slots);
}

void test_user(const char *dir, unsigned long rounds)
{
	check_in_modes(dir, "user.vec", check_decision);
	tap_ok(!vector_unseen("action of user space", action_words, actions_seen, 0,
			      ARRAY_SIZE(actions_seen)),
	       "every decision for user space has a vector");
	test_prefixed_call();
	test_random_user(rounds);
}
