// SPDX-License-Identifier: GPL-2.0
/*
 * Core dumps: the thread that has faulted at a probed instruction has its original address in
 * the dump, and no thread that was in probed code has an address of a copy.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "work.h"
#include "areas.h"
#include "tracee.h"

#define CORE		"/tmp/uprobes-core"
#define PATTERN		"/proc/sys/kernel/core_pattern"
/* Whether the kernel's log has a line for each fault. */
#define FAULT_TRACE	"/proc/sys/debug/exception-trace"
#define THREADS		3
#define DUMPS		8
#define CORE_SIZE	0x100000

#define NOTE_PRSTATUS	1

/* Where the registers are in a note. */
#define STATUS_REGISTERS	(__SIZEOF_POINTER__ == 8 ? 112 : 72)

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr core_header;
#else
typedef Elf32_Ehdr core_header;
#endif

extern char __executable_start[], etext[], crash_insn[];

void crash(void *nowhere);

#if defined(__x86_64__)
asm(".pushsection .text; crash: nop; crash_insn: movl $1, 8(%rdi); ret; .popsection");
#elif defined(__i386__)
asm(".pushsection .text; crash: mov 4(%esp), %edx; crash_insn: movl $1, 8(%edx); ret; .popsection");
#elif defined(__aarch64__)
asm(".pushsection .text; crash: mov x1, #1; crash_insn: str x1, [x0, #8]; ret; .popsection");
#endif

static struct thread threads[THREADS];
static char core[CORE_SIZE];
static char old_pattern[256], old_trace[16];

static void set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	write(fd, text, strlen(text));
	close(fd);
}

static void work_forever(void *unused)
{
	unsigned long own[8] = { 1 };

	while (1)
		work(20, own);
}

/* The time before the crash differs from dump to dump. */
static pid_t crashing_child(unsigned int nr)
{
	pid_t pid = fork();

	if (!pid) {
		struct rlimit limit = { .rlim_cur = CORE_SIZE, .rlim_max = CORE_SIZE };
		unsigned int i;

		limit_child();
		setrlimit(RLIMIT_CORE, &limit);
		for (i = 0; i < THREADS; i++)
			thread_start(&threads[i], work_forever, NULL);
		usleep(3000 + nr * 177);
		crash(NULL);
		_exit(1);
	}
	return pid;
}

/* Counts threads of a dump; those whose ip is not in the program; and the first thread's ip. */
struct dump {
	unsigned int threads, outside;
	unsigned long first, address;
};

static void read_note(struct dump *dump, const char *status)
{
	struct tracee_registers registers;
	unsigned long ip;

	memcpy(&registers, status + STATUS_REGISTERS, sizeof(registers));
	ip = registers.word[TRACEE_IP];
	if (!dump->threads++)
		dump->first = ip;
	if (ip < (unsigned long)__executable_start || ip >= (unsigned long)etext) {
		dump->outside++;
		dump->address = ip;
	}
}

static void read_notes(struct dump *dump, const program_header *segment)
{
	const char *note = core + segment->p_offset, *end = note + segment->p_filesz;

	while (note + 12 < end) {
		const __u32 *header = (const void *)note;
		const char *data = note + 12 + ((header[0] + 3) & ~3U);

		if (header[2] == NOTE_PRSTATUS)
			read_note(dump, data);
		note = data + ((header[1] + 3) & ~3U);
	}
}

static bool read_dump(struct dump *dump)
{
	int fd = open(CORE, O_RDONLY), size = 0, length;
	const core_header *header = (const void *)core;
	const program_header *segment;
	unsigned int i;

	memset(dump, 0, sizeof(*dump));
	if (fd < 0)
		return false;
	while ((length = read(fd, core + size, sizeof(core) - size)) > 0)
		size += length;
	close(fd);
	if (size < (int)sizeof(*header) || memcmp(core, ELFMAG, SELFMAG))
		return false;
	segment = (const void *)(core + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_NOTE)
			read_notes(dump, &segment[i]);
	}
	return dump->threads > 0;
}

static void check(const char *name)
{
	unsigned int i, dumps = 0, all = 0, outside = 0, elsewhere = 0;
	unsigned long address = 0;
	struct dump dump;
	int status;

	for (i = 0; i < DUMPS; i++) {
		unlink(CORE);
		status = 0;
		waitpid(crashing_child(i), &status, 0);
		if (!WIFSIGNALED(status) || !WCOREDUMP(status) || !read_dump(&dump))
			continue;
		dumps++;
		all += dump.threads;
		outside += dump.outside;
		elsewhere += dump.first != (unsigned long)crash_insn;
		address = dump.outside ? dump.address : address;
	}
	unlink(CORE);
	ksft_test_result(dumps == DUMPS && all == dumps * (THREADS + 1),
			 "%s: %u dumps of %u threads\n", name, dumps, all);
	ksft_test_result(!elsewhere, "%s: the first thread is at the faulting instruction\n", name);
	ksft_test_result(!outside, "%s: all ips are in the program (%u are not, %lx)\n", name,
			 outside, address);
}

int main(void)
{
	struct probes probes, crashes;
	int end;

	ksft_print_header();
	end = read_whole(PATTERN, old_pattern, sizeof(old_pattern));
	if (end < 0)
		ksft_exit_skip("no core dumps in this kernel\n");
	ksft_set_plan(8);
	read_whole(FAULT_TRACE, old_trace, sizeof(old_trace));
	set_file(FAULT_TRACE, "0");
	set_file(PATTERN, CORE);
	check("bare");
	probe_all(&probes, work_probes, WORK_PROBES, false);
	probe_function(&crashes, crash_insn);
	check("probed");
	ksft_test_result(probe_count(&probes), "probed: %lu hits\n", probe_count(&probes));
	ksft_test_result(probe_count(&crashes) == DUMPS,
			 "probed: %lu hits of the faulting instruction\n", probe_count(&crashes));
	probe_remove(&probes);
	probe_remove(&crashes);
	set_file(PATTERN, old_pattern);
	set_file(FAULT_TRACE, old_trace);
	ksft_finished();
}
