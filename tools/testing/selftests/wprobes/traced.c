// SPDX-License-Identifier: GPL-2.0
/*
 * traced CASE: data of a process that a debugger traces is watched.  Prints "ok" if neither the
 * probe nor the debugger loses an event; otherwise the wrong number or value.
 */
#define UNUSED		__attribute__((unused))

#include "../uprobes/system.h"
#include "../uprobes/signals.h"
#include "../uprobes/tracee.h"
#include "control.h"

static word_t word __attribute__((aligned(64)));

/* Number of writes of the child, and the order to end, in memory that the processes share. */
static struct {
	volatile unsigned long writes, end;
} *shared;

static void got_signal(int signal, siginfo_t *info, struct ucontext *context)
{
}

/* Starts a child that a function controls, and stops it. */
static pid_t start_child(void (*function)(void))
{
	pid_t pid;

	shared = shared_memory(4096);
	pid = fork();
	if (!pid) {
		limit_child();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		function();
		_exit(0);
	}
	same("stop", wait_for_stop(pid), SIGSTOP);
	return pid;
}

static void write_often(void)
{
	on_signal(SIGUSR1, got_signal, 0);
	while (!shared->end) {
		word = shared->writes + 1;
		shared->writes++;
	}
}

/* Sends signals; the tracer sees each, and passes it on. */
static void pass_signals(pid_t pid, int number)
{
	int i;

	same("continue", ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	while (!shared->writes)
		usleep(1000);
	for (i = 0; i < number; i++) {
		kill(pid, SIGUSR1);
		same("signal", wait_for_stop(pid), SIGUSR1);
		same("pass it on", ptrace(PTRACE_CONT, pid, NULL, (void *)SIGUSR1), 0);
	}
}

/* A child gets signals while it writes: each write is a hit. */
static void interrupt(void (*writes)(void))
{
	pid_t pid = start_child(writes);

	same("add", add_at("p", pid, &word, "w"), 0);
	pass_signals(pid, 500);
	shared->end = 1;
	same("child", reap(pid), 0);
	expect("p", shared->writes);
}

/* A task that stops between the exception and the access goes on watching. */
static void continued(void)
{
	interrupt(write_often);
}

static void execute(void)
{
	char *const arguments[] = { "traced", NULL };

	execve("/proc/self/exe", arguments, environ);
}

/* When the debugger sees the exec, the registers are free. */
static void executes(void)
{
	pid_t pid = start_child(execute);

	same("options", ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACEEXEC), 0);
	same("add", add_at("p", pid, &word, "w"), 0);
	same("continue", ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	same("stop in the exec", wait_for_stop(pid), SIGTRAP);
	same("gone", look("p").gone, 1);
	kill(pid, SIGKILL);
	same("killed", reap(pid), -1);
}

#ifdef __aarch64__
/* A handler whose first instruction is a system call. */
asm(".globl call_at_once; call_at_once: svc #0; ret");
extern signal_handler call_at_once;

/*
 * Writes 1, 2, 3, and so on, to the word and then to @written, up to @most, or until @end is set.
 * The system call of a handler is getpid().
 */
static void write_and_call(volatile unsigned long *written, unsigned long most,
			   volatile unsigned long *end)
{
	register unsigned long number asm("x8") = __NR_getpid;
	unsigned long value = 0, ended;

	asm volatile("1:	add	%0, %0, #1\n"
		     "	str	%0, [%2]\n"
		     "	str	%0, [%3]\n"
		     "	ldr	%1, [%5]\n"
		     "	cbnz	%1, 2f\n"
		     "	cmp	%0, %4\n"
		     "	b.ne	1b\n"
		     "2:"
		     : "+&r" (value), "=&r" (ended)
		     : "r" (&word), "r" (written), "r" (most), "r" (end), "r" (number)
		     : "cc", "memory");
}

/* The step over the access ends in the handler.  No SIGTRAP is sent. */
static void call_in_handler(void)
{
	volatile unsigned long written, never = 0;

	on_signal(SIGALRM, call_at_once, 0);
	same("add", add_at("p", getpid(), &word, "w"), 0);
	alarm_every(500);
	write_and_call(&written, 20000, &never);
	alarm_every(0);
	same("new", expect("p", 20000).new, 20000);
}

static void call_in_handler_of_child(void)
{
	on_signal(SIGUSR1, call_at_once, 0);
	write_and_call(&shared->writes, -1UL, &shared->end);
}

/* Nor does the tracer get one. */
static void call_in_traced_handler(void)
{
	interrupt(call_in_handler_of_child);
}

/* Lets a debugger watch the word for writes, or no longer. */
static void watch(pid_t pid, bool on)
{
	struct user_hwdebug_state state = { };
	struct iovec iov = {
		.iov_base = &state,
		.iov_len = offsetof(struct user_hwdebug_state, dbg_regs[1]),
	};

	state.dbg_regs[0].addr = (unsigned long)&word;
	/* All bytes, stores, user mode. */
	state.dbg_regs[0].ctrl = 0xff << 5 | 2 << 3 | 2 << 1 | on;
	same("registers", ptrace(PTRACE_SETREGSET, pid, (void *)0x403 /* NT_ARM_HW_WATCH */, &iov),
	     0);
}

static void write_once(void)
{
	word = 8;
	/* Not stopped by the step, the child would be here for some time. */
	sleep(1);
}

/*
 * A debugger watches the same word.  It gets its signal before the access, watches no longer, and
 * steps the instruction.
 */
static void stepped(void)
{
	pid_t pid = start_child(write_once);
	struct tracee_registers before, after;

	watch(pid, true);
	same("add", add_at("p", pid, &word, "w"), 0);
	same("continue", ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	same("stop at the access", wait_for_stop(pid), SIGTRAP);
	same("registers", get_registers(pid, &before), 1);
	same("hits before the access", look("p").hits, 0);
	watch(pid, false);
	same("step", ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	same("stop after the access", wait_for_stop(pid), SIGTRAP);
	same("registers", get_registers(pid, &after), 1);
	same("moved by", after.word[TRACEE_IP] - before.word[TRACEE_IP], 4);
	same("new", expect("p", 1).new, 8);
	same("step", ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	same("next stop", wait_for_stop(pid), SIGTRAP);
	same("continue", ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	same("child", reap(pid), 0);
}
#endif

static const struct test_case cases[] = {
	{ "continued", continued },
	{ "executes", executes },
#ifdef __aarch64__
	{ "stepped", stepped },
	{ "call_in_handler", call_in_handler },
	{ "call_in_traced_handler", call_in_traced_handler },
#endif
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
