// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of one process on text that the program changes, and handlers that send signals.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"
#include "areas.h"

/* The instruction of the function that is changed, and the next one. */
#define CHANGED		code_offsets[2]
#define NEXT		code_offsets[3]

/* The last one, a return. */
#ifdef __aarch64__
#define RETURN_OFFSET	(CODE_SIZE - 4)
#else
#define RETURN_OFFSET	(CODE_SIZE - 1)
#endif

/* Where the changed instruction may branch to: outside of the function. */
#define OUTSIDE		64

/* --- Text that differs from its file ----------------------------------------------------- */

static char *map_file(void)
{
	code_file(FILE_PATH, 1);
	return code_map(FILE_PATH, 1, ALL, MAP_PRIVATE);
}

static void unmap_file(char *map)
{
	munmap(map, 4096);
	unlink(FILE_PATH);
}

static int probe_of_file(void)
{
	const struct event_at at = { .path = FILE_PATH, .offset = CHANGED };

	return event_open(&at);
}

static void write_text(char *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	__builtin___clear_cache(to, to + len);
}

/* The function adds 9 instead of 7. */
static void change(char *map)
{
#ifdef __aarch64__
	unsigned int insn;

	memcpy(&insn, code_start + CHANGED, sizeof(insn));
	insn += 2 << 10;
	write_text(map + CHANGED, &insn, sizeof(insn));
#else
	char insn[8];

	memcpy(insn, code_start + CHANGED, NEXT - CHANGED);
	insn[NEXT - CHANGED - 1] += 2;
	write_text(map + CHANGED, insn, NEXT - CHANGED);
#endif
}

/* The function continues outside of it. */
static void change_to_branch(char *map)
{
#ifdef __aarch64__
	unsigned int insn = 0x14000000 | (OUTSIDE - CHANGED) / 4;

	write_text(map + CHANGED, &insn, sizeof(insn));
#else
	char insn[8] = { 0xeb, OUTSIDE - CHANGED - 2, 0x90, 0x90 };

	write_text(map + CHANGED, insn, NEXT - CHANGED);
#endif
	write_text(map + OUTSIDE, code_start + CHANGED, CODE_SIZE - CHANGED);
}

static bool adds(const char *map, unsigned long more)
{
	return ((code_function *)map)(100) == 100 + more;
}

static void check_changed_before(void)
{
	char *map = map_file();
	int err, file;

	change(map);
	err = add("a", map + CHANGED, "");
	ksft_test_result(!err && adds(map, 9) && get("a", HITS) == 1, "changed text: error %d\n",
			 err);
	file = probe_of_file();
	ksft_test_result(file >= 0 && adds(map, 9) && get("a", HITS) == 2,
			 "a probe of the file is added: it does not concern that text\n");
	ksft_test_result(!on("del", "a") && adds(map, 9), "the probe of the process goes\n");
	event_close(file);
	ksft_test_result(adds(map, 9), "and that of the file\n");
	command("drop");
	unmap_file(map);
}

static void check_changed_after(void)
{
	char *map = map_file();
	int err, file = probe_of_file();

	ksft_test_result(file >= 0 && adds(map, 7) && event_count(file) == 1,
			 "a probe of a file\n");
	change(map);
	ksft_test_result(adds(map, 9) && event_count(file) == 1, "its text changes\n");
	err = add("a", map + CHANGED, "");
	ksft_test_result(!err && adds(map, 9) && get("a", HITS) == 1,
			 "a probe of the process is added: error %d\n", err);
	event_close(file);
	ksft_test_result(adds(map, 9) && get("a", HITS) == 2, "that of the file goes\n");
	command("drop");
	ksft_test_result(adds(map, 9), "and that of the process\n");
	unmap_file(map);
}

/* In the file, the exit is an instruction that is no branch. */
static void check_changed_exit(void)
{
	char *map = map_file(), words[32];
	int err, file;

	change_to_branch(map);
	snprintf(words, sizeof(words), "return size=%lu", CODE_SIZE);
	err = add("a", map, words);
	file = probe_of_file();
	ksft_test_result(!err && file >= 0 && adds(map, 7) && get("a", RETURNS) == 1,
			 "an exit that the file does not have: error %d, %ld hits\n", err,
			 get("a", RETURNS));
	event_close(file);
	command("drop");
	unmap_file(map);
}

static void check_overwritten(void)
{
	char *map = map_file();
	int err = add("a", map + CHANGED, "");

	change(map);
	ksft_test_result(!err && add("b", map + CHANGED, "") == EILSEQ && adds(map, 9),
			 "a probe that would share overwritten text is refused\n");
	on("del", "a");
	err = on("add", "b");
	ksft_test_result(!err && adds(map, 9) && get("b", HITS) == 1,
			 "the new text is probed: error %d\n", err);
	command("drop");
	unmap_file(map);
}

/* A hit of the probe of the process finds it alone, and it loses its breakpoint. */
static void check_disabled(void)
{
	char *map = map_file();
	int file, err = add("a", map + CHANGED, "");
	bool hit = !err && adds(map, 7) && get("a", HITS) == 1 && !on("off", "a");

	file = probe_of_file();
	ksft_test_result(hit && file >= 0 && adds(map, 7) && event_count(file) == 1 &&
			 get("a", HITS) == 1,
			 "a probe of the file is added to a disabled one: %lu hits\n",
			 event_count(file));
	ksft_test_result(!on("on", "a") && adds(map, 7) && event_count(file) == 2 &&
			 get("a", HITS) == 2, "which is enabled again\n");
	event_close(file);
	command("drop");
	unmap_file(map);
}

/* The program writes the instruction of the file, which another one was probed instead of. */
static void check_written_back(void)
{
	char *map = map_file();
	int err, file;

	change(map);
	err = add("a", map + CHANGED, "");
	file = probe_of_file();
	ksft_test_result(!err && file >= 0 && adds(map, 9) && get("a", HITS) == 1,
			 "changed text is hit: error %d\n", err);
	change_protection(map, 4096, PROT_READ | PROT_WRITE);
	write_text(map + CHANGED, code_start + CHANGED, NEXT - CHANGED);
	change_protection(map, 4096, PROT_READ | PROT_EXEC);
	ksft_test_result(adds(map, 7), "the instruction of the file is executed again\n");
	command("drop");
	event_close(file);
	ksft_test_result(adds(map, 7), "also without probes\n");
	unmap_file(map);
}

/* Text of two pages, of which only the first was mapped before it moved. */
static void check_grown(void)
{
	const struct event_at at = { .path = FILE_PATH, .offset = 4096 + CHANGED };
	char *map, *to;
	int file;

	code_file(FILE_PATH, 2);
	map = code_map(FILE_PATH, 2, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	munmap(map + 4096, 4096);
	to = mmap(NULL, 2 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = event_open(&at);
	/* nolibc takes a high address of 32 bits for an error. */
	syscall(__NR_mremap, map, 4096, 2 * 4096, 3 /* MREMAP_MAYMOVE | MREMAP_FIXED */, to);
	ksft_test_result(file >= 0 && code_call(to, 1, 1) && event_count(file) == 1,
			 "text that grows when it moves is probed\n");
	event_close(file);
	munmap(to, 2 * 4096);
	unlink(FILE_PATH);
}

/* The page vanishes, but not its mapping. */
static void check_truncated(void)
{
	char *map = map_file();
	int err = add("a", map + CHANGED, ""), status = 1;
	pid_t pid;

	close(open(FILE_PATH, O_WRONLY | O_TRUNC));
	pid = fork();
	if (!pid)
		exit(0);
	waitpid(pid, &status, 0);
	ksft_test_result(!err && pid > 0 && !status, "a process whose text was truncated forks\n");
	ksft_test_result(!on("del", "a") && !strstr(read_all(LIST), "pid:"),
			 "its probe is unregistered\n");
	command("drop");
	unmap_file(map);
}

/* --- Reference counters ------------------------------------------------------------------- */

#define COUNTER	2048

static void check_counter(void)
{
	const struct event_at at = { .path = FILE_PATH, .offset = CHANGED, .ref_ctr = COUNTER };
	char *map = map_file();
	volatile short *counter = (short *)(map + COUNTER);
	int err = add("a", map + CHANGED, ""), file = event_open(&at);
	bool counted = *counter == 1;

	event_close(file);
	ksft_test_result(!err && file >= 0 && counted && !*counter,
			 "the counter of a probe that comes to one of the process\n");
	command("drop");
	file = event_open(&at);
	counted = *counter == 1;
	err = add("a", map + CHANGED, "");
	event_close(file);
	ksft_test_result(!err && file >= 0 && counted && !*counter && adds(map, 7) &&
			 get("a", HITS) == 1, "and of one that such a probe comes to\n");
	command("drop");
	unmap_file(map);
}

/* --- Signals ------------------------------------------------------------------------------ */

static volatile unsigned long signals, bad_ip;

static void on_signal_of_handler(int number, siginfo_t *info, struct ucontext *context)
{
	signals++;
	bad_ip += in_area(CONTEXT_IP(context));
}

/* A signal that waits when a hit ends, at each instruction of the function. */
static void check_signals(void)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	char *code = map_file();
	int i, err = 0;

	on_signal(SIGUSR1, on_signal_of_handler, 0);
	for (i = 0; i < CODE_PROBES; i++)
		err = err ?: add(names[i], code + code_offsets[i], "signal");
	err = err ?: add(names[i], code + RETURN_OFFSET, "signal");
	ksft_test_result(!err && code_call(code, 0, 1) && signals == CODE_PROBES + 1,
			 "handlers send %lu signals: error %d\n", signals, err);
	/* The first hits may have made an area. */
	ksft_test_result(find_areas("/proc/self/maps") && code_call(code, 0, 1) && !bad_ip,
			 "no handler of a signal sees a copy in %u areas as its ip (%lu do)\n",
			 nr_areas, bad_ip);
	err = add("r", code, "return");
	ksft_test_result(!err && code_call(code, 0, 1) && get("r", RETURNS) == 1,
			 "the same with a return probe: error %d\n", err);
	/* The first return may have made another one. */
	ksft_test_result(find_areas("/proc/self/maps") && code_call(code, 0, 1) &&
			 get("r", RETURNS) == 2 && !bad_ip &&
			 signals == 4 * (CODE_PROBES + 1),
			 "no handler of a signal sees the trampoline as its ip (%lu do)\n", bad_ip);
	command("drop");
	unmap_file(code);
}

int main(void)
{
	ksft_set_plan(26);
	check_changed_before();
	check_changed_after();
	check_changed_exit();
	check_overwritten();
	check_disabled();
	check_written_back();
	check_grown();
	check_truncated();
	check_counter();
	check_signals();
	ksft_finished();
}
