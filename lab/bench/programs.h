/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_PROGRAMS_H
#define _BENCH_PROGRAMS_H
/*
 * The types of the kernel functions that BPF programs trace, and the number of runs of a program.
 * Built with nolibc.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BTF_PATH	"/sys/kernel/btf/vmlinux"
#define BTF_SIZE_MAX	(32UL << 20)

static __u64 pointer(const void *p)
{
	return (unsigned long)p;
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

#include "null_program.h"

/* Returns a file.  The kernel counts the runs of all programs while it is open. */
static int open_statistics(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return bpf(BPF_ENABLE_STATS, &attr);
}

/* Returns the number of the program's counted runs; 0 on failure. */
static __u64 counted_runs(int program)
{
	struct bpf_prog_info info;
	union bpf_attr attr;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = program;
	attr.info.info_len = sizeof(info);
	attr.info.info = pointer(&info);
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) ? 0 : info.run_cnt;
}

/* Reads the kernel's type information.  Returns NULL if it is absent or too large. */
static char *read_types(unsigned long *size)
{
	char *data = mmap(NULL, BTF_SIZE_MAX, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(BTF_PATH, O_RDONLY);
	long length;

	*size = 0;
	if (data == MAP_FAILED || fd < 0)
		return NULL;
	while ((length = read(fd, data + *size, BTF_SIZE_MAX - *size)) > 0)
		*size += length;
	close(fd);
	return *size > sizeof(struct btf_header) && *size < BTF_SIZE_MAX ? data : NULL;
}

/* <linux/btf.h> of the host may be older than the kernel, with fewer bits for kind and members. */
static __u32 type_kind(const struct btf_type *type)
{
	return (type->info >> 24) & 0x7f;
}

/* Returns the size of a type including its members; 0 if its kind is unknown. */
static unsigned long type_size(const struct btf_type *type)
{
	unsigned long members = type->info & 0xffffff;

	switch (type_kind(type)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return sizeof(*type);
	case BTF_KIND_INT:
		return sizeof(*type) + sizeof(__u32);
	case BTF_KIND_ARRAY:
		return sizeof(*type) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*type) + members * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*type) + members * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*type) + members * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*type) + members * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(*type) + sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return sizeof(*type) + members * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(*type) + sizeof(struct btf_decl_tag);
	}
	return 0;
}

/* Returns the type of the kernel function NAME, which is its position in the list; 0 on failure. */
static __u32 function_type(const char *name)
{
	unsigned long size, step;
	char *data = read_types(&size), *next, *end, *names;
	const struct btf_header *header = (const struct btf_header *)data;
	__u32 number;

	if (!data || header->magic != BTF_MAGIC)
		return 0;
	next = data + header->hdr_len + header->type_off;
	end = next + header->type_len;
	names = data + header->hdr_len + header->str_off;
	for (number = 1; next < end; number++) {
		const struct btf_type *type = (const struct btf_type *)next;

		if (type_kind(type) == BTF_KIND_FUNC && !strcmp(names + type->name_off, name))
			return number;
		step = type_size(type);
		if (!step)
			return 0;
		next += step;
	}
	return 0;
}

#endif /* _BENCH_PROGRAMS_H */
