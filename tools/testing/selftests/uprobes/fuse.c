// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of a file whose file system is a program.  While a process maps the file, and waits for
 * the program to read it, other probes are registered, and the program maps a probed file itself.
 * None of them waits for another for ever.
 */
#include "../kselftest.h"

/* nolibc has the types of <stdint.h>, which the next header includes. */
#define _GCC_WRAP_STDINT_H
#include <linux/fuse.h>

#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"

#define FOLDER		"/tmp/uprobes-fuse"
#define FILE_PATH	FOLDER "/code"
#define FILE_NODE	2

/* A file of another file system, with a probe in its third page. */
#define OTHER_PATH	"/tmp/uprobes-fuse-other"

/* What the processes tell each other. */
struct shared {
	volatile int reading;	/* the server has been asked for text */
	volatile int waiting;	/* another process registers a probe */
};

static struct shared *shared;

/* --- The server ------------------------------------------------------------ */

static char page[4096];

static void answer(int fuse, const struct fuse_in_header *in, const void *data, unsigned int size,
		   int err)
{
	static char buf[sizeof(struct fuse_out_header) + sizeof(page)];
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
		.size = node == FILE_NODE ? sizeof(page) : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = sizeof(page),
	};
}

/* The server has a process register another probe, and maps the probed file. */
static void answer_read(int fuse, const struct fuse_in_header *in)
{
	static bool done;
	unsigned int tries = 300;
	int fd;

	if (!done) {
		done = true;
		shared->reading = 1;
		while (!shared->waiting && tries--)
			usleep(10000);
		/* It has begun, or waits. */
		usleep(200000);
		fd = open(OTHER_PATH, O_RDONLY);
		munmap(mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
		       sizeof(page));
		close(fd);
	}
	answer(fuse, in, page, sizeof(page), 0);
}

static void serve(int fuse)
{
	static char buf[FUSE_MIN_READ_BUFFER + sizeof(page)];
	const struct fuse_in_header *in = (struct fuse_in_header *)buf;
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31,
		.max_write = sizeof(page), .time_gran = 1,
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
			answer(fuse, in, &opened, sizeof(opened), 0);
			break;
		case FUSE_READ:
			answer_read(fuse, in);
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
	unsigned int tries = 500;
	int event;

	while (!shared->reading && tries--)
		usleep(10000);
	shared->waiting = 1;
	event = open_probe(OTHER_PATH, 0);
	return event >= 0 ? 0 : 1;
}

/* Maps the text that is probed, and calls it.  Returns 0 if the call is a hit. */
static int map_and_call(void)
{
	int fd = open(FILE_PATH, O_RDONLY), event;
	char *map;

	event = open_probe(FILE_PATH, code_offsets[1]);
	map = mmap(NULL, sizeof(page), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (event < 0 || map == MAP_FAILED)
		return 1;
	if (((code_function *)map)(35) != 42)
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

int main(void)
{
	pid_t server, mapping, registering;
	int fuse, other, result;

	ksft_print_header();
	shared = shared_memory(4096);
	memcpy(page, code_start, CODE_SIZE);
	code_file(OTHER_PATH, 3);
	fuse = mount_fuse();
	if (fuse < 0)
		ksft_exit_skip("no file systems of programs in this kernel\n");
	ksft_set_plan(3);
	server = fork();
	if (!server) {
		serve(fuse);
		_exit(0);
	}
	close(fuse);
	other = open_probe(OTHER_PATH, 2 * 4096 + code_offsets[1]);
	registering = start(register_another);
	mapping = start(map_and_call);
	result = reap(mapping);
	ksft_test_result(!result, "a call of text that a program has read is a hit: %d\n", result);
	result = reap(registering);
	ksft_test_result(!result, "another probe is registered meanwhile: %d\n", result);
	ksft_test_result(shared->reading && shared->waiting, "all of them were under way\n");
	event_close(other);
	syscall(__NR_umount2, FOLDER, 2 /* MNT_DETACH */);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	unlink(OTHER_PATH);
	ksft_finished();
}
