/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_PROCESS_H
#define _UPROBES_PROCESS_H
/*
 * Probes of this process, by pid and address, which the module up_process registers for it, or
 * another one; see test_modules/up_process.c for the commands.  Built with nolibc.
 *
 * Include probe.h, signals.h, system.h and code.h before.
 */

#include <linux/userfaultfd.h>

/* The module that does the commands. */
UNUSED static const char *module = "up_process";

UNUSED static const char *module_file(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", module, name);
	return path;
}

/* The name of one of several probes; valid until the next call. */
UNUSED static const char *name_of(const char *kind, int nr)
{
	static char name[16];

	snprintf(name, sizeof(name), "%s%d", kind, nr);
	return name;
}

#define CONTROL		module_file("control")
#define PROBES		module_file("probes")
#define LOG		module_file("log")
#define EVENTS		module_file("events")
#define KERNEL		module_file("kernel")
#define LIST		"/sys/kernel/debug/uprobes/list"
#define FILE_PATH	"/tmp/uprobes-process-code"

#define ALL		(PROT_READ | PROT_WRITE | PROT_EXEC)

/* Columns of a probe. */
enum { HITS = 1, RETURNS, MISSED, CALLBACKS, RESULT, ERRORS, REGISTERED, ASKED, SP };

UNUSED static NOINLINE unsigned long plain(unsigned long value)
{
	asm volatile("" : "+r" (value));
	return value * 3 + 1;
}

UNUSED static NOINLINE unsigned long deep(unsigned long depth)
{
	/* Keeps the compiler from making a loop of the calls. */
	asm volatile("" : "+r" (depth));
	if (depth)
		depth = deep(depth - 1) + 1;
	asm volatile("" : "+r" (depth));
	return depth;
}

/* --- The module -------------------------------------------------------------------- */

UNUSED static int command(const char *line)
{
	int fd = open(CONTROL, O_WRONLY), err = 0;

	if (write(fd, line, strlen(line)) < 0)
		err = errno;
	close(fd);
	return err;
}

UNUSED static int on(const char *verb, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "%s %s", verb, name);
	return command(line);
}

UNUSED static int make(const char *name, pid_t pid, const void *at, const char *words)
{
	char line[200];

	snprintf(line, sizeof(line), "new %s pid=%d at=0x%lx %s", name, pid, (unsigned long)at,
		 words);
	return command(line);
}

/* Makes a probe of this process, and registers it. */
UNUSED static int add(const char *name, const void *at, const char *words)
{
	return make(name, getpid(), at, words) ?: on("add", name);
}

UNUSED static const char *read_all(const char *path)
{
	static char text[8192];
	int fd = open(path, O_RDONLY), n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n < 0 ? 0 : n] = 0;
	return text;
}

UNUSED static long get(const char *name, int column)
{
	const char *line = read_all(PROBES);
	size_t len = strlen(name);

	while (*line && (strncmp(line, name, len) || line[len] != ' ')) {
		line = strchr(line, '\n');
		if (!line++)
			return -1;
	}
	while (*line && column--)
		line = strchr(line, ' ') + 1;
	return *line ? atol(line) : -1;
}

UNUSED static bool log_is(const char *wanted)
{
	const char *text = read_all(LOG);

	if (!strcmp(text, wanted))
		return true;
	ksft_print_msg("the log is \"%s\"\n", text);
	return false;
}

/*
 * Have the probes of the kernel's function, which handlers call, each seen so many calls, and no
 * wrong value?
 */
UNUSED static bool kernel_calls_are(long calls)
{
	const char *text = read_all(KERNEL), *at = text;
	long numbers[4] = { -1, -1, -1, -1 };
	int i;

	for (i = 0; at && i < 4; i++) {
		numbers[i] = atol(at);
		at = strchr(at, ' ');
		if (at)
			at++;
	}
	/* Not every kernel has jprobes. */
	if (numbers[0] == calls && numbers[1] == calls &&
	    (numbers[2] == calls || numbers[2] == -1) && !numbers[3])
		return true;
	ksft_print_msg("calls of the kernel's function: wanted %ld, got %s", calls, text);
	return false;
}

UNUSED static void refused(const char *name, int err, int wanted)
{
	ksft_test_result(err == wanted, "refusal of %s: error %d, wanted %d\n", name, err, wanted);
	command("drop");
}

/* --- Reasons of refusals ------------------------------------------------------------ */

#define TRACE		TRACING "trace"
#define REFUSALS	TRACING "events/uprobe_core/uprobe_refused/enable"

UNUSED static void clear_trace(void)
{
	close(open(TRACE, O_WRONLY | O_TRUNC));
}

/* Lets the kernel record reasons, or not. */
UNUSED static void record_refusals(bool record)
{
	int fd = open(REFUSALS, O_WRONLY);

	write(fd, record ? "1" : "0", 1);
	close(fd);
	clear_trace();
}

/* The last reason that was recorded, with the error: "REASON (-N)". */
UNUSED static const char *last_reason(void)
{
	const char *at = read_all(TRACE), *found = NULL;
	static char reason[100];

	while ((at = strstr(at, "uprobe_refused: inode "))) {
		at += strlen("uprobe_refused: inode ");
		found = strstr(at, ": ");
	}
	snprintf(reason, sizeof(reason), "%s", found ? found + 2 : "");
	if (strchr(reason, '\n'))
		*strchr(reason, '\n') = 0;
	return reason;
}

/* refused(), which compares the reason, too. */
UNUSED static void refused_because(const char *name, int err, int wanted, const char *reason)
{
	const char *got = last_reason();
	char line[100];

	snprintf(line, sizeof(line), "%s (-%d)", reason, wanted);
	ksft_test_result(err == wanted && !strcmp(got, line),
			 "refusal of %s: error %d, wanted %d, reason \"%s\"\n", name, err, wanted,
			 got);
	command("drop");
	clear_trace();
}

/* --- Calls and text ------------------------------------------------------------------- */

/* Nanoseconds; 32 bits are enough for differences of 4 seconds. */
UNUSED static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

UNUSED static unsigned long call_plain(unsigned int times)
{
	unsigned long sum = 0;

	while (times--)
		sum += plain(times) == times * 3 + 1;
	return sum;
}

/* Text that this program has written. */
UNUSED static char *jit(void)
{
	char *p = mmap(NULL, 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, code_start, CODE_SIZE);
	__builtin___clear_cache(p, p + CODE_SIZE);
	return p;
}

UNUSED static char before[16];

UNUSED static bool unchanged(const void *function)
{
	return !memcmp(function, before, sizeof(before));
}

/* --- Pages that userfaultfd protects ------------------------------------------------ */

UNUSED static bool protect_page(int uffd, const char *page, __u64 mode)
{
	const struct uffdio_range range = { .start = pointer(page), .len = 4096 };
	struct uffdio_writeprotect protect = { .range = range, .mode = mode };

	return !ioctl(uffd, UFFDIO_WRITEPROTECT, &protect);
}

/* Opens a userfaultfd that protects a page; returns a negative number if that fails. */
UNUSED static int open_protection(const char *page)
{
	struct uffdio_api api = {
		.api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP,
	};
	struct uffdio_register registration = {
		.range = { .start = pointer(page), .len = 4096 },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	int uffd = syscall(__NR_userfaultfd, UFFD_USER_MODE_ONLY);

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) ||
	    ioctl(uffd, UFFDIO_REGISTER, &registration) ||
	    !protect_page(uffd, page, UFFDIO_WRITEPROTECT_MODE_WP))
		return -1;
	return uffd;
}

/* --- Breakpoints of the program ---------------------------------------------------- */

/* A breakpoint and a return; an instruction that cannot be probed, and a return. */
#if defined(__aarch64__)
UNUSED static const unsigned int breakpoint_code[] = { 0xd4200000, 0xd65f03c0 };
UNUSED static const unsigned int refused_code[] = { 0xd4000002, 0xd65f03c0 };
#else
UNUSED static const unsigned char breakpoint_code[] = { 0xcc, 0xc3 };
UNUSED static const unsigned char refused_code[] = { 0xc7, 0xf8, 0, 0, 0, 0, 0xc3 };
#endif

/* Calls the function at its argument; for 64 bits. */
#if defined(__aarch64__)
UNUSED static const unsigned int calling_code[] = {
	0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0
};
#else
UNUSED static const unsigned char calling_code[] = { 0x53, 0xff, 0xd7, 0x5b, 0xc3 };
#endif

UNUSED static volatile unsigned int traps;

/* x86 is after its breakpoint. */
UNUSED static void on_trap(int signal, siginfo_t *info, struct ucontext *context)
{
	traps++;
#if defined(__aarch64__)
	CONTEXT_IP(context) += 4;
#endif
}

#endif /* _UPROBES_PROCESS_H */
