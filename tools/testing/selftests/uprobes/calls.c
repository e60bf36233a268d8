// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of a nop of ten bytes (x86-64, USDT), in whose place there is a call after the first hit:
 * each call of the function is one hit, in threads, in a child, with signals in between, and
 * while probes come and go; registers, flags and the memory below the stack pointer stay; and
 * neither signal handlers nor debuggers see that it is a call.
 *
 *	calls [SECONDS]
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "areas.h"
#include "tracee.h"

#define UPROBE_CALL	336		/* the number of the system call */
#define NOP_BYTES	10
#define HEAD_BYTES	5		/* those that are restored */
#define CALLS		1000
#define NAME		"[uprobes-trampoline]"
#define CODE_FILE	"/tmp/uprobes-calls.code"
#define PAGE_BYTES	4096
#define NR_WORDS	24

#define NOP		".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"

static const unsigned char nop[NOP_BYTES] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84 };
static const unsigned char head[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0xe8 };

/*
 * The first ones have only the nop, on one page, in this order; the last one fills all it can with
 * values, and records them.
 */
void call_nop(void);
void second_nop(void);
void third_nop(void);
void fill_and_record(void);
extern char fill_nop[];
extern unsigned long recorded[NR_WORDS];

#define RECORD(reg, nr)	"mov %" reg ", recorded + 8 * " nr "(%rip)\n"

asm(".pushsection .bss; .balign 8; recorded: .skip 8 * 24; .popsection\n"
	".pushsection .text; .balign 512\n"
	"call_nop: " NOP "ret\n"
	"second_nop: " NOP "ret\n"
	"third_nop: " NOP "ret\n"
	".balign 64\n"
	"fill_and_record:\n"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"pushq $0xcd7\n"			/* all flags of arithmetic, and direction */
	"popf\n"
	"mov $0x11, %eax; mov %rax, -8(%rsp); mov %rax, -120(%rsp); mov %rax, -128(%rsp)\n"
	"mov $1, %eax; mov $2, %ebx; mov $3, %ecx; mov $4, %edx; mov $5, %esi; mov $6, %edi\n"
	"mov $7, %ebp; mov $8, %r8d; mov $9, %r9d; mov $10, %r10d; mov $11, %r11d\n"
	"mov $12, %r12d; mov $13, %r13d; mov $14, %r14d; mov $15, %r15d\n"
	"fill_nop: " NOP
	RECORD("rax", "0") RECORD("rbx", "1") RECORD("rcx", "2") RECORD("rdx", "3")
	RECORD("rsi", "4") RECORD("rdi", "5") RECORD("rbp", "6") RECORD("rsp", "7")
	RECORD("r8", "8") RECORD("r9", "9") RECORD("r10", "10") RECORD("r11", "11")
	RECORD("r12", "12") RECORD("r13", "13") RECORD("r14", "14") RECORD("r15", "15")
	"mov -8(%rsp), %rax\n" RECORD("rax", "16")
	"mov -120(%rsp), %rax\n" RECORD("rax", "17")
	"mov -128(%rsp), %rax\n" RECORD("rax", "18")
	"pushf; pop %rax\n" RECORD("rax", "19")
	"cld\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"ret\n"
	".popsection");

static unsigned int seconds = 2;
static struct probes probes;

static void call_often(unsigned int times)
{
	while (times--)
		call_nop();
}

/* Is there a call of a mapping with the right name? */
static bool is_call(const void *text)
{
	unsigned long target;
	int distance;
	unsigned int i;

	if (memcmp(text, head, sizeof(head)))
		return false;
	memcpy(&distance, text + sizeof(head), sizeof(distance));
	target = (unsigned long)text + NOP_BYTES + distance;
	find_areas("/proc/self/maps");
	for (i = 0; i < nr_areas; i++) {
		if (areas[i].start == target && !strcmp(areas[i].name, NAME))
			return true;
	}
	return false;
}

static bool is_nop(const void *text)
{
	return !memcmp(text, nop, HEAD_BYTES);
}

/* --- One thread ------------------------------------------------------------------------ */

static void check_registers(void)
{
	unsigned long bare[NR_WORDS];
	char *address = fill_nop;
	struct probes own;
	bool same = true;
	unsigned int i;

	fill_and_record();
	memcpy(bare, recorded, sizeof(bare));
	if (!probe_all(&own, &address, 1, false))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	for (i = 0; i < 4; i++) {
		memset(recorded, 0, sizeof(recorded));
		fill_and_record();
		same = same && !memcmp(recorded, bare, sizeof(bare));
	}
	ksft_test_result(same && is_call(fill_nop) && probe_count(&own) == 4,
			 "registers, flags and red zone stay\n");
	probe_remove(&own);
}

static void check_call(void)
{
	if (!probe_function(&probes, call_nop))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	ksft_test_result(*(unsigned char *)call_nop == 0xcc, "there is a breakpoint first\n");
	call_nop();
	ksft_test_result(is_call(call_nop), "there is a call after the first hit\n");
	call_often(CALLS - 1);
	ksft_test_result(probe_count(&probes) == CALLS, "%lu hits of %u calls\n",
			 probe_count(&probes), CALLS);
	errno = 0;
	ksft_test_result(syscall(UPROBE_CALL) == -1 && errno == EPROTO,
			 "the system call fails elsewhere\n");
}

/* --- Views ------------------------------------------------------------------------------ */

static volatile unsigned long signals, bad_ips;

static void on_alarm(int number, siginfo_t *info, struct ucontext *context)
{
	unsigned long ip = CONTEXT_IP(context);

	signals++;
	bad_ips += in_area(ip) || ip - (unsigned long)call_nop - 1 < NOP_BYTES - 1;
}

static void check_signals(void)
{
	unsigned long before = probe_count(&probes), calls = 0;
	struct timespec now, end;

	find_areas("/proc/self/maps");
	on_signal(SIGALRM, on_alarm, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	alarm_every(200);
	do {
		call_often(100);
		calls += 100;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	alarm_every(0);
	/* It ends children that hang. */
	set_signal(SIGALRM, SIG_DFL);
	ksft_test_result(signals && nr_areas && !bad_ips,
			 "%lu signals, %lu of them at a strange address\n", signals, bad_ips);
	ksft_test_result(probe_count(&probes) - before == calls,
			 "%lu hits of %lu calls, with signals\n", probe_count(&probes) - before,
			 calls);
}

/* Steps a child over the nop; returns where it is then. */
static unsigned long step_over(void)
{
	struct tracee_registers registers;
	unsigned long ip = 0;
	unsigned int steps;
	bool at_nop = false;
	pid_t pid = fork();

	if (!pid) {
		limit_child();
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		kill(getpid(), SIGSTOP);
		call_nop();
		_exit(0);
	}
	if (wait_for_stop(pid) != SIGSTOP)
		return 0;
	for (steps = 0; steps < 10000 && !at_nop; steps++) {
		at_nop = ip == (unsigned long)call_nop;
		ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
		if (wait_for_stop(pid) != SIGTRAP || !get_registers(pid, &registers))
			break;
		ip = registers.word[TRACEE_IP];
	}
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	return reap(pid) ? 0 : ip;
}

static void check_steps(void)
{
	unsigned long before = probe_count(&probes), ip = step_over();

	ksft_test_result(ip == (unsigned long)call_nop + NOP_BYTES &&
			 probe_count(&probes) == before + 1, "a step ends after the nop\n");
}

/* --- Processes and threads --------------------------------------------------------------- */

static int child(void)
{
	if (!is_call(call_nop))
		return 1;
	call_often(CALLS);
	return 0;
}

static void check_fork(void)
{
	unsigned long before = probe_count(&probes);

	ksft_test_result(!in_child(child) && probe_count(&probes) == before + CALLS,
			 "a child inherits the call\n");
}

static volatile int stop;

static void come_and_go(void *argument)
{
	const struct event_at at = { .path = SELF, .offset = file_offset(call_nop) };
	unsigned long *times = argument;
	int event;

	while (!stop) {
		event = event_open(&at);
		if (event < 0)
			break;
		close(event);
		++*times;
	}
}

/* Calls the function while a probe comes and goes; returns the number of calls. */
static unsigned long call_meanwhile(unsigned long *times)
{
	static struct thread thread;
	struct timespec now, end;
	unsigned long calls = 0;

	stop = 0;
	*times = 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	if (thread_start(&thread, come_and_go, times) < 0)
		return 0;
	do {
		call_often(100);
		fill_and_record();
		calls += 100;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	stop = 1;
	return thread_wait(&thread, 60) ? calls : 0;
}

static void check_beside(void)
{
	static unsigned long times;
	unsigned long before = probe_count(&probes), calls = call_meanwhile(&times);

	ksft_test_result(calls && times && probe_count(&probes) - before == calls,
			 "%lu hits of %lu calls, while another probe comes and goes %lu times\n",
			 probe_count(&probes) - before, calls, times);
}

/* A nop with a call, between two others whose probes go together. */
static void check_neighbour(void)
{
	char *const addresses[] = { (char *)call_nop, (char *)third_nop };
	struct probes own;

	if (!probe_function(&probes, second_nop) || !probe_all(&own, addresses, 2, false))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	call_nop();
	second_nop();
	third_nop();
	ksft_test_result(is_call(call_nop) && is_call(second_nop) && is_call(third_nop),
			 "all three nops become calls\n");
	probe_remove(&own);
	ksft_test_result(is_nop(call_nop) && is_call(second_nop) && is_nop(third_nop),
			 "only nops whose probes go are restored\n");
	second_nop();
	ksft_test_result(probe_count(&own) == 2 && probe_count(&probes) == 2,
			 "each call is one hit\n");
	probe_remove(&probes);
}

static void check_removal(void)
{
	static unsigned long times;
	unsigned long before;

	probe_remove(&probes);
	before = probe_count(&probes);
	ksft_test_result(is_nop(call_nop), "the nop is restored\n");
	call_often(CALLS);
	ksft_test_result(probe_count(&probes) == before, "there are no hits any more\n");
	ksft_test_result(call_meanwhile(&times) && times && is_nop(call_nop),
			 "the only probe comes and goes %lu times\n", times);
	if (!probe_function(&probes, call_nop))
		ksft_exit_fail_msg("a nop cannot be probed again: error %d\n", errno);
	call_often(CALLS);
	ksft_test_result(is_call(call_nop) && probe_count(&probes) == CALLS,
			 "a new probe has a call, too\n");
	probe_remove(&probes);
}

/* --- Debuggers and dispatched system calls ---------------------------------------------- */

/* Shared with a child: in each phase, its thread calls twice, and tells whether there is a call. */
static struct {
	volatile int begun, ended;
	bool call[2];
} *phases;

static void call_in_phases(void *unused)
{
	int i;

	for (i = 0; i < 2; i++) {
		while (phases->begun <= i)
			usleep(1000);
		second_nop();
		second_nop();
		phases->call[i] = is_call(second_nop);
		phases->ended = i + 1;
	}
}

static int debugged_child(void)
{
	static struct thread thread;

	return thread_start(&thread, call_in_phases, NULL) < 0 || !thread_wait(&thread, 60);
}

static void run_phase(int phase)
{
	int i;

	phases->begun = phase;
	for (i = 0; i < 20000 && phases->ended < phase; i++)
		usleep(1000);
}

/* A debugger of one thread, while the other one hits a nop. */
static void check_debugger(void)
{
	struct probes own;
	bool ended;
	pid_t pid;

	phases = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (phases == MAP_FAILED || !probe_function(&own, second_nop))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	pid = fork();
	if (!pid) {
		limit_child();
		_exit(debugged_child());
	}
	ptrace(PTRACE_SEIZE, pid, NULL, NULL);
	run_phase(1);
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	wait_for_stop(pid);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	run_phase(2);
	ended = !reap(pid);
	ksft_test_result(ended && !phases->call[0], "with a debugger there is no call\n");
	ksft_test_result(ended && phases->call[1] && probe_count(&own) == 4,
			 "and one after it: %lu hits of 4\n", probe_count(&own));
	probe_remove(&own);
}

/* A process that shares the memory may have a debugger. */
static void check_shared_memory(void)
{
	struct probes own;
	pid_t pid;
	int status;

	if (!probe_function(&own, third_nop))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	pid = __nolibc_syscall0(__NR_vfork);
	if (!pid) {
		third_nop();
		third_nop();
		_exit(is_call(third_nop));
	}
	status = reap(pid);
	third_nop();
	ksft_test_result(!status && is_call(third_nop) && probe_count(&own) == 3,
			 "no call while memory is shared (status %d), and one after it: %lu hits\n",
			 status, probe_count(&own));
	probe_remove(&own);
}

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#endif

static volatile char dispatched;
static volatile unsigned int dispatches;

static void on_dispatch(int number, siginfo_t *info, struct ucontext *context)
{
	dispatched = 0;
	dispatches++;
}

/* The child handles its own system calls, also that which has the number of a probe's. */
static int dispatching_child(void)
{
	call_nop();
	on_signal(SIGSYS, on_dispatch, 0);
	if (!is_call(call_nop) ||
	    prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, (unsigned long)&dispatched))
		return 1;
	dispatched = 1;
	call_often(CALLS - 1);
	if (!dispatched)
		return 2;
	syscall(UPROBE_CALL);
	return dispatches == 1 ? 0 : 3;
}

static void check_dispatch(void)
{
	struct probes own;
	int result;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0)) {
		ksft_test_result_skip("system calls are not dispatched in this kernel\n");
		return;
	}
	if (!probe_function(&own, call_nop))
		ksft_exit_fail_msg("a nop cannot be probed: error %d\n", errno);
	result = in_child(dispatching_child);
	ksft_test_result(!result && probe_count(&own) == CALLS,
			 "a call is no system call that is dispatched (%d): %lu hits\n", result,
			 probe_count(&own));
	probe_remove(&own);
}

/* --- Text that changes ------------------------------------------------------------------- */

static int counter_map;

static int link_nop(void)
{
	const __u64 offset = 0, cookie = 0;
	struct link_at at = { .path = CODE_FILE, .offsets = &offset, .cookies = &cookie, .nr = 1 };

	return link_multi(counting_program(counter_map), &at);
}

/* Maps a file with a nop and a return, and probes the nop. Returns NULL after an error. */
static void *map_probed(int *link)
{
	int fd = open(CODE_FILE, O_RDWR | O_CREAT | O_TRUNC, 0755);
	unsigned char code[PAGE_BYTES] = { 0 };
	void *text;

	memcpy(code, nop, sizeof(nop));
	code[sizeof(nop)] = 0xc3;
	if (write(fd, code, sizeof(code)) != sizeof(code))
		return NULL;
	text = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	counter_map = counters_create(1);
	*link = link_nop();
	return text == MAP_FAILED || *link < 0 ? NULL : text;
}

/* Calls text twice; true if each was a hit, and there is a call then. */
static bool two_hits(void *text)
{
	unsigned long before = counter_read(counter_map, 0);

	((void (*)(void))text)();
	((void (*)(void))text)();
	return counter_read(counter_map, 0) == before + 2 && is_call(text);
}

static bool move_page(void *from, void *to)
{
	/* 3: may move, to that address */
	return (void *)syscall(__NR_mremap, from, PAGE_BYTES, PAGE_BYTES, 3, to) == to;
}

/* The call must not lead elsewhere, and its remaining bytes do not disturb a new probe. */
static int move_text(void)
{
	void *text, *place;
	int link;

	text = map_probed(&link);
	place = mmap(NULL, 2 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!text || place == MAP_FAILED || !two_hits(text))
		return 2;
	if (!move_page(text, place) || !two_hits(place))
		return 4;
	link_close(link);
	if (!move_page(place, text) || link_nop() < 0)
		return 5;
	return two_hits(text) ? 0 : 6;
}

#define MUCH	0x10000000000UL

/* A mapping that is much larger than its file. A look at each page would take minutes. */
static int move_much(void)
{
	void *text, *much, *place;
	time_t begin;
	int link;

	text = map_probed(&link);
	if (!text || !two_hits(text))
		return 2;
	much = mmap(NULL, MUCH, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(CODE_FILE, O_RDONLY), 0);
	place = mmap(NULL, MUCH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (much == MAP_FAILED || place == MAP_FAILED)
		return 3;
	/* The page of the nop is there, and not that of the file any more. */
	((void (*)(void))much)();
	begin = time(NULL);
	if ((void *)syscall(__NR_mremap, much, MUCH, MUCH, 3, place) != place ||
	    time(NULL) - begin > 5)
		return 4;
	((void (*)(void))place)();
	return counter_read(counter_map, 0) == 4 ? 0 : 5;
}

/* The program brings the text of the file back, which has no breakpoint. */
static int discard_text(void)
{
	void *text;
	int link;

	text = map_probed(&link);
	if (!text || !two_hits(text))
		return 2;
	if (advise(text, PAGE_BYTES, 4 /* MADV_DONTNEED */) || memcmp(text, nop, sizeof(nop)))
		return 4;
	((void (*)(void))text)();
	link_close(link);
	if (counter_read(counter_map, 0) != 2 || link_nop() < 0)
		return 5;
	return two_hits(text) ? 0 : 6;
}

int main(int argc, char *argv[])
{
	int result;

	ksft_print_header();
	if (argc > 1)
		seconds = atoi(argv[1]);
	ksft_set_plan(24);
	check_registers();
	check_call();
	check_signals();
	check_steps();
	check_fork();
	check_beside();
	check_removal();
	check_neighbour();
	check_debugger();
	check_shared_memory();
	check_dispatch();
	result = in_child(move_text);
	ksft_test_result(!result, "text moves (%d)\n", result);
	result = in_child(move_much);
	ksft_test_result(!result, "a large mapping moves (%d)\n", result);
	result = in_child(discard_text);
	ksft_test_result(!result, "text is discarded (%d)\n", result);
	unlink(CODE_FILE);
	ksft_finished();
}
