// SPDX-License-Identifier: GPL-2.0
/*
 * Reference counters of processes that map text and data again and again, in any order: the
 * counter is 1 while the point is registered, however often its text is mapped or armed.
 */
#include "../kselftest.h"
#include "probe.h"
#include "system.h"

#define COPY	"/tmp/uprobes-counters"
#define MAPS	50

NOINLINE static int counted(int value)
{
	asm volatile("" : "+r" (value));
	return value + 1;
}

/* In the file's data, not in memory that begins as zero. */
extern volatile unsigned short counter;
asm(".pushsection .probes, \"aw\"; .balign 2; .globl counter; counter: .short 0, 0; .popsection");

static unsigned long page_size;
static int copy;

static bool copy_file(void)
{
	static char buffer[4096];
	int from = open(SELF, O_RDONLY), to = open(COPY, O_RDWR | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		if (write(to, buffer, n) != n)
			return false;
	}
	close(from);
	close(to);
	copy = open(COPY, O_RDONLY);
	return !n && copy >= 0;
}

static int probe(const char *path)
{
	const struct event_at at = {
		.path = path, .offset = file_offset(counted),
		.ref_ctr = file_offset((const void *)&counter), .everywhere = true,
	};

	return event_open(&at);
}

/* Maps the page of the copy that has something of this program. */
static void *map(const void *address, int protection)
{
	return mmap(NULL, page_size, protection, MAP_PRIVATE, copy,
		    file_offset(address) & ~(page_size - 1));
}

static void *map_text(void)
{
	return map(counted, PROT_READ | PROT_EXEC);
}

static char *map_data(void)
{
	return map((const void *)&counter, PROT_READ | PROT_WRITE);
}

/* The counter in a mapping of data. */
static unsigned int value_in(char *data)
{
	unsigned long in_page = file_offset((const void *)&counter) & (page_size - 1);

	return *(volatile unsigned short *)(data + in_page);
}

static void check_own(void)
{
	char *text = (char *)((unsigned long)counted & ~(page_size - 1)), *again;
	int first = probe(SELF), second;
	unsigned int i, value;

	ksft_test_result(first >= 0 && counter == 1, "the counter is 1 (%u)\n", counter);
	advise(text, page_size, 4 /* MADV_DONTNEED */);
	second = probe(SELF);
	ksft_test_result(second >= 0 && counter == 1,
			 "it is 1 when text that was dropped is armed again (%u)\n", counter);
	close(copy);
	copy = open(SELF, O_RDONLY);
	for (i = 0; i < MAPS; i++) {
		again = map_text();
		munmap(again, page_size);
	}
	ksft_test_result(counter == 1, "it is 1 after other mappings of the text (%u)\n", counter);
	close(copy);
	close(second);
	value = counter;
	/* The breakpoint is not there any more. */
	advise(text, page_size, 4);
	close(first);
	ksft_test_result(value == 1 && !counter, "the last one that closes clears it (%u %u)\n",
			 value, counter);
}

static int child_maps_data(void)
{
	return value_in(map_data()) == 1 ? 0 : 1;
}

static char *data;

static int child_has_data(void)
{
	advise((char *)((unsigned long)counted & ~(page_size - 1)), page_size, 4);
	return value_in(data) == 1 ? 0 : 1;
}

/* The counter moves with its data. */
static void check_moved(void)
{
	char *text = map_text(), *from, *to;
	unsigned int value;
	int event;

	from = map_data();
	to = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	event = probe(COPY);
	value = value_in(from);
	/* nolibc takes a high address of 32 bits for an error. */
	syscall(__NR_mremap, from, page_size, page_size, 3 /* MREMAP_MAYMOVE | MREMAP_FIXED */,
		to);
	ksft_test_result(event >= 0 && value == 1 && value_in(to) == 1,
			 "the counter is 1 after its data has been moved (%u %u)\n", value,
			 value_in(to));
	munmap(map_text(), page_size);
	close(event);
	ksft_test_result(!value_in(to), "closing clears it (%u)\n", value_in(to));
	munmap(to, page_size);
	munmap(text, page_size);
}

static void check_copy(void)
{
	int event = probe(COPY), status;
	unsigned int i, value;
	void *text;

	for (i = 0; i < MAPS; i++) {
		text = map_text();
		if (i)
			munmap(text, page_size);
	}
	ksft_test_result(event >= 0 && !in_child(child_maps_data),
			 "a child that maps data after fork sees 1\n");
	data = map_data();
	ksft_test_result(value_in(data) == 1, "data that is mapped after the text has 1 (%u)\n",
			 value_in(data));
	status = in_child(child_has_data);
	ksft_test_result(!status, "a child with its parent's data sees 1\n");
	munmap(data, page_size);
	data = map_data();
	ksft_test_result(value_in(data) == 1, "data that is mapped again has 1 (%u)\n",
			 value_in(data));
	close(event);
	value = value_in(data);
	ksft_test_result(!value, "it is 0 when the point is gone (%u)\n", value);
	munmap(data, page_size);
}

static int child_writes_data(void)
{
	change_protection(data, page_size, PROT_READ | PROT_WRITE);
	return value_in(data) == 1 ? 0 : 1;
}

/* Loaders map data that cannot be written, and make it writable later. */
static void check_protected(void)
{
	int event = probe(COPY), status;
	void *text = map_text();

	data = map((const void *)&counter, PROT_READ);
	change_protection(data, page_size, PROT_READ | PROT_WRITE);
	ksft_test_result(event >= 0 && value_in(data) == 1,
			 "data that becomes writable has 1 (%u)\n", value_in(data));
	change_protection(data, page_size, PROT_READ);
	status = in_child(child_writes_data);
	ksft_test_result(!status, "a child makes protected data writable again, and sees 1\n");
	close(event);
	munmap(data, page_size);
	munmap(text, page_size);
}

/* A change that waits in a process vanishes with the point. */
static void check_stale(void)
{
	int event = probe(COPY);
	void *text = map_text();

	munmap(text, page_size);
	close(event);
	data = map_data();
	ksft_test_result(event >= 0 && !value_in(data),
			 "a point that has gone is not counted later (%u)\n", value_in(data));
	munmap(data, page_size);
}

static void set(char *data, unsigned short value)
{
	unsigned long in_page = file_offset((const void *)&counter) & (page_size - 1);

	*(volatile unsigned short *)(data + in_page) = value;
}

/* The parent still has a counter that cannot be increased. */
static int child_has_room(void)
{
	set(data, 0);
	return probe(COPY) >= 0 && value_in(data) == 1 ? 0 : 1;
}

static void check_full(void)
{
	void *text = map_text();
	int event, status;

	data = map_data();
	set(data, 0x7fff);
	status = in_child(child_has_room);
	ksft_test_result(!status, "the counter of one process does not refuse a probe of others\n");
	event = probe(COPY);
	ksft_test_result(event < 0 && errno == EINVAL && value_in(data) == 0x7fff,
			 "it refuses a probe that no other process has (%d)\n",
			 event < 0 ? errno : 0);
	munmap(data, page_size);
	munmap(text, page_size);
}

static int ready[2], over[2];

/* Has other memory where the parent has its counter, and waits until the point is gone. */
static int child_has_other(int event)
{
	char *other, byte = 0;

	close(event);
	other = mmap(data, page_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (other != data)
		return 1;
	set(data, 5);
	write(ready[1], &byte, 1);
	close(ready[1]);
	read(over[0], &byte, 1);
	return value_in(data) == 5 ? 0 : 2;
}

/* fork() copies text, but not the data. */
static void check_not_copied(void)
{
	void *text = map_text();
	int event, status;
	char byte = 0;
	pid_t pid;

	data = map_data();
	event = probe(COPY);
	advise(data, page_size, 10 /* MADV_DONTFORK */);
	pipe(ready);
	pipe(over);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(child_has_other(event));
	}
	close(ready[1]);
	read(ready[0], &byte, 1);
	close(event);
	write(over[1], &byte, 1);
	status = reap(pid);
	ksft_test_result(event >= 0 && !status,
			 "a child's memory at the address of the counter is left alone: %d\n",
			 status);
	close(ready[0]);
	close(over[0]);
	close(over[1]);
	munmap(data, page_size);
	munmap(text, page_size);
}

int main(void)
{
	ksft_print_header();
	if (read_number(UPROBE_PMU "type") < 0)
		ksft_exit_skip("no uprobes in this kernel\n");
	ksft_set_plan(17);
	page_size = getauxval(AT_PAGESZ);
	if (counted(1) != 2 || !copy_file())
		ksft_exit_fail_msg("the program cannot be copied\n");
	check_own();
	copy = open(COPY, O_RDONLY);
	check_copy();
	check_moved();
	check_protected();
	check_stale();
	check_full();
	check_not_copied();
	unlink(COPY);
	ksft_finished();
}
