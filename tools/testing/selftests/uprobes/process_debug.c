// SPDX-License-Identifier: GPL-2.0
/*
 * A debugger of a process that has probes by pid and address: its own breakpoints on a probed
 * page, steps over probed instructions, and breakpoints where a probe is wanted.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "tracee.h"
#include "code.h"
#include "process.h"

#define CALLS		5

/* The code, at the same address in each child. */
static char *code;

/* Starts a child that stops, and then calls the code. */
static pid_t start_child(void)
{
	pid_t pid = fork();
	int i;

	if (!pid) {
		limit_child();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		for (i = 0; i < CALLS; i++) {
			if (!code_call(code, 0, i))
				_exit(8);
		}
		_exit(7);
	}
	wait_for_stop(pid);
	return pid;
}

static int probe_child(const char *name, pid_t pid, unsigned int insn, const char *words)
{
	return make(name, pid, code + code_offsets[insn], words) ?: on("add", name);
}

/* The child goes on; true if it ends without another stop, and its results were right. */
static bool ends(pid_t pid, int request)
{
	int status;

	ptrace(request, pid, NULL, NULL);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

/* Puts a breakpoint at an instruction; returns the word that it replaces. */
static unsigned long put_breakpoint(pid_t pid, unsigned int insn)
{
	unsigned long at = (unsigned long)code + code_offsets[insn], word = 0;
	unsigned int shift = at % sizeof(long) * 8;

	at -= at % sizeof(long);
	/* The system call, unlike the function of libraries, stores the word. */
	ptrace(PTRACE_PEEKTEXT, pid, (void *)at, &word);
	ptrace(PTRACE_POKETEXT, pid, (void *)at,
	       (void *)((word & ~(TRAP_MASK << shift)) | TRAP_INSN << shift));
	return word;
}

static void remove_breakpoint(pid_t pid, unsigned int insn, unsigned long word)
{
	unsigned long at = (unsigned long)code + code_offsets[insn];

	ptrace(PTRACE_POKETEXT, pid, (void *)(at - at % sizeof(long)), (void *)word);
}

static unsigned long ip_of(pid_t pid)
{
	struct tracee_registers registers;

	return get_registers(pid, &registers) ? registers.word[TRACEE_IP] : 0;
}

static void set_ip(pid_t pid, unsigned long ip)
{
	struct tracee_registers registers;

	get_registers(pid, &registers);
	registers.word[TRACEE_IP] = ip;
	set_registers(pid, &registers);
}

/* --- A breakpoint on a probed page ---------------------------------------------------- */

static void check_breakpoint(void)
{
	unsigned long at = (unsigned long)code + code_offsets[2], word;
	pid_t pid = start_child();
	int err, signal;

	err = probe_child("a", pid, 1, "") ?: probe_child("r", pid, 0, "return");
	word = put_breakpoint(pid, 2);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	signal = wait_for_stop(pid);
	ksft_test_result(!err && signal == SIGTRAP && ip_of(pid) == at + TRAP_MOVES,
			 "a breakpoint after a probe stops at its own address: signal %d, %lx\n",
			 signal, ip_of(pid));
	ksft_test_result(get("a", HITS) == 1, "the probe has been hit: %ld\n", get("a", HITS));
	remove_breakpoint(pid, 2, word);
	set_ip(pid, at);
	ksft_test_result(ends(pid, PTRACE_CONT) && get("a", HITS) == CALLS &&
			 get("r", RETURNS) == CALLS,
			 "the process goes on after it: %ld hits, %ld returns\n", get("a", HITS),
			 get("r", RETURNS));
	command("drop");
}

/* As debuggers do it: the breakpoint is removed for one step, and put there again. */
static void check_every_time(void)
{
	unsigned long at = (unsigned long)code + code_offsets[2], word;
	int err, stops = 0, wrong = 0;
	pid_t pid = start_child();

	err = probe_child("a", pid, 1, "") ?: probe_child("b", pid, 3, "");
	word = put_breakpoint(pid, 2);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	while (stops < CALLS && wait_for_stop(pid) == SIGTRAP) {
		stops++;
		wrong += ip_of(pid) != at + TRAP_MOVES;
		remove_breakpoint(pid, 2, word);
		set_ip(pid, at);
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		wrong += wait_for_stop(pid) != SIGTRAP ||
			 ip_of(pid) != (unsigned long)code + code_offsets[3];
		put_breakpoint(pid, 2);
		if (stops < CALLS)
			ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	ksft_test_result(!err && ends(pid, PTRACE_CONT) && stops == CALLS && !wrong &&
			 get("a", HITS) == CALLS && get("b", HITS) == CALLS,
			 "a breakpoint between probes stops each call: %d stops, %d wrong\n", stops,
			 wrong);
	command("drop");
}

/* --- Steps over probed instructions --------------------------------------------------- */

static void check_step(void)
{
	unsigned long word, wrong = 0;
	pid_t pid = start_child();
	int err, i;

	err = probe_child("a", pid, 1, "") ?: probe_child("b", pid, 2, "");
	word = put_breakpoint(pid, 0);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	wrong += wait_for_stop(pid) != SIGTRAP;
	remove_breakpoint(pid, 0, word);
	set_ip(pid, (unsigned long)code);
	for (i = 1; i <= 3; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		wrong += wait_for_stop(pid) != SIGTRAP ||
			 ip_of(pid) != (unsigned long)code + code_offsets[i];
	}
	ksft_test_result(!err && !wrong && get("a", HITS) == 1 && get("b", HITS) == 1,
			 "steps over probed instructions: %ld and %ld hits\n", get("a", HITS),
			 get("b", HITS));
	on("del", "a");
	ksft_test_result(ends(pid, PTRACE_DETACH) && get("b", HITS) == CALLS,
			 "a probe is removed, and the debugger detaches: %ld hits\n",
			 get("b", HITS));
	command("drop");
}

/* --- Breakpoints where a probe is wanted ------------------------------------------------ */

static void check_foreign(void)
{
	pid_t pid = start_child();
	unsigned long word = put_breakpoint(pid, 1);
	int err = probe_child("a", pid, 1, "");

	remove_breakpoint(pid, 1, word);
	ksft_test_result(err == EEXIST, "refusal of a debugger's breakpoint: error %d\n", err);
	err = on("add", "a");
	ksft_test_result(!err && ends(pid, PTRACE_CONT) && get("a", HITS) == CALLS,
			 "a probe after it has been removed: error %d, %ld hits\n", err,
			 get("a", HITS));
	command("drop");
}

/* The debugger sees the breakpoint of the probe, and writes the same word back. */
static void check_same_place(void)
{
	pid_t pid = start_child();
	int err = probe_child("a", pid, 1, "");
	unsigned long word = put_breakpoint(pid, 1);

#ifdef __aarch64__
	/* Another breakpoint replaces that of the probe, which then stops at the debugger. */
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	err = err ?: wait_for_stop(pid) != SIGTRAP;
#endif
	remove_breakpoint(pid, 1, word);
	ksft_test_result(!err && ends(pid, PTRACE_CONT) && get("a", HITS) == CALLS,
			 "a breakpoint at a probe, set and removed: error %d, %ld hits\n", err,
			 get("a", HITS));
	command("drop");
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(9);
	code = jit();
	check_breakpoint();
	check_every_time();
	check_step();
	check_foreign();
	check_same_place();
	ksft_finished();
}
