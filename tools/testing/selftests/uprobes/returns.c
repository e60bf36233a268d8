// SPDX-License-Identifier: GPL-2.0
/*
 * Return probes: deep recursion, longjmp() over functions, tail calls, coroutines on other
 * stacks, many threads, and values that functions return.  Each return of a function is one
 * hit, and nothing that the program computes changes.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"

#define THREADS		4
#define THREAD_DEPTH	40
#define THREAD_CALLS	50

/* --- Recursion ------------------------------------------------------------- */

NOINLINE static unsigned long recurse(unsigned long depth)
{
	unsigned long below = depth > 1 ? recurse(depth - 1) : 0;

	asm volatile("" : "+r" (below));
	return below + depth;
}

static void check_depth(unsigned long depth)
{
	struct probes returns, hits;
	unsigned long result;

	probe_return(&returns, recurse);
	probe_function(&hits, recurse);
	result = recurse(depth);
	ksft_test_result(result == depth * (depth + 1) / 2, "recursion, %lu deep: the result\n",
			 depth);
	ksft_test_result(probe_count(&hits) == depth, "recursion, %lu deep: %lu entries\n", depth,
			 probe_count(&hits));
	ksft_test_result(probe_count(&returns) == depth, "recursion, %lu deep: %lu returns\n",
			 depth, probe_count(&returns));
	probe_remove(&returns);
	probe_remove(&hits);
}

/* --- Removal while a function has not returned ----------------------------- */

static struct probes changed;
static bool added;

NOINLINE static int remove_inside(int value)
{
	probe_remove(&changed);
	asm volatile("" : "+r" (value));
	return value + 1;
}

NOINLINE static int add_inside(int value)
{
	added = probe_return(&changed, add_inside);
	asm volatile("" : "+r" (value));
	return value + 1;
}

static void check_changes(void)
{
	int result;

	added = probe_return(&changed, remove_inside);
	result = remove_inside(3);
	ksft_test_result(added && result == 4 && probe_count(&changed) == 0,
			 "a probe removed inside the function: no return (%lu)\n",
			 probe_count(&changed));
	result = add_inside(4);
	ksft_test_result(added && result == 5 && probe_count(&changed) == 0,
			 "a probe added inside the function: no return (%lu)\n",
			 probe_count(&changed));
	probe_remove(&changed);
}

/* --- longjmp --------------------------------------------------------------- */

/*
 * jump_save() returns 0; jump_back() returns from it once more, with 1.  The buffer has the
 * registers that functions keep.
 */
static unsigned long jump_buffer[16];

int jump_save(unsigned long *buffer) __attribute__((returns_twice));
void jump_back(unsigned long *buffer);

#if defined(__x86_64__)
asm(".pushsection .text\n"
	"jump_save: mov %rbx, (%rdi); mov %rbp, 8(%rdi); mov %r12, 16(%rdi); mov %r13, 24(%rdi)\n"
	"mov %r14, 32(%rdi); mov %r15, 40(%rdi); mov (%rsp), %rax; mov %rax, 48(%rdi)\n"
	"lea 8(%rsp), %rax; mov %rax, 56(%rdi); xor %eax, %eax; ret\n"
	"jump_back: mov (%rdi), %rbx; mov 8(%rdi), %rbp; mov 16(%rdi), %r12; mov 24(%rdi), %r13\n"
	"mov 32(%rdi), %r14; mov 40(%rdi), %r15; mov 56(%rdi), %rsp; mov $1, %eax\n"
	"jmp *48(%rdi)\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text\n"
	"jump_save: mov 4(%esp), %edx; mov %ebx, (%edx); mov %ebp, 4(%edx); mov %esi, 8(%edx)\n"
	"mov %edi, 12(%edx); mov (%esp), %eax; mov %eax, 16(%edx)\n"
	"lea 4(%esp), %eax; mov %eax, 20(%edx); xor %eax, %eax; ret\n"
	"jump_back: mov 4(%esp), %edx; mov (%edx), %ebx; mov 4(%edx), %ebp; mov 8(%edx), %esi\n"
	"mov 12(%edx), %edi; mov 20(%edx), %esp; mov $1, %eax; jmp *16(%edx)\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text\n"
	"jump_save: stp x19, x20, [x0]; stp x21, x22, [x0, #16]; stp x23, x24, [x0, #32]\n"
	"stp x25, x26, [x0, #48]; stp x27, x28, [x0, #64]; stp x29, x30, [x0, #80]\n"
	"mov x1, sp; str x1, [x0, #96]; mov x0, xzr; ret\n"
	"jump_back: ldp x19, x20, [x0]; ldp x21, x22, [x0, #16]; ldp x23, x24, [x0, #32]\n"
	"ldp x25, x26, [x0, #48]; ldp x27, x28, [x0, #64]; ldp x29, x30, [x0, #80]\n"
	"ldr x1, [x0, #96]; mov sp, x1; mov x0, #1; ret\n"
	".popsection");
#endif

NOINLINE static unsigned long jump_from(unsigned long depth)
{
	unsigned long below;

	if (depth <= 1) {
		jump_back(jump_buffer);
		return 0;
	}
	below = jump_from(depth - 1);
	asm volatile("" : "+r" (below));
	return below + 1;
}

NOINLINE static int jump_over(unsigned long depth)
{
	if (!jump_save(jump_buffer)) {
		jump_from(depth);
		return 1;
	}
	return 2;
}

static void check_longjmp(void)
{
	struct probes over, from, deep;
	unsigned int i, wrong = 0;
	unsigned long sum;
	bool probed;

	probe_return(&over, jump_over);
	probed = probe_return(&from, jump_from);
	probe_return(&deep, recurse);
	for (i = 0; i < 100; i++)
		wrong += jump_over(1 + i % 20) != 2;
	ksft_test_result(!wrong, "longjmp over functions\n");
	ksft_test_result(probe_count(&over) == 100, "their caller returns (%lu of 100)\n",
			 probe_count(&over));
	ksft_test_result(probed && probe_count(&from) == 0, "they do not (%lu)\n",
			 probe_count(&from));
	sum = recurse(30);
	ksft_test_result(sum == 465 && probe_count(&deep) == 30,
			 "functions return afterwards (%lu of 30)\n", probe_count(&deep));
	probe_remove(&over);
	probe_remove(&from);
	probe_remove(&deep);
}

/* --- Tail calls ------------------------------------------------------------ */

unsigned long tail_first(unsigned long value);
extern char tail_second[], tail_third[];

/* Each jumps to the next one, so all three return at once. */
#if defined(__x86_64__)
asm(".pushsection .text\n"
	"tail_first: lea 1(%rdi), %rdi; jmp tail_second\n"
	"tail_second: lea (%rdi, %rdi), %rdi; nop; jmp tail_third\n"
	"tail_third: lea 3(%rdi), %rax; ret\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text\n"
	"tail_first: incl 4(%esp); jmp tail_second\n"
	"tail_second: shll $1, 4(%esp); nop; jmp tail_third\n"
	"tail_third: mov 4(%esp), %eax; add $3, %eax; ret\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text\n"
	"tail_first: add x0, x0, #1; b tail_second\n"
	"tail_second: add x0, x0, x0; nop; b tail_third\n"
	"tail_third: add x0, x0, #3; ret\n"
	".popsection");
#endif

static void check_tail_calls(void)
{
	struct probes probes[3];
	unsigned int i, wrong = 0;

	probe_return(&probes[0], (void *)tail_first);
	probe_return(&probes[1], tail_second);
	probe_return(&probes[2], tail_third);
	for (i = 0; i < 100; i++)
		wrong += tail_first(i) != (i + 1) * 2 + 3;
	ksft_test_result(!wrong, "tail calls: the results\n");
	for (i = 0; i < 3; i++) {
		ksft_test_result(probe_count(&probes[i]) == 100,
				 "tail calls: function %u returns (%lu of 100)\n", i + 1,
				 probe_count(&probes[i]));
		probe_remove(&probes[i]);
	}
}

/* --- Another stack --------------------------------------------------------- */

static char other_stack[65536] __attribute__((aligned(64)));
static volatile unsigned long on_stack_result;

NOINLINE static void on_stack(int number, siginfo_t *info, struct ucontext *context)
{
	on_stack_result = recurse(20);
}

NOINLINE static int outer(void)
{
	int pid = getpid();

	kill(pid, SIGUSR2);
	asm volatile("" : "+r" (pid));
	return pid;
}

/* A handler on a stack of its own, whose addresses may be above or below the other's. */
static void check_stacks(void)
{
	struct probes probes[3];
	unsigned int i;

	probe_return(&probes[0], outer);
	probe_return(&probes[1], on_stack);
	probe_return(&probes[2], recurse);
	signal_stack(other_stack, sizeof(other_stack));
	on_signal(SIGUSR2, on_stack, 0);
	for (i = 0; i < 20; i++)
		outer();
	ksft_test_result(on_stack_result == 210, "a handler on another stack\n");
	ksft_test_result(probe_count(&probes[0]) == 20, "its caller returns (%lu of 20)\n",
			 probe_count(&probes[0]));
	ksft_test_result(probe_count(&probes[1]) == 20, "the handler returns (%lu of 20)\n",
			 probe_count(&probes[1]));
	ksft_test_result(probe_count(&probes[2]) == 400, "functions there return (%lu of 400)\n",
			 probe_count(&probes[2]));
	for (i = 0; i < 3; i++)
		probe_remove(&probes[i]);
}

/* --- Threads --------------------------------------------------------------- */

static struct thread threads[THREADS];
static volatile unsigned long thread_errors;

static void thread_recurses(void *unused)
{
	unsigned int i;

	for (i = 0; i < THREAD_CALLS; i++) {
		if (recurse(THREAD_DEPTH) != THREAD_DEPTH * (THREAD_DEPTH + 1) / 2)
			__atomic_fetch_add(&thread_errors, 1, __ATOMIC_RELAXED);
	}
}

static void check_threads(void)
{
	unsigned long wanted = (unsigned long)THREADS * THREAD_CALLS * THREAD_DEPTH;
	unsigned int i, failed = 0;
	struct probes returns;

	probe_return(&returns, recurse);
	for (i = 0; i < THREADS; i++)
		failed += thread_start(&threads[i], thread_recurses, NULL) < 0;
	for (i = 0; i < THREADS; i++)
		failed += !thread_wait(&threads[i], 60);
	ksft_test_result(!failed && !thread_errors, "threads: the results\n");
	ksft_test_result(probe_count(&returns) == wanted, "threads: %lu returns of %lu\n",
			 probe_count(&returns), wanted);
	probe_remove(&returns);
}

/* --- Signals on the way back ----------------------------------------------- */

static volatile unsigned long alarms;

static void on_alarm(int number, siginfo_t *info, struct ucontext *context)
{
	alarms++;
	recurse(3);
}

static void check_alarms(void)
{
	unsigned long calls = 0, wanted;
	unsigned int wrong = 0;
	struct probes returns;

	probe_return(&returns, recurse);
	on_signal(SIGALRM, on_alarm, SA_RESTART);
	alarm_every(500);
	while (alarms < 500) {
		wrong += recurse(50) != 1275;
		calls++;
	}
	alarm_every(0);
	wanted = calls * 50 + alarms * 3;
	ksft_test_result(!wrong, "signals: the results\n");
	ksft_test_result(probe_count(&returns) == wanted, "signals: %lu returns of %lu\n",
			 probe_count(&returns), wanted);
	probe_remove(&returns);
}

/* --- A program that handles its own system calls ----------------------------- */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#endif

static volatile char dispatched;
static volatile unsigned int dispatches;

static void on_dispatch(int number, siginfo_t *info, struct ucontext *context)
{
	dispatched = 0;
	dispatches++;
}

/* No return has been probed in this thread before. */
static void dispatch(void *argument)
{
	unsigned long *result = argument;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, (unsigned long)&dispatched))
		return;
	dispatched = 1;
	*result = recurse(3);
	if (dispatched)
		syscall(__NR_getppid);
	dispatched = 0;
	prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0);
}

static void check_dispatch(void)
{
	static struct thread thread;
	struct probes returns;
	unsigned long result = 0;
	bool ended;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0)) {
		ksft_test_result_skip("system calls are not dispatched in this kernel\n");
		return;
	}
	probe_return(&returns, recurse);
	on_signal(SIGSYS, on_dispatch, 0);
	thread_start(&thread, dispatch, &result);
	ended = thread_wait(&thread, 10);
	ksft_test_result(ended && result == 6 && dispatches == 1 && probe_count(&returns) == 3,
			 "system calls are dispatched: result %lu, %u signals, %lu returns\n",
			 result, dispatches, probe_count(&returns));
	probe_remove(&returns);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(28);
	check_depth(1);
	check_depth(60);
	check_depth(1000);
	check_changes();
	check_longjmp();
	check_tail_calls();
	check_stacks();
	check_threads();
	check_alarms();
	check_dispatch();
	ksft_finished();
}
