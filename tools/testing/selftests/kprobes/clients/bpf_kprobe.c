// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attach a BPF program to a kprobe, without a library.
 *
 *	bpf_kprobe p|r SYMBOL OFFSET CALLS
 *
 * attaches a small program to a function (p), or to its return (r), with
 * perf_event_open(), calls getpgid() CALLS times, detaches the program, calls
 * again as often, and prints
 *
 *	hits N		number of runs of the program for this process
 *	func_ip ADDRESS	the last result of bpf_get_func_ip()
 *	late N		number of runs after the program had been detached
 *
 * Status: 0; 1 if an operation was refused, with a message on the standard error; 4
 * if this kernel has no kprobes for perf.
 *
 * Built with nolibc.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#define STATUS_SKIP	4
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PMU		"/sys/bus/event_source/devices/kprobe/"

/* The one element of the map. */
struct seen {
	__u64 hits;
	__u64 func_ip;
};

static char verifier_log[16384];

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static __u64 pointer(const void *p)
{
	return (unsigned long)p;
}

/* Returns the number after the text PREFIX at the beginning of a file. */
static int read_number(const char *path, const char *prefix)
{
	char text[64];
	int fd, length;

	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length < (int)strlen(prefix))
		return -1;
	text[length] = 0;
	return atoi(text + strlen(prefix));
}

static int make_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(__u32);
	attr.value_size = sizeof(struct seen);
	attr.max_entries = 1;
	return bpf(BPF_MAP_CREATE, &attr);
}

static int read_map(int map, struct seen *seen)
{
	union bpf_attr attr;
	__u32 key = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = pointer(&key);
	attr.value = pointer(seen);
	return bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

#define INSN(c, d, s, o, i) \
	{ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOVE(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)

/*
 * Other processes call the function too, so only the hits of this process count:
 *
 *	if (current->tgid != tgid) return 0;
 *	seen = map_lookup(map, 0); if (!seen) return 0;
 *	seen->hits++; seen->func_ip = get_func_ip(ctx); return 0;
 */
static int load_program(int map, int tgid)
{
	const struct bpf_insn program[] = {
		MOVE(6, 1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 13, tgid),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		MOVE(2, 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0),
		MOVE(7, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 7, 1, 0, BPF_ADD),
		MOVE(1, 6),
		CALL(BPF_FUNC_get_func_ip),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 7, 0, 8, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.insns = pointer(program);
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = pointer("GPL");
	attr.log_level = 1;
	attr.log_buf = pointer(verifier_log);
	attr.log_size = sizeof(verifier_log);
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Opens an event of the kprobe PMU, which is the probe. */
static int probe(int type, int retprobe, const char *symbol, int offset)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = retprobe;
	attr.kprobe_func = pointer(symbol);
	attr.probe_offset = offset;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	/* The program runs for every process, on any CPU. */
	return syscall(__NR_perf_event_open, &attr, -1, 0, -1, 8 /* CLOEXEC */);
}

static int fail(const char *reason)
{
	fprintf(stderr, "bpf_kprobe: %s: error %d\n", reason, errno);
	return 1;
}

static void call(int times)
{
	while (times-- > 0)
		getpgid(0);
}

int main(int argc, char **argv)
{
	struct seen seen = { 0 }, later = { 0 };
	int type, bit, map, program, event, times;

	if (argc != 5) {
		fprintf(stderr, "usage: bpf_kprobe p|r SYMBOL OFFSET CALLS\n");
		return 1;
	}
	type = read_number(PMU "type", "");
	bit = read_number(PMU "format/retprobe", "config:");
	if (type < 0 || bit < 0)
		return STATUS_SKIP;
	times = atoi(argv[4]);

	map = make_map();
	if (map < 0)
		return fail("no map");
	program = load_program(map, getpid());
	if (program < 0) {
		fprintf(stderr, "%s", verifier_log);
		return fail("the program is refused");
	}
	event = probe(type, argv[1][0] == 'r' ? 1 << bit : 0, argv[2], atoi(argv[3]));
	if (event < 0)
		return fail("no probe");
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, (void *)(long)program) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, NULL))
		return fail("the program cannot be attached");

	call(times);
	if (read_map(map, &seen))
		return fail("the map cannot be read");
	close(event);
	call(times);
	if (read_map(map, &later))
		return fail("the map cannot be read");

	printf("hits %d\n", (int)seen.hits);
	printf("func_ip %lx\n", (unsigned long)seen.func_ip);
	printf("late %d\n", (int)(later.hits - seen.hits));
	return 0;
}
