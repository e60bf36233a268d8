// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of probed instructions (x86): of calls, which are emulated, in memory whose page faults
 * the program itself handles, but only those of user mode; and of a copied instruction, while the
 * signal of its fault is already pending.
 */
#include "../kselftest.h"
#include <linux/userfaultfd.h>

#include "probe.h"
#include "signals.h"
#include "system.h"

#define PAGE		4096UL
#define RESULT		7

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

extern char call_memory_insn[], call_on_stack_insn[], divide_insn[], divide_after[];

int seven(void);
#if defined(__x86_64__)
int call_memory(const void *table);
int call_on_stack(void *stack);

asm(".pushsection .text\n"
	"call_memory:\n"
	"call_memory_insn: call *(%rdi)\n"
	"ret\n"
	"call_on_stack: push %rbx\n"
	"mov %rsp, %rbx\n"
	"mov %rdi, %rsp\n"
	"call_on_stack_insn: call seven\n"
	"mov %rbx, %rsp\n"
	"pop %rbx\n"
	"ret\n"
	".popsection");
#else
int call_memory(const void *table) __attribute__((regparm(1)));
int call_on_stack(void *stack) __attribute__((regparm(1)));

asm(".pushsection .text\n"
	"call_memory:\n"
	"call_memory_insn: call *(%eax)\n"
	"ret\n"
	"call_on_stack: push %ebx\n"
	"mov %esp, %ebx\n"
	"mov %eax, %esp\n"
	"call_on_stack_insn: call seven\n"
	"mov %ebx, %esp\n"
	"pop %ebx\n"
	"ret\n"
	".popsection");
#endif

/* Divides by zero, and raises the exception at the next instruction. */
void divide(void);
asm(".pushsection .text\n"
	"seven: mov $7, %eax\n"
	"ret\n"
	"divide: fninit\n"
	"fldcw unmasked\n"
	"fldz\n"
	"fld1\n"
	"fdiv %st(1), %st\n"
	"divide_insn: fwait\n"
	"divide_after: fnclex\n"
	"fninit\n"
	"ret\n"
	"unmasked: .short 0x37b\n"
	".popsection");

static int probe(const void *insn)
{
	const struct event_at at = { .path = SELF, .offset = file_offset(insn) };

	return event_open(&at);
}

/* --- Page faults --------------------------------------------------------------------------- */

/* Opens a userfaultfd for two pages; sets @memory.  Returns a negative number if that fails. */
static int open_uffd(__u64 features, char **memory)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(__NR_userfaultfd, UFFD_USER_MODE_ONLY);

	*memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = pointer(*memory);
	range.range.len = 2 * PAGE;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &range))
		return -1;
	return uffd;
}

/* Answers two page faults of the parent with a page full of pointers, and counts them. */
static void serve(int uffd, volatile int *faults)
{
	static unsigned long contents[PAGE / sizeof(long)];
	struct uffdio_copy copy = { .src = pointer(contents), .len = PAGE };
	struct uffd_msg fault;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contents); i++)
		contents[i] = (unsigned long)seven;
	for (i = 0; i < 2 && read(uffd, &fault, sizeof(fault)) == sizeof(fault); i++) {
		copy.dst = fault.arg.pagefault.address & ~(PAGE - 1);
		/* The copy lets the parent go on. */
		++*faults;
		ioctl(uffd, UFFDIO_COPY, &copy);
	}
}

static int calls_wait_for_pages(void)
{
	int in_memory = probe(call_memory_insn), on_stack = probe(call_on_stack_insn);
	volatile int *faults = shared_memory(PAGE);
	char *memory;
	int uffd = open_uffd(0, &memory), got;
	pid_t server;

	if (!faults || uffd < 0 || in_memory < 0 || on_stack < 0)
		return 2;
	server = fork();
	if (!server) {
		limit_child();
		serve(uffd, faults);
		_exit(0);
	}
	got = call_memory(memory + 64) == RESULT && call_on_stack(memory + 2 * PAGE - 64) == RESULT;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	if (*faults != 2)
		return 3;
	return got && event_count(in_memory) == 1 && event_count(on_stack) == 1 ? 0 : 1;
}

static char *absent;
static int absent_call;

static void on_bus_error(int number, siginfo_t *info, struct ucontext *context)
{
	if (!event_count(absent_call))
		_exit(4);
	_exit(info->si_code == BUS_ADRERR && info->si_addr == absent ? 0 : 1);
}

static int call_gets_a_bus_error(void)
{
	absent_call = probe(call_memory_insn);
	if (absent_call < 0 || open_uffd(UFFD_FEATURE_SIGBUS, &absent) < 0)
		return 2;
	on_signal(SIGBUS, on_bus_error, 0);
	call_memory(absent);
	return 3;
}

static void check_page_faults(void)
{
	int result, uffd = syscall(__NR_userfaultfd, UFFD_USER_MODE_ONLY);

	if (uffd < 0) {
		ksft_test_result_skip("no userfaultfd: calls wait for pages\n");
		ksft_test_result_skip("no userfaultfd: a call gets a signal\n");
		return;
	}
	close(uffd);
	result = in_child(calls_wait_for_pages);
	ksft_test_result(!result, "calls wait for pages that the program supplies (%d)\n", result);
	result = in_child(call_gets_a_bus_error);
	ksft_test_result(!result, "a call gets the signal of its page fault (%d)\n", result);
}

/* --- A signal that is already pending --------------------------------------------------------- */

#define ROUNDS		300
#define MOST_ROUNDS	(100 * ROUNDS)

static volatile unsigned int exceptions, sent, wrong;

static void on_fpe(int number, siginfo_t *info, struct ucontext *context)
{
	if (info->si_code <= 0) {
		sent++;
		return;
	}
	exceptions++;
	wrong += CONTEXT_IP(context) != (unsigned long)divide_insn;
	CONTEXT_IP(context) = (unsigned long)divide_after;
}

/* Goes on until it has got some other signals, too, but not for ever. */
static int divide_until(unsigned int signals)
{
	int event = probe(divide_insn);
	unsigned int i;

	if (event < 0)
		return 2;
	on_signal(SIGFPE, on_fpe, 0);
	for (i = 0; i < ROUNDS || (sent < signals && i < MOST_ROUNDS); i++)
		divide();
	/* A hit may be repeated. */
	if (sent < signals || event_count(event) < i)
		return 3;
	return exceptions == i && !wrong ? 0 : 1;
}

static int divide_again(void)
{
	return divide_until(0);
}

static int divide_in_a_storm(void)
{
	int status;
	pid_t pid;

	/* Before the signals come. */
	on_signal(SIGFPE, on_fpe, 0);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(divide_until(10));
	}
	while (waitpid(pid, &status, WNOHANG) != pid) {
		/* To the thread: one to the process would be another signal. */
		syscall(__NR_tgkill, pid, pid, SIGFPE);
		sched_yield();
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int main(void)
{
	int result;

	ksft_print_header();
	if (read_number(UPROBE_PMU "type") < 0)
		ksft_exit_skip("no uprobes in this kernel\n");
	ksft_set_plan(4);
	check_page_faults();
	result = in_child(divide_again);
	ksft_test_result(!result, "a copy that raises an exception (%d)\n", result);
	result = divide_in_a_storm();
	ksft_test_result(!result, "likewise while its signal is pending (%d)\n", result);
	ksft_finished();
}
