// SPDX-License-Identifier: GPL-2.0
/*
 * Debuggers and probes: single steps through probed instructions give the same registers
 * after each step as without probes; a process that is stopped at any time never has its ip in
 * a copy, neither for ptrace() nor in /proc; a debugger can move the ip, and has breakpoints of
 * its own.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "work.h"
#include "areas.h"
#include "tracee.h"

#define ROUNDS		3
#define STEPS		(ROUNDS * 30 + 20)
#define STOPS		150

static unsigned long memory[8];
static struct probes probes;

/*
 * Registers after each step, bare and probed.  The pass, 0 or 1, is in memory, because no
 * register of the child may tell it.
 */
static struct tracee_registers records[2][STEPS];
static unsigned int nr_steps[2];
static volatile unsigned int pass;

static unsigned long one_call(unsigned long rounds)
{
	memory[0] = 0x12345679UL;
	return work(rounds, memory);
}

static void probe_work(void)
{
	if (!probe_all(&probes, work_probes, WORK_PROBES, false))
		ksft_exit_fail_msg("the function cannot be probed: error %d\n", errno);
}

static bool in_work(unsigned long ip)
{
	return ip >= (unsigned long)work && ip < (unsigned long)work_end;
}

/*
 * BTYPE, which an indirect branch sets.  A kernel that does not use it does not emulate it, even
 * if the processor has it.
 */
#define HWCAP2_BTI_BIT	17
#define PSTATE		33
#define BTYPE		0xc00UL

static void ignore_btype(struct tracee_registers *registers)
{
#ifdef __aarch64__
	if (!(getauxval(AT_HWCAP2) >> HWCAP2_BTI_BIT & 1))
		registers->word[PSTATE] &= ~BTYPE;
#endif
}

/* Registers that a caller need not keep have the same value in each child. */
static inline void clear_registers(void)
{
#if defined(__x86_64__)
	asm volatile("xor %%eax, %%eax; xor %%ecx, %%ecx; xor %%edx, %%edx; xor %%r8d, %%r8d\n\t"
		     "xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d"
		     : : : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc");
#elif defined(__aarch64__)
	asm volatile("mov x1, xzr; mov x2, xzr; mov x3, xzr; mov x4, xzr; mov x5, xzr\n\t"
		     "mov x6, xzr; mov x7, xzr; mov x8, xzr; mov x9, xzr; mov x10, xzr\n\t"
		     "mov x11, xzr; mov x12, xzr; mov x13, xzr; mov x14, xzr; mov x15, xzr\n\t"
		     "mov x16, xzr; mov x17, xzr; cmp xzr, xzr"
		     : : : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
		       "x12", "x13", "x14", "x15", "x16", "x17", "cc");
#endif
}

/* --- Steps ----------------------------------------------------------------- */

NOINLINE static pid_t stepped_child(unsigned long wanted)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		clear_registers();
		_exit(one_call(ROUNDS) == wanted ? 7 : 8);
	}
	return pid;
}

/*
 * Steps a child into the function and through it.  Records the registers after each step in
 * it, and how many steps that were; 0 if something went wrong.
 */
NOINLINE static void step_through(unsigned long wanted)
{
	struct tracee_registers registers;
	pid_t pid = stepped_child(wanted);
	unsigned int nr = 0, all = 0;
	bool entered = false;
	int status;

	nr_steps[pass] = 0;
	if (wait_for_stop(pid) != SIGSTOP)
		return;
	while (all++ < 10000) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || wait_for_stop(pid) != SIGTRAP ||
		    !get_registers(pid, &registers)) {
			ksft_print_msg("step %u fails\n", all);
			break;
		}
		if (in_work(registers.word[TRACEE_IP]))
			entered = true;
		else if (!entered)
			continue;
		ignore_btype(&registers);
		if (nr < STEPS)
			records[pass][nr++] = registers;
		if (!in_work(registers.word[TRACEE_IP]))
			break;
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
		ksft_print_msg("the stepped child ends with status %x\n", status);
		return;
	}
	nr_steps[pass] = nr;
}

static void check_steps(void)
{
	unsigned long wanted = one_call(ROUNDS);
	struct tracee_registers *bare = records[0], *now = records[1];
	unsigned int steps, probed, i, j, different = 0;

	/* From one place, so that the stacks are equal. */
	for (pass = 0; pass < 2; pass++) {
		if (pass)
			probe_work();
		step_through(wanted);
	}
	steps = nr_steps[0];
	probed = nr_steps[1];
	probe_remove(&probes);
	ksft_test_result(steps && steps < STEPS, "bare: %u steps through the function\n", steps);
	ksft_test_result(probed == steps, "probed: %u steps\n", probed);
	ksft_test_result(probe_count(&probes) == ROUNDS * work_per_round + work_per_call,
			 "probed: %lu hits\n", probe_count(&probes));
	for (i = 0; i < steps && i < probed; i++) {
		if (!memcmp(&bare[i], &now[i], sizeof(now[i])))
			continue;
		if (different++)
			continue;
		for (j = 0; j < TRACEE_WORDS; j++) {
			if (bare[i].word[j] != now[i].word[j])
				ksft_print_msg("step %u, word %u: bare %lx, probed %lx\n", i, j,
					       bare[i].word[j], now[i].word[j]);
		}
	}
	ksft_test_result(probed && !different,
			 "the registers are the same after each step (%u differ)\n", different);
}

/* --- Stops ----------------------------------------------------------------- */

/* Calls for ever, and ends with a status if a result is wrong. */
NOINLINE static pid_t calling_child(unsigned long wanted)
{
	pid_t pid = fork();

	if (!pid) {
		while (one_call(ROUNDS) == wanted)
			;
		_exit(8);
	}
	return pid;
}

/* The last number in /proc/PID/syscall is the ip, if the process has stopped in a call. */
static bool proc_shows_area(pid_t pid)
{
	char path[64], text[512], *last;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	if (read_whole(path, text, sizeof(text)) <= 0)
		return false;
	last = strrchr(text, ' ');
	return last && in_area(strtoul(last + 1, NULL, 16));
}

/* A pause of a length that differs from stop to stop. */
static void let_it_run(unsigned int nr)
{
	usleep(300 + nr * 37 % 1000);
}

static void check_stops(void)
{
	unsigned long wanted = one_call(ROUNDS);
	struct tracee_registers registers;
	unsigned int i, j, stops = 0, inside = 0, bad_ip = 0, bad_word = 0, bad_proc = 0;
	char path[64];
	int status;
	pid_t pid;

	probe_work();
	/* While a debugger traces the child, no call replaces a nop. */
	one_call(1);
	pid = calling_child(wanted);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	nr_areas = 0;
	for (i = 0; i < STOPS; i++) {
		let_it_run(i);
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || wait_for_stop(pid) < 0 ||
		    !get_registers(pid, &registers))
			break;
		/* The child has no area before its first hit. */
		if (!nr_areas || i % 16 == 0)
			find_areas(path);
		stops++;
		inside += in_work(registers.word[TRACEE_IP]);
		bad_ip += in_area(registers.word[TRACEE_IP]);
		for (j = 0; j < TRACEE_WORDS; j++)
			bad_word += j != TRACEE_IP && in_area(registers.word[j]);
		bad_proc += proc_shows_area(pid);
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	ksft_test_result(stops == STOPS && inside, "%u stops, %u of them in the function\n", stops,
			 inside);
	ksft_test_result(nr_areas, "%u areas\n", nr_areas);
	ksft_test_result(probe_count(&probes), "%lu hits\n", probe_count(&probes));
	ksft_test_result(!bad_ip, "no stop shows a copy as the ip (%u do)\n", bad_ip);
	ksft_test_result(!bad_word, "none in another register (%u do)\n", bad_word);
	ksft_test_result(!bad_proc, "none in /proc/PID/syscall (%u do)\n", bad_proc);
	let_it_run(0);
	ksft_test_result(waitpid(pid, &status, WNOHANG) == 0,
			 "the stopped process computes right\n");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	probe_remove(&probes);
}

/* --- The ip, moved by a debugger ------------------------------------------- */

/* Not reached, unless a debugger does it. */
NOINLINE static void moved_here(void)
{
	_exit(9);
}

static void check_move(void)
{
	unsigned long wanted = one_call(ROUNDS);
	struct tracee_registers registers;
	int status = 0, tries;
	bool inside = false;
	pid_t pid;

	probe_work();
	pid = calling_child(wanted);
	ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	for (tries = 0; tries < 500 && !inside; tries++) {
		let_it_run(tries);
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) || wait_for_stop(pid) < 0 ||
		    !get_registers(pid, &registers))
			break;
		inside = in_work(registers.word[TRACEE_IP]);
		if (inside) {
			registers.word[TRACEE_IP] = (unsigned long)moved_here;
			registers.word[TRACEE_SP] &= -16UL;
			set_registers(pid, &registers);
		}
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	waitpid(pid, &status, 0);
	ksft_test_result(inside && WIFEXITED(status) && WEXITSTATUS(status) == 9,
			 "a debugger moves the ip out of the function (status %x)\n", status);
	probe_remove(&probes);
}

/* --- A debugger's breakpoint between probes -------------------------------- */

NOINLINE static int plain(int a)
{
	asm volatile("" : "+r" (a));
	return a + 1;
}

static void check_breakpoint(void)
{
	struct tracee_registers registers;
	unsigned long word[1], at, addr = (unsigned long)plain;
	unsigned int shift;
	int status = 0, stop;
	pid_t pid;

	/* clang believes that functions are aligned, also where it does not align them. */
	asm("" : "+r" (addr));
	at = addr & -sizeof(long);
	shift = (addr - at) * 8;
	probe_work();
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		one_call(1);
		_exit(plain(5));
	}
	wait_for_stop(pid);
	/* The system call, unlike the function of libraries, stores the word. */
	ptrace(PTRACE_PEEKTEXT, pid, (void *)at, word);
	ptrace(PTRACE_POKETEXT, pid, (void *)at,
	       (void *)((word[0] & ~(TRAP_MASK << shift)) | TRAP_INSN << shift));
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	stop = wait_for_stop(pid);
	get_registers(pid, &registers);
	ksft_test_result(stop == SIGTRAP &&
			 registers.word[TRACEE_IP] == (unsigned long)plain + TRAP_MOVES,
			 "a debugger's breakpoint stops at its own address (signal %d, ip %lx)\n",
			 stop, registers.word[TRACEE_IP]);
	ptrace(PTRACE_POKETEXT, pid, (void *)at, (void *)word[0]);
	registers.word[TRACEE_IP] = (unsigned long)plain;
	set_registers(pid, &registers);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	waitpid(pid, &status, 0);
	ksft_test_result(WIFEXITED(status) && WEXITSTATUS(status) == 6,
			 "the process goes on after it (status %x)\n", status);
	probe_remove(&probes);
}

/* --- Areas ----------------------------------------------------------------- */

static void check_areas(void)
{
	unsigned int i, writable = 0, areas_seen;
	unsigned long wanted = one_call(1);

	probe_work();
	one_call(1);
	areas_seen = find_areas("/proc/self/maps");
	for (i = 0; i < nr_areas; i++) {
		ksft_print_msg("area %lx-%lx %s %s\n", areas[i].start, areas[i].end,
			       areas[i].permissions, areas[i].name);
		writable += areas[i].permissions[1] == 'w';
	}
	ksft_test_result(areas_seen && !writable, "%u areas, none of them writable\n", areas_seen);
	for (i = 0, writable = 0; i < nr_areas; i++) {
		size_t size = areas[i].end - areas[i].start;

		writable += !change_protection((void *)areas[i].start, size,
					       PROT_READ | PROT_WRITE | PROT_EXEC);
	}
	ksft_test_result(!writable, "no area can be made writable\n");
	ksft_test_result(one_call(1) == wanted, "the function still works\n");
	probe_remove(&probes);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(17);
	check_steps();
	check_stops();
	check_move();
	check_breakpoint();
	check_areas();
	ksft_finished();
}
