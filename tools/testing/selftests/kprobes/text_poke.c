// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print perf's records about changes of the kernel's text.
 *
 *	text_poke FILE TEXT...
 *
 * writes each TEXT to FILE, and prints the records that arrive in the meantime, on any
 * CPU, in a form that a script can compare:
 *
 *	wrote TEXT | refused TEXT
 *	text_poke ADDRESS old BYTES new BYTES
 *	ksymbol ADDRESS LENGTH register|unregister ool NAME
 *
 * where BYTES are hexadecimal digits, or - if there are none.  The records of one
 * TEXT follow its line, in the order of time.
 *
 * A TEXT "wait WORDS" is not written: it waits, for half a minute at most, until the list of
 * probes has these words.
 *
 * Status: 0; 1 if perf or the file cannot be used, or records were lost; 4 if
 * this kernel has no such records.
 *
 * Built with nolibc.
 */
#include <linux/perf_event.h>
#include <linux/time.h>
#include <linux/types.h>

#define MAX_CPUS	64
#define PAGE		4096
#define DATA_PAGES	64
#define DATA_SIZE	(DATA_PAGES * PAGE)

#define STATUS_SKIP	4
#define WAIT		"wait "
#define WAIT_LENGTH	(sizeof(WAIT) - 1)
#define WAIT_TRIES	300
#define WAIT_US		100000
#define LIST		"/sys/kernel/debug/kprobes/list"

struct ring {
	int fd;
	struct perf_event_mmap_page *control;
};

/* The largest record is shorter than 64 KiB. */
static unsigned char record[1 << 16];
static struct ring rings[MAX_CPUS];
static int nr_rings;

static int perf_event_open(struct perf_event_attr *attr, int cpu)
{
	return syscall(__NR_perf_event_open, attr, -1, cpu, -1, 0);
}

/* Opens a dummy event on each CPU, to get the records of text changes. */
static int open_rings(void)
{
	struct perf_event_attr attr;
	int cpu;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_period = 1;
	attr.watermark = 1;
	attr.text_poke = 1;
	attr.ksymbol = 1;
	/* Each record ends with the time. */
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		struct ring *ring = &rings[nr_rings];

		ring->fd = perf_event_open(&attr, cpu);
		if (ring->fd < 0) {
			if (errno == ENODEV || (cpu && errno == EINVAL))
				continue;
			return errno == EINVAL ? STATUS_SKIP : 1;
		}
		ring->control = mmap(NULL, PAGE + DATA_SIZE, PROT_READ | PROT_WRITE,
				     MAP_SHARED, ring->fd, 0);
		if (ring->control == MAP_FAILED)
			return 1;
		nr_rings++;
	}
	return nr_rings ? 0 : STATUS_SKIP;
}

static void print_number(__u64 number)
{
	static const char digits[] = "0123456789abcdef";
	char text[17];
	int i = sizeof(text) - 1;

	text[i] = '\0';
	do {
		text[--i] = digits[number & 15];
		number >>= 4;
	} while (number);
	printf("%s", text + i);
}

static void print_bytes(const unsigned char *bytes, unsigned int nr)
{
	unsigned int i;

	if (!nr)
		printf("-");
	for (i = 0; i < nr; i++)
		printf("%c%c", "0123456789abcdef"[bytes[i] >> 4],
		       "0123456789abcdef"[bytes[i] & 15]);
}

/* Layout: see PERF_RECORD_TEXT_POKE in <linux/perf_event.h>. */
static void print_text_poke(const unsigned char *body)
{
	__u16 old_len, new_len;
	__u64 addr;

	memcpy(&addr, body, 8);
	memcpy(&old_len, body + 8, 2);
	memcpy(&new_len, body + 10, 2);
	printf("text_poke ");
	print_number(addr);
	printf(" old ");
	print_bytes(body + 12, old_len);
	printf(" new ");
	print_bytes(body + 12 + old_len, new_len);
	printf("\n");
}

/* Layout: see PERF_RECORD_KSYMBOL. */
static void print_ksymbol(const unsigned char *body)
{
	__u16 type, flags;
	__u64 addr;
	__u32 len;

	memcpy(&addr, body, 8);
	memcpy(&len, body + 8, 4);
	memcpy(&type, body + 12, 2);
	memcpy(&flags, body + 14, 2);
	printf("ksymbol ");
	print_number(addr);
	printf(" %d %s %s %s\n", (int)len,
	       flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? "unregister" : "register",
	       type == PERF_RECORD_KSYMBOL_TYPE_OOL ? "ool" : "other",
	       (const char *)body + 16);
}

static void copy_out(const unsigned char *data, __u64 from, void *to, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len; i++)
		((unsigned char *)to)[i] = data[(unsigned int)(from + i) % DATA_SIZE];
}

/* Returns the time of the first record of a ring, or the highest number if there is none. */
static __u64 first_time(struct ring *ring)
{
	const unsigned char *data = (unsigned char *)ring->control + PAGE;
	__u64 tail = ring->control->data_tail;
	struct perf_event_header header;
	__u64 time;

	if (tail == __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE))
		return ~0ULL;
	copy_out(data, tail, &header, sizeof(header));
	copy_out(data, tail + header.size - sizeof(time), &time, sizeof(time));
	return time;
}

/* Prints and removes the first record of a ring.  Returns 0, or 1 if some are lost. */
static int print_first(struct ring *ring)
{
	const unsigned char *data = (unsigned char *)ring->control + PAGE;
	__u64 tail = ring->control->data_tail;
	struct perf_event_header header;

	copy_out(data, tail, &header, sizeof(header));
	copy_out(data, tail, record, header.size);
	if (header.type == PERF_RECORD_TEXT_POKE)
		print_text_poke(record + sizeof(header));
	else if (header.type == PERF_RECORD_KSYMBOL)
		print_ksymbol(record + sizeof(header));
	/* The kernel reuses the space after this. */
	__atomic_store_n(&ring->control->data_tail, tail + header.size, __ATOMIC_RELEASE);
	return header.type == PERF_RECORD_LOST;
}

/* Prints and removes all records.  Returns 0, or 1 if some are lost. */
static int drain_all(void)
{
	__u64 time, first;
	int i, from = 0, lost = 0;

	do {
		first = ~0ULL;
		for (i = 0; i < nr_rings; i++) {
			time = first_time(&rings[i]);
			if (time < first) {
				first = time;
				from = i;
			}
		}
		if (first != ~0ULL)
			lost |= print_first(&rings[from]);
	} while (first != ~0ULL);
	return lost;
}

/* The output has the result of the write; only a missing file is a failure. */
static int write_text(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);
	int len = strlen(text);

	if (fd < 0) {
		perror(file);
		return 1;
	}
	printf("%s %s\n", write(fd, text, len) == len ? "wrote" : "refused", text);
	close(fd);
	return 0;
}

static bool list_has(const char *words)
{
	int fd = open(LIST, O_RDONLY), size = strlen(words), length = 0, got, i;
	static char list[1 << 14];

	while ((got = read(fd, list + length, sizeof(list) - length)) > 0)
		length += got;
	close(fd);
	for (i = 0; i + size <= length; i++) {
		if (!memcmp(list + i, words, size))
			return true;
	}
	return false;
}

/* Waits for asynchronous work of the kernel.  The records show whether it has been done. */
static void wait_for(const char *words)
{
	int tries;

	for (tries = 0; tries < WAIT_TRIES && !list_has(words); tries++)
		usleep(WAIT_US);
	usleep(WAIT_US);
}

int main(int argc, char **argv)
{
	int status, i;

	if (argc < 3) {
		printf("usage: text_poke FILE TEXT...\n");
		return 1;
	}
	status = open_rings();
	if (status)
		perror("perf_event_open");
	for (i = 2; !status && i < argc; i++) {
		if (!strncmp(argv[i], WAIT, WAIT_LENGTH))
			wait_for(argv[i] + WAIT_LENGTH);
		else
			status = write_text(argv[1], argv[i]);
		status |= drain_all();
	}
	return status;
}
