// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the search for the exits of a function.
 */
#include <kunit/test.h>
#include <linux/bitmap.h>

#include "../process.h"

/* Address of the functions, which some of them have as an operand. */
#define START	0x400000UL
#define MOST	64

/**
 * struct function - a function and its exits
 * @name: of the case
 * @text: its instructions
 * @size: number of bytes
 * @err: wanted result
 * @exits: wanted offsets of exits, as bits
 */
struct function {
	const char	*name;
	const void	*text;
	unsigned int	size;
	int		err;
	u64		exits;
};

#ifdef CONFIG_X86

#define CASE(_name, _err, _exits, _text)				\
	{								\
		.name = _name, .err = _err, .exits = _exits,		\
		.text = _text, .size = sizeof(_text) - 1,		\
	}

/*
 * 74 is a conditional jump, eb a jump, e8 a call, b8 a move of a number to a register, c3 a
 * return, and 90 a nop.
 */
static const struct function functions[] = {
	CASE("return", 0, BIT(1), "\x90" "\xc3"),
	CASE("two returns", 0, BIT(2) | BIT(4), "\x74\x01" "\xc3" "\x90" "\xc3"),
	CASE("return with a number", 0, BIT(0), "\xc2\x08\x00"),
	CASE("prefixed return", 0, BIT(0), "\xf3\xc3"),
	CASE("jump", 0, BIT(1), "\x90" "\xeb\x00"),
	CASE("jump backwards", 0, BIT(1), "\x90" "\xeb\xfc"),
	CASE("jump to the entry", 0, BIT(0), "\x74\x10" "\x90" "\xeb\xfb"),
	CASE("conditional jump", 0, BIT(0) | BIT(2), "\x74\x01" "\xc3"),
	CASE("indirect jump", 0, BIT(0), "\xff\xe0"),
	CASE("jump through memory", 0, BIT(0), "\xff\x25\x00\x01\x00\x00"),
	CASE("loop", 0, BIT(3), "\x90" "\xe2\xfd" "\xc3"),
	CASE("a call that does not return", 0, BIT(2), "\x74\x01" "\xc3" "\xe8\x40\x00\x00\x00"),
	CASE("a call of itself", 0, BIT(6), "\x90" "\xe8\xfa\xff\xff\xff" "\xc3"),
	CASE("a call of the next", 0, BIT(6), "\xe8\x00\x00\x00\x00" "\x58" "\xc3"),
	CASE("a trap at the end", 0, BIT(2), "\x74\x01" "\xc3" "\x0f\x0b"),
	CASE("its own address", 0, BIT(5), "\xb8\x00\x00\x40\x00" "\xc3"),
	CASE("breakpoints as padding", 0, BIT(2) | BIT(5), "\x74\x02" "\xc3" "\xcc" "\x90" "\xc3"),
	CASE("no exit", -ENOEXEC, 0, "\x90" "\xeb\xfd"),
	CASE("continues", -ENOEXEC, 0, "\xc3" "\x90"),
	CASE("branch at the end", -ENOEXEC, 0, "\xc3" "\x74\x10"),
	CASE("cut off", -ENOEXEC, 0, "\xc3" "\xe8\x00"),
	CASE("a branch into an instruction", -ENOEXEC, 0, "\x74\x01" "\xb8\xc3\x00\x00\x00" "\xc3"),
	CASE("a branch to a breakpoint", -ENOEXEC, 0, "\x74\x01" "\xc3" "\xcc" "\xc3"),
	CASE("a call of a part", -ENOEXEC, 0, "\xe8\x01\x00\x00\x00" "\xc3" "\x90" "\xc3"),
	CASE("an address inside", -ENOEXEC, 0, "\xb8\x05\x00\x40\x00" "\xc3"),
	CASE("a breakpoint", -EEXIST, 0, "\xcc" "\xc3"),
	CASE("far return", -ENOEXEC, 0, "\xc3" "\xcb"),
	CASE("iret", -ENOEXEC, 0, "\xc3" "\xcf"),
#ifdef CONFIG_X86_64
	CASE("data by address", -ENOEXEC, 0,
	     "\x8b\x05\x01\x00\x00\x00" "\xc3" "\x01\x02\x03\x04" "\xc3"),
	CASE("an address of 64 bits", -ENOEXEC, 0,
	     "\x48\xb8\x0a\x00\x40\x00\x00\x00\x00\x00" "\xc3"),
	CASE("data outside", 0, BIT(6), "\x8b\x05\x01\x01\x00\x00" "\xc3"),
	CASE("vpmuludq is not hlt", -ENOEXEC, 0, "\xc3" "\xc5\xf1\xf4\xc2"),
#endif
};

#else /* CONFIG_ARM64 */

#define CASE(_name, _err, _exits, ...)					\
	{								\
		.name = _name, .err = _err, .exits = _exits,		\
		.text = (const __le32[]){ __VA_ARGS__ },		\
		.size = sizeof((const __le32[]){ __VA_ARGS__ }),	\
	}
#define WORD(w)		cpu_to_le32(w)
#define NOP		WORD(0xd503201f)
#define RET		WORD(0xd65f03c0)
#define B(d)		WORD(0x14000000 | ((d) & 0x3ffffff))
#define BL(d)		WORD(0x94000000 | ((d) & 0x3ffffff))
#define B_EQ(d)		WORD(0x54000000 | ((d) & 0x7ffff) << 5)
#define CBZ(d)		WORD(0xb4000000 | ((d) & 0x7ffff) << 5)
#define TBZ(d)		WORD(0x36000000 | ((d) & 0x3fff) << 5)

static const struct function functions[] = {
	CASE("return", 0, BIT(4), NOP, RET),
	CASE("two returns", 0, BIT(4) | BIT(8), B_EQ(2), RET, RET),
	CASE("jump", 0, BIT(4), NOP, B(1)),
	CASE("jump backwards", 0, BIT(4), NOP, B(-2)),
	CASE("jump to the entry", 0, BIT(4), NOP, CBZ(-2), B(-2)),
	CASE("conditional jumps", 0, BIT(0) | BIT(4) | BIT(8), TBZ(3), CBZ(-4), RET),
	CASE("indirect jump", 0, BIT(0), WORD(0xd61f0200)),
	CASE("a call that does not return", 0, BIT(4), B_EQ(2), RET, BL(0x40)),
	CASE("a call of itself", 0, BIT(4), BL(0), RET),
	CASE("a call of the next", 0, BIT(4), BL(1), RET),
	CASE("a trap at the end", 0, BIT(4), B_EQ(2), RET, WORD(0xd4207d00)),
	CASE("its own address", 0, BIT(4), WORD(0x10000000), RET),
	CASE("a vector literal outside", 0, BIT(4), WORD(0x5c000100), RET),
	CASE("no exit", -ENOEXEC, 0, NOP, B(-1)),
	CASE("continues", -ENOEXEC, 0, RET, NOP),
	{ .name = "cut off", .err = -ENOEXEC, .text = (const __le32[]){ RET, RET }, .size = 6 },
	CASE("no instruction", -ENOEXEC, 0, WORD(0xd6ffffff), RET),
	CASE("a call of a part", -ENOEXEC, 0, BL(2), RET, RET),
	CASE("an address inside", -ENOEXEC, 0, WORD(0x10000020), RET),
	CASE("a literal inside", -ENOEXEC, 0, WORD(0x58000040), RET, NOP, RET),
	CASE("a vector literal inside", -ENOEXEC, 0, WORD(0x5c000040), RET, NOP, RET),
	CASE("an authenticated return", -ENOEXEC, 0, WORD(0xd65f0bff)),
	CASE("a breakpoint", -EEXIST, 0, WORD(0xd4200000), RET),
};

#endif

KUNIT_ARRAY_PARAM_DESC(functions, functions, name);

static void exits_are_found(struct kunit *test)
{
	const struct function *function = test->param_value;
	DECLARE_BITMAP(exits, MOST) = { };
	DECLARE_BITMAP(wanted, MOST);
	const char *why = NULL;
	int err;

	err = uprobe_exits_scan(function->text, function->size, START, 0, exits, &why);
	KUNIT_EXPECT_EQ_MSG(test, err, function->err, "%s", why);
	if (err || function->err)
		return;
	bitmap_from_u64(wanted, function->exits);
	KUNIT_EXPECT_TRUE_MSG(test, bitmap_equal(exits, wanted, MOST), "%*pbl, wanted %*pbl",
			      MOST, exits, MOST, wanted);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(exits_are_found, functions_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "uprobes_exits",
	.test_cases = cases,
};

kunit_test_suite(suite);
