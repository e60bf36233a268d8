// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attach a BPF program to a kprobe, without a library.
 *
 *	bpf_kprobe p|r SYMBOL OFFSET CALLS
 *	bpf_kprobe KIND SYMBOL
 *	bpf_kprobe call CALLS
 *
 * The first form
 * attaches a small program to a function (p), or to its return (r), with
 * perf_event_open(), calls getpgid() CALLS times, detaches the program, calls
 * again as often, and prints
 *
 *	hits N		number of runs of the program for this process
 *	func_ip ADDRESS	the last result of bpf_get_func_ip()
 *	late N		number of runs after the program had been detached
 *
 * The second form attaches the program with a link that the process holds, prints
 * "attached", and for each line on the standard input, until that ends, a line with the
 * number of runs for all processes and the last result of bpf_get_func_ip().  KIND is one of
 *
 *	probe, return			a link to a perf event
 *	multi, multi_return		a kprobe_multi link
 *	override			as probe; the program makes the function return -EIO
 *	multi_override			the same with a kprobe_multi link
 *
 * The third form calls sched_get_priority_max(SCHED_FIFO) CALLS times, and prints the number
 * of calls that returned 99, and of calls that failed with EIO.
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

static const struct kind {
	const char *name;
	int retprobe, multi, override;
} kinds[] = {
	{ .name = "probe" },
	{ .name = "return", .retprobe = 1 },
	{ .name = "multi", .multi = 1 },
	{ .name = "multi_return", .multi = 1, .retprobe = 1 },
	{ .name = "override", .override = 1 },
	{ .name = "multi_override", .multi = 1, .override = 1 },
};

static const struct kind *find_kind(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
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
#define NOP		INSN(BPF_JMP | BPF_JA, 0, 0, 0, 0)

/* Number of instructions that change the result of the function, before the last two. */
#define OVERRIDE	3

/*
 * Other processes may call the function, too; if @tgid is not 0, only the hits of that process
 * count:
 *
 *	if (current->tgid != tgid) return 0;
 *	seen = map_lookup(map, 0); if (!seen) return 0;
 *	seen->hits++; seen->func_ip = get_func_ip(ctx);
 *	override_return(ctx, -EIO);
 *	return 0;
 */
static int load_program(int map, int tgid, const struct kind *kind)
{
	struct bpf_insn program[] = {
		MOVE(6, 1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 13 + OVERRIDE, tgid),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		MOVE(2, 10),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6 + OVERRIDE, 0),
		MOVE(7, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 7, 1, 0, BPF_ADD),
		MOVE(1, 6),
		CALL(BPF_FUNC_get_func_ip),
		INSN(BPF_STX | BPF_MEM | BPF_DW, 7, 0, 8, 0),
		MOVE(1, 6),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, -EIO),
		CALL(BPF_FUNC_override_return),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const struct bpf_insn nop = NOP;
	union bpf_attr attr;
	int i;

	if (!tgid)
		program[3] = nop;
	for (i = 0; i < OVERRIDE && !kind->override; i++)
		program[ARRAY_SIZE(program) - 3 - i] = nop;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = kind->multi ? BPF_TRACE_KPROBE_MULTI : 0;
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

static int link_event(int program, int event)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_fd = event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	return bpf(BPF_LINK_CREATE, &attr);
}

static int link_multi(int program, const char *symbol, int retprobe)
{
	const __u64 symbols[] = { pointer(symbol) };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.syms = pointer(symbols);
	attr.link_create.kprobe_multi.cnt = 1;
	attr.link_create.kprobe_multi.flags = retprobe ? BPF_F_KPROBE_MULTI_RETURN : 0;
	return bpf(BPF_LINK_CREATE, &attr);
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

static int call_and_print(int times)
{
	int good = 0, failed = 0;
	long ret;

	while (times-- > 0) {
		ret = syscall(__NR_sched_get_priority_max, 1 /* SCHED_FIFO */);
		good += ret == 99;
		failed += ret < 0 && errno == EIO;
	}
	printf("%d %d\n", good, failed);
	return 0;
}

/* Attaches a program, counts its runs CALLS times of getpgid(), and detaches it. */
static int count(int type, int config, const char *symbol, int offset, int times)
{
	struct seen seen = { 0 }, later = { 0 };
	int map, program, event;

	map = make_map();
	if (map < 0)
		return fail("no map");
	program = load_program(map, getpid(), &kinds[0]);
	if (program < 0) {
		fprintf(stderr, "%s", verifier_log);
		return fail("the program is refused");
	}
	event = probe(type, config, symbol, offset);
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

/* Attaches a program, and answers questions about its runs. */
static int serve(int type, int config, const struct kind *kind, const char *symbol)
{
	int map, program, event = -1, link;
	struct seen seen = { 0 };
	char c;

	map = make_map();
	if (map < 0)
		return fail("no map");
	program = load_program(map, 0, kind);
	if (program < 0) {
		fprintf(stderr, "%s", verifier_log);
		return fail("the program is refused");
	}
	if (!kind->multi) {
		event = probe(type, config, symbol, 0);
		if (event < 0)
			return fail("no probe");
	}
	link = kind->multi ? link_multi(program, symbol, kind->retprobe) :
			     link_event(program, event);
	if (link < 0)
		return fail("no link");
	printf("attached\n");

	while (read(0, &c, 1) == 1) {
		if (c != '\n')
			continue;
		if (read_map(map, &seen))
			return fail("the map cannot be read");
		printf("%d %lx\n", (int)seen.hits, (unsigned long)seen.func_ip);
	}
	close(link);
	close(event);
	return 0;
}

static int explain(void)
{
	fprintf(stderr, "usage: bpf_kprobe p|r SYMBOL OFFSET CALLS\n"
			"       bpf_kprobe KIND SYMBOL\n"
			"       bpf_kprobe call CALLS\n");
	return 1;
}

int main(int argc, char **argv)
{
	const struct kind *kind;
	int type, bit;

	if (argc < 3)
		return explain();
	if (argc == 3 && !strcmp(argv[1], "call"))
		return call_and_print(atoi(argv[2]));
	type = read_number(PMU "type", "");
	bit = read_number(PMU "format/retprobe", "config:");
	if (type < 0 || bit < 0)
		return STATUS_SKIP;
	if (argc == 5)
		return count(type, argv[1][0] == 'r' ? 1 << bit : 0, argv[2], atoi(argv[3]),
			     atoi(argv[4]));
	kind = find_kind(argv[1]);
	if (argc != 3 || !kind)
		return explain();
	return serve(type, kind->retprobe ? 1 << bit : 0, kind, argv[2]);
}
