// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on probed processes, each of whose allocations fails once: probed files are mapped,
 * processes fork, text moves, probes are hit for the first time, and are registered together.
 *
 * After each attempt, a system call has succeeded or failed with ENOMEM, the program goes on, each
 * probe is there, or the kernel has reported that it is not, and the text is the original one when
 * the probes have been unregistered.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"
#include "areas.h"
#include "starve.h"

/* The page of a file, and the instruction in it, that has the probe; the counter of a probe. */
#define INSN		code_offsets[1]
#define COUNTER		(4096 + 2048)

/* Low, so that 32-bit programs do not take the address for an error; no page table is there. */
#define MOVED		((char *)0x34000000UL)

/* --- Text -------------------------------------------------------------------------------- */

static char deep_before[16];

static bool deep_is_armed(void)
{
	return memcmp(deep, deep_before, sizeof(deep_before));
}

/* Has a copy of the code a breakpoint? */
static bool is_armed(const char *code)
{
	return memcmp(code, code_start, CODE_SIZE);
}

/* The number of probes that the kernel has refused since clear_trace(). */
static int refusals(void)
{
	const char *at = read_all(TRACE);
	int nr = 0;

	while ((at = strstr(at, "uprobe_refused: inode "))) {
		at++;
		nr++;
	}
	return nr;
}

/*
 * Does each page of text work, and count its call, if it has a breakpoint? If not, the kernel must
 * have reported it, and only a lack of memory explains it. The first @sure pages have breakpoints.
 */
static bool are_probed(const char *map, int pages, int sure, struct probes *probes, bool lacked)
{
	unsigned long before = probe_count(probes);
	int i, armed = 0, works = 0, reported = refusals();
	bool right = true;

	for (i = 0; i < pages; i++) {
		if (is_armed(map + i * 4096))
			armed++;
		else if (i < sure || !lacked)
			right = false;
		works += code_call(map, i, i);
	}
	right = right && works == pages && armed + reported >= pages &&
		probe_count(probes) - before == (unsigned long)armed;
	if (!right)
		ksft_print_msg("%d of %d pages work, %d are probed, %d reports, %lu hits\n", works,
			       pages, armed, reported, probe_count(probes) - before);
	return right;
}

/* Is the text as in the file, and does it work? */
static bool are_restored(const char *map, int pages)
{
	int i;

	for (i = 0; i < pages; i++) {
		if (is_armed(map + i * 4096) || !code_call(map, i, i))
			return false;
	}
	return true;
}

/* --- A probed file is mapped ------------------------------------------------------------- */

#define PAGES	3

/* Text becomes executable if it is first mapped without, in @protection. */
static int map_probed(int n, int protection)
{
	int fd = open(FILE_PATH, O_RDONLY), err = 0;
	struct probes probes;
	bool lacked, right;
	char *map = NULL;

	if (!code_probe(&probes, FILE_PATH, PAGES, 1))
		return WRONG;
	if (!(protection & PROT_EXEC))
		map = mmap(NULL, PAGES * 4096, protection, MAP_PRIVATE, fd, 0);
	clear_trace();
	fail_at(n);
	if (map)
		err = change_protection(map, PAGES * 4096, PROT_READ | PROT_EXEC) ? errno : 0;
	else
		map = mmap(NULL, PAGES * 4096, protection, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		err = errno;
	lacked = has_failed();
	right = err || are_probed(map, PAGES, 0, &probes, lacked);
	probe_remove(&probes);
	right = right && (err || are_restored(map, PAGES));
	close(fd);
	return result_of(right, lacked, err);
}

static int maps_text(int n)
{
	return map_probed(n, PROT_READ | PROT_EXEC);
}

static int makes_executable(int n)
{
	return map_probed(n, PROT_READ);
}

/*
 * The counter is in the second page, and counts the probe exactly if the text has it, unless the
 * kernel has reported one of them.
 */
static int maps_counter(int n)
{
	const struct event_at at = { .path = FILE_PATH, .offset = INSN, .ref_ctr = COUNTER };
	int fd = open(FILE_PATH, O_RDONLY), event = event_open(&at), err;
	bool lacked, armed, reported, right;
	volatile short *counter;
	char *map;

	clear_trace();
	fail_at(n);
	map = mmap(NULL, 2 * 4096, ALL, MAP_PRIVATE, fd, 0);
	err = map == MAP_FAILED ? errno : 0;
	lacked = has_failed();
	if (err)
		return result_of(event >= 0, lacked, err);
	counter = (short *)(map + COUNTER);
	armed = is_armed(map);
	reported = lacked && refusals();
	right = (*counter == armed || (!*counter && reported)) && (armed || reported) &&
		code_call(map, 0, n) && event_count(event) == armed;
	if (!right)
		ksft_print_msg("counter %d, armed %d, %d reports, %lu hits\n", *counter, armed,
			       refusals(), event_count(event));
	event_close(event);
	right = right && !*counter && are_restored(map, 1);
	return result_of(right, lacked, 0);
}

static void check_mapping(void)
{
	code_file(FILE_PATH, PAGES);
	each_fails_in_child("a probed file is mapped", 6, maps_text);
	each_fails_in_child("its text becomes executable", 3, makes_executable);
	each_fails_in_child("it is mapped with a counter", 6, maps_counter);
	unlink(FILE_PATH);
}

/* --- A probed process forks -------------------------------------------------------------- */

static struct probes file_probes;
static char *file_text, *written;

/* The child has the probe of the file, but not those of its parent. */
static int child_calls(void)
{
	return !(unchanged(plain) && !deep_is_armed() && are_restored(written, 1) &&
		 call_plain(2) == 2 && deep(2) == 2 && code_call(file_text, 0, 1));
}

static int forks(int n)
{
	long hits = get("a", HITS), returns = get("r", RETURNS), written_hits = get("j", HITS);
	unsigned long file_hits = probe_count(&file_probes);
	int err, status = 0;
	bool lacked, right;
	pid_t pid;

	fail_at(n);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(child_calls());
	}
	err = pid < 0 ? errno : 0;
	lacked = has_failed();
	if (!err)
		status = reap(pid);
	right = !status && call_plain(1) == 1 && deep(1) == 1 && code_call(written, 0, n) &&
		code_call(file_text, 0, n) && get("a", HITS) == hits + 1 &&
		get("r", RETURNS) == returns + 2 && get("j", HITS) == written_hits + 1 &&
		probe_count(&file_probes) == file_hits + 1 + !err;
	if (!right)
		ksft_print_msg("status %d, %lu hits of the file\n", status,
			       probe_count(&file_probes) - file_hits);
	return result_of(right, lacked, err);
}

static NOINLINE pid_t fork_in_function(int n)
{
	pid_t pid;

	fail_at(n);
	pid = fork();
	asm volatile("" : "+r" (pid));
	return pid;
}

/*
 * If there was no memory for the calls that the child inherits, its return raises SIGILL; see
 * uprobe_copy_process().
 */
static int forks_in_call(int n)
{
	unsigned long before = probe_count(&file_probes), returns;
	int err, status = 0;
	bool lacked, killed;
	pid_t pid;

	pid = fork_in_function(n);
	if (!pid)
		_exit(0);
	err = pid < 0 ? errno : 0;
	lacked = has_failed();
	if (!err)
		waitpid(pid, &status, 0);
	killed = !err && WIFSIGNALED(status) && WTERMSIG(status) == SIGILL;
	returns = probe_count(&file_probes) - before;
	if (returns != 1UL + !(err || killed))
		ksft_print_msg("status 0x%x, %lu returns\n", status, returns);
	return result_of(returns == 1UL + !(err || killed) && (!status || (killed && lacked)),
			 lacked, err);
}

static NOINLINE pid_t fork_and_starve(int n)
{
	pid_t pid = fork();

	if (!pid) {
		limit_child();
		open_fail_nth();
		fail_at(n);
	}
	asm volatile("" : "+r" (pid));
	return pid;
}

/* The child returns from a call of its parent, which is its first hit, and needs no memory. */
static int returns_in_child(int n)
{
	unsigned long before = probe_count(&file_probes), returns;
	pid_t pid = fork_and_starve(n);
	int result;

	if (!pid)
		_exit(has_failed() ? LACKED_MEMORY : HAD_MEMORY);
	result = reap(pid);
	returns = probe_count(&file_probes) - before;
	if (returns == 2)
		return result;
	ksft_print_msg("%lu returns of 2\n", returns);
	return WRONG;
}

static void check_fork(void)
{
	int err;

	code_file(FILE_PATH, 1);
	file_text = code_map(FILE_PATH, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	written = jit();
	err = !code_probe(&file_probes, FILE_PATH, 1, 1) || add("a", plain, "quiet") ||
	      add("r", deep, "return quiet") || add("j", written, "quiet");
	each_fails("a probed process forks", 20, forks);
	probe_remove(&file_probes);
	command("drop");
	ksft_test_result(!err && !child_calls(), "its text is restored\n");
	munmap(written, 4096);
	munmap(file_text, 4096);
	unlink(FILE_PATH);

	probe_return(&file_probes, fork_in_function);
	each_fails("it forks in a call whose return is probed", 20, forks_in_call);
	probe_remove(&file_probes);
	probe_return(&file_probes, fork_and_starve);
	each_fails("the child returns from such a call", 0, returns_in_child);
	probe_remove(&file_probes);
}

/* --- Text moves -------------------------------------------------------------------------- */

static long move(char *from, size_t size)
{
	return syscall(__NR_mremap, from, 4096, size, 3 /* MREMAP_MAYMOVE | MREMAP_FIXED */, MOVED);
}

/* The kernel unregisters probes of moved text, also if the move fails then. */
static int moves_written(int n)
{
	char *code = jit(), *at = MOVED;
	bool lacked, stays, right;
	int err;

	err = add("m", code, "quiet");
	right = !err && code_call(code, 0, n);
	fail_at(n);
	err = move(code, 4096) < 0 ? errno : 0;
	lacked = has_failed();
	if (err)
		at = code;
	stays = get("m", REGISTERED) == 1;
	right = right && is_armed(at) == stays && (err || !stays) && code_call(at, 0, n) &&
		get("m", HITS) == 1 + stays && !on("del", "m") && are_restored(at, 1);
	command("drop");
	munmap(at, 4096);
	return result_of(right, lacked, err);
}

/* Text of a file keeps its probe, and gets that of the page that is added. */
static int moves_file(int n)
{
	char *map = code_map(FILE_PATH, 2, PROT_READ | PROT_EXEC, MAP_PRIVATE), *at = MOVED;
	struct probes probes;
	bool lacked, right;
	int err, pages;

	munmap(map + 4096, 4096);
	right = code_probe(&probes, FILE_PATH, 2, 1) && code_call(map, 0, n);
	clear_trace();
	fail_at(n);
	err = move(map, 2 * 4096) < 0 ? errno : 0;
	lacked = has_failed();
	if (err)
		at = map;
	pages = err ? 1 : 2;
	right = right && are_probed(at, pages, 1, &probes, lacked);
	probe_remove(&probes);
	right = right && are_restored(at, pages);
	munmap(at, pages * 4096);
	return result_of(right, lacked, err);
}

static void check_moves(void)
{
	each_fails("probed text moves", 2, moves_written);
	code_file(FILE_PATH, 2);
	each_fails("text of a probed file moves and grows", 3, moves_file);
	unlink(FILE_PATH);
}

/* --- First hits -------------------------------------------------------------------------- */

/* The probe, the column in which it counts, and whether the program unmaps the copies. */
static const char *hit_words;
static int hit_column;
static bool unmaps_copies;

static bool unmap_copies(void)
{
	unsigned int i, nr = find_areas("/proc/self/maps");

	for (i = 0; i < nr; i++) {
		if (!strcmp(areas[i].name, "[uprobes]"))
			return !munmap((void *)areas[i].start, areas[i].end - areas[i].start);
	}
	return false;
}

/* A hit is repeated until there is memory; a return that is missed is counted. */
static int hits_first(int n)
{
	bool right = !add("h", plain, hit_words), lacked;
	long calls = 2, missed;

	if (unmaps_copies) {
		right = right && call_plain(1) == 1 && unmap_copies();
		calls++;
	}
	fail_at(n);
	right = call_plain(1) == 1 && right;
	lacked = has_failed();
	right = right && call_plain(1) == 1;
	missed = get("h", MISSED);
	right = right && get("h", hit_column) + missed == calls && !get("h", ERRORS) &&
		missed <= (hit_column == RETURNS && lacked);
	if (!right)
		ksft_print_msg("%ld of %ld hits, %ld missed\n", get("h", hit_column), calls,
			       missed);
	command("drop");
	return result_of(right && unchanged(plain), lacked, 0);
}

/* A handler registers a probe: its callback has the result. */
static int registers_in_hit(int n)
{
	bool right, lacked, registered;

	right = !make("n", getpid(), deep, "quiet") && !add("o", plain, "quiet other=n");
	fail_at(n);
	right = call_plain(1) == 1 && right;
	lacked = has_failed();
	registered = !get("n", RESULT);
	right = right && get("o", ASKED) == -EINPROGRESS && get("n", CALLBACKS) == 1 &&
		(registered || (lacked && get("n", RESULT) == -ENOMEM)) &&
		get("n", REGISTERED) == registered && deep_is_armed() == registered;
	/* If it has failed, the next hit registers it. */
	right = right && deep(1) == 1 && call_plain(1) == 1 && deep(1) == 1 &&
		get("n", REGISTERED) == 1 && !get("n", RESULT) && get("o", HITS) == 2 &&
		get("n", HITS) == 2 + 2 * registered;
	command("drop");
	return result_of(right && unchanged(plain) && !deep_is_armed(), lacked, 0);
}

static void check_hits(void)
{
	hit_words = "quiet";
	hit_column = HITS;
	each_fails_in_child("a probe is hit for the first time", 4, hits_first);
	unmaps_copies = true;
	each_fails_in_child("a hit after the copies were unmapped", 2, hits_first);
	unmaps_copies = false;
	hit_words = "return quiet";
	hit_column = RETURNS;
	each_fails_in_child("a return probe is hit for the first time", 5, hits_first);
	each_fails_in_child("a handler registers a probe", 5, registers_in_hit);
}

/* --- Batches ----------------------------------------------------------------------------- */

static const char *const batch_names[] = { "a", "b", "c", "d" };

#define BATCH	((int)ARRAY_SIZE(batch_names))

static const char *batch_command;
static int control;

/* The last two probes are those of another process. */
static int registers_batch(int n)
{
	long before[2] = { get("a", hit_column), get("b", hit_column) };
	int i, err, registered = 0;
	bool lacked, right;

	fail_at(n);
	err = write(control, batch_command, strlen(batch_command)) < 0 ? errno : 0;
	lacked = has_failed();
	for (i = 0; i < BATCH; i++)
		registered += get(batch_names[i], REGISTERED) == 1;
	right = registered == (err ? 0 : BATCH) && unchanged(plain) == !!err &&
		call_plain(1) == 1 && deep(0) == 0 &&
		get("a", hit_column) == before[0] + !err &&
		get("b", hit_column) == before[1] + !err;
	for (i = 0; i < BATCH; i++)
		on("del", batch_names[i]);
	return result_of(right && unchanged(plain) && !deep_is_armed(), lacked, err);
}

static void check_batch(const char *name, int fewest, const char *words)
{
	int err, status, *calls = shared_memory(4096);
	pid_t pid = fork();

	if (!pid) {
		limit_child();
		while (!*(volatile int *)calls)
			usleep(10000);
		_exit(!(unchanged(plain) && call_plain(1) == 1 && deep(1) == 1));
	}
	err = make("a", getpid(), plain, words) ?: make("b", getpid(), deep, words) ?:
	      make("c", pid, plain, words) ?: make("d", pid, deep, words);
	control = open(CONTROL, O_WRONLY);
	each_fails(name, fewest, registers_batch);
	close(control);
	*calls = 1;
	status = reap(pid);
	ksft_test_result(!err && !status && !get("c", hit_column) && !get("d", hit_column),
			 "the other process has its text: error %d, status %d\n", err, status);
	command("drop");
	munmap(calls, 4096);
}

/* The first page table there, and the page, are allocated when the text is read. */
static int registers_unread(int n)
{
	int fd = open(FILE_PATH, O_RDONLY), err;
	bool lacked, right;

	mmap(MOVED, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	right = !make("u", getpid(), MOVED, "quiet");
	fail_at(n);
	err = write(control, "add u", 5) < 0 ? errno : 0;
	lacked = has_failed();
	right = right && is_armed(MOVED) == !err && code_call(MOVED, 0, n) &&
		get("u", HITS) == !err && !on("del", "u") && are_restored(MOVED, 1);
	command("drop");
	munmap(MOVED, 4096);
	close(fd);
	return result_of(right, lacked, err);
}

static char *linked_text;

/* A BPF link to many offsets. */
static int links_batch(int n)
{
	__u64 offsets[PAGES], cookies[PAGES] = { 0 };
	struct link_at at = {
		.path = FILE_PATH, .offsets = offsets, .cookies = cookies, .nr = PAGES,
	};
	int i, map = counters_create(1), program = counting_program(map), link, err, armed = 0;
	bool lacked, right;

	for (i = 0; i < PAGES; i++)
		offsets[i] = i * 4096UL + INSN;
	fail_at(n);
	link = link_multi(program, &at);
	err = link < 0 ? errno : 0;
	lacked = has_failed();
	for (i = 0; i < PAGES; i++)
		armed += is_armed(linked_text + i * 4096) && code_call(linked_text, i, n);
	right = armed == (err ? 0 : PAGES) && counter_read(map, 0) == (__u64)armed;
	link_close(link);
	close(program);
	close(map);
	return result_of(right && are_restored(linked_text, PAGES), lacked, err);
}

static void check_batches(void)
{
	batch_command = "batch";
	hit_column = HITS;
	check_batch("probes of two processes are registered", 2, "quiet");
	batch_command = "returns";
	hit_column = RETURNS;
	check_batch("return probes of two processes are registered", 4, "return quiet");

	code_file(FILE_PATH, PAGES);
	control = open(CONTROL, O_WRONLY);
	each_fails("text that was never read is probed", 4, registers_unread);
	close(control);
	linked_text = code_map(FILE_PATH, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	each_fails("a program is linked to many offsets", 5, links_batch);
	munmap(linked_text, PAGES * 4096);
	unlink(FILE_PATH);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(19);
	memcpy(before, plain, sizeof(before));
	memcpy(deep_before, deep, sizeof(deep_before));
	open_fail_nth();
	record_refusals(true);
	check_mapping();
	check_fork();
	check_moves();
	check_hits();
	check_batches();
	record_refusals(false);
	ksft_finished();
}
