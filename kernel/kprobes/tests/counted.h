/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_COUNTED_H
#define _KPROBES_TESTS_COUNTED_H
/*
 * A probe that counts its handlers' calls and remembers their order, for all
 * suites.  Handlers run on the CPU of the test, one after the other, unless a
 * suite says otherwise.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "entry.h"

struct counted {
	struct kprobe kp;
	int pre;
	int post;
	int order;		/* when its pre handler was last called */
};

extern int counted_calls;	/* of pre handlers, for counted::order */

int counted_pre(struct kprobe *p, struct pt_regs *regs);
void counted_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

/* A probe on @addr, or behind the landing pad there, with counting handlers. */
static inline struct counted counted_at(void *addr, bool pre, bool post)
{
	return (struct counted) {
		.kp.addr = probe_entry(addr),
		.kp.pre_handler = pre ? counted_pre : NULL,
		.kp.post_handler = post ? counted_post : NULL,
	};
}

/* In a function to be probed: a call whose result is not used stays a call. */
#define KEEP_CALL(x)	({ asm volatile("" : "+r" (x) : : "memory"); })

/*
 * Functions to be probed, int name(int x), which return x + @more.  ftrace does not know
 * the first, so that a breakpoint sits on it.
 */
#define TRAP_TARGET(name, more)						\
	static noinline __noclone notrace int name(int x)		\
	{								\
		KEEP_CALL(x);						\
		return x + (more);					\
	}
#define TRACED_TARGET(name, more)					\
	static noinline __noclone int name(int x)			\
	{								\
		KEEP_CALL(x);						\
		return x + (more);					\
	}

/* How many bytes of text a test compares before and after. */
#define TEXT_BYTES	16

static inline void text_save(u8 *bytes, const void *addr)
{
	memcpy(bytes, text_at(addr, 0), TEXT_BYTES);
}

/* Takes functions as well, which a memcmp() that is fortified by clang does not. */
static inline bool text_same(const u8 *bytes, const void *addr)
{
	return !memcmp(bytes, addr, TEXT_BYTES);
}

#define EXPECT_TEXT(test, bytes, addr)					\
	KUNIT_EXPECT_TRUE_MSG(test, text_same(bytes, text_at(addr, 0)),	\
			      "the text of %ps has changed", addr)

/* What sits at @addr, asked as a trap would. */
static inline struct kprobe *probe_at(void *addr)
{
	struct kprobe *kp;

	preempt_disable();
	kp = get_kprobe(probe_entry(addr));
	preempt_enable();
	return kp;
}

#endif /* _KPROBES_TESTS_COUNTED_H */
