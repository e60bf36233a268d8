// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Open a perf event on a kprobe, count, and close it.
 *
 *	perf_kprobe SYMBOL OFFSET CALLS
 *
 * opens an event on SYMBOL+OFFSET for this process, calls getpgid() CALLS times, closes the
 * event, and prints
 *
 *	hits N		the count of the event
 *
 * or
 *
 *	refused ERRNO	if the event cannot be opened, with the number of the error
 *
 * Status: 0; 1 if the event cannot be read; 4 if this kernel has no kprobes for perf.
 *
 * Built with nolibc.
 */
#include <linux/perf_event.h>
#include <linux/types.h>

#define STATUS_SKIP	4
#define PMU_TYPE	"/sys/bus/event_source/devices/kprobe/type"

/* Returns the number of the PMU, or a negative number if there is none. */
static int pmu_type(void)
{
	char text[16] = "";
	int fd, length;

	fd = open(PMU_TYPE, O_RDONLY);
	if (fd < 0)
		return -1;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	return length > 0 ? atoi(text) : -1;
}

static int open_event(int type, const char *symbol, long offset)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.kprobe_func = (unsigned long)symbol;
	attr.probe_offset = offset;
	return syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

int main(int argc, char **argv)
{
	int i, fd, type = pmu_type();
	__u64 hits;

	if (argc != 4) {
		printf("usage: perf_kprobe SYMBOL OFFSET CALLS\n");
		return 1;
	}
	if (type < 0)
		return STATUS_SKIP;
	fd = open_event(type, argv[1], atol(argv[2]));
	if (fd < 0) {
		printf("refused %d\n", errno);
		return 0;
	}
	for (i = 0; i < atoi(argv[3]); i++)
		syscall(__NR_getpgid, 0);
	if (read(fd, &hits, sizeof(hits)) != sizeof(hits))
		return 1;
	close(fd);
	printf("hits %d\n", (int)hits);
	return 0;
}
