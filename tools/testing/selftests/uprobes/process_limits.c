// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of one process at the limits: text that cannot be read, text without room for copies
 * near it, text that vanishes, system calls that wait, memory, and cost.
 */
#include "../kselftest.h"
#include <linux/eventpoll.h>
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

/* The last instruction of the code, a return, which can be emulated. */
#ifdef __aarch64__
#define RETURN_OFFSET	(CODE_SIZE - 4)
#else
#define RETURN_OFFSET	(CODE_SIZE - 1)
#endif

/* --- Text that can only be executed ------------------------------------------------- */

#define CANNOT_TEST	50

/* A breakpoint of the program that looks like one of a probe, and a return. */
#ifdef __aarch64__
static const unsigned int own_breakpoint[] = { 0xd42000a0, 0xd65f03c0 };
#else
static const unsigned char own_breakpoint[] = { 0xcc, 0xc3 };
#endif

static bool is_readable(const char *text)
{
	int fds[2];
	bool readable;

	pipe(fds);
	readable = write(fds[1], text, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return readable;
}

static int only_executes(void)
{
	char *code = jit();
	int err;

	memcpy(code + 1024, own_breakpoint, sizeof(own_breakpoint));
	__builtin___clear_cache(code, code + 4096);
	on_signal(SIGTRAP, on_trap, 0);
	err = add("x", code, "");
	if (change_protection(code, 4096, PROT_EXEC) || is_readable(code))
		return CANNOT_TEST;
	err = err ?: add("y", code + code_offsets[1], "");
	/* If this is executed for ever, the time limit of children ends it. */
	((void (*)(void))(code + 1024))();
	if (err || traps != 1)
		return 1;
	return code_call(code, 0, 1) && get("x", HITS) == 1 && get("y", HITS) == 1 ? 0 : 2;
}

static void check_execute_only(void)
{
	int status = in_child(only_executes);

	if (status == CANNOT_TEST)
		ksft_test_result_skip("text that can be executed can be read here\n");
	else
		ksft_test_result(!status, "a foreign breakpoint in text that cannot be read: %d\n",
				 status);
	command("drop");
}

/* --- Text that cannot be written ------------------------------------------------------ */

static void check_protected(void)
{
	char *code = jit();
	int err, again, uffd = open_protection(code);
	bool stays;

	if (uffd < 0) {
		ksft_test_result_skip("userfaultfd protects no pages here\n");
		ksft_test_result_skip("userfaultfd protects no pages here\n");
		return;
	}
	err = add("w", code, "");
	ksft_test_result(err == EPERM && code_call(code, 0, 1),
			 "a page that userfaultfd protects is refused: error %d\n", err);
	command("drop");
	protect_page(uffd, code, 0);
	err = add("w", code, "");
	protect_page(uffd, code, UFFDIO_WRITEPROTECT_MODE_WP);
	again = on("off", "w");
	stays = memcmp(code, code_start, CODE_SIZE) && code_call(code, 0, 1) && !get("w", HITS);
	protect_page(uffd, code, 0);
	ksft_test_result(!err && again == EAGAIN && stays && !on("off", "w") &&
			 !memcmp(code, code_start, CODE_SIZE),
			 "a probe of such a page is disabled, and its breakpoint stays: error %d\n",
			 again);
	close(uffd);
	command("drop");
	munmap(code, 4096);
}

/* --- Text that begins where nothing can be read ---------------------------------------- */

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

/* The backend of arm64 looks at the text before an instruction, too. */
static void check_guarded(void)
{
	char *pages = mmap(NULL, 8192, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *code = pages + 4096;
	int err;

	memcpy(code, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + CODE_SIZE);
	if (advise(pages, 4096, MADV_GUARD_INSTALL)) {
		ksft_test_result_skip("no guard pages here\n");
		return;
	}
	err = add("g", code, "") ?: add("h", code + code_offsets[1], "");
	ksft_test_result(!err && code_call(code, 0, 1) && get("g", HITS) == 1 &&
			 get("h", HITS) == 1, "text after a guard page: error %d\n", err);
	command("drop");
}

/* --- Text on a stack ------------------------------------------------------------------- */

#define STACK_ROOM	(64UL << 20)
#define GROWTH		(2 << 20)

/* The mapping of the copies must not be where the stack grows. */
static int grows(void)
{
	char *room = mmap(NULL, STACK_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *stack;
	int err;

	munmap(room, STACK_ROOM);
	stack = mmap(room + STACK_ROOM / 2, 8192, ALL,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
	memcpy(stack, code_start, CODE_SIZE);
	__builtin___clear_cache(stack, stack + CODE_SIZE);
	err = add("s", stack, "") ?: add("t", stack + code_offsets[1], "");
	if (err || !code_call(stack, 0, 1) || get("s", HITS) != 1 || get("t", HITS) != 1)
		return 1;
	stack[-GROWTH] = 1;
	return 0;
}

static void check_stack(void)
{
	int status = in_child(grows);

	ksft_test_result(!status, "a stack with probed text grows: %d\n", status);
	command("drop");
}

/* --- No room near the text -------------------------------------------------------------- */

/* More than any instruction reaches, to both sides of its middle. */
#define RESERVED	(8UL << 30)
#define MIDDLE		(RESERVED / 2)
#define HOLE		0x100000UL

#define RESERVE		(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

#if __SIZEOF_POINTER__ == 8
/* Reserves all addresses near a page of text, which has the code. */
static char *reserve(void)
{
	char *all = mmap(NULL, RESERVED, PROT_NONE, RESERVE, -1, 0), *code = all + MIDDLE;

	change_protection(code, 4096, ALL);
	memcpy(code, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + CODE_SIZE);
	return code;
}

#ifdef __x86_64__
/* A jump of 2 GiB towards lower addresses: from the room, which is above, it would be too far. */
static void check_far_branch(char *code)
{
	const int distance = -0x7fffff00;
	char *jump = code + 2048, *target = jump + 5 + distance;
	char *page = (char *)((unsigned long)target & ~4095UL);

	change_protection(page, 4096, ALL);
	*target = 0xc3;
	*jump = 0xe9;
	memcpy(jump + 1, &distance, sizeof(distance));
	ksft_test_result(!add("a", jump, "") && (((void (*)(void))jump)(), get("a", HITS) == 1),
			 "a jump that its copy could not make\n");
	command("drop");
}
#else
static void check_far_branch(char *code)
{
	ksft_test_result_skip("no branch reaches farther than the room\n");
}
#endif

static char *room;
static bool taken;

/* The copies vanish, and the room for others; and a probe, so that the kernel looks again. */
static void take_room(void)
{
	taken = mmap(room, HOLE, PROT_NONE, RESERVE | MAP_FIXED, -1, 0) == room;
	on("del", "b");
}

/* A call returns to handlers, which need no copy. */
static void check_return_without_room(char *code, char *hole)
{
	char *calling = code + 1024;
	int err;

	memcpy(calling, calling_code, sizeof(calling_code));
	__builtin___clear_cache(calling, calling + sizeof(calling_code));
	room = hole;
	err = add("b", plain, "") ?: add("r", calling, "return");
	((void (*)(void (*)(void)))calling)(take_room);
	if (err || taken)
		ksft_test_result(!err && get("r", HITS) == 1 && get("r", RETURNS) == 1 &&
				 !get("r", ERRORS) && !get("r", MISSED),
				 "the room vanishes during a call: %ld returns, %ld missed\n",
				 get("r", RETURNS), get("r", MISSED));
	else
		ksft_test_result_skip("this kernel does not let programs unmap areas\n");
	command("drop");
}

static void check_no_room(void)
{
	char *code = reserve(), *hole = code + HOLE;

	munmap(hole, HOLE);
	ksft_test_result(!add("a", code, "") &&
			 mmap(hole, HOLE, PROT_NONE, RESERVE | MAP_FIXED, -1, 0) == hole &&
			 code_call(code, 0, 1) && !memcmp(code, code_start, CODE_SIZE) &&
			 !get("a", HITS) && get("a", MISSED) == 1,
			 "the room vanishes after the registration: %ld missed\n",
			 get("a", MISSED));
	command("drop");
	record_refusals(true);
	refused_because("text without room for copies", add("a", code, ""), ENOSPC,
			"no room for a copy in reach of the text");
	record_refusals(false);
	ksft_test_result(!add("a", code + RETURN_OFFSET, "") && code_call(code, 0, 1) &&
			 get("a", HITS) == 1, "an instruction that is emulated needs no room\n");
	command("drop");
	/* The kernel maps the copies there; the mapping must stay. */
	munmap(hole, HOLE);
	ksft_test_result(!add("a", code, "") && code_call(code, 0, 1) && get("a", HITS) == 1,
			 "there is room in a hole\n");
	command("drop");
	check_far_branch(code);
	check_return_without_room(code, hole);
}
#else
static void check_no_room(void)
{
	int i;

	for (i = 0; i < 6; i++)
		ksft_test_result_skip("any text reaches all addresses\n");
}
#endif

/* --- Text that vanishes ------------------------------------------------------------------- */

/* The line of a probe of this process in the list, or NULL. */
static const char *line_of(const char *at)
{
	static char line[200];
	const char *found;
	size_t len;

	snprintf(line, sizeof(line), "pid:%d:0x%lx ", getpid(), (unsigned long)at);
	found = strstr(read_all(LIST), line);
	if (!found)
		return NULL;
	for (len = 0; len < sizeof(line) - 1 && found[len] && found[len] != '\n'; len++)
		line[len] = found[len];
	line[len] = 0;
	return line;
}

static bool is_listed(const char *at, const char *words)
{
	const char *line = line_of(at);

	if (line && strstr(line, words))
		return true;
	ksft_print_msg("the line is \"%s\"\n", line ?: "");
	return false;
}

static bool is_gone(const char *at)
{
	const char *line = line_of(at);

	return line && strstr(line, "[GONE]");
}

static int unmaps_and_exits(void)
{
	char *code = jit();
	int err = add("c", code, "");

	munmap(code, 4096);
	return err || !is_gone(code);
}

static void check_gone(void)
{
	char *code = jit();
	int err = add("a", code, "");

	ksft_test_result(!err && is_listed(code, " handler nmissed 0 ") && !is_gone(code),
			 "a probe in the list\n");
	memcpy(code, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + CODE_SIZE);
	ksft_test_result(is_gone(code), "its text is written\n");
	ksft_test_result(!on("off", "a") && is_listed(code, "[DISABLED]") && !is_gone(code),
			 "a disabled probe has no breakpoint anyway\n");
	code[0] ^= 1;
	ksft_test_result(on("on", "a") == EILSEQ && is_listed(code, "[DISABLED]") &&
			 !get("a", HITS), "it is not armed in another instruction\n");
	code[0] ^= 1;
	__builtin___clear_cache(code, code + CODE_SIZE);
	ksft_test_result(!on("on", "a") && !is_gone(code) && code_call(code, 0, 1) &&
			 get("a", HITS) == 1, "it is armed again\n");
	munmap(code, 4096);
	ksft_test_result(is_gone(code) && !get("a", REGISTERED), "its text is unmapped\n");
	ksft_test_result(!on("del", "a") && !line_of(code), "unregistering removes the line\n");
	command("drop");
	code = jit();
	err = add("a", code, "");
	munmap(code, 4096);
	mmap(code, 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(code, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + CODE_SIZE);
	ksft_test_result(!err && is_gone(code) && !on("add", "a") && !is_gone(code),
			 "so does registering again\n");
	command("drop");
	munmap(code, 4096);
	ksft_test_result(!in_child(unmaps_and_exits) && !strstr(read_all(LIST), "[GONE]"),
			 "and the end of the process\n");
	command("drop");
}

/* --- System calls that wait ----------------------------------------------------------------- */

static int epoll, wakeup[2];
static volatile int wait_result;

/* Unlike others, this call is not restarted after an interruption. */
static void wait_for_input(void *unused)
{
	struct epoll_event event;

	wait_result = syscall(__NR_epoll_pwait, epoll, &event, 1, -1, NULL, 0);
}

/* True when the thread is in the call. */
static bool waits(long tid)
{
	char path[64];
	int tries;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/syscall", tid);
	for (tries = 0; tries < 10000; tries++) {
		if (read_number(path) == __NR_epoll_pwait)
			return true;
		usleep(1000);
	}
	return false;
}

static void check_waiting(void)
{
	static struct thread thread;
	struct epoll_event event = { .events = 1 /* EPOLLIN */ };
	long seen = 0, tid;
	int i, err = 0;
	bool waited;

	pipe(wakeup);
	epoll = syscall(__NR_epoll_create1, 0);
	syscall(__NR_epoll_ctl, epoll, 1 /* EPOLL_CTL_ADD */, wakeup[0], &event);
	wait_result = -1000;
	tid = thread_start(&thread, wait_for_input, NULL);
	waited = waits(tid);
	for (i = 0; i < 20; i++) {
		err = err ?: add("a", plain, "") ?: add("r", plain, "return");
		call_plain(10);
		seen += get("a", HITS) + get("r", RETURNS);
		command("drop");
		usleep(2000);
	}
	ksft_test_result(!err && waited && seen == 20 * 20 && waits(tid) && wait_result == -1000,
			 "a call that waits is not interrupted: %d, %ld hits\n", wait_result, seen);
	write(wakeup[1], "x", 1);
	thread_wait(&thread, 10);
	ksft_test_result(wait_result == 1, "it returns its own result: %d\n", wait_result);
}

/* --- Memory --------------------------------------------------------------------------------- */

#define PAGES		40

/* Returns a number of a mapping in /proc/self/smaps, or -1. */
static long number_of_mapping(const void *start, const char *name)
{
	static char text[65536], line[32];
	int fd = open("/proc/self/smaps", O_RDONLY), n, len = 0;
	const char *at;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += n;
	close(fd);
	text[len] = 0;
	snprintf(line, sizeof(line), "%lx-", (unsigned long)start);
	at = strstr(text, line);
	at = at ? strstr(at, name) : NULL;
	if (!at)
		return -1;
	for (at += strlen(name); *at == ' '; at++)
		;
	return atol(at);
}

static void check_memory(void)
{
	char name[16], *map;
	long armed, after;
	int i, err;

	code_file(FILE_PATH, PAGES);
	map = code_map(FILE_PATH, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	for (i = 0; i < PAGES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		make(name, getpid(), map + i * 4096UL, "");
	}
	err = command("batch");
	armed = number_of_mapping(map, "\nAnonymous:");
	command("drop");
	after = number_of_mapping(map, "\nAnonymous:");
	for (i = 0; i < PAGES; i++)
		err = err ?: !code_call(map, i, i);
	ksft_test_result(!err && armed == PAGES * 4 && !after,
			 "%d pages are copied, and given back: %ld kB, then %ld kB\n", PAGES, armed,
			 after);
	munmap(map, PAGES * 4096UL);
	unlink(FILE_PATH);
}

/* --- A process whose first thread has ended ---------------------------------------------- */

static void call_until(void *stop)
{
	while (!*(volatile int *)stop) {
		plain(1);
		usleep(10000);
	}
	syscall(__NR_exit_group, 0);
}

static void check_first_thread(void)
{
	volatile int *stop = shared_memory(4096);
	static struct thread second;
	pid_t pid = fork();
	int err, i;

	if (!pid) {
		limit_child();
		thread_start(&second, call_until, (void *)stop);
		syscall(__NR_exit, 0);
	}
	usleep(100000);
	err = make("a", pid, plain, "") ?: on("add", "a");
	for (i = 0; i < 200 && get("a", HITS) < 2; i++)
		usleep(10000);
	ksft_test_result(!err && get("a", HITS) >= 2,
			 "the first thread has ended, the second has hits: error %d\n", err);
	*stop = 1;
	reap(pid);
	command("drop");
	munmap((void *)stop, 4096);
}

#ifdef __aarch64__
/* --- Text in memory with tags ------------------------------------------------------------- */

#define TAG_CHECKS	1
#define HWCAP2_MTE_BIT	18
#define PROT_TAGS	0x20

/* Loads the literal after it, and returns. */
static const unsigned int literal_code[] = { 0x58000040, 0xd65f03c0, 0x1234, 0 };

static int loads_tagged_literal(void)
{
	unsigned long (*code)(void);
	int err;

	prctl(PR_SET_TAGGED_ADDR_CTRL,
	      PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC | 0xfffeUL << PR_MTE_TAG_SHIFT, 0, 0, 0);
	code = mmap(NULL, 4096, ALL | PROT_TAGS, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy((void *)code, literal_code, sizeof(literal_code));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(literal_code));
	asm volatile(".arch armv8.5-a+memtag\n"
		     "stg %0, [%0]" : : "r" ((unsigned long)code | 5UL << 56) : "memory");
	err = add("t", (void *)code, "");
	return err || code() != 0x1234 || code() != 0x1234 || get("t", HITS) != 2;
}

/* The address of a literal is that of the instruction, and has no tag. */
static void check_tagged_literal(void)
{
	bool tags = getauxval(AT_HWCAP2) >> HWCAP2_MTE_BIT & 1;
	int status = tags ? in_child(loads_tagged_literal) : CANNOT_TEST;

	if (status == CANNOT_TEST)
		ksft_test_result_skip("memory has no tags\n");
	else
		ksft_test_result(!status, "a literal in memory with tags: %d\n", status);
	command("drop");
}
#else
#define TAG_CHECKS	0

static void check_tagged_literal(void)
{
}
#endif

int main(void)
{
	ksft_print_header();
	ksft_set_plan(24 + TAG_CHECKS);
	check_execute_only();
	check_protected();
	check_guarded();
	check_stack();
	check_no_room();
	check_gone();
	check_waiting();
	check_memory();
	check_first_thread();
	check_tagged_literal();
	ksft_finished();
}
