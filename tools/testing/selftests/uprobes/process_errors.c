// SPDX-License-Identifier: GPL-2.0
/*
 * Errors of the functions for probes of one process, and the reasons that the tracepoint
 * uprobe_refused has for them.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

/* An instruction that can be probed, and one with others inside, where there are any; a return. */
#if defined(__aarch64__)
static const unsigned int other_code[] = { 0xd503201f };
static const char transaction_or_call[] = "traps on purpose";
#else
static const unsigned char other_code[] = { 0x90 };
/* mov $0x90909090, %eax; ret */
static const unsigned char with_inside[] = { 0xb8, 0x90, 0x90, 0x90, 0x90, 0xc3 };
static const char transaction_or_call[] = "begins or aborts a transaction";
#endif

#define OVERLAP	"the instruction overlaps another probed instruction"

static char *put(char *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	__builtin___clear_cache(to, to + len);
	return to;
}

#define PUT(to, code)	put(to, code, sizeof(code))

/* A return probe on the exits of a function. */
static int add_exits(const char *at, unsigned long size)
{
	char words[40];

	snprintf(words, sizeof(words), "return size=%lu", size);
	return add("a", at, words);
}

/* --- Mappings ------------------------------------------------------------------------- */

/* The first address of a mapping of this process, by its name. */
static void *mapping_of(const char *name)
{
	const char *maps = read_all("/proc/self/maps"), *line = strstr(maps, name);

	if (!line)
		return NULL;
	while (line > maps && line[-1] != '\n')
		line--;
	return (void *)strtoul(line, NULL, 16);
}

static void check_mappings(void)
{
	static int data;
	char *map;

	refused_because("unmapped memory", add("a", (void *)4096, ""), EFAULT,
			"nothing is mapped there");
	refused_because("data", add("a", &data, ""), EACCES, "the mapping is not executable");
	code_file(FILE_PATH, 1);
	map = code_map(FILE_PATH, 1, PROT_READ | PROT_EXEC, MAP_SHARED);
	refused_because("a shared mapping", add("a", map, ""), EPERM, "the mapping is shared");
	munmap(map, 4096);
	unlink(FILE_PATH);
	add("a", plain, "");
	call_plain(1);
	refused_because("the copies of probed instructions",
			add("b", mapping_of("[uprobes]"), ""), EACCES,
			"the mapping can never be made writable");
}

/* A mapping becomes executable whose page userfaultfd protects.  Its file is probed. */
static void check_protected(void)
{
	int fd = syscall(__NR_memfd_create, "text", 0), uffd, event;
	struct event_at at = { 0 };
	const char *reason;
	char path[32], *map;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	at.path = path;
	code_file(path, 1);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	/* The page is a private one from now on. */
	map[4095] = 1;
	uffd = open_protection(map);
	event = event_open(&at);
	clear_trace();
	change_protection(map, 4096, PROT_READ | PROT_EXEC);
	reason = last_reason();
	if (uffd < 0)
		ksft_test_result_skip("userfaultfd protects no pages of files here\n");
	else
		ksft_test_result(event >= 0 && !strcmp(reason, "the page is protected (-1)"),
				 "a mapping becomes executable: reason \"%s\"\n", reason);
	close(event);
	close(uffd);
	munmap(map, 4096);
	close(fd);
	clear_trace();
}

/* --- Huge pages ----------------------------------------------------------------------- */

#define HUGE_FOLDER	"/sys/kernel/mm/hugepages/"

/* Pages of 2 MiB, or of 4 MiB where there is no such size, as on i386 without PAE. */
static unsigned int huge_shift(void)
{
	return access(HUGE_FOLDER "hugepages-2048kB", F_OK) ? 22 : 21;
}

static const char *huge_pages_file(unsigned int shift)
{
	static char path[80];

	snprintf(path, sizeof(path), HUGE_FOLDER "hugepages-%ukB/nr_hugepages", 1U << (shift - 10));
	return path;
}

static void set_huge_pages(unsigned int shift, long nr)
{
	int fd = open(huge_pages_file(shift), O_WRONLY);
	char text[16];

	snprintf(text, sizeof(text), "%ld", nr);
	write(fd, text, strlen(text));
	close(fd);
}

/* Text in hugetlbfs is not that of a transparent huge page, which the kernel can split. */
static void check_huge(void)
{
	unsigned int shift = huge_shift();
	long pages = read_number(huge_pages_file(shift));
	char *code;

	if (pages < 0) {
		ksft_test_result_skip("no hugetlbfs in this kernel\n");
		ksft_test_result_skip("no hugetlbfs in this kernel\n");
		ksft_test_result_skip("no hugetlbfs in this kernel\n");
		return;
	}
	set_huge_pages(shift, pages + 1);
	code = mmap(NULL, 1UL << shift, ALL,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | shift << MAP_HUGE_SHIFT, -1, 0);
	if (code == MAP_FAILED)
		ksft_exit_fail_msg("a huge page cannot be mapped: error %d\n", errno);
	put(code, code_start, CODE_SIZE);
	refused_because("text in hugetlbfs", add("a", code, ""), EOPNOTSUPP, "huge pages");
	refused_because("the exits of a function there", add_exits(code, CODE_SIZE), EOPNOTSUPP,
			"huge pages");
	ksft_test_result(!memcmp(code, code_start, CODE_SIZE) && code_call(code, 0, 1),
			 "text in hugetlbfs stays as it is\n");
	munmap(code, 1UL << shift);
	set_huge_pages(shift, pages);
}

/* --- Instructions --------------------------------------------------------------------- */

static void check_instructions(void)
{
	char *code = jit();

	PUT(code + 512, refused_code);
	PUT(code + 1024, breakpoint_code);
	refused_because("an instruction", add("a", code + 512, ""), EOPNOTSUPP,
			transaction_or_call);
	refused_because("a foreign breakpoint", add("a", code + 1024, ""), EEXIST,
			"a breakpoint of another owner");
	add("a", code, "");
	PUT(code, other_code);
	refused_because("overwritten text of a probe", add("b", code, ""), EILSEQ,
			"another probe, whose text was overwritten, is there");
	munmap(code, 4096);
	clear_trace();
}

#ifdef __aarch64__
#define INSIDE_CHECKS	1

static void check_inside(void)
{
	refused_because("an address that is not aligned", add("a", (char *)plain + 2, ""), EILSEQ,
			"the address is not aligned");
}
#else
#define INSIDE_CHECKS	4

/* The kernel cannot know whether an instruction begins at an address, but two of them tell. */
static void check_inside(void)
{
	char *code = PUT(jit(), with_inside);
	int first, second;

	first = add("a", code, "");
	second = add("b", code + 1, "");
	refused_because("the inside of a probed instruction", first ? -1 : second, EILSEQ, OVERLAP);
	first = add("a", code + 1, "");
	ksft_test_result(!first && code[0] == (char)with_inside[0] && code[1] != 0x90 - 0x100,
			 "the inside of an instruction is probed: error %d\n", first);
	second = add("b", code, "");
	refused_because("an instruction with a probe inside", first ? -1 : second, EILSEQ, OVERLAP);
	first = add("b", code, "");
	((void (*)(void))code)();
	ksft_test_result(!first && get("b", HITS) == 1 && !get("b", ERRORS),
			 "and accepted without that probe: error %d\n", first);
	command("drop");
	munmap(code, 4096);
	clear_trace();
}
#endif

/* --- Exits ---------------------------------------------------------------------------- */

static void check_exits(void)
{
	char *code = jit();

	refused_because("a function without an exit", add_exits(code, code_offsets[1]), ENOEXEC,
			"the function continues after its end");
	refused_because("the end of a mapping", add_exits(code, 4096 + 16), EFAULT,
			"it is not in one mapping");
	PUT(code + code_offsets[3], breakpoint_code);
	refused_because("a breakpoint in the function", add_exits(code, CODE_SIZE), EEXIST,
			"a breakpoint is in the function");
	munmap(code, 4096);
	clear_trace();
}

/* --- Arguments ------------------------------------------------------------------------ */

static void check_arguments(void)
{
	refused("a negative maxactive", add("a", plain, "return most=-1"), EINVAL);
	refused("a negative number of probes", command("array -1"), EINVAL);
	refused("an empty array, which is accepted", command("array 0"), 0);
	make("a", getpid(), plain, "");
	refused("enabling a probe that is not registered", on("on", "a"), EINVAL);
	make("a", getpid(), plain, "");
	refused("disabling a probe that is not registered", on("off", "a"), EINVAL);
	add("a", plain, "");
	on("del", "a");
	refused("enabling a probe that is not registered any more", on("on", "a"), EINVAL);
}

/* An object is twice in an array: nothing is registered. */
static void check_twice(const char *words)
{
	int err = make("a", getpid(), plain, words) ?: on("twice", "a");

	ksft_test_result(err == EBUSY && !get("a", REGISTERED) && unchanged(plain),
			 "refusal of an array with a probe twice: error %d\n", err);
	err = on("add", "a");
	ksft_test_result(!err && call_plain(1) == 1 && get("a", HITS) == 1,
			 "it is registered alone: error %d, %ld hits\n", err, get("a", HITS));
	command("drop");
}

/* A NULL is in an array: it is refused as a whole, and unregistered without the NULL. */
static void check_null(const char *words)
{
	int err = make("a", getpid(), plain, words) ?: on("null", "a");

	ksft_test_result(err == EINVAL && !get("a", REGISTERED) && unchanged(plain),
			 "refusal of an array with a NULL: error %d\n", err);
	err = on("add", "a") ?: on("null", "a");
	ksft_test_result(err == EINVAL && !get("a", REGISTERED) && unchanged(plain),
			 "a probe beside a NULL is unregistered: error %d\n", err);
	command("drop");
}

/* --- Handlers of kprobes -------------------------------------------------------------- */

/* Lets the kernel show messages once more that it shows once. */
static void show_messages_again(void)
{
	int fd = open("/sys/kernel/debug/clear_warn_once", O_WRONLY);

	write(fd, "1", 1);
	close(fd);
}

/* The number of messages with a text that the log has got since it was opened. */
static unsigned int count_messages(int log, const char *text)
{
	char record[1024];
	unsigned int nr = 0;
	int n;

	while ((n = read(log, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		record[n < 0 ? 0 : n] = 0;
		nr += !!strstr(record, text);
	}
	return nr;
}

/* Two commands in a handler of a kprobe would register the probe, the others need it registered. */
static bool all_are_refused(const char *words)
{
	static const char *const commands[] = { "twice", "add", "del", "on", "off" };
	char line[20];
	unsigned int i;
	int err;

	if (make("a", getpid(), plain, words))
		return false;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (i == 2 && (get("a", REGISTERED) || on("add", "a")))
			return false;
		snprintf(line, sizeof(line), "kprobe %s", commands[i]);
		err = on(line, "a");
		if (err == EINVAL)
			continue;
		ksft_print_msg("%s: error %d\n", line, err);
		return false;
	}
	return true;
}

static void check_in_kprobe(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	unsigned int nr;

	lseek(log, 0, SEEK_END);
	show_messages_again();
	ksft_test_result(all_are_refused("") && call_plain(2) == 2 && get("a", HITS) == 2,
			 "a handler of a kprobe changes no probe: %ld hits\n", get("a", HITS));
	command("drop");
	ksft_test_result(all_are_refused("return") && call_plain(2) == 2 && get("a", RETURNS) == 2,
			 "nor a return probe: %ld returns\n", get("a", RETURNS));
	command("drop");
	nr = count_messages(log, "uprobes: probes cannot be registered in atomic context");
	ksft_test_result(nr == 1, "the kernel says so once: %u times\n", nr);
	close(log);
}

/* --- Processes ------------------------------------------------------------------------ */

/* Its pid is still in use. */
static void check_zombie(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	syscall(__NR_waitid, P_PID, pid, NULL, WEXITED | WNOWAIT, NULL);
	refused("a process that has ended", make("a", pid, plain, "") ?: on("add", "a"), ESRCH);
	make("a", pid, plain, "return");
	refused("a return probe of it", on("add", "a"), ESRCH);
	ksft_test_result(!reap(pid), "it was not reaped before\n");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(34 + INSIDE_CHECKS);
	memcpy(before, plain, sizeof(before));
	record_refusals(true);
	check_mappings();
	check_protected();
	check_huge();
	check_instructions();
	check_inside();
	check_exits();
	check_arguments();
	check_twice("");
	check_twice("return");
	check_null("");
	check_null("return");
	check_in_kprobe();
	check_zombie();
	record_refusals(false);
	ksft_finished();
}
