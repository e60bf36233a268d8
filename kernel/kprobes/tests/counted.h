/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_COUNTED_H
#define _KPROBES_TESTS_COUNTED_H
/*
 * A probe that counts the calls of its handlers and records their order, for all suites.
 * Handlers run on the CPU of the test, one after the other, unless a suite states
 * otherwise.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/string.h>

#include "entry.h"

struct counted {
	struct kprobe kp;
	int pre;
	int post;
	int order;		/* value of counted_calls at the last call of its pre handler */
};

extern int counted_calls;	/* of pre handlers, for counted::order */

int counted_pre(struct kprobe *p, struct pt_regs *regs);
void counted_post(struct kprobe *p, struct pt_regs *regs, unsigned long flags);

/* A probe with counting handlers on @addr, or after the landing pad there. */
static inline struct counted counted_at(void *addr, bool pre, bool post)
{
	return (struct counted) {
		.kp.addr = probe_entry(addr),
		.kp.pre_handler = pre ? counted_pre : NULL,
		.kp.post_handler = post ? counted_post : NULL,
	};
}

/* Used in a function to be probed: a call whose result is not used stays a call. */
#define KEEP_CALL(x)	({ asm volatile("" : "+r" (x) : : "memory"); })

/*
 * Functions to be probed, int name(int x), which return x + @more. ftrace does not trace
 * the first kind, so a probe on it is a breakpoint.
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

/* Number of bytes of text that a test compares before and after. */
#define TEXT_BYTES	16

static inline void text_save(u8 *bytes, const void *addr)
{
	memcpy(bytes, text_at(addr, 0), TEXT_BYTES);
}

/* Also accepts functions, which clang's fortified memcmp() does not. */
static inline bool text_same(const u8 *bytes, const void *addr)
{
	return !memcmp(bytes, addr, TEXT_BYTES);
}

#define EXPECT_TEXT(test, bytes, addr)					\
	KUNIT_EXPECT_TRUE_MSG(test, text_same(bytes, text_at(addr, 0)),	\
			      "the text of %ps has changed", addr)

/* The probe at @addr, looked up as a trap does. */
static inline struct kprobe *probe_at(void *addr)
{
	struct kprobe *kp;

	preempt_disable();
	kp = get_kprobe(probe_entry(addr));
	preempt_enable();
	return kp;
}

#endif /* _KPROBES_TESTS_COUNTED_H */
