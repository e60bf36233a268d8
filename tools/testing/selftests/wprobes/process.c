// SPDX-License-Identifier: GPL-2.0
/*
 * process CASE: access data of this process that the module wp_test watches, and print "ok" if
 * the number of calls of the handler, and its values, are right; otherwise print the wrong number
 * or value.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include "../uprobes/system.h"
#include "../uprobes/signals.h"
#include "control.h"
#include "words.h"

#define WRITES		1000

/* --- One thread -------------------------------------------------------------------- */

static void values(void)
{
	struct seen seen;
	int i;

	WORD = 7;
	add("p", "w");
	for (i = 1; i <= 100; i++) {
		WORD = 10 * i;
		seen = expect("p", i);
		same("old", seen.old, i == 1 ? 7 : 10 * (i - 1));
		same("new", seen.new, 10 * i);
	}
	/* A read is no hit, nor is another word. */
	i = WORD;
	data[1].word = i;
	expect("p", 100);
	command("del", "p");
	WORD = 1;
}

static void reads(void)
{
	struct seen seen;
	int i;

	WORD = 5;
	add("p", "rw");
	for (i = 1; i <= WRITES; i++)
		(void)WORD;
	seen = expect("p", WRITES);
	same("old", seen.old, 5);
	same("new", seen.new, 5);
	WORD = 6;
	seen = expect("p", WRITES + 1);
	same("new", seen.new, 6);
}

static void changes(void)
{
	int i;

	WORD = 0;
	add("p", "w changed");
	for (i = 0; i < 100; i++)
		WORD = i / 10;
	expect("p", 9);
}

static void add_part(const char *name, int offset, int length, const char *type)
{
	char text[128];

	snprintf(text, sizeof(text), "add %s pid:%d:0x%lx %d %s", name, getpid(),
		 (unsigned long)&WORD + offset, length, type);
	same("add a part", control(text), 0);
}

/*
 * When the value of one probe is read, this is no access to the bytes of the other.  The module's
 * handler reads the memory, too, except for a probe on reads.
 */
static void parts(int length)
{
#if __SIZEOF_POINTER__ == 8
	volatile unsigned int *half = (volatile unsigned int *)&WORD;
#else
	volatile unsigned short *half = (volatile unsigned short *)&WORD;
#endif
	int i;

	half[0] = 0;
	half[1] = 0;
	add_part("low", 0, length, "rw");
	add_part("high", sizeof(*half), sizeof(*half), "rw");
	for (i = 1; i <= 50; i++) {
		half[0] = i;
		same("old", expect("low", i).old, i - 1);
		same("new", look("low").new, i);
	}
	expect("high", 0);
}

static void halves(void)
{
	parts(sizeof(WORD) / 2);
}

static void overlap(void)
{
	parts(sizeof(WORD));
}

/* One store to two watched halves is a hit of both. */
static void both_halves(void)
{
	int half = sizeof(WORD) / 2, i;

	add_part("low", 0, half, "w");
	add_part("high", half, half, "w");
	for (i = 1; i <= 50; i++) {
		WORD = i | (unsigned long)i << 8 * half;
		same("low", expect("low", i).new, i);
		same("high", expect("high", i).new, i);
	}
}

static void sleeps(void)
{
	int i;

	add("p", "w sleep:2");
	for (i = 1; i <= 20; i++)
		WORD = i;
	same("new", expect("p", 20).new, 20);
}

static void disabled(void)
{
	add("p", "w disabled");
	WORD = 1;
	expect("p", 0);
	command("enable", "p");
	WORD = 2;
	same("old", expect("p", 1).old, 1);
	command("disable", "p");
	WORD = 3;
	expect("p", 1);
}

/* A write that a system call makes is a hit, too, when it ends. */
static void system_calls(void)
{
	unsigned long value;
	int pipes[2], i;

	same("pipe", pipe(pipes), 0);
	add("p", "w");
	for (i = 1; i <= 50; i++) {
		value = i;
		write(pipes[1], &value, sizeof(value));
		read(pipes[0], (void *)&WORD, sizeof(value));
		same("new", expect("p", i).new, i);
	}
}

static volatile int signals;

static void got_signal(int signal, siginfo_t *info, struct ucontext *context)
{
	signals++;
}

/* Signals between the exception and the access neither lose nor double it. */
static void signalled(void)
{
	long writes = 0;

	on_signal(SIGALRM, got_signal, 0);
	add("p", "w");
	alarm_every(500);
	while (signals < 100) {
		WORD = writes;
		writes++;
	}
	alarm_every(0);
	same("new", expect("p", writes).new, writes - 1);
}

#ifdef __aarch64__
/* A loop of exclusive accesses ends.  They are missed; later writes are not. */
static void exclusive(void)
{
	unsigned long value, failed;
	struct seen seen;
	int i;

	WORD = 0;
	add("p", "rw");
	for (i = 0; i < WRITES; i++) {
		asm volatile("1: ldxr %0, [%2]\n\t"
			     "add %0, %0, #1\n\t"
			     "stxr %w1, %0, [%2]\n\t"
			     "cbnz %w1, 1b"
			     : "=&r" (value), "=&r" (failed) : "r" (&WORD) : "memory");
		if (!(i % 100))
			usleep(20000);
	}
	usleep(100000);
	seen = look("p");
	if (seen.missed < 1)
		fail("missed", seen.missed, 1);
	same("hits", seen.hits, 0);
	WORD = 5;
	same("hits of a write", look("p").hits, 1);
	same("sum", look("p").old, WRITES);
}

#define HWCAP2_MTE_BIT	18
#define PROT_TAGS	0x20
#define TAG		(5UL << 56)

/*
 * A store to the first argument that does not check its tag, and a return.  The argument has none,
 * because watchpoints of QEMU do not match addresses with tags.
 */
static const unsigned int store_code[] = {
	0xd503419f,	/* msr tco, #1 */
	0xf9000001,	/* str x1, [x0] */
	0xd503409f,	/* msr tco, #0 */
	0xd65f03c0,	/* ret */
};

static void set_tag(char *at)
{
	asm volatile(".arch armv8.5-a+memtag\n"
		     "stg %0, [%0]" : : "r" ((unsigned long)at | TAG) : "memory");
}

/* Writes to memory of this process, which is no access that a register watches. */
static void poke(const char *at, unsigned long value)
{
	int fd = open("/proc/self/mem", O_RDWR);

	same("poke", syscall(__NR_pwrite64, fd, &value, sizeof(value), at), sizeof(value));
	close(fd);
}

/* Memory with tags has data, and the code that writes them.  The handler cannot read the data. */
static void tagged(void)
{
	struct seen seen;
	char *page, *code;

	if (!(getauxval(AT_HWCAP2) >> HWCAP2_MTE_BIT & 1)) {
		printf("skip: memory has no tags\n");
		exit(0);
	}
	prctl(PR_SET_TAGGED_ADDR_CTRL,
	      PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_SYNC | 0xfffeUL << PR_MTE_TAG_SHIFT, 0, 0, 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC | PROT_TAGS,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	code = page + 64;
	memcpy(code, store_code, sizeof(store_code));
	asm volatile("dc cvau, %0; dsb ish; ic ivau, %0; dsb ish; isb" : : "r" (code) : "memory");
	set_tag(page);
	set_tag(code);
	same("add", add_at("p", getpid(), (word_t *)page, "w"), 0);
	poke(page, 7);
	((void (*)(unsigned long, unsigned long))code)((unsigned long)page, 8);
	seen = look("p");
	same("missed", seen.missed, 0);
	same("hits", seen.hits, 1);
	same("old", seen.old, 7);
	same("new", seen.new, 8);
}
#endif

/* --- Threads ------------------------------------------------------------------------ */

static volatile int go, stop;

static void write_often(void *argument)
{
	unsigned long i;

	while (!go)
		usleep(1000);
	for (i = 0; i < WRITES; i++)
		WORD = (unsigned long)argument * WRITES + i;
}

/* Half of the threads exist when the probe is registered. */
static void all_threads(void)
{
	start(0, THREADS / 2, write_often);
	usleep(20000);
	add("p", "w");
	start(THREADS / 2, THREADS, write_often);
	go = 1;
	wait_for(0, THREADS);
	expect("p", THREADS * WRITES);
	WORD = 3;
	same("new", expect("p", THREADS * WRITES + 1).new, 3);
}

static void write_once(void *argument)
{
	WORD = (unsigned long)argument;
}

/* Threads that end give their registers back. */
static void short_threads(void)
{
	int i;

	add("p", "w");
	for (i = 1; i <= 200; i++) {
		start(0, 1, write_once);
		wait_for(0, 1);
		expect("p", i);
	}
}

static void create_threads(void *argument)
{
	int i = 1 + (unsigned long)argument;

	while (!stop) {
		start(i, i + 1, write_once);
		wait_for(i, i + 1);
	}
}

/* Threads that are created while the probe is registered are watched. */
static void created_meanwhile(void)
{
	int i;

	start(0, 1, create_threads);
	for (i = 0; i < 100; i++) {
		add("p", "w");
		if (i % 2)
			usleep(i * 20);
		command("del", "p");
	}
	add("p", "w");
	for (i = 0; i < 1000 && !look("p").hits; i++)
		usleep(10000);
	stop = 1;
	wait_for(0, 1);
	if (!look("p").hits || look("p").missed)
		fail("hits", look("p").hits, 1);
}

static void write_on(void *argument)
{
	unsigned long i = (unsigned long)argument;

	while (!stop)
		WORD = ++i;
}

/* Unregistering waits for handlers that sleep. */
static void storm(void)
{
	long hits = 0;
	int i;

	start(0, THREADS, write_on);
	for (i = 0; i < 100; i++) {
		add("p", i % 2 ? "w sleep:2" : "rw");
		usleep(i % 10 * 1000);
		if (i % 3)
			command("disable", "p");
		hits += look("p").hits;
		command("del", "p");
	}
	same("there were hits", hits > 0, 1);
	stop = 1;
	wait_for(0, THREADS);
	add("p", "w");
	expect("p", 0);
	WORD = 1;
	expect("p", 1);
}

static void sit(void *argument)
{
	while (!stop)
		usleep(1000);
}

#define ROUNDS		200
#define MOST_ROUNDS	(20 * ROUNDS)

static volatile int begun, written;

/* Writes a value once in each round, at another time after it has begun. */
static void write_once_a_round(void *argument)
{
	int round, i;

	for (round = 1; round <= MOST_ROUNDS; round++) {
		while (begun != round) {
			if (stop)
				return;
		}
		for (i = 0; i < 1000 * (round % ROUNDS); i++)
			asm volatile("" : : : "memory");
		WORD = round;
		written = round;
	}
}

/*
 * A thread writes while the probe is registered, or enabled.  The last thread to watch is the one
 * that writes.  When all watch, to write the same value again is no change.  The rounds go on until
 * the thread has written meanwhile, in both cases; with one processor, it need not run.
 */
static void written_meanwhile(void)
{
	int round, meanwhile[2] = { 0 };
	bool alone = processors() == 1;
	long hits;

	start(0, THREADS - 1, sit);
	start(THREADS - 1, THREADS, write_once_a_round);
	for (round = 1; round <= ROUNDS ||
	     (!alone && !(meanwhile[0] && meanwhile[1]) && round <= MOST_ROUNDS); round++) {
		if (round % 2) {
			begun = round;
			add("p", "w changed");
		} else {
			add("p", "w changed disabled");
			begun = round;
			command("enable", "p");
		}
		meanwhile[round % 2] += written == round;
		while (written != round)
			;
		hits = look("p").hits;
		WORD = round;
		same("hits of the same value", look("p").hits, hits);
		command("del", "p");
	}
	stop = 1;
	wait_for(0, THREADS);
	if (!alone) {
		same("written while it was enabled", meanwhile[0] > 0, 1);
		same("written while it was registered", meanwhile[1] > 0, 1);
	}
}

/* --- Registers ----------------------------------------------------------------------- */

static int perf_open(unsigned long address, int length, int type, bool user_only)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = type,
		.bp_addr = address, .bp_len = length, .exclude_kernel = user_only,
	};

	return syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

static int perf_watch(word_t *word)
{
	return perf_open((unsigned long)word, HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_W, true);
}

/* The core reads the whole word at a hit.  Perf, which watches its other half, does not see it. */
static void read_unseen(void)
{
	int half = sizeof(WORD) / 2, file, i;
	volatile char *other = (volatile char *)&WORD + half;

	file = perf_open((unsigned long)other, half, HW_BREAKPOINT_RW, false);
	if (file < 0)
		fail("perf", errno, 0);
	add_part("low", 0, half, "w");
	for (i = 1; i <= 50; i++)
		*(volatile char *)&WORD = i;
	expect("low", 50);
	same("accesses of the program", count_of(file), 0);
	(void)*other;
	if (count_of(file) < 1)
		fail("accesses of the program", 0, 1);
	close(file);
}

/* Registers of all threads are reserved together with those of perf; refused is refused. */
static void registers(void)
{
	char name[8] = "n0";
	int i, n, ret, files[16], most;

	start(0, THREADS, sit);
	for (n = 0, ret = 0; n < 16 && !ret; n += !ret) {
		name[1] = 'a' + n;
		ret = add_at(name, getpid(), &data[n].word, "w");
	}
	same("error", ret, -ENOSPC);
	for (i = 0; i < n; i++) {
		name[1] = 'a' + i;
		data[i].word = i + 1;
		same("new", expect(name, 1).new, i + 1);
	}
	same("perf gets a register", perf_watch(&data[15].word) >= 0, 0);
	for (i = 0; i < n; i++) {
		name[1] = 'a' + i;
		command("del", name);
	}
	most = n;
	for (n = 0; n < 16; n++) {
		files[n] = perf_watch(&data[n].word);
		if (files[n] < 0)
			break;
	}
	same("number for perf", n, most);
	same("no register", add_at("p", getpid(), &WORD, "w"), -ENOSPC);
	close(files[0]);
	same("a register", add_at("p", getpid(), &WORD, "w"), 0);
	WORD = 2;
	expect("p", 1);
	stop = 1;
	wait_for(0, THREADS);
}

/* --- Events ---------------------------------------------------------------------------- */

#ifdef __aarch64__
#define STORE	"str %1, %0"
#else
#define STORE	"mov %1, %0"
#endif

/* Global: a local label, when its address comes from the table of the linker, is that of .text. */
extern char store[], after_store[];

/* Prints addresses of a word, of a store to it, and of the next instruction; waits; stores. */
static void writes_of_event(void)
{
	WORD = 7;
	on_signal(SIGUSR1, got_signal, 0);
	printf("0x%lx 0x%lx 0x%lx\n", (unsigned long)&WORD, (unsigned long)store,
	       (unsigned long)after_store);
	while (!signals)
		usleep(1000);
	asm volatile(".globl store, after_store\n"
		     "store: " STORE "\n"
		     "after_store:" : "=m" (WORD) : "r" (0x102UL));
	WORD = 0x103;
	exit(0);
}

static const struct test_case cases[] = {
	{ "values", values },
	{ "reads", reads },
	{ "changes", changes },
	{ "halves", halves },
	{ "overlap", overlap },
	{ "both_halves", both_halves },
	{ "sleeps", sleeps },
	{ "disabled", disabled },
	{ "system_calls", system_calls },
	{ "signalled", signalled },
	{ "all_threads", all_threads },
	{ "short_threads", short_threads },
	{ "created_meanwhile", created_meanwhile },
	{ "storm", storm },
	{ "written_meanwhile", written_meanwhile },
	{ "read_unseen", read_unseen },
	{ "registers", registers },
	{ "writes_of_event", writes_of_event },
#ifdef __aarch64__
	{ "exclusive", exclusive },
	{ "tagged", tagged },
#endif
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
