// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trampoline of return probes (x86-64), and the page that is called in place of a nop: the
 * states from which they can be left are those before their instructions, which are decoded here.
 */
#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/ptrace.h>
#include <linux/uprobes.h>
#include <asm/insn.h>
#include <asm/segment.h>

/* A task in 64-bit code, without a stack. */
static int undo_at(unsigned long offset)
{
	struct pt_regs regs = { .cs = __USER_CS, .sp = -64UL };

	return arch_uretprobe_undo(&regs, offset);
}

static int undo_32_at(unsigned long offset)
{
	struct pt_regs regs = { .cs = __USER32_CS, .sp = -64UL };

	return arch_uretprobe_undo(&regs, offset);
}

static void every_instruction_has_a_state(struct kunit *test)
{
	unsigned long size, offset = 0, count = 0;
	const u8 *code = arch_uretprobe_trampoline(&size);
	struct insn insn;
	unsigned long i;

	while (code[offset] != 0xcc) {
		KUNIT_ASSERT_EQ(test, insn_decode(&insn, code + offset, size - offset,
						  INSN_MODE_64), 0);
		KUNIT_EXPECT_NE_MSG(test, undo_at(offset), -ENOENT, "offset %lu", offset);
		for (i = 1; i < insn.length; i++)
			KUNIT_EXPECT_EQ_MSG(test, undo_at(offset + i), -ENOENT, "offset %lu",
					    offset + i);
		offset += insn.length;
		count++;
	}
	KUNIT_EXPECT_EQ(test, count, 8);
	for (; offset < size + 8; offset++)
		KUNIT_EXPECT_EQ_MSG(test, undo_at(offset), -ENOENT, "offset %lu", offset);
}

static void no_address_elsewhere_has_a_state(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, undo_at(-1UL), -ENOENT);
	KUNIT_EXPECT_EQ(test, undo_at(PAGE_SIZE), -ENOENT);
}

static void only_the_first_state_needs_no_stack(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, undo_at(0), 0);
	KUNIT_EXPECT_EQ(test, undo_at(1), -EFAULT);
}

static void narrow_code_has_one_state(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, undo_32_at(0), 0);
	KUNIT_EXPECT_EQ(test, undo_32_at(1), -ENOENT);
	KUNIT_EXPECT_EQ(test, undo_32_at(11), -ENOENT);
}

static void entries_are_where_code_is(struct kunit *test)
{
	unsigned long size;
	const u8 *code = arch_uretprobe_trampoline(&size);

	KUNIT_EXPECT_EQ(test, arch_uretprobe_entry(0x1000, 0), 0x1000);
	KUNIT_EXPECT_EQ(test, arch_uretprobe_entry(0x1000, 1), 0x1000 + size - 1);
	KUNIT_EXPECT_EQ(test, code[size - 1], 0xcc);
}

/* The page that is called in place of a nop; the return address is on the stack from its start. */
static void every_instruction_of_a_call_has_a_state(struct kunit *test)
{
	struct pt_regs regs = { .cs = __USER_CS, .sp = -64UL };
	unsigned long size, offset = 0, count = 0, i;
	const u8 *code = arch_uprobe_call_page(&size);
	struct insn insn;

	for (; code[offset] != 0xcc; offset += insn.length) {
		KUNIT_ASSERT_EQ(test, insn_decode(&insn, code + offset, size - offset,
						  INSN_MODE_64), 0);
		KUNIT_EXPECT_EQ(test, arch_uprobe_call_undo(&regs, offset), -EFAULT);
		for (i = 1; i < insn.length; i++)
			KUNIT_EXPECT_EQ(test, arch_uprobe_call_undo(&regs, offset + i), -ENOENT);
		count++;
	}
	KUNIT_EXPECT_EQ(test, count, 9);
	KUNIT_EXPECT_EQ(test, offset, size - 1);
	for (; offset < size + 8; offset++)
		KUNIT_EXPECT_EQ(test, arch_uprobe_call_undo(&regs, offset), -ENOENT);
}

static struct kunit_case trampoline_cases[] = {
	KUNIT_CASE(every_instruction_has_a_state),
	KUNIT_CASE(no_address_elsewhere_has_a_state),
	KUNIT_CASE(only_the_first_state_needs_no_stack),
	KUNIT_CASE(narrow_code_has_one_state),
	KUNIT_CASE(entries_are_where_code_is),
	KUNIT_CASE(every_instruction_of_a_call_has_a_state),
	{}
};

static struct kunit_suite trampoline_suite = {
	.name = "uprobes_x86_trampoline",
	.test_cases = trampoline_cases,
};

kunit_test_suite(trampoline_suite);
