// SPDX-License-Identifier: GPL-2.0
/*
 * Measures user-space probes.  Results are printed as "bench: key value".
 *
 *	uclient			costs, on one processor with a clock that counts instructions
 *	uclient traps		hits, marked for traps.awk
 *	uclient parallel	hits in threads on several processors, with the host's clock
 *
 * Costs of a hit are the differences between calls of a function with and without probe, the
 * least of many samples.  The consumers are those of the module uprobe_bench; BPF programs,
 * where a row says so, return 0.  Probes of one process are those of uprobe_process_bench, which
 * the base does not have; nor has it all instructions of MIXED.
 *
 * Built with nolibc.
 */
#include "../../tools/testing/selftests/uprobes/probe.h"
#include "../../tools/testing/selftests/uprobes/system.h"
#include "marks.h"
#include "null_program.h"
#include "uclient_functions.h"
#include "uclient_calls.h"
#include "uclient_threads.h"
#include "uclient_memory.h"

#define TEXT_FILE	"/tmp/uclient-text"
#define PROGRAM		"/bin/busybox"
#define MIXED		"/bench/mixed"

/* Instructions of the file, each in 16 bytes of its own. */
#define TEXT_STEP	16
#define TEXT_MOST	10000
#define TEXT_SIZE	((TEXT_MOST * TEXT_STEP + 4095) / 4096 * 4096UL)
#define BATCH		1000
#define SINGLES		50

/* --- Hits ------------------------------------------------------------------ */

static void hit(const char *key, const char *part, char *function, const char *kind,
		unsigned int number, unsigned int handlers)
{
	unsigned long bare = time_calls(function);
	char line[64], name[64];

	snprintf(line, sizeof(line), "%s %%lu %%lu", kind);
	snprintf(name, sizeof(name), "%s%s", key, part);
	if (!try_command(RUN, line, file_offset(function), number, 0)) {
		fprintf(stderr, "bench: note: %s is refused\n", name);
		return;
	}
	report(name, cost(function, bare, handlers));
	command("drop", 0, 0, 0);
}

static void hits(void)
{
	unsigned int i;

	use_file(SELF);
	for (i = 0; i < NR_ENTRIES; i++)
		hit("user_hit_", entries[i].name, entries[i].function, "entry", 1, 1);
	hit("user_return_", "push", bench_push, "return", 1, 1);
	hit("user_return_", "mov", bench_mov, "return", 1, 1);
	hit("user_session", "", bench_push, "session", 1, 2);
	hit("user_consumers_32", "", bench_push, "entry", 32, 32);
}

/* --- BPF programs ---------------------------------------------------------- */

static int null_program(bool multi)
{
	return load_program(BPF_PROG_TYPE_KPROBE, multi ? BPF_TRACE_UPROBE_MULTI : 0, 0);
}

static void programs(void)
{
	static const char *const keys[2][2] = {
		{ "user_bpf_event", "user_bpf_event_return" },
		{ "user_bpf_multi", "user_bpf_multi_return" },
	};
	unsigned long bare = time_calls(bench_push);
	int is_return;

	for (is_return = 0; is_return < 2; is_return++) {
		__u64 offset = file_offset(bench_push), cookie = 0;
		struct event_at event_at = {
			.path = SELF, .offset = offset, .is_return = is_return,
		};
		struct link_at link_at = {
			.path = SELF, .offsets = &offset, .cookies = &cookie, .nr = 1,
			.is_return = is_return,
		};
		int program = null_program(false), event = event_open(&event_at);
		int link = link_program(program, event, BPF_PERF_EVENT);

		if (link < 0)
			die("a program on an event");
		report(keys[0][is_return], cost(bench_push, bare, 0));
		close(link);
		close(event);
		close(program);

		program = null_program(true);
		link = link_multi(program, &link_at);
		if (link < 0)
			die("a program on offsets");
		report(keys[1][is_return], cost(bench_push, bare, 0));
		close(link);
		close(program);
	}
}

/* --- Many probes ----------------------------------------------------------- */

/* A file of the same instruction over and over, in 16 bytes each. */
static void write_text(void)
{
	static char page[4096];
	int fd = open(TEXT_FILE, O_RDWR | O_CREAT | O_TRUNC, 0755);
	unsigned long at;

	for (at = 0; at < sizeof(page); at += TEXT_STEP) {
#ifdef __x86_64__
		memset(page + at, 0x90, TEXT_STEP);
		memcpy(page + at, "\x48\x89\xf8\xc3", 4);
#else
		static const __u32 insns[4] = {
			0x91000400, 0xd65f03c0, 0xd503201f, 0xd503201f,
		};

		memcpy(page + at, insns, TEXT_STEP);
#endif
	}
	for (at = 0; at < TEXT_SIZE; at += sizeof(page)) {
		if (write(fd, page, sizeof(page)) != sizeof(page))
			die(TEXT_FILE);
	}
	close(fd);
}

static char *map_text(void)
{
	int fd = open(TEXT_FILE, O_RDONLY);
	char *text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	unsigned long at;

	close(fd);
	if (text == MAP_FAILED)
		die("mmap");
	/* Every page is there. */
	for (at = 0; at < TEXT_SIZE; at += 4096)
		(void)*(volatile char *)(text + at);
	return text;
}

static void others(void)
{
	static const struct {
		const char *key;
		unsigned int number;
	} rows[] = {
		{ "user_others_100", 100 },
		{ "user_others_1000", 1000 },
		{ "user_others_10000", 10000 },
	};
	unsigned long bare = time_calls(bench_push);
	char *text = map_text();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		use_file(TEXT_FILE);
		command("many %lu %lu %lu", 0, TEXT_STEP, rows[i].number);
		use_file(SELF);
		command("entry %lu", file_offset(bench_push), 0, 0);
		report(rows[i].key, cost(bench_push, bare, 1));
		command("drop", 0, 0, 0);
	}
	munmap(text, TEXT_SIZE);
}

/* Probes that a link registers in a process that has mapped the text. */
static void batches(void)
{
	static __u64 offsets[TEXT_MOST], cookies[TEXT_MOST];
	struct link_at at = { .path = TEXT_FILE, .offsets = offsets, .cookies = cookies };
	int program = null_program(true), link;
	char *text = map_text();
	unsigned long start, before, during;
	long anon, kept;
	unsigned int i;

	for (i = 0; i < TEXT_MOST; i++)
		offsets[i] = i * TEXT_STEP;

	/* A first link, so that caches are filled. */
	at.nr = 1;
	close(link_multi(program, &at));
	usleep(200000);

	start = now();
	link = link_multi(program, &at);
	report("user_register_one", now() - start);
	start = now();
	close(link);
	report("user_unregister_one", now() - start);
	usleep(200000);

	at.nr = BATCH;
	start = now();
	link = link_multi(program, &at);
	report("user_register_1000", now() - start);
	if (link < 0)
		die("a batch");
	start = now();
	close(link);
	report("user_unregister_1000", now() - start);
	usleep(200000);

	at.nr = TEXT_MOST;
	/* The first calls touch their buffers. */
	free_pages();
	anonymous();
	anon = anonymous();
	before = free_pages();
	start = now();
	link = link_multi(program, &at);
	report("user_register_10000", now() - start);
	if (link < 0)
		die("a large batch");
	during = free_pages();
	report("user_memory", (before - during) * 4096);
	start = now();
	close(link);
	report("user_unregister_10000", now() - start);
	usleep(500000);
	/* Less than before, if something else has been given back. */
	kept = anonymous() - anon;
	report("user_text_kept", kept > 0 ? kept * 1024 : 0);
	close(program);
	munmap(text, TEXT_SIZE);
}

static void singles(void)
{
	const struct event_at other = { .path = TEXT_FILE, .offset = SINGLES * TEXT_STEP };
	int events[SINGLES], first = event_open(&other), i;
	char *text = map_text();
	unsigned long start;

	/* Buffers that all events share exist as long as there is one. */
	if (first < 0)
		die("the first event");
	start = now();
	for (i = 0; i < SINGLES; i++) {
		struct event_at at = { .path = TEXT_FILE, .offset = i * TEXT_STEP };

		events[i] = event_open(&at);
		if (events[i] < 0)
			die("an event");
	}
	report("user_open", now() - start);
	start = now();
	for (i = 0; i < SINGLES; i++)
		close(events[i]);
	report("user_close", now() - start);
	close(first);
	munmap(text, TEXT_SIZE);
}

/* --- Other users of the text ----------------------------------------------- */

static unsigned long time_mmap(void)
{
	unsigned long least = ~0UL, time;
	int i, fd = open(TEXT_FILE, O_RDONLY);

	for (i = 0; i < 9; i++) {
		char *text;

		time = now();
		text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		time = now() - time;
		if (text == MAP_FAILED)
			die("mmap");
		munmap(text, TEXT_SIZE);
		if (time < least)
			least = time;
	}
	close(fd);
	return least;
}

static unsigned long time_fork(void)
{
	unsigned long least = ~0UL, time;
	int i;

	for (i = 0; i < 9; i++) {
		pid_t pid;

		time = now();
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork");
		time = now() - time;
		if (time < least)
			least = time;
	}
	return least;
}

static unsigned long time_exec(void)
{
	char *const argv[] = { "uclient", "exec", NULL };
	unsigned long least = ~0UL, time;
	int i;

	for (i = 0; i < 9; i++) {
		pid_t pid;

		time = now();
		pid = fork();
		if (!pid) {
			execve(SELF, argv, NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("exec");
		time = now() - time;
		if (time < least)
			least = time;
	}
	return least;
}

static void users(void)
{
	static const struct {
		unsigned long number, step;
		const char *mmap_key, *fork_key;
	} rows[] = {
		{ 0, 0, "user_mmap_0", "user_fork_0" },
		{ 100, TEXT_STEP, "user_mmap_100", NULL },
		{ 100, TEXT_MOST / 100 * TEXT_STEP, "user_mmap_spread_100", NULL },
		{ 1000, TEXT_STEP, "user_mmap_1000", NULL },
		{ 10000, TEXT_STEP, "user_mmap_10000", "user_fork_10000" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text;

		use_file(TEXT_FILE);
		if (rows[i].number)
			command("many %lu %lu %lu", 0, rows[i].step, rows[i].number);
		report(rows[i].mmap_key, time_mmap());
		text = map_text();
		if (rows[i].fork_key)
			report(rows[i].fork_key, time_fork());
		munmap(text, TEXT_SIZE);
		command("drop", 0, 0, 0);
	}
}

/* Probes of this process, by address. */
static void process_call(const char *key, const char *format, unsigned long size,
			 unsigned int handlers)
{
	unsigned long bare = time_calls(bench_push);

	command_to(PROCESS_RUN, format, (unsigned long)bench_push, size, 0);
	report(key, cost(bench_push, bare, handlers));
	command_to(PROCESS_RUN, "drop", 0, 0, 0);
}

/* Where the function ends. */
extern char bench_push_end[];

static void process(void)
{
	unsigned long start;
	char *text;
	int i;

	if (access(PROCESS_RUN, F_OK))
		return;
	process_call("user_pid_hit", "hit %lx", 0, 1);
	process_call("user_pid_return", "return %lx", 0, 1);
	process_call("user_pid_session", "session %lx", 0, 2);
	process_call("user_pid_exit", "exit %lx %lu", bench_push_end - bench_push, 1);
	text = map_text();
	/* The first time fills caches. */
	for (i = 0; i < 2; i++) {
		start = now();
		command_to(PROCESS_RUN, "many %lx %lu %lu", (unsigned long)text, TEXT_STEP, BATCH);
		if (i)
			report("user_pid_register_1000", now() - start);
		start = now();
		command_to(PROCESS_RUN, "drop", 0, 0, 0);
		if (i)
			report("user_pid_unregister_1000", now() - start);
		usleep(200000);
	}
	munmap(text, TEXT_SIZE);
}

/* Instructions of a real program. */
static void mixed(void)
{
	static __u64 offsets[BATCH], cookies[BATCH];
	struct link_at at = { .path = PROGRAM, .offsets = offsets, .cookies = cookies };
	static char list[BATCH * 10];
	int program, link, fd = open(MIXED, O_RDONLY), size = 0, length;
	unsigned long start;
	char *next = list, *text;

	while ((length = read(fd, list + size, sizeof(list) - 1 - size)) > 0)
		size += length;
	close(fd);
	while (at.nr < BATCH && next && *next) {
		offsets[at.nr++] = atol(next);
		next = strchr(next, '\n');
		next = next ? next + 1 : NULL;
	}
	fd = open(PROGRAM, O_RDONLY);
	start = offsets[0] & ~4095UL;
	size = offsets[at.nr - 1] + 64 - start;
	text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, start);
	close(fd);
	if (at.nr != BATCH || text == MAP_FAILED)
		die(MIXED);
	for (length = 0; length < size; length += 4096)
		(void)*(volatile char *)(text + length);
	program = null_program(true);
	/* The first time fills caches. */
	close(link_multi(program, &at));
	usleep(200000);
	start = now();
	link = link_multi(program, &at);
	start = now() - start;
	if (link >= 0)
		report("user_register_mixed", start);
	close(link);
	close(program);
	munmap(text, size);
}

/* --- Returns --------------------------------------------------------------- */

NOINLINE static unsigned long recurse(unsigned long depth)
{
	unsigned long below = depth > 1 ? recurse(depth - 1) : 0;

	asm volatile("" : "+r" (below));
	return below + depth;
}

static void depth(void)
{
	unsigned long before;

	use_file(SELF);
	command("return %lu", file_offset(recurse), 0, 0);
	before = counted();
	recurse(1000);
	report("user_returns_seen", counted() - before);
	command("drop", 0, 0, 0);
}

/* --- Exceptions of a hit --------------------------------------------------- */

#define MARKED_HITS	1000

/* Many calls, each of which has to run one handler, between marks. */
static void mark_calls(const char *key, const char *part, char *function)
{
	unsigned long before;
	char name[64];
	int i;

	/* The first hit may prepare something. */
	CALL(function);
	before = counted();
	snprintf(name, sizeof(name), "%s%s", key, part);
	mark(name);
	for (i = 0; i < MARKED_HITS; i++)
		CALL(function);
	mark("");
	if (counted() - before != MARKED_HITS)
		die("hits are lost");
}

static int traps(void)
{
	unsigned int i;

	use_file(SELF);
	for (i = 0; i < NR_ENTRIES; i++) {
		if (!try_command(RUN, "entry %lu", file_offset(entries[i].function), 0, 0))
			continue;
		mark_calls("user_traps_", entries[i].name, entries[i].function);
		command("drop", 0, 0, 0);
	}
	command("return %lu", file_offset(bench_mov), 0, 0);
	mark_calls("user_traps_", "return", bench_mov);
	command("drop", 0, 0, 0);
	if (access(PROCESS_RUN, F_OK))
		return 0;
	command_to(PROCESS_RUN, "hit %lx", (unsigned long)bench_mov, 0, 0);
	mark_calls("user_traps_", "pid", bench_mov);
	command_to(PROCESS_RUN, "drop", 0, 0, 0);
	command_to(PROCESS_RUN, "exit %lx %lu", (unsigned long)bench_push,
		   bench_push_end - bench_push, 0);
	mark_calls("user_traps_", "exit", bench_push);
	command_to(PROCESS_RUN, "drop", 0, 0, 0);
	return 0;
}

int main(int argc, char **argv)
{
	/* The program that time_exec() executes. */
	if (argc == 2 && !strcmp(argv[1], "exec"))
		return 0;
	if (argc == 2 && !strcmp(argv[1], "traps"))
		return traps();
	if (argc == 2 && !strcmp(argv[1], "parallel"))
		return parallel();
	write_text();
	report("user_exec_0", time_exec());
	users();
	batches();
	singles();
	hits();
	programs();
	others();
	mixed();
	process();
	depth();
	return 0;
}
