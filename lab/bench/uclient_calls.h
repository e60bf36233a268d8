/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LAB_BENCH_UCLIENT_CALLS_H
#define _LAB_BENCH_UCLIENT_CALLS_H
/*
 * Measure calls of a function, and command the modules that register probes.
 */
#define RUN		"/sys/kernel/debug/uprobe_bench/run"
#define COUNT		"/sys/kernel/debug/uprobe_bench/count"
#define PROCESS_RUN	"/sys/kernel/debug/uprobe_process_bench/run"
#define PROCESS_COUNT	"/sys/kernel/debug/uprobe_process_bench/count"

#define SAMPLES		33
#define CALLS		64

static void die(const char *reason)
{
	fprintf(stderr, "uclient: %s: error %d\n", reason, errno);
	exit(1);
}

static void report(const char *key, unsigned long value)
{
	printf("bench: %s %lu\n", key, value);
}

/* Time in instructions, or on arm64 in ticks that are some more instructions. */
static inline unsigned long now(void)
{
#ifdef __x86_64__
	unsigned int low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (unsigned long)high << 32 | low;
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
#endif
}

/* The time of one call, the least of many samples. */
NOINLINE static unsigned long time_calls(char *function)
{
	unsigned long least = ~0UL, time;
	int i, j;

	for (i = 0; i < SAMPLES; i++) {
		time = now();
		for (j = 0; j < CALLS; j++)
			CALL(function);
		time = now() - time;
		if (time < least)
			least = time;
	}
	return least;
}

/* False if the kernel refuses the instruction. */
static int try_command(const char *file, const char *format, unsigned long a, unsigned long b,
		       unsigned long c)
{
	char line[256];
	int fd = open(file, O_WRONLY), length, done;

	length = snprintf(line, sizeof(line), format, a, b, c);
	done = fd >= 0 && write(fd, line, length) == length;
	if (!done && errno != EINVAL)
		die(line);
	close(fd);
	return done;
}

static void command_to(const char *file, const char *format, unsigned long a, unsigned long b,
		       unsigned long c)
{
	if (!try_command(file, format, a, b, c))
		die(format);
}

static void command(const char *format, unsigned long a, unsigned long b, unsigned long c)
{
	command_to(RUN, format, a, b, c);
}

static void use_file(const char *path)
{
	char line[256];
	int fd = open(RUN, O_WRONLY), length;

	length = snprintf(line, sizeof(line), "file %s", path);
	if (fd < 0 || write(fd, line, length) != length)
		die(path);
	close(fd);
}

static unsigned long counted(void)
{
	return read_number(COUNT) + (access(PROCESS_COUNT, F_OK) ? 0 : read_number(PROCESS_COUNT));
}

/* Measures the calls, which have to run HANDLERS handlers each; returns their cost in 1/100. */
static unsigned long cost(char *function, unsigned long bare, unsigned int handlers)
{
	unsigned long before, time;

	/* The first hit may prepare something. */
	CALL(function);
	before = counted();
	time = time_calls(function);
	if (handlers && counted() - before != (unsigned long)handlers * SAMPLES * CALLS)
		die("hits are lost");
	return (time - bare) * 100 / CALLS;
}

#endif /* _LAB_BENCH_UCLIENT_CALLS_H */
