// SPDX-License-Identifier: GPL-2.0
/*
 * debugger KIND NUMBER SECONDS [FILE]: use debug registers as a debugger does.
 *
 * KIND is perf, or ptrace.  Watches NUMBER words, prints the number of registers that it got,
 * and of watched writes that were reported, and keeps the registers for SECONDS, or until FILE
 * exists.  The number of writes is -1 if the child of ptrace stopped elsewhere.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#ifdef __aarch64__
#include <asm/ptrace.h>
#endif

static volatile unsigned long words[16];

/* Keeps the registers for that time, or until there is the file, which may be NULL. */
static void keep(int seconds, const char *file)
{
	int tries = 100 * seconds;

	while (tries-- && !(file && !access(file, F_OK)))
		usleep(10000);
}

/* Tells its own processor, too, if writes were not reported. */
static void report(int got, int hits)
{
	unsigned int cpu = 0;

	syscall(__NR_getcpu, &cpu, NULL, NULL);
	if (hits == got)
		printf("registers=%d hits=%d\n", got, hits);
	else
		printf("registers=%d hits=%d cpu=%u\n", got, hits, cpu);
}

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

static int use_perf(int number, int seconds, const char *file)
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
	report(got, hits);
	keep(seconds, file);
	return 0;
}

#define PTRACE_TRACEME	0
#define PTRACE_CONT	7
#define SIGSTOP		19
#define SIGTRAP		5

static long trace(long request, pid_t pid, unsigned long addr, unsigned long data)
{
	return syscall(__NR_ptrace, request, pid, addr, data);
}

#ifdef __aarch64__

#define PTRACE_SETREGSET	0x4205
#define NT_ARM_HW_WATCH		0x403

static struct user_hwdebug_state state;

/* Sets the first @number registers of the child, those that it has. */
static bool set_registers(pid_t pid, int number)
{
	struct iovec iov = {
		.iov_base = &state,
		.iov_len = offsetof(struct user_hwdebug_state, dbg_regs) +
			   number * sizeof(state.dbg_regs[0]),
	};

	return !trace(PTRACE_SETREGSET, pid, NT_ARM_HW_WATCH, (unsigned long)&iov);
}

/* Lets register @i watch its word: all bytes, stores, user mode. */
static bool watch(pid_t pid, int i)
{
	state.dbg_regs[i].addr = (unsigned long)&words[i];
	state.dbg_regs[i].ctrl = 0xff << 5 | 2 << 3 | 2 << 1 | 1;
	return set_registers(pid, i + 1);
}

/* The child stops before each access; the register must not stop it again. */
static bool pass(pid_t pid, int i, int number)
{
	state.dbg_regs[i].ctrl &= ~1U;
	return set_registers(pid, number);
}

#else

#define PTRACE_POKEUSR	6

#ifdef __x86_64__
#define DEBUGREG(i)	(848 + 8 * (i))
#else
#define DEBUGREG(i)	(252 + 4 * (i))
#endif

/* The bits of DR7 for register @i: enabled for this task; four bytes; writes. */
static unsigned long control(int i)
{
	return 1UL << (2 * i) | 0xdUL << (16 + 4 * i);
}

/* Lets register @i watch its word, as those before it do. */
static bool watch(pid_t pid, int i)
{
	unsigned long dr7 = 0;
	int n;

	for (n = 0; n <= i; n++)
		dr7 |= control(n);
	return i < 4 && !trace(PTRACE_POKEUSR, pid, DEBUGREG(i), (unsigned long)&words[i]) &&
	       !trace(PTRACE_POKEUSR, pid, DEBUGREG(7), dr7);
}

/* The child stops after each access. */
static bool pass(pid_t pid, int i, int number)
{
	return true;
}

#endif

static int use_ptrace(int number, int seconds, const char *file)
{
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
	for (got = 0; got < number && watch(pid, got); got++)
		;
	keep(seconds, file);
	for (;;) {
		trace(PTRACE_CONT, pid, 0, 0);
		waitpid(pid, &status, 0);
		if ((status & 0x7f) == 0)
			break;
		/* The words are written in the order of the registers. */
		if ((status >> 8 & 0xff) != SIGTRAP || hits == got || !pass(pid, hits, got)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			hits = -1;
			break;
		}
		hits++;
	}
	report(got, hits);
	return 0;
}

int main(int argc, char **argv)
{
	int number, seconds;

	if (argc < 4)
		return 1;
	number = atoi(argv[2]);
	seconds = atoi(argv[3]);
	if (number > 16)
		return 1;
	if (!strcmp(argv[1], "perf"))
		return use_perf(number, seconds, argc > 4 ? argv[4] : NULL);
	return use_ptrace(number, seconds, argc > 4 ? argv[4] : NULL);
}
