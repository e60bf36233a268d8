// SPDX-License-Identifier: GPL-2.0
/*
 * recorded ID NUMBER: open an event of tracefs by perf, let wp_test write 1 to NUMBER to its first
 * word, and print the count of perf, and the first argument in each record, which is a long.
 */
#include <linux/perf_event.h>

#include "control.h"

/*
 * The first argument in a record of perf.  Before it are the head of perf, a size of 32 bits, the
 * 8 bytes that all events begin with, and the address.
 */
#define ARGUMENT	(sizeof(struct perf_event_header) + 4 + 8 + sizeof(long))

static int perf_open(int id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id,
		.sample_period = 1, .sample_type = PERF_SAMPLE_RAW,
	};

	return syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

int main(int argc, char **argv)
{
	unsigned long at, value, size = getauxval(AT_PAGESZ);
	const struct perf_event_header *record;
	struct perf_event_mmap_page *page;
	const char *separator = "";
	char text[32];
	int file, i;

	if (argc != 3)
		return 1;
	file = perf_open(atoi(argv[1]));
	if (file < 0)
		fail("perf", errno, 0);
	page = mmap(NULL, 2 * size, PROT_READ, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		fail("mmap", errno, 0);
	for (i = 1; i <= atoi(argv[2]); i++) {
		snprintf(text, sizeof(text), "write 0 %d", i);
		same("write", control(text), 0);
	}
	printf("count=%ld values=", count_of(file));
	for (at = 0; at < page->data_head; at += record->size) {
		record = (const void *)((char *)page + size + at);
		if (record->type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&value, (const char *)record + ARGUMENT, sizeof(value));
		printf("%s%lu", separator, value);
		separator = ",";
	}
	printf("\n");
	return 0;
}
