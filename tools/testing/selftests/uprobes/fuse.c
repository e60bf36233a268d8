// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of a file whose file system is a program.  While a process maps the file, and waits for
 * the program to read it, other probes are registered, and the program maps a probed file itself.
 * None of them waits for another for ever: not if an instruction is read for the first time, if
 * known text is read again, if a counter is read, or if the page is locked until the program has
 * written it.  A registration that waits for text does not keep others waiting.  And if the
 * program refuses to read for one open file, the instruction is read for another; if there is
 * none, the registration fails.
 */
#include "../kselftest.h"

/* nolibc has the types of <stdint.h>, that of gcc or clang, which the next header includes. */
#define _GCC_WRAP_STDINT_H
#define __CLANG_STDINT_H
#include <linux/fuse.h>

#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"

#define FOLDER		"/tmp/uprobes-fuse"
#define TEXT_PATH	FOLDER "/code"
#define FILE_NODE	2

/* A file of another file system, with a probe in its third page. */
#define OTHER_PATH	"/tmp/uprobes-fuse-other"

/* Data that the processes share. */
struct shared {
	volatile int stall;	/* the server's next answer has to wait for the others */
	volatile int hold;	/* it has to wait until another process has registered a probe */
	volatile int reading;	/* the server has been asked */
	volatile int waiting;	/* another process registers a probe */
	volatile int writing;	/* the server has been asked to write */
	volatile int mapping;	/* a process needs the page that is written, or read */
	volatile int registered;	/* another process has registered a probe */
	volatile int late;	/* not before the server's answer */
	volatile __u64 opened;	/* the handle of the last open file; the first is 1 */
	volatile __u64 refused;	/* the handle for which the server does not read */
};

static struct shared *shared;

/* --- The server ------------------------------------------------------------ */

/* The text, and a page with the counter at its beginning, and one that cannot be increased. */
static char contents[2 * 4096];

#define TEXT_SIZE	4096
#define COUNTER		4096
#define FULL_COUNTER	4098

static void fill(void)
{
	memcpy(contents, code_start, CODE_SIZE);
	contents[FULL_COUNTER] = -1;
	contents[FULL_COUNTER + 1] = 0x7f;
}

static void answer(int fuse, const struct fuse_in_header *in, const void *data, unsigned int size,
		   int err)
{
	static char buf[sizeof(struct fuse_out_header) + sizeof(contents)];
	struct fuse_out_header *out = (struct fuse_out_header *)buf;

	out->len = sizeof(*out) + size;
	out->error = err;
	out->unique = in->unique;
	if (size)
		memcpy(out + 1, data, size);
	write(fuse, buf, out->len);
}

static struct fuse_attr attributes(__u64 node)
{
	return (struct fuse_attr) {
		.ino = node,
		.size = node == FILE_NODE ? sizeof(contents) : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = TEXT_SIZE,
	};
}

static void await(volatile int *flag)
{
	unsigned int tries = 3000;

	while (!*flag && tries--)
		usleep(10000);
}

/* Lets a process register another probe, and maps the probed file. */
static void stall(void)
{
	unsigned int tries = 300;
	int fd;

	shared->stall = 0;
	shared->reading = 1;
	while (!shared->waiting && tries--)
		usleep(10000);
	/* It has begun, or waits. */
	usleep(200000);
	fd = open(OTHER_PATH, O_RDONLY);
	munmap(mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), TEXT_SIZE);
	close(fd);
}

static void answer_read(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_read_in *wanted = (const void *)(in + 1);
	unsigned int size = 0;

	if (wanted->fh == shared->refused) {
		answer(fuse, in, NULL, 0, -EIO);
		return;
	}
	if (shared->stall)
		stall();
	if (shared->hold) {
		shared->hold = 0;
		shared->mapping = 1;
		await(&shared->registered);
		shared->late = !shared->registered;
	}
	if (wanted->offset < sizeof(contents))
		size = sizeof(contents) - wanted->offset;
	if (size > wanted->size)
		size = wanted->size;
	answer(fuse, in, contents + wanted->offset, size, 0);
}

/* The page is locked until the answer. */
static void answer_write(int fuse, const struct fuse_in_header *in)
{
	const struct fuse_write_in *wanted = (const void *)(in + 1);
	struct fuse_write_out written = { .size = wanted->size };

	shared->writing = 1;
	await(&shared->registered);
	shared->late = !shared->registered;
	answer(fuse, in, &written, sizeof(written), 0);
}

static void serve(int fuse)
{
	static char buf[FUSE_MIN_READ_BUFFER + sizeof(contents)];
	const struct fuse_in_header *in = (struct fuse_in_header *)buf;
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31,
		.max_write = sizeof(contents), .time_gran = 1,
	};
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .entry_valid = 60, .attr_valid = 60 };
	struct fuse_attr_out attr = { .attr_valid = 60 };
	struct fuse_open_out opened = { 0 };

	while (read(fuse, buf, sizeof(buf)) > 0) {
		switch (in->opcode) {
		case FUSE_INIT:
			answer(fuse, in, &init, sizeof(init), 0);
			break;
		case FUSE_LOOKUP:
			entry.attr = attributes(FILE_NODE);
			answer(fuse, in, &entry, sizeof(entry), 0);
			break;
		case FUSE_GETATTR:
			attr.attr = attributes(in->nodeid);
			answer(fuse, in, &attr, sizeof(attr), 0);
			break;
		case FUSE_OPEN:
			opened.fh = ++shared->opened;
			answer(fuse, in, &opened, sizeof(opened), 0);
			break;
		case FUSE_READ:
			answer_read(fuse, in);
			break;
		case FUSE_WRITE:
			answer_write(fuse, in);
			break;
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
			break;
		default:
			answer(fuse, in, NULL, 0, -ENOSYS);
			break;
		}
	}
}

/* Mounts the file system.  Returns the device, or an error. */
static int mount_fuse(void)
{
	char options[80];
	int fuse = open("/dev/fuse", O_RDWR);

	if (fuse < 0)
		return fuse;
	mkdir(FOLDER, 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	return mount("test", FOLDER, "fuse", 0, options) ? -1 : fuse;
}

/* --- The processes ---------------------------------------------------------------- */

static int open_probe(const char *path, unsigned long offset)
{
	const struct event_at at = { .path = path, .offset = offset };

	return event_open(&at);
}

static int register_another(void)
{
	unsigned int tries = 3000;
	int event;

	while (!shared->reading && tries--)
		usleep(10000);
	shared->waiting = 1;
	event = open_probe(OTHER_PATH, 0);
	return event >= 0 ? 0 : 1;
}

static void *map_file(unsigned long offset, int access)
{
	int fd = open(TEXT_PATH, O_RDONLY);
	void *map = mmap(NULL, TEXT_SIZE, access, MAP_PRIVATE, fd, offset);

	close(fd);
	return map;
}

static bool call(const char *text)
{
	return ((code_function *)text)(35) == 42;
}

/* The file has to be read again. */
static void evict(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	write(fd, "1", 1);
	close(fd);
}

/* Maps the text that is probed, and calls it.  Returns 0 if the call is a hit. */
static int map_and_call(void)
{
	int event = open_probe(TEXT_PATH, code_offsets[1]);
	char *map;

	shared->stall = 1;
	map = map_file(0, PROT_READ | PROT_EXEC);
	if (event < 0 || map == MAP_FAILED)
		return 1;
	if (!call(map))
		return 2;
	return event_count(event) == 1 ? 0 : 3;
}

/* The same after the file has been mapped before, so that its instruction is known. */
static int map_again(void)
{
	int event = open_probe(TEXT_PATH, code_offsets[1]);
	char *map = map_file(0, PROT_READ | PROT_EXEC);

	if (event < 0 || map == MAP_FAILED || !call(map))
		return 1;
	munmap(map, TEXT_SIZE);
	evict();
	shared->stall = 1;
	map = map_file(0, PROT_READ | PROT_EXEC);
	if (map == MAP_FAILED || !call(map))
		return 2;
	return event_count(event) == 2 ? 0 : 3;
}

static int open_counted(unsigned long counter)
{
	const struct event_at at = {
		.path = TEXT_PATH, .offset = code_offsets[1], .ref_ctr = counter,
	};

	return event_open(&at);
}

/* The counter is mapped after the text, and read for that. */
static int map_counter(void)
{
	int event = open_counted(COUNTER);
	volatile short *counter;
	char *map = map_file(0, PROT_READ | PROT_EXEC);

	if (event < 0 || map == MAP_FAILED || !call(map))
		return 1;
	evict();
	shared->stall = 1;
	counter = map_file(COUNTER, PROT_READ | PROT_WRITE);
	return *counter == 1 ? 0 : 2;
}

/* The counter is mapped, but has to be read when its probe is registered. */
static int count_mapped(void)
{
	volatile short *counter = map_file(COUNTER, PROT_READ | PROT_WRITE);
	char *map = map_file(0, PROT_READ | PROT_EXEC);
	int event;

	if (map == MAP_FAILED || !call(map))
		return 1;
	evict();
	shared->stall = 1;
	event = open_counted(COUNTER);
	if (event < 0 || !call(map) || event_count(event) != 1)
		return 2;
	return *counter == 1 ? 0 : 3;
}

/* No open file can be read. */
static void check_unreadable(void)
{
	char *map = map_file(0, PROT_READ | PROT_EXEC);
	const char *reason;
	int event, error;

	shared->refused = shared->opened;
	evict();
	record_refusals(true);
	event = open_probe(TEXT_PATH, code_offsets[1]);
	error = event < 0 ? errno : 0;
	reason = last_reason();
	ksft_test_result(error == EIO && !strcmp(reason, "the file cannot be read there (-5)"),
			 "text that the program does not read: error %d, reason \"%s\"\n", error,
			 reason);
	record_refusals(false);
	shared->refused = 0;
	close(event);
	munmap(map, TEXT_SIZE);
}

/* The same if the instruction is known from another mapping: the text is not executed. */
static void check_unreadable_page(void)
{
	int event = open_probe(TEXT_PATH, code_offsets[1]), second;
	char *map = map_file(0, PROT_READ | PROT_EXEC);
	bool called = map != MAP_FAILED && call(map);
	const char *reason;

	munmap(map, TEXT_SIZE);
	shared->refused = shared->opened + 1;
	map = map_file(0, PROT_READ | PROT_EXEC);
	record_refusals(true);
	second = open_probe(TEXT_PATH, code_offsets[1]);
	reason = last_reason();
	ksft_test_result(called && second >= 0 && !strcmp(reason, "the page cannot be read (-14)"),
			 "a page that the program does not read: reason \"%s\"\n", reason);
	record_refusals(false);
	shared->refused = 0;
	close(second);
	close(event);
	munmap(map, TEXT_SIZE);
}

/* A counter that has to be read, and is full then: no process can have the probe. */
static void check_full(void)
{
	char *data = map_file(COUNTER, PROT_READ | PROT_WRITE);
	char *map = map_file(0, PROT_READ | PROT_EXEC);
	bool called = map != MAP_FAILED && call(map);
	const char *reason;
	int event, error;

	evict();
	record_refusals(true);
	event = open_counted(FULL_COUNTER);
	error = event < 0 ? errno : 0;
	reason = last_reason();
	ksft_test_result(called && error == EINVAL &&
			 !strcmp(reason, "the reference counter cannot be changed (-22)"),
			 "a counter that has been read is full: error %d, reason \"%s\"\n", error,
			 reason);
	record_refusals(false);
	close(event);
	munmap(map, TEXT_SIZE);
	munmap(data, TEXT_SIZE);
}

/* The first mapping of the file is that of an open file for which the program does not read. */
static int read_other(void)
{
	char *map = map_file(0, PROT_READ | PROT_EXEC), *other;
	int event;

	shared->refused = shared->opened;
	other = map_file(COUNTER, PROT_READ);
	evict();
	event = open_probe(TEXT_PATH, code_offsets[1]);
	shared->refused = 0;
	if (event < 0 || map == MAP_FAILED || other == MAP_FAILED)
		return 1;
	if (!call(map))
		return 2;
	return event_count(event) == 1 ? 0 : 3;
}

static pid_t start(int (*function)(void))
{
	pid_t pid = fork();

	if (!pid) {
		limit_child();
		_exit(function());
	}
	return pid;
}

static void check(const char *what, int (*function)(void))
{
	pid_t registering, mapping;
	int result;

	shared->reading = 0;
	shared->waiting = 0;
	registering = start(register_another);
	mapping = start(function);
	result = reap(mapping);
	ksft_test_result(!result, "%s: %d\n", what, result);
	result = reap(registering);
	ksft_test_result(!result && shared->reading && shared->waiting,
			 "another probe is registered meanwhile: %d\n", result);
}

/* --- A locked page ---------------------------------------------------------------- */

static int open_file(void)
{
	return open(TEXT_PATH, O_RDONLY) < 0;
}

/*
 * The page is in the page cache, but locked: the file is opened, and so the kernel writes the page
 * back, to drop it.
 */
static int map_locked(void)
{
	int event = open_probe(TEXT_PATH, code_offsets[1]), fd = open(TEXT_PATH, O_RDWR);
	char *map = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	volatile char *text = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	pid_t opening;

	if (event < 0 || map == MAP_FAILED || text == MAP_FAILED || !call(map))
		return 1;
	munmap(map, TEXT_SIZE);
	text[TEXT_SIZE - 1] = 0;
	opening = start(open_file);
	await(&shared->writing);
	shared->mapping = 1;
	map = mmap(NULL, TEXT_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED || !call(map))
		return 2;
	if (reap(opening))
		return 3;
	return event_count(event) == 2 ? 0 : 4;
}

static int register_meanwhile(void)
{
	int event;

	await(&shared->mapping);
	/* The other process waits for the page. */
	usleep(200000);
	event = open_probe(OTHER_PATH, 0);
	shared->registered = 1;
	return event < 0;
}

static void check_locked(void)
{
	pid_t registering = start(register_meanwhile), mapping = start(map_locked);
	int result = reap(mapping);

	ksft_test_result(!result, "text whose page is locked: %d\n", result);
	result = reap(registering);
	ksft_test_result(!result && shared->writing && shared->mapping && !shared->late,
			 "another probe is registered while it is locked: %d\n", result);
}

/* --- Text that has to be read for a registration ------------------------------------ */

/* Events hold a mutex of tracing while they are registered; links do not. */
static int link_unread(void)
{
	char *map = map_file(0, PROT_READ | PROT_EXEC);
	struct probes probes;

	if (map == MAP_FAILED)
		return 1;
	evict();
	shared->hold = 1;
	if (!code_probe(&probes, TEXT_PATH, 1, 1))
		return 2;
	return !shared->hold && call(map) && probe_count(&probes) == 1 ? 0 : 3;
}

static void check_unread(void)
{
	pid_t registering, linking;
	int result;

	shared->mapping = 0;
	shared->registered = 0;
	shared->late = 0;
	registering = start(register_meanwhile);
	linking = start(link_unread);
	result = reap(linking);
	ksft_test_result(!result, "text that is read for a registration: %d\n", result);
	result = reap(registering);
	if (long_kernel())
		ksft_test_result(!result && !shared->late,
				 "another probe is registered before it has been read: %d\n",
				 result);
	else
		ksft_test_result_skip("a kernel of 32 bits has no links to many offsets\n");
}

int main(void)
{
	int fuse, other, result;
	pid_t server;

	ksft_print_header();
	shared = shared_memory(4096);
	fill();
	code_file(OTHER_PATH, 3);
	fuse = mount_fuse();
	if (fuse < 0)
		ksft_exit_skip("no file systems of programs in this kernel\n");
	ksft_set_plan(16);
	server = fork();
	if (!server) {
		serve(fuse);
		_exit(0);
	}
	close(fuse);
	other = open_probe(OTHER_PATH, 2 * 4096 + code_offsets[1]);
	check("text that a program has read for the first time", map_and_call);
	check("text that it has read again", map_again);
	check("a counter that it has read", map_counter);
	check("a counter that is mapped, but has been dropped", count_mapped);
	result = in_child(read_other);
	ksft_test_result(!result, "an open file that the program does not read: %d\n", result);
	check_locked();
	check_unread();
	check_unreadable();
	check_unreadable_page();
	check_full();
	event_close(other);
	syscall(__NR_umount2, FOLDER, 2 /* MNT_DETACH */);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unlink(OTHER_PATH);
	ksft_finished();
}
