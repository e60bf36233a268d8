/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_TRACEE_H
#define _UPROBES_TRACEE_H
/*
 * The registers of a traced process, as an array of words.  Built with nolibc.
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
