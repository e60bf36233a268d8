// SPDX-License-Identifier: GPL-2.0
/*
 * Measures system calls, with the clock of the guest.  Results are printed as
 * "bench: key value".
 *
 *	client quiet			a breakpoint of a program, fork, exec, exit
 *	client load FILE		the loading of the module FILE
 *
 * Built with nolibc.
 */
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <linux/types.h>

/* The median of the samples is a sample that no tick of the clock has interrupted. */
#define SAMPLES		65
#define TRAPS		16
/* The program that exec starts writes the time to this file. */
#define TIME_FD		9

typedef __u64 samples[SAMPLES];

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void die(const char *reason)
{
	fprintf(stderr, "client: %s: error %d\n", reason, errno);
	exit(1);
}

static void report(const char *name, const char *kind, const char *part, __u64 value)
{
	printf("bench: %s_%s%s %llu\n", name, kind, part, (unsigned long long)value);
}

static __u64 median(samples s)
{
	int i, j;

	for (i = 1; i < SAMPLES; i++) {
		__u64 x = s[i];

		for (j = i; j && s[j - 1] > x; j--)
			s[j] = s[j - 1];
		s[j] = x;
	}
	return s[SAMPLES / 2];
}

/*
 * A breakpoint of a program.  Its handler only counts, and steps over the breakpoint if the
 * processor has not done that.
 */
static volatile int traps;

struct kernel_sigaction {
	void (*handler)(int signal, void *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	__u64 mask;
};

#define SIGNAL_TRAP	5
#define FLAG_INFO	4
#define FLAG_RESTORER	0x04000000

/* Where a handler returns to. */
extern char return_from_signal[];

#ifdef __aarch64__
asm("return_from_signal: mov x8, #139; svc #0");

static inline void trap(void)
{
	asm volatile("brk #0x123");
}

static void skip_trap(struct ucontext *context)
{
	context->uc_mcontext.pc += 4;
}
#else
#ifdef __x86_64__
asm("return_from_signal: mov $15, %eax; syscall");
#else
asm("return_from_signal: mov $173, %eax; int $0x80");
#endif

static inline void trap(void)
{
	asm volatile("int3");
}

static void skip_trap(struct ucontext *context)
{
	(void)context;
}
#endif

static void on_trap(int signal, void *info, void *context)
{
	(void)signal;
	(void)info;
	traps++;
	skip_trap(context);
}

static void measure_trap(void)
{
	struct kernel_sigaction action = {
		.handler = on_trap,
		.flags = FLAG_INFO | FLAG_RESTORER,
		.restorer = (void (*)(void))return_from_signal,
	};
	samples s;
	int i, j;

	if (syscall(__NR_rt_sigaction, SIGNAL_TRAP, &action, NULL, sizeof(action.mask)))
		die("rt_sigaction");
	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();

		for (j = 0; j < TRAPS; j++)
			trap();
		s[i] = (now() - start) / TRAPS;
	}
	if (traps != SAMPLES * TRAPS)
		die("breakpoints are lost");
	report("quiet", "trap", "", median(s));
}

/*
 * fork is the time until the child runs, exit the time from the child's last system call
 * until the parent's wait returns.
 */
static void measure_fork(void)
{
	volatile __u64 *child = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	samples forks, exits;
	int i;

	if (child == MAP_FAILED)
		die("mmap");
	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			child[0] = now();
			child[1] = now();
			_exit(0);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		exits[i] = now() - child[1];
		forks[i] = child[0] - start;
	}
	report("quiet", "fork", "", median(forks));
	report("quiet", "exit", "", median(exits));
}

/* exec is the time until the new program runs. */
static void measure_exec(void)
{
	char *const argv[] = { "client", "now", NULL };
	char *const envp[] = { NULL };
	__u64 times[2];
	samples s;
	int i, fds[2];

	if (pipe(fds) || dup2(fds[1], TIME_FD) != TIME_FD)
		die("pipe");
	for (i = 0; i < SAMPLES; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			times[0] = now();
			write(TIME_FD, &times[0], sizeof(times[0]));
			execve("/proc/self/exe", argv, envp);
			_exit(1);
		}
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
		if (read(fds[0], times, sizeof(times)) != sizeof(times))
			die("exec");
		s[i] = times[1] - times[0];
	}
	report("quiet", "exec", "", median(s));
}

/* The program that measure_exec() starts. */
static int write_time(void)
{
	__u64 time = now();

	return write(TIME_FD, &time, sizeof(time)) != sizeof(time);
}

static int quiet(void)
{
	measure_trap();
	measure_fork();
	measure_exec();
	return 0;
}

static int load(const char *path)
{
	int i, fd = open(path, O_RDONLY);
	samples s;

	if (fd < 0)
		die(path);
	for (i = 0; i < SAMPLES; i++) {
		__u64 start = now();

		if (syscall(__NR_finit_module, fd, "", 0))
			die("finit_module");
		s[i] = now() - start;
		if (syscall(__NR_delete_module, "kprobe_bench_empty", 0))
			die("delete_module");
	}
	report("quiet", "load", "", median(s));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "quiet"))
		return quiet();
	if (argc == 2 && !strcmp(argv[1], "now"))
		return write_time();
	if (argc == 3 && !strcmp(argv[1], "load"))
		return load(argv[2]);
	fprintf(stderr, "client: unknown arguments\n");
	return 1;
}
