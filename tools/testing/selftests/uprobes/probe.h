/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_PROBE_H
#define _UPROBES_PROBE_H
/*
 * Probes that a test puts on its own code, through the interfaces of tools: events of the
 * uprobe PMU, each of which counts its hits, and BPF programs on many offsets at once.
 *
 * The programs are static and not position independent, so an address of a function says
 * where it is in the file.  Built with nolibc; nolibc.mk adds the <linux/bpf.h> of the kernel's
 * sources.
 */
#include <linux/elf.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#define SELF		"/proc/self/exe"
#define UPROBE_PMU	"/sys/bus/event_source/devices/uprobe/"
#define TRACING		"/sys/kernel/tracing/"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#define UNUSED		__attribute__((unused))
#ifdef __clang__
#define NOINLINE	__attribute__((noinline))
#else
#define NOINLINE	__attribute__((noinline, noclone))
#endif

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Phdr program_header;
#else
typedef Elf32_Phdr program_header;
#endif

static inline __u64 pointer(const void *p)
{
	return (unsigned long)p;
}

/* Returns the offset in this program's file of an address in one of its segments. */
UNUSED static unsigned long file_offset(const void *address)
{
	const program_header *header = (const void *)getauxval(AT_PHDR);
	unsigned long nr = getauxval(AT_PHNUM), at = (unsigned long)address;

	for (; nr; nr--, header++) {
		if (header->p_type == PT_LOAD && at >= header->p_vaddr &&
		    at < header->p_vaddr + header->p_filesz)
			return at - header->p_vaddr + header->p_offset;
	}
	return ~0UL;
}

/* Reads a number at the start of a text file; returns -1 if there is no such file. */
UNUSED static long read_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return -1;
	read(fd, text, sizeof(text) - 1);
	close(fd);
	return atol(text);
}

/* --- Events of the uprobe PMU ---------------------------------------------- */

/**
 * struct event_at - an event to be opened
 * @path: file
 * @offset: offset of the instruction in the file
 * @ref_ctr: offset of the counter of users, or 0
 * @is_return: count returns of the function
 * @everywhere: in all tasks, on the first processor; a BPF program is called on all
 */
struct event_at {
	const char *path;
	unsigned long offset;
	unsigned long ref_ctr;
	bool is_return;
	bool everywhere;
};

/*
 * Opens an event, which counts hits of this thread by default.  Returns its file, or -1 with
 * errno.
 */
UNUSED static int event_open(const struct event_at *at)
{
	static long type = -1;
	struct perf_event_attr attr;

	/* Read once, because programs that measure open many events. */
	if (type < 0)
		type = read_number(UPROBE_PMU "type");
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = at->is_return | (__u64)at->ref_ctr << 32;
	attr.uprobe_path = pointer(at->path);
	attr.probe_offset = at->offset;
	return syscall(__NR_perf_event_open, &attr, at->everywhere ? -1 : 0,
		       at->everywhere ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns the number of hits of an event. */
UNUSED static unsigned long event_count(int fd)
{
	__u64 count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return ~0UL;
	return count;
}

/* Like event_count(), after which the event is gone. */
UNUSED static unsigned long event_close(int fd)
{
	unsigned long count = event_count(fd);

	close(fd);
	return count;
}

/* --- BPF programs on many offsets ------------------------------------------ */

/* Is this a 64-bit kernel?  The program may be a 32-bit one. */
UNUSED static bool long_kernel(void)
{
	struct utsname name;

	uname(&name);
	return strstr(name.machine, "64");
}

UNUSED static int bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

/* Makes an array of NR counters. */
UNUSED static int counters_create(unsigned int nr)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(__u32);
	attr.value_size = sizeof(__u64);
	attr.max_entries = nr;
	return bpf(BPF_MAP_CREATE, &attr);
}

UNUSED static __u64 counter_read(int map, __u32 nr)
{
	union bpf_attr attr;
	__u64 value = ~0ULL;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = pointer(&nr);
	attr.value = pointer(&value);
	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	return value;
}

UNUSED static void counter_clear(int map, __u32 nr)
{
	union bpf_attr attr;
	__u64 value = 0;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = pointer(&nr);
	attr.value = pointer(&value);
	bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* Loads a program that adds 1 to the counter with the number of the cookie. */
UNUSED static int counting_program(int map)
{
	const struct bpf_insn program[] = {
		/* *(u32 *)(fp - 4) = bpf_get_attach_cookie(ctx) */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_attach_cookie },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = 10, .src_reg = 0, .off = -4 },
		/* r0 = bpf_map_lookup_elem(map, fp - 4) */
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 2 },
		/* lock *(u64 *)r0 += 1 */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 0, .src_reg = 1,
		  .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.expected_attach_type = long_kernel() ? BPF_TRACE_UPROBE_MULTI : 0;
	attr.insns = pointer(program);
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = pointer("GPL");
	return bpf(BPF_PROG_LOAD, &attr);
}

/**
 * struct link_at - offsets to which a program is to be linked
 * @path: file
 * @offsets: in the file
 * @cookies: a number for each
 * @nr: how many
 * @is_return: returns of functions
 * @pid: only in this process, or 0
 */
struct link_at {
	const char *path;
	const __u64 *offsets;
	const __u64 *cookies;
	unsigned int nr;
	bool is_return;
	pid_t pid;
};

/*
 * A 32-bit kernel has no links to many offsets.  There the program is linked to an event at
 * each; the files of both belong together, by number: the one after FILE is file_after[FILE],
 * or 0.
 */
#define MOST_FILES	4096

static int file_after[MOST_FILES];

/* Closes the links of link_multi(). */
UNUSED static void link_close(int file)
{
	int next;

	for (; file > 0; file = next) {
		next = file < MOST_FILES ? file_after[file] : 0;
		if (next)
			file_after[file] = 0;
		close(file);
	}
}

static int link_cookie(int program, int event, __u64 cookie)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_fd = event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return bpf(BPF_LINK_CREATE, &attr);
}

static bool add_file(int *first, int file)
{
	if (file < 0)
		return false;
	if (file >= MOST_FILES) {
		close(file);
		errno = EMFILE;
		return false;
	}
	file_after[file] = *first;
	*first = file;
	return true;
}

static int link_each(int program, const struct link_at *at)
{
	const struct { __u64 now, most; } limit = { MOST_FILES, MOST_FILES };
	struct event_at event_at = {
		.path = at->path, .is_return = at->is_return, .everywhere = !at->pid,
	};
	int first = 0, event, saved;
	unsigned int i;

	syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
	errno = EINVAL;
	for (i = 0; i < at->nr; i++) {
		event_at.offset = at->offsets[i];
		event = event_open(&event_at);
		if (!add_file(&first, event) ||
		    !add_file(&first, link_cookie(program, event, at->cookies[i])))
			break;
	}
	if (i && i == at->nr)
		return first;
	saved = errno;
	link_close(first);
	errno = saved;
	return -1;
}

/* Links a program to all offsets or none; returns the link, or -1 with errno. */
UNUSED static int link_multi(int program, const struct link_at *at)
{
	union bpf_attr attr;

	if (!long_kernel())
		return link_each(program, at);
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.attach_type = BPF_TRACE_UPROBE_MULTI;
	attr.link_create.uprobe_multi.path = pointer(at->path);
	attr.link_create.uprobe_multi.offsets = pointer(at->offsets);
	attr.link_create.uprobe_multi.cookies = pointer(at->cookies);
	attr.link_create.uprobe_multi.cnt = at->nr;
	attr.link_create.uprobe_multi.flags = at->is_return ? BPF_F_UPROBE_MULTI_RETURN : 0;
	attr.link_create.uprobe_multi.pid = at->pid;
	return bpf(BPF_LINK_CREATE, &attr);
}

/* --- Probes of a test, whose hits are counted in all processes ------------- */

#define MOST_PROBES	256

/**
 * struct probes - counted probes of this program
 * @map: their counters
 * @program: adds to the counters
 * @link: -1 if there are none
 * @nr: how many
 */
struct probes {
	int map, program, link;
	unsigned int nr;
};

/* Probes that many addresses, all or none; false with errno if they are refused. */
UNUSED static bool probe_all(struct probes *probes, char *const *addresses, unsigned int nr,
			     bool is_return)
{
	static __u64 offsets[MOST_PROBES], cookies[MOST_PROBES];
	struct link_at at = {
		.path = SELF, .offsets = offsets, .cookies = cookies, .nr = nr,
		.is_return = is_return,
	};
	unsigned int i;

	for (i = 0; i < nr && i < MOST_PROBES; i++) {
		offsets[i] = file_offset(addresses[i]);
		cookies[i] = i;
	}
	probes->nr = nr;
	probes->map = counters_create(nr);
	probes->program = counting_program(probes->map);
	probes->link = link_multi(probes->program, &at);
	return probes->link >= 0;
}

UNUSED static bool probe_function(struct probes *probes, const void *function)
{
	char *address = (char *)function;

	return probe_all(probes, &address, 1, false);
}

UNUSED static bool probe_return(struct probes *probes, const void *function)
{
	char *address = (char *)function;

	return probe_all(probes, &address, 1, true);
}

/* Returns the number of all hits. */
UNUSED static unsigned long probe_count(const struct probes *probes)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < probes->nr; i++)
		sum += counter_read(probes->map, i);
	return sum;
}

/* Removes the probes; their hits can still be read. */
UNUSED static void probe_remove(struct probes *probes)
{
	if (probes->link >= 0)
		link_close(probes->link);
	probes->link = -1;
	close(probes->program);
}

#endif /* _UPROBES_PROBE_H */
