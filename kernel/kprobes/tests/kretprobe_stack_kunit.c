// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Return probes and the stack: traces show real return addresses, fprobe may hook the same
 * call, and calls may end in other ways than by a return.
 */
#include <linux/completion.h>
#include <linux/fprobe.h>
#include <linux/kthread.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/stacktrace.h>

#include "counted.h"
#ifdef CONFIG_X86
#include "asm_case.h"
#endif

#define MAX_ENTRIES	64

/* --- A chain of three functions ------------------------------------------------- */

/* Return addresses of the two inner functions when nothing is probed. */
static unsigned long inner_caller, middle_caller;

static unsigned long inside[MAX_ENTRIES];
static unsigned int nr_inside;

static bool blocking;
static DECLARE_COMPLETION(blocked);
static DECLARE_COMPLETION(may_go_on);

/* The same functions, for a breakpoint or for ftrace: @attribute is notrace, or nothing. */
#define DEFINE_CHAIN(prefix, attribute)						\
static noinline __noclone attribute int prefix##_inner(int x)			\
{										\
	inner_caller = _RET_IP_;						\
	nr_inside = stack_trace_save(inside, MAX_ENTRIES, 0);			\
	if (blocking) {								\
		complete(&blocked);						\
		wait_for_completion(&may_go_on);				\
	}									\
	return x + 1;								\
}										\
										\
static noinline __noclone attribute int prefix##_middle(int x)			\
{										\
	middle_caller = _RET_IP_;						\
	x = prefix##_inner(x);							\
	barrier();								\
	return x + 1;								\
}

DEFINE_CHAIN(trap, notrace)
DEFINE_CHAIN(traced, /* nothing */)

typedef int (*chain_fn)(int x);

static const struct chain {
	const char *name;
	chain_fn inner;
	chain_fn middle;
} chains[] = {
	{ "breakpoint", trap_inner, trap_middle },
	{ "traced entry", traced_inner, traced_middle },
};

KUNIT_ARRAY_PARAM_DESC(chain, chains, name);

/* The only caller of the chain. */
static noinline notrace int outer(chain_fn middle, int x)
{
	x = middle(x);
	barrier();
	return x + 1;
}

/* --- Traces ----------------------------------------------------------------------- */

/* Both addresses stand in the trace, one after the other, and no trampoline does. */
static bool trace_is_real(const unsigned long *trace, unsigned int nr,
			  unsigned long from, unsigned long to)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (is_kretprobe_trampoline(trace[i]))
			return false;
		if (i && trace[i - 1] == from && trace[i] == to)
			found = true;
	}
	return found;
}

static struct {
	unsigned int returns;
	bool inner_real;	/* result in the handler of the inner function */
	bool middle_real;	/* result in that of the middle one: its caller is in the trace */
	bool perf_real;
} seen;

/* The expected addresses, from a call without probes. */
static unsigned long wanted_inner, wanted_middle;

#ifdef CONFIG_PERF_EVENTS
/* The trace that perf records for a sample at @regs. */
static bool callchain_is_real(struct pt_regs *regs)
{
	static u64 room[MAX_ENTRIES + 1];
	struct perf_callchain_entry_ctx ctx = {
		.entry = (struct perf_callchain_entry *)room,
		.max_stack = MAX_ENTRIES,
	};
	unsigned long trace[MAX_ENTRIES];
	unsigned int i;

	ctx.entry->nr = 0;
	perf_callchain_kernel(&ctx, regs);
	for (i = 0; i < ctx.entry->nr; i++)
		trace[i] = ctx.entry->ip[i];
	return trace_is_real(trace, i, wanted_inner, wanted_middle);
}
#endif

static int inner_returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long trace[MAX_ENTRIES];
	unsigned int nr = stack_trace_save(trace, MAX_ENTRIES, 0);

	seen.returns++;
	seen.inner_real = trace_is_real(trace, nr, wanted_inner, wanted_middle) &&
			  get_kretprobe_retaddr(ri) == wanted_inner;
#ifdef CONFIG_PERF_EVENTS
	seen.perf_real = callchain_is_real(regs);
#endif
	return 0;
}

static int middle_returns(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long trace[MAX_ENTRIES];
	unsigned int i, nr = stack_trace_save(trace, MAX_ENTRIES, 0);

	seen.returns++;
	seen.middle_real = false;
	for (i = 0; i < nr; i++) {
		if (is_kretprobe_trampoline(trace[i]))
			return 0;
		seen.middle_real |= trace[i] == wanted_middle;
	}
	return 0;
}

static int stack_init(struct kunit *test)
{
	memset(&seen, 0, sizeof(seen));
	blocking = false;
	return 0;
}

/* Two probes on the inner function, one on the middle one. */
struct chain_probes {
	struct kretprobe inner, again, middle;
};

/* Records the addresses before any hook is installed. */
static void learn_chain(struct kunit *test, const struct chain *chain)
{
	outer(chain->middle, 1);
	wanted_inner = inner_caller;
	wanted_middle = middle_caller;
	KUNIT_EXPECT_TRUE(test, trace_is_real(inside, nr_inside, wanted_inner, wanted_middle));
}

static void probe_chain(struct kunit *test, const struct chain *chain,
			struct chain_probes *p)
{
	*p = (struct chain_probes) {
		.inner = { .kp.addr = (void *)chain->inner, .handler = inner_returns },
		.again = { .kp.addr = (void *)chain->inner, .handler = inner_returns },
		.middle = { .kp.addr = (void *)chain->middle, .handler = middle_returns },
	};
	KUNIT_ASSERT_EQ(test, register_kretprobe(&p->inner), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&p->again), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&p->middle), 0);
}

static void unprobe_chain(struct chain_probes *p)
{
	unregister_kretprobe(&p->middle);
	unregister_kretprobe(&p->again);
	unregister_kretprobe(&p->inner);
}

static void traces_are_real(struct kunit *test)
{
	const struct chain *chain = test->param_value;
	struct chain_probes probes;

	learn_chain(test, chain);
	probe_chain(test, chain, &probes);
	nr_inside = 0;
	KUNIT_EXPECT_EQ(test, outer(chain->middle, 1), 4);
	/* The function itself sees the trampoline as its return address. */
	KUNIT_EXPECT_TRUE(test, is_kretprobe_trampoline(inner_caller));
	KUNIT_EXPECT_TRUE(test, trace_is_real(inside, nr_inside, wanted_inner, wanted_middle));
	KUNIT_EXPECT_EQ(test, seen.returns, 3U);
	KUNIT_EXPECT_TRUE(test, seen.inner_real);
	KUNIT_EXPECT_TRUE(test, seen.middle_real);
#ifdef CONFIG_PERF_EVENTS
	KUNIT_EXPECT_TRUE(test, seen.perf_real);
#endif
	unprobe_chain(&probes);
}

static int blocked_thread(void *chain)
{
	outer(((const struct chain *)chain)->middle, 1);
	complete(&blocked);
	return 0;
}

static void traces_of_a_blocked_task_are_real(struct kunit *test)
{
	const struct chain *chain = test->param_value;
	unsigned long trace[MAX_ENTRIES];
	struct chain_probes probes;
	struct task_struct *task;
	unsigned int nr = 0;
	int i;

	learn_chain(test, chain);
	probe_chain(test, chain, &probes);
	blocking = true;
	reinit_completion(&blocked);
	reinit_completion(&may_go_on);
	task = kthread_run(blocked_thread, (void *)chain, "kprobe_stack");
	if (IS_ERR(task)) {
		unprobe_chain(&probes);
		KUNIT_FAIL_AND_ABORT(test, "no thread");
	}
	wait_for_completion(&blocked);
	for (i = 0; i < 200 && !nr; i++) {
		schedule_timeout_uninterruptible(1);
		if (!task_is_running(task))
			nr = stack_trace_save_tsk(task, trace, MAX_ENTRIES, 0);
	}
	KUNIT_EXPECT_TRUE(test, trace_is_real(trace, nr, wanted_inner, wanted_middle));
	complete(&may_go_on);
	wait_for_completion(&blocked);
	KUNIT_EXPECT_EQ(test, seen.returns, 3U);
	unprobe_chain(&probes);
}

/* --- fprobe hooks the same call ------------------------------------------------------ */

#ifdef CONFIG_FPROBE
static unsigned int fprobe_returns;
static unsigned long fprobe_ret_addr;

static void fprobe_returned(struct fprobe *fp, unsigned long entry_ip,
			    unsigned long ret_ip, struct ftrace_regs *regs, void *data)
{
	fprobe_returns++;
	fprobe_ret_addr = ret_ip;
}

/* The trampoline is in place of the caller if the return probes are hit before fprobe. */
static bool returns_to_caller(unsigned long addr)
{
	return addr == wanted_inner || is_kretprobe_trampoline(addr);
}

static void shares_a_call_with_fprobe(struct kunit *test, bool fprobe_first)
{
	unsigned long addr = ftrace_location((unsigned long)traced_inner);
	struct fprobe fp = { .exit_handler = fprobe_returned };
	struct chain_probes probes;
	int i;

	KUNIT_ASSERT_NE(test, addr, 0UL);
	learn_chain(test, &chains[1]);
	fprobe_returns = 0;
	if (fprobe_first)
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fp, &addr, 1), 0);
	probe_chain(test, &chains[1], &probes);
	if (!fprobe_first)
		KUNIT_ASSERT_EQ(test, register_fprobe_ips(&fp, &addr, 1), 0);
	for (i = 1; i <= 3; i++) {
		nr_inside = 0;
		fprobe_ret_addr = 0;
		KUNIT_EXPECT_EQ(test, outer(traced_middle, 1), 4);
		KUNIT_EXPECT_TRUE(test, trace_is_real(inside, nr_inside, wanted_inner,
						      wanted_middle));
		KUNIT_EXPECT_EQ(test, fprobe_returns, (unsigned int)i);
		KUNIT_EXPECT_TRUE(test, returns_to_caller(fprobe_ret_addr));
		KUNIT_EXPECT_EQ(test, seen.returns, 3U * i);
	}
	KUNIT_EXPECT_TRUE(test, seen.middle_real);
	unregister_fprobe(&fp);
	KUNIT_EXPECT_EQ(test, outer(traced_middle, 1), 4);
	KUNIT_EXPECT_TRUE(test, seen.inner_real);
	unprobe_chain(&probes);
}

static void fprobe_comes_first(struct kunit *test)
{
	shares_a_call_with_fprobe(test, true);
}

static void fprobe_comes_last(struct kunit *test)
{
	shares_a_call_with_fprobe(test, false);
}
#endif

/* --- Tail calls, and calls that do not return ------------------------------------------- */

#ifdef CONFIG_X86
asm(ASM_FUNCTION(kprobes_tail_target,
		 "xchg " AX ", " AX "\n"
		 "mov $77, %eax\n"
		 ASM_RET));

asm(ASM_FUNCTION(kprobes_tail_caller,
		 "xchg " AX ", " AX "\n"
		 "jmp kprobes_tail_target\n"));

#ifdef CONFIG_X86_64
#define PUSH_KEPT	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
#define POP_KEPT	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
#else
#define PUSH_KEPT	"push %ebx; push %ebp; push %esi; push %edi\n"
#define POP_KEPT	"pop %edi; pop %esi; pop %ebp; pop %ebx\n"
#endif

unsigned long kprobes_caught_sp;

/* kprobes_throw() returns to kprobes_catch(), which then returns 1. */
asm(ASM_FUNCTION(kprobes_catch,
		 PUSH_KEPT
		 "mov " SP ", kprobes_caught_sp\n"
		 ANNOTATE_RETPOLINE_SAFE "\n"
		 "call *" ARG "\n"
		 "xor %eax, %eax\n"
		 "kprobes_caught:\n"
		 POP_KEPT
		 ASM_RET));

asm(ASM_FUNCTION(kprobes_throw,
		 "mov kprobes_caught_sp, " SP "\n"
		 "mov $1, %eax\n"
		 "jmp kprobes_caught\n"));

asm(ASM_UNCHECKED(kprobes_catch) ASM_UNCHECKED(kprobes_throw));

static int tail_returns;
static unsigned long tail_ret_addr[2];

static int tail_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	tail_ret_addr[tail_returns++ & 1] = get_kretprobe_retaddr(ri);
	return regs_return_value(regs) == 77 ? 0 : -1;
}

static void tail_calls_return_twice(struct kunit *test)
{
	struct kretprobe target = { .kp.symbol_name = "kprobes_tail_target",
				    .handler = tail_returned };
	struct kretprobe caller = { .kp.symbol_name = "kprobes_tail_caller",
				    .handler = tail_returned };

	tail_returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&target), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&caller), 0);
	KUNIT_EXPECT_EQ(test, kprobes_tail_caller(1), 77);
	KUNIT_EXPECT_EQ(test, tail_returns, 2);
	KUNIT_EXPECT_EQ(test, tail_ret_addr[0], tail_ret_addr[1]);
	KUNIT_EXPECT_FALSE(test, is_kretprobe_trampoline(tail_ret_addr[0]));
	KUNIT_EXPECT_EQ(test, kprobes_tail_target(1), 77);
	KUNIT_EXPECT_EQ(test, tail_returns, 3);
	unregister_kretprobe(&caller);
	unregister_kretprobe(&target);
}

static noinline notrace __noclone long leaving(void)
{
	barrier();
	kprobes_throw();
}

static noinline notrace __noclone long catching(int x)
{
	long caught = kprobes_catch(leaving);

	barrier();
	return caught + x;
}

static int catch_returns, leave_returns;

static int catch_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	catch_returns++;
	return 0;
}

static int leave_returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	leave_returns++;
	return 0;
}

/* Leaves calls like longjmp(): the documented message is printed, no instance is lost. */
static void calls_left_by_longjmp_are_released(struct kunit *test)
{
	struct kretprobe left = { .kp.addr = (void *)leaving, .maxactive = 2,
				  .handler = leave_returned };
	struct kretprobe catcher = { .kp.addr = (void *)catching, .maxactive = 1,
				     .handler = catch_returned };
	int i;

	catch_returns = 0;
	leave_returns = 0;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&left), 0);
	KUNIT_ASSERT_EQ(test, register_kretprobe(&catcher), 0);
	pr_info("kprobes-test: expect-warning begin\n");
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, catching(i), 1L + i);
	pr_info("kprobes-test: expect-warning end\n");
	KUNIT_EXPECT_EQ(test, catch_returns, 5);
	KUNIT_EXPECT_EQ(test, leave_returns, 0);
	KUNIT_EXPECT_EQ(test, catcher.nmissed, 0);
	KUNIT_EXPECT_EQ(test, left.nmissed, 0);
	unregister_kretprobe(&catcher);
	unregister_kretprobe(&left);
}
#endif

static struct kunit_case stack_cases[] = {
	KUNIT_CASE_PARAM(traces_are_real, chain_gen_params),
	KUNIT_CASE_PARAM(traces_of_a_blocked_task_are_real, chain_gen_params),
#ifdef CONFIG_FPROBE
	KUNIT_CASE(fprobe_comes_first),
	KUNIT_CASE(fprobe_comes_last),
#endif
#ifdef CONFIG_X86
	KUNIT_CASE(tail_calls_return_twice),
	KUNIT_CASE(calls_left_by_longjmp_are_released),
#endif
	{}
};

static struct kunit_suite stack_suite = {
	.name = "kprobes_kretprobe_stack",
	.init = stack_init,
	.test_cases = stack_cases,
};
kunit_test_suite(stack_suite);
