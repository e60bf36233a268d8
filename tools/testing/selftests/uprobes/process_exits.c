// SPDX-License-Identifier: GPL-2.0
/*
 * Return probes on the exits of functions.  A program may move its stack, unwind it, and leave
 * functions by jumps: each call is a hit, and no return address changes.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"
#include "exits.h"

/* Makes a probe of the exits of a function of exits.h, and registers it. */
static int add_exits(const char *name, const void *at, unsigned long size, const char *words)
{
	char text[100];

	snprintf(text, sizeof(text), "return size=%lu %s", size, words);
	return add(name, at, text);
}

#define ADD(name, function, words) \
	add_exits(name, (const void *)(function), \
		  (unsigned long)function##_end - (unsigned long)(function), words)

/* --- A stack that moves --------------------------------------------------------------- */

#define STACK_SIZE	4096

static char stacks[2][STACK_SIZE] __attribute__((aligned(16)));

EXITS_CALL __attribute__((used)) long exits_move_stack(void)
{
	memcpy(stacks[1], stacks[0], STACK_SIZE);
	return stacks[1] - stacks[0];
}

EXITS_CALL __attribute__((used)) void exits_poison_stack(void)
{
	memset(stacks[0], 0xee, STACK_SIZE);
}

static unsigned long call_moving(unsigned int times)
{
	unsigned long right = 0;

	while (times--)
		right += exits_call_on(times, stacks[0] + STACK_SIZE - 64) == times + 7;
	return right;
}

/* --- Calls ------------------------------------------------------------------------------ */

static unsigned long call_two(unsigned int times)
{
	unsigned long right = 0;

	while (times--)
		right += exits_two(times) == times + 2 - times % 2;
	return right;
}

static unsigned long call_tail(unsigned int times)
{
	unsigned long right = 0;

	while (times--)
		right += exits_tail(times) == times + 2 - times % 2;
	return right;
}

static unsigned long call_branch(unsigned int times)
{
	unsigned long right = 0;

	while (times--)
		right += exits_branch(times) == (times % 2 ? 100 : times + 2);
	return right;
}

static unsigned long call_indirect(unsigned int times)
{
	unsigned long right = 0;

	while (times--)
		right += exits_indirect(times) == (times % 2 ? 200 : times + 2);
	return right;
}

static NOINLINE unsigned long shown_address(void)
{
	unsigned long address = exits_address(0);

	/* Not a tail call, whose return address would be that of the caller. */
	asm volatile("" : "+r" (address));
	return address;
}

/* All functions at once. */
static void check_calls(void)
{
	unsigned long address = shown_address();
	int err = ADD("two", exits_two, "") ?: ADD("tail", exits_tail, "") ?:
		  ADD("branch", exits_branch, "") ?: ADD("indirect", exits_indirect, "") ?:
		  ADD("deep", exits_deep, "") ?: ADD("moving", exits_moving, "") ?:
		  ADD("address", exits_address, "");

	ksft_test_result(!err, "exits are registered: error %d\n", err);
	ksft_test_result(call_two(11) == 11 && get("two", RETURNS) == 11,
			 "two returns: %ld hits\n", get("two", RETURNS));
	ksft_test_result(call_tail(12) == 12 && get("tail", RETURNS) == 12 &&
			 get("two", RETURNS) == 23,
			 "a jump to another function: %ld hits\n", get("tail", RETURNS));
	ksft_test_result(call_branch(13) == 13 && get("branch", RETURNS) == 13,
			 "a branch that is taken or not: %ld hits\n", get("branch", RETURNS));
	ksft_test_result(call_indirect(14) == 14 && get("indirect", RETURNS) == 14,
			 "an indirect jump, outside or not: %ld hits\n", get("indirect", RETURNS));
	ksft_test_result(exits_deep(300) == 300 && get("deep", RETURNS) == 301,
			 "recursion: %ld hits\n", get("deep", RETURNS));
	ksft_test_result(call_moving(15) == 15 && get("moving", RETURNS) == 15,
			 "a stack that moves: %ld hits\n", get("moving", RETURNS));
	ksft_test_result(shown_address() == address && get("address", RETURNS) == 1,
			 "the return address does not change\n");
	ksft_test_result(!get("two", ERRORS) && !get("tail", ERRORS) && !get("branch", ERRORS) &&
			 !get("indirect", ERRORS) && !get("deep", ERRORS) &&
			 !get("moving", ERRORS), "handlers see the exits\n");
	ksft_test_result(!get("two", HITS), "and no entries\n");
	command("drop");
}

static void check_changes(void)
{
	char copy[32];
	int err;

	memcpy(copy, exits_two, sizeof(copy));
	err = ADD("a", exits_two, "");
	ksft_test_result(!err && memcmp(copy, exits_two, sizeof(copy)),
			 "the text has breakpoints\n");
	ksft_test_result(!on("off", "a") && !memcmp(copy, exits_two, sizeof(copy)) &&
			 call_two(2) == 2 && !get("a", RETURNS), "they can be disabled\n");
	ksft_test_result(!on("on", "a") && call_two(2) == 2 && get("a", RETURNS) == 2,
			 "and enabled\n");
	ksft_test_result(on("add", "a") == EBUSY, "refusal of a registered probe\n");
	ksft_test_result(!on("del", "a") && !memcmp(copy, exits_two, sizeof(copy)) &&
			 call_two(2) == 2 && get("a", RETURNS) == 2, "they are unregistered\n");
	ksft_test_result(!on("add", "a") && call_two(2) == 2 && get("a", RETURNS) == 4,
			 "and registered again\n");
	command("drop");

	err = ADD("a", exits_two, "result=77");
	ksft_test_result(!err && exits_two(1) == 77 && exits_two(2) == 77,
			 "a handler changes the result\n");
	command("drop");
	err = ADD("a", exits_two, "self");
	ksft_test_result(!err && call_two(3) == 3 && get("a", RETURNS) == 1 &&
			 get("a", CALLBACKS) == 1 && get("a", ASKED) == -EINPROGRESS &&
			 !memcmp(copy, exits_two, sizeof(copy)),
			 "a handler unregisters its own probe\n");
	command("drop");
	err = ADD("a", exits_two, "") ?: add("b", exits_two, "return") ?: add("c", exits_two, "");
	ksft_test_result(!err && call_two(5) == 5 && get("a", RETURNS) == 5 &&
			 get("b", RETURNS) == 5 && get("c", HITS) == 5,
			 "beside a return address that is replaced, and a probe of the entry\n");
	command("drop");
}

/* --- Refusals --------------------------------------------------------------------------- */

/* An exit that cannot be probed; data that the function reads. */
#if defined(__x86_64__)
static const unsigned char unprobed[] = { 0x90, 0x66, 0xe9, 0, 1, 0, 0 };
static const unsigned char with_data[] = { 0x8b, 0x05, 1, 0, 0, 0, 0xc3, 1, 2, 3, 4, 0xc3 };
#elif defined(__i386__)
static const unsigned char unprobed[] = { 0x90, 0x66, 0xc3 };
static const unsigned char with_data[] = { 0xa1, 0, 0, 0, 0, 0xc3, 1, 2, 3, 4, 0xc3 };
#elif defined(__aarch64__)
static const unsigned int unprobed[] = { 0xd503201f, 0xd65f0bff };
static const unsigned int with_data[] = { 0x18000040, 0xd65f03c0, 0xd503201f, 0xd65f03c0 };
#endif

static char *put_code(char *code, const void *bytes, size_t size)
{
	memcpy(code + 1024, bytes, size);
#ifdef __i386__
	/* The address of the data. */
	if (bytes == with_data)
		*(unsigned int *)(code + 1025) = (unsigned int)code + 1030;
#endif
	__builtin___clear_cache(code, code + 4096);
	return code + 1024;
}

static void check_refusals(void)
{
	char *code = jit(), *at;

	refused("a function that is cut off", add_exits("a", exits_two, 5, ""), ENOEXEC);
	refused("a function without an exit", add_exits("a", code, code_offsets[1], ""), ENOEXEC);
	refused("a function that is too large", add_exits("a", exits_two, 0x200000, ""), EINVAL);
	refused("an entry handler", ADD("a", exits_two, "entry"), EINVAL);
	refused("a limit", ADD("a", exits_two, "most=1"), EINVAL);
	refused("the end of a mapping", add_exits("a", code, 4096 + 16, ""), EFAULT);
	at = put_code(code, breakpoint_code, sizeof(breakpoint_code));
	refused("a breakpoint in the function", add_exits("a", at, sizeof(breakpoint_code), ""),
		EEXIST);
	at = put_code(code, unprobed, sizeof(unprobed));
	refused("an exit that cannot be probed", add_exits("a", at, sizeof(unprobed), ""), ENOEXEC);
	at = put_code(code, with_data, sizeof(with_data));
	refused("data in the function", add_exits("a", at, sizeof(with_data), ""), ENOEXEC);
	munmap(code, 4096);
}

/* --- Targets that cannot be read ---------------------------------------------------------- */

/* A jump through the word at the argument. */
#if defined(__x86_64__)
static const unsigned char through_word[] = { 0xff, 0x27 };
#define UNREADABLE	1
#elif defined(__i386__)
static const unsigned char through_word[] = { 0xff, 0x20 };
#define UNREADABLE	1
#else
static const unsigned char through_word[4];
#define UNREADABLE	0
#endif

static unsigned long *word;

static void on_fault(int signal, siginfo_t *info, struct ucontext *context)
{
	change_protection(word, 4096, PROT_READ);
}

/* The first time, the kernel cannot know whether the jump leaves the function. */
static void check_unreadable(void)
{
	EXITS_CALL unsigned long (*function)(unsigned long value);
	unsigned long result;
	char *code = jit();
	int err;

	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*word = (unsigned long)exits_two;
	change_protection(word, 4096, PROT_NONE);
	on_signal(SIGSEGV, on_fault, 0);
	function = (void *)put_code(code, through_word, sizeof(through_word));
	err = add_exits("a", (void *)function, sizeof(through_word), "");
	result = function((unsigned long)word);
	ksft_test_result(!err && result == (unsigned long)word + 2 && get("a", RETURNS) == 1 &&
			 get("a", MISSED) == 1,
			 "a target that cannot be read: error %d, %ld hits, %ld missed\n", err,
			 get("a", RETURNS), get("a", MISSED));
	command("drop");
	munmap(code, 4096);
}

/* --- Two pages -------------------------------------------------------------------------- */

/* Two pages with a function across their border, which has an exit in each. */
static char *two_pages(void)
{
	char *code = mmap(NULL, 8192, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code + 4096 - CODE_SIZE, code_start, CODE_SIZE);
	memcpy(code + 4096, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + 8192);
	return code;
}

/* The exit in the second page is armed first; that in the first page is another instruction. */
static void check_failed_enable(void)
{
	char *code = two_pages(), *at = code + 4096 - CODE_SIZE, *first_exit = code + 4095;
	int err = add_exits("a", at, 2 * CODE_SIZE, "") ?: on("off", "a"), failed;

	*first_exit ^= 1;
	failed = on("on", "a");
	ksft_test_result(!err && failed == EILSEQ && !memcmp(code + 4096, code_start, CODE_SIZE) &&
			 code_call(code + 4096, 0, 1) && !get("a", RETURNS),
			 "if one exit cannot be enabled, none is: error %d, %ld hits\n", failed,
			 get("a", RETURNS));
	*first_exit ^= 1;
	__builtin___clear_cache(code, code + 8192);
	ksft_test_result(!on("on", "a") && code_call(at, 0, 1) && code_call(code + 4096, 0, 1) &&
			 get("a", RETURNS) == 2, "all are enabled later: %ld hits\n",
			 get("a", RETURNS));
	command("drop");
	munmap(code, 8192);
}

/* --- Many exits ------------------------------------------------------------------------- */

#define COPIES	30

/* The kernel needs room for all points; slub_debug and KASAN notice if it writes beyond. */
static void check_array(void)
{
	char *code = mmap(NULL, 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i, right = 0;
	char name[16], words[40];
	int err;

	for (i = 0; i < COPIES; i++)
		memcpy(code + i * CODE_SIZE, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + 4096);
	snprintf(words, sizeof(words), "return size=%lu", COPIES * CODE_SIZE);
	err = make("e", getpid(), code, words);
	for (i = 0; i < COPIES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		err = err ?: make(name, getpid(), code + i * CODE_SIZE, "return");
	}
	err = err ?: command("returns");
	for (i = 0; i < COPIES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		right += code_call(code + i * CODE_SIZE, 0, i) && get(name, RETURNS) == 1;
	}
	ksft_test_result(!err && right == COPIES && get("e", RETURNS) == COPIES &&
			 !get("e", ERRORS),
			 "an array with a probe of exits: error %d, %u right, %ld hits\n",
			 err, right, get("e", RETURNS));
	command("drop");
	munmap(code, 4096);
}

#ifdef __aarch64__
#define RETURN_SIZE	4UL
#else
#define RETURN_SIZE	1UL
#endif
#define MANY		32768UL

/* munmap() ends the registrations of all exits, in another order than the removal. */
static void check_many(void)
{
	const unsigned long size = MANY * RETURN_SIZE;
	char *code = mmap(NULL, size, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long long removed, unmapped;
	const char *end = code_end;
	unsigned long i;
	int err;

	/* Hides from the compiler that the symbol is no array of its own. */
	asm("" : "+r" (end));
	for (i = 0; i < size; i += RETURN_SIZE)
		memcpy(code + i, end - RETURN_SIZE, RETURN_SIZE);
	__builtin___clear_cache(code, code + size);
	err = add_exits("m", code, size, "");
	removed = now();
	err = err ?: on("del", "m");
	removed = now() - removed;
	err = err ?: on("add", "m");
	unmapped = now();
	munmap(code, size);
	unmapped = now() - unmapped;
	ksft_test_result(!err && !get("m", REGISTERED) && unmapped < 4 * removed + 1000000000ULL,
			 "%lu exits: error %d, removed in about %lu ms, unmapped in %lu ms\n", MANY,
			 err, (unsigned long)(removed >> 20), (unsigned long)(unmapped >> 20));
	command("drop");
}

/* --- Processes -------------------------------------------------------------------------- */

static int child_calls(void)
{
	return call_two(4) != 4;
}

static void check_processes(void)
{
	char *code = two_pages();
	int err = ADD("a", exits_two, ""), status;

	status = in_child(child_calls);
	ksft_test_result(!err && !status && !get("a", RETURNS), "a child has no hits\n");
	command("drop");

	err = add_exits("a", code + 4096 - CODE_SIZE, 2 * CODE_SIZE, "");
	ksft_test_result(!err && code_call(code + 4096 - CODE_SIZE, 0, 1) &&
			 code_call(code + 4096, 0, 1) && get("a", RETURNS) == 2,
			 "exits in two pages: error %d, %ld hits\n", err, get("a", RETURNS));
	munmap(code + 4096, 4096);
	ksft_test_result(get("a", REGISTERED) == 1 && code_call(code + 4096 - CODE_SIZE, 0, 1) &&
			 get("a", RETURNS) == 3, "one of them is unmapped\n");
	munmap(code, 4096);
	ksft_test_result(!get("a", REGISTERED) && !on("del", "a"),
			 "probes of unmapped text are unregistered\n");
	command("drop");
}

/* --- Steps ------------------------------------------------------------------------------ */

/* Probes the exits of a function in a child. */
static int probe_child(const char *name, pid_t pid, const void *at, const char *end)
{
	char text[100];

	snprintf(text, sizeof(text), "return size=%lu", (unsigned long)end - (unsigned long)at);
	return make(name, pid, at, text) ?: on("add", name);
}

/* Number of single steps of a child through some calls, or -1. */
static NOINLINE int count_steps(bool probed)
{
	int status, steps = 0, err = 0;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		_exit(call_branch(2) == 2 && call_indirect(2) == 2 ? 7 : 8);
	}
	waitpid(pid, &status, 0);
	if (probed)
		err = probe_child("a", pid, exits_branch, exits_branch_end) ?:
		      probe_child("b", pid, exits_indirect, exits_indirect_end);
	while (!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status))
		steps++;
	return !err && WIFEXITED(status) && WEXITSTATUS(status) == 7 ? steps : -1;
}

static void check_steps(void)
{
	int bare = count_steps(false), probed = count_steps(true);

	ksft_test_result(bare > 0 && probed == bare && get("a", RETURNS) == 2 &&
			 get("b", RETURNS) == 2,
			 "a debugger steps over exits: %d steps, %d bare, %ld and %ld hits\n",
			 probed, bare, get("a", RETURNS), get("b", RETURNS));
	command("drop");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(37 + UNREADABLE);
	check_calls();
	check_changes();
	check_refusals();
	if (UNREADABLE)
		check_unreadable();
	check_failed_enable();
	check_array();
	check_many();
	check_processes();
	check_steps();
	ksft_finished();
}
