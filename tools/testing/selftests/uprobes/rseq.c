// SPDX-License-Identifier: GPL-2.0
/*
 * Probes in restartable sequences: threads add 1 to a counter of their processor, without
 * atomic instructions, in sequences that the kernel aborts when it has preempted them.  If the
 * kernel takes a thread in a copy of a probed instruction for one outside of the sequence,
 * it does not abort, and additions are lost.
 */
#include <linux/rseq.h>
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"

#define MOST_THREADS	64
#define SIGNATURE	0x53053053
#define AREA_SIZE	32
#define MOST_CPUS	64

extern char sequence_insn_1[], sequence_insn_2[], sequence_nop[], sequence_insn_3[];

/* Returns 0 if it has added, 1 if the kernel has aborted it. */
int sequence_add(struct rseq *area, unsigned long *counters);

#if defined(__x86_64__)
asm(".pushsection .data; .balign 32\n"
	"sequence: .long 0, 0; .quad sequence_start, sequence_end - sequence_start, sequence_abort\n"
	".popsection\n"
	".pushsection .text\n"
	"sequence_add: lea sequence(%rip), %rax\n"
	"mov %rax, 8(%rdi)\n"
	"sequence_start: mov 4(%rdi), %eax\n"
	"sequence_insn_1: mov (%rsi, %rax, 8), %rdx\n"
	"sequence_insn_2: lea 1(%rdx), %rdx\n"
	/* Elsewhere, a system call may replace it, in which no sequence is aborted. */
	"sequence_nop: .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"sequence_insn_3: mov %rdx, (%rsi, %rax, 8)\n"
	"sequence_end: xor %eax, %eax\n"
	"ret\n"
	".byte 0x0f, 0xb9, 0x3d; .long 0x53053053\n"
	"sequence_abort: mov $1, %eax\n"
	"ret\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .data; .balign 32\n"
	"sequence: .long 0, 0; .quad sequence_start, sequence_end - sequence_start, sequence_abort\n"
	".popsection\n"
	".pushsection .text\n"
	"sequence_add: adrp x2, sequence\n"
	"add x2, x2, :lo12:sequence\n"
	"str x2, [x0, #8]\n"
	"sequence_start: ldr w2, [x0, #4]\n"
	"sequence_insn_1: ldr x3, [x1, x2, lsl #3]\n"
	"sequence_insn_2: add x3, x3, #1\n"
	"sequence_nop: nop\n"
	"sequence_insn_3: str x3, [x1, x2, lsl #3]\n"
	"sequence_end: mov x0, xzr\n"
	"ret\n"
	".long 0x53053053\n"
	"sequence_abort: mov x0, #1\n"
	"ret\n"
	".popsection");
#else
char sequence_insn_1[1], sequence_insn_2[1], sequence_nop[4], sequence_insn_3[1];

int sequence_add(struct rseq *area, unsigned long *counters)
{
	return 1;
}
#endif

static unsigned int seconds = 1;
static volatile int stop;
static unsigned long counters[MOST_CPUS];
static volatile unsigned long added, aborted, errors;
/* More than processors, so that they preempt each other. */
static unsigned int nr_threads;
static struct thread threads[MOST_THREADS];
static struct rseq thread_areas[MOST_THREADS];

static void add_all(void *argument)
{
	struct rseq *area = argument;
	unsigned long done = 0, again = 0;

	if (syscall(__NR_rseq, area, AREA_SIZE, 0, SIGNATURE)) {
		errors++;
		return;
	}
	while (!stop) {
		if (sequence_add(area, counters))
			again++;
		else
			done++;
	}
	__atomic_fetch_add(&added, done, __ATOMIC_RELAXED);
	__atomic_fetch_add(&aborted, again, __ATOMIC_RELAXED);
	/* The stack, and the area, are used again. */
	syscall(__NR_rseq, area, AREA_SIZE, 1 /* unregister */, SIGNATURE);
}

static void run(const char *name, bool must_abort)
{
	unsigned long sum = 0;
	unsigned int i;

	memset(counters, 0, sizeof(counters));
	memset(thread_areas, 0, sizeof(thread_areas));
	stop = 0;
	added = 0;
	aborted = 0;
	for (i = 0; i < nr_threads; i++)
		errors += thread_start(&threads[i], add_all, &thread_areas[i]) < 0;
	sleep(seconds);
	stop = 1;
	for (i = 0; i < nr_threads; i++)
		errors += !thread_wait(&threads[i], 30);
	for (i = 0; i < MOST_CPUS; i++)
		sum += counters[i];
	ksft_test_result(!errors && added, "%s: threads ran (%lu errors)\n", name, errors);
	/* Without an abort, no thread was preempted in a sequence. */
	ksft_test_result(sum == added && (aborted || !must_abort),
			 "%s: counters say %lu of %lu, %lu sequences aborted\n", name, sum, added,
			 aborted);
}

int main(void)
{
	char *insns[] = { sequence_insn_1, sequence_insn_2, sequence_nop, sequence_insn_3 };
	struct probes probes;
	char armed[4];

	ksft_print_header();
	if (sizeof(long) == 4)
		ksft_exit_skip("the sequence is written for 64 bits only\n");
	if (syscall(__NR_rseq, NULL, AREA_SIZE, 0, SIGNATURE) && errno == ENOSYS)
		ksft_exit_skip("no restartable sequences in this kernel\n");
	ksft_set_plan(7);
	nr_threads = 2 * processors();
	if (nr_threads > MOST_THREADS)
		nr_threads = MOST_THREADS;
	run("bare", false);
	ksft_test_result(probe_all(&probes, insns, ARRAY_SIZE(insns), false),
			 "the instructions are probed\n");
	memcpy(armed, sequence_nop, sizeof(armed));
	run("probed", true);
	ksft_test_result(probe_count(&probes) >= ARRAY_SIZE(insns) * added, "probed: %lu hits\n",
			 probe_count(&probes));
	ksft_test_result(!memcmp(armed, sequence_nop, sizeof(armed)),
			 "probed: the nop stays a breakpoint\n");
	probe_remove(&probes);
	ksft_finished();
}
