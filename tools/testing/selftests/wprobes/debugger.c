// SPDX-License-Identifier: GPL-2.0
/*
 * debugger KIND NUMBER SECONDS: use debug registers as a debugger does.
 *
 * KIND is perf, or ptrace (x86).  Watches NUMBER words, prints the number of registers that it
 * got, and of watched writes that were reported, and keeps the registers for SECONDS.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

static volatile unsigned long words[16];

static int perf_watch(volatile unsigned long *word)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.size = sizeof(attr);
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = (unsigned long)word;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.exclude_kernel = 1;
	return syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

static int use_perf(int number, int seconds)
{
	int fds[16], got, hits = 0, i;
	__u64 count;

	for (got = 0; got < number; got++) {
		fds[got] = perf_watch(&words[got]);
		if (fds[got] < 0)
			break;
	}
	for (i = 0; i < got; i++)
		words[i] = i + 1;
	/* QEMU may report a register again when a later write hits another one. */
	for (i = 0; i < got; i++)
		hits += read(fds[i], &count, sizeof(count)) == sizeof(count) && count >= 1;
	printf("registers=%d hits=%d\n", got, hits);
	sleep(seconds);
	return 0;
}

#if defined(__i386__) || defined(__x86_64__)

#define PTRACE_TRACEME	0
#define PTRACE_POKEUSR	6
#define PTRACE_CONT	7
#define SIGSTOP		19

#ifdef __x86_64__
#define DEBUGREG(i)	(848 + 8 * (i))
#else
#define DEBUGREG(i)	(252 + 4 * (i))
#endif

static long trace(long request, pid_t pid, unsigned long addr, unsigned long data)
{
	return syscall(__NR_ptrace, request, pid, addr, data);
}

/* The bits of DR7 for register @i: enabled for this task; four bytes; writes. */
static unsigned long control(int i)
{
	return 1UL << (2 * i) | 0xdUL << (16 + 4 * i);
}

static int use_ptrace(int number, int seconds)
{
	unsigned long dr7 = 0;
	int got, hits = 0, status, i;
	pid_t pid = fork();

	if (!pid) {
		trace(PTRACE_TRACEME, 0, 0, 0);
		kill(getpid(), SIGSTOP);
		for (i = 0; i < number; i++)
			words[i] = i + 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	for (got = 0; got < number; got++) {
		if (trace(PTRACE_POKEUSR, pid, DEBUGREG(got), (unsigned long)&words[got]) ||
		    trace(PTRACE_POKEUSR, pid, DEBUGREG(7), dr7 | control(got)))
			break;
		dr7 |= control(got);
	}
	sleep(seconds);
	for (;;) {
		trace(PTRACE_CONT, pid, 0, 0);
		waitpid(pid, &status, 0);
		if ((status & 0x7f) == 0)
			break;
		hits++;
	}
	printf("registers=%d hits=%d\n", got, hits);
	return 0;
}

#else

static int use_ptrace(int number, int seconds)
{
	(void)number;
	(void)seconds;
	return 4;
}

#endif

int main(int argc, char **argv)
{
	int number, seconds;

	if (argc != 4)
		return 1;
	number = atoi(argv[2]);
	seconds = atoi(argv[3]);
	if (number > 16)
		return 1;
	if (!strcmp(argv[1], "perf"))
		return use_perf(number, seconds);
	return use_ptrace(number, seconds);
}
