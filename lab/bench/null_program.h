/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BENCH_NULL_PROGRAM_H
#define _BENCH_NULL_PROGRAM_H
/*
 * BPF programs that only return 0, and their links.  Built with nolibc.  The file that includes
 * this one has <linux/bpf.h>, ARRAY_SIZE(), pointer() and bpf().
 */

/* Loads a program.  FUNCTION is the type of the function that it traces, or 0 if it traces none. */
static int load_program(int type, int attach_type, __u32 function)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.expected_attach_type = attach_type;
	attr.attach_btf_id = function;
	attr.insns = pointer(program);
	attr.insn_cnt = ARRAY_SIZE(program);
	attr.license = pointer("GPL");
	return bpf(BPF_PROG_LOAD, &attr);
}

/* Attaches a program to the file TARGET.  TARGET is 0 for a program that traces a function. */
static int link_program(int program, int target, int attach_type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = program;
	attr.link_create.target_fd = target;
	attr.link_create.attach_type = attach_type;
	return bpf(BPF_LINK_CREATE, &attr);
}

#endif /* _BENCH_NULL_PROGRAM_H */
