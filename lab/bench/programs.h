/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_PROGRAMS_H
#define _BENCH_PROGRAMS_H
/*
 * BPF programs that only return 0, and their links.  Built with nolibc.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static __u64 pointer(const void *p)
{
	return (unsigned long)p;
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static int load_program(int type)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = pointer(program);
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = pointer("GPL");
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Attaches a program to the file TARGET. */
static int link_program(int program, int target, int attach_type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_fd = target;
	attr.link_create.attach_type = attach_type;
	return bpf(BPF_LINK_CREATE, &attr);
}

#endif /* _BENCH_PROGRAMS_H */
