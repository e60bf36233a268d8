/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_TRACEE_H
#define _UPROBES_TRACEE_H
/*
 * A traced process: its registers as an array of words, breakpoints, stops.  Built with nolibc.
 */
#include <linux/ptrace.h>

#define NT_PRSTATUS_	1

/* The size of the array, and where the instruction and stack pointers are in it. */
#if defined(__x86_64__)
#define TRACEE_WORDS	27
#define TRACEE_IP	16
#define TRACEE_SP	19
#elif defined(__i386__)
#define TRACEE_WORDS	17
#define TRACEE_IP	12
#define TRACEE_SP	15
#elif defined(__aarch64__)
#define TRACEE_WORDS	34
#define TRACEE_IP	32
#define TRACEE_SP	31
#endif

/* The breakpoint of a debugger, its bits in a word, and how far it moves the ip. */
#ifdef __aarch64__
#define TRAP_INSN	0xd4200000UL
#define TRAP_MASK	0xffffffffUL
#define TRAP_MOVES	0
#else
#define TRAP_INSN	0xccUL
#define TRAP_MASK	0xffUL
#define TRAP_MOVES	1
#endif

struct tracee_registers {
	unsigned long word[TRACEE_WORDS];
};

UNUSED static bool get_registers(pid_t pid, struct tracee_registers *registers)
{
	struct iovec iov = { .iov_base = registers, .iov_len = sizeof(*registers) };

	return !ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS_, &iov);
}

UNUSED static bool set_registers(pid_t pid, struct tracee_registers *registers)
{
	struct iovec iov = { .iov_base = registers, .iov_len = sizeof(*registers) };

	return !ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS_, &iov);
}

/* Waits for a stop; returns the signal that has caused it, or -1. */
UNUSED static int wait_for_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return -1;
	return WSTOPSIG(status) & 0xff;
}

#endif /* _UPROBES_TRACEE_H */
