// SPDX-License-Identifier: GPL-2.0
/*
 * Instruction forms of a program, bare and probed, at the same addresses.
 *
 * Each form is run from random registers, flags, stack and memory without a probe, and then
 * with a probe on its instruction.  The resulting states must be equal: registers, flags,
 * vector registers, memory, the stack with the red zone below it, and the signal, its code
 * and its addresses if there was one.  The processor is the oracle.  BPF programs count the
 * hits: one for each run.
 *
 *	forms [STATES [SEED]]		run all forms from that many states
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "forms.h"

#define BATCH		128	/* forms that are probed at a time */
#define TOLD		5	/* forms of a table whose states are printed */
#define STACK_SIZE	4096

struct form_state kprobes_form_image;

/* The signal that has ended a run; number 0 if there was none. */
struct fault {
	unsigned long number, code, address, ip;
};

struct result {
	struct form_state state;
	struct fault fault;
};

static struct fault fault;
static char run_stack[STACK_SIZE] __attribute__((aligned(64)));
static char handler_stack[65536] __attribute__((aligned(64)));

static unsigned int nr_states = 10;
static __u64 seed;
static struct form_state *starts;

/* --- Random states --------------------------------------------------------- */

static __u64 random_state;

static __u64 next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dULL;
}

/* Edge cases of arithmetic, or of counts, in one of the widths. */
static const unsigned long edges[] = {
	0, 1, 2, 7, -1UL, -2UL, -1UL >> 1, ~(-1UL >> 1), 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000,
	0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
};

static void fill_start(struct form_state *start, unsigned int nr)
{
	__u8 *byte = (__u8 *)start;
	unsigned int i;

	for (i = 0; i < sizeof(*start); i++)
		byte[i] = next_random() >> 40;
	for (i = 0; i < FORM_REGS; i++) {
		if (next_random() % 4 == 0)
			start->regs[i] = edges[(next_random() >> 20) % ARRAY_SIZE(edges)];
	}
	/* In some states, repeated string instructions find equal operands and repeat. */
	if (nr % 4 == 0) {
		for (i = 0; i < FORM_MEMORY; i++)
			start->memory[i] &= 1;
		start->regs[0] &= 1;
	}
	start->flags &= FORM_FLAGS;
}

/* Fills the image, and the whole stack of a run, for a form. */
static void prepare(const struct form *form, const struct form_state *start)
{
	struct form_state *image = &kprobes_form_image;
	unsigned int i;

	*image = *start;
	for (i = 0; i < FORM_REGS; i++) {
		if (form->pointers >> i & 1)
			image->regs[i] = (unsigned long)&image->memory[64] +
					 (image->regs[i] & 0x30);
		else if (form->indexes >> i & 1)
			image->regs[i] &= 7;
	}
	for (i = 0; i < STACK_SIZE; i += sizeof(image->stack))
		memcpy(run_stack + i, start->stack, sizeof(image->stack));
}

/* --- One run --------------------------------------------------------------- */

/* The run ends where it has faulted. */
static void on_fault(int number, siginfo_t *info, struct ucontext *context)
{
	if (fault.number) {
		dprintf(2, "# signal %d after signal %lu\n", number, fault.number);
		_exit(3);
	}
	fault.number = number;
	fault.code = info->si_code;
	fault.address = (unsigned long)info->si_addr;
	fault.ip = CONTEXT_IP(context);
	CONTEXT_IP(context) = (unsigned long)kprobes_form_done;
}

/* The machine has saved the flags, the undefined ones too, below the piece's stack pointer. */
static void forget_saved_flags(void)
{
	long word = FORM_STACK_BELOW - 1 + (long)kprobes_form_image.regs[FORM_SP] /
		    (long)sizeof(long);

	if (word >= 0 && word < FORM_STACK_BELOW + FORM_STACK_ABOVE)
		kprobes_form_image.stack[word] = 0;
}

NOINLINE static void run(const struct form *form, const struct form_state *start,
			 struct result *result)
{
	memset(&fault, 0, sizeof(fault));
	prepare(form, start);
	form_run(&form->pieces[0], run_stack + STACK_SIZE);
	kprobes_form_image.flags &= ~form->undefined;
	forget_saved_flags();
	result->state = kprobes_form_image;
	result->fault = fault;
}

/* --- Messages -------------------------------------------------------------- */

static unsigned int told;

static void tell_word(const char *name, unsigned long start, unsigned long bare,
		      unsigned long now)
{
	if (bare != now)
		printf("#   %s: from %lx, bare %lx, probed %lx\n", name, start, bare, now);
}

static void tell_bytes(const char *name, const void *bare, const void *now, unsigned int size)
{
	const __u8 *a = bare, *b = now;
	unsigned int i;

	for (i = 0; i < size; i++) {
		if (a[i] != b[i])
			printf("#   %s+%x: bare %x, probed %x\n", name, i, a[i], b[i]);
	}
}

static void tell(const struct form *form, unsigned int nr, const struct result *bare,
		 const struct result *now)
{
	const struct form_state *start = &starts[nr];
	unsigned int i;

	printf("# '%s' at %lx: state %u of seed %llu differs\n", form->name,
	       (unsigned long)form->pieces[0].probe, nr, seed);
	if (told++ >= TOLD)
		return;
	for (i = 0; i < FORM_REGS; i++)
		tell_word(form_registers[i], start->regs[i], bare->state.regs[i],
			  now->state.regs[i]);
	tell_word("flags", start->flags, bare->state.flags, now->state.flags);
	tell_word("special", start->special, bare->state.special, now->state.special);
	tell_bytes("memory", bare->state.memory, now->state.memory, sizeof(now->state.memory));
	tell_bytes("stack", bare->state.stack, now->state.stack, sizeof(now->state.stack));
	tell_bytes("vectors", bare->state.vectors, now->state.vectors,
		   sizeof(now->state.vectors));
	tell_word("signal", 0, bare->fault.number, now->fault.number);
	tell_word("code", 0, bare->fault.code, now->fault.code);
	tell_word("fault's address", 0, bare->fault.address, now->fault.address);
	tell_word("fault's ip", 0, bare->fault.ip, now->fault.ip);
}

/* --- Batches --------------------------------------------------------------- */

/* Counts of one table. */
static struct {
	unsigned int forms, lacking, refused, different, miscounted, faults;
} counts;

static int map, program;

/* The forms of a batch.  A link has some of them. */
static const struct form *batch[BATCH];
static __u64 offsets[BATCH], cookies[BATCH];
static bool refused[BATCH];
static int links[BATCH];
static unsigned int nr_batch, nr_links;

/* Links forms FIRST to END, or all but those that are refused. */
static void link_forms(unsigned int first, unsigned int end)
{
	struct link_at at = {
		.path = SELF,
		.offsets = offsets + first,
		.cookies = cookies + first,
		.nr = end - first,
		.pid = getpid(),
	};
	int fd = link_multi(program, &at);

	if (fd >= 0) {
		links[nr_links++] = fd;
	} else if (end - first == 1) {
		refused[first] = true;
		if (batch[first]->dead != FORM_REFUSABLE && !form_refused(batch[first])) {
			printf("# '%s' is refused: error %d\n", batch[first]->name, errno);
			counts.refused++;
		}
	} else {
		unsigned int middle = (first + end) / 2;

		link_forms(first, middle);
		link_forms(middle, end);
	}
}

static void compare(const struct form *form, const struct result *bare,
		    const struct result *now)
{
	unsigned int i;

	for (i = 0; i < nr_states; i++) {
		counts.faults += bare[i].fault.number != 0;
		if (!memcmp(&bare[i].state, &now[i].state,
			    sizeof(now->state) - sizeof(now->state.vectors)) &&
		    !memcmp(&bare[i].state.vectors, &now[i].state.vectors,
			    sizeof(now->state.vectors)) &&
		    !memcmp(&bare[i].fault, &now[i].fault, sizeof(now->fault)))
			continue;
		tell(form, i, &bare[i], &now[i]);
		counts.different++;
		return;
	}
}

/* A run that faults in the preparation of its form does not reach the probe. */
static bool reached(const struct form *form, const struct fault *fault)
{
	const struct form_piece *piece = form->pieces;

	return !fault->number || fault->ip < (unsigned long)piece->fn ||
	       fault->ip >= (unsigned long)piece->probe;
}

static void check_count(unsigned int nr, const struct result *bare)
{
	__u64 count = counter_read(map, nr), wanted = 0;
	unsigned int i;

	for (i = 0; i < nr_states && !refused[nr]; i++)
		wanted += reached(batch[nr], &bare[i].fault);
	if (count == wanted)
		return;
	printf("# '%s': %llu hits instead of %llu\n", batch[nr]->name, count, wanted);
	counts.miscounted++;
}

static void run_all(struct result *results)
{
	unsigned int i, j;

	for (i = 0; i < nr_batch; i++) {
		for (j = 0; j < nr_states; j++)
			run(batch[i], &starts[j], &results[i * nr_states + j]);
	}
}

static void run_batch(struct result *bare, struct result *now)
{
	unsigned int i;

	for (i = 0; i < nr_batch; i++) {
		offsets[i] = file_offset(batch[i]->pieces[0].probe);
		cookies[i] = i;
		refused[i] = false;
		counter_clear(map, i);
	}
	run_all(bare);
	nr_links = 0;
	link_forms(0, nr_batch);
	run_all(now);
	for (i = 0; i < nr_links; i++)
		link_close(links[i]);
	for (i = 0; i < nr_batch; i++) {
		compare(batch[i], &bare[i * nr_states], &now[i * nr_states]);
		check_count(i, &bare[i * nr_states]);
	}
	nr_batch = 0;
}

static void *allocate(unsigned long size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		ksft_exit_fail_msg("out of memory\n");
	/* Touched, so that no run takes a page fault there. */
	memset(p, 0, size);
	return p;
}

static void run_table(const struct form_table *table)
{
	struct result *bare = allocate(BATCH * nr_states * sizeof(*bare));
	struct result *now = allocate(BATCH * nr_states * sizeof(*now));
	const struct form *form;

	for (form = table->begin; form < table->end; form++) {
		if (!form_there(form)) {
			counts.lacking++;
			continue;
		}
		counts.forms++;
		batch[nr_batch++] = form;
		if (nr_batch == BATCH)
			run_batch(bare, now);
	}
	if (nr_batch)
		run_batch(bare, now);
}

/* --- Tables, each in a process --------------------------------------------- */

/* The first signal must not be the one that needs the handler's stack for the first time. */
static void catch_faults(void)
{
	static const int numbers[] = { SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE };
	unsigned int i;

	if (signal_stack(handler_stack, sizeof(handler_stack)))
		ksft_exit_fail_msg("sigaltstack: error %d\n", errno);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		on_signal(numbers[i], on_fault, 0);
}

static int table_child(const struct form_table *table)
{
	catch_faults();
	map = counters_create(BATCH);
	program = counting_program(map);
	if (program < 0) {
		printf("# the BPF program is refused: error %d\n", errno);
		return 2;
	}
	run_table(table);
	printf("# %s: %u forms, %u more that this processor lacks, %u states, %u faults\n",
	       table->name, counts.forms, counts.lacking, nr_states, counts.faults);
	return !counts.forms << 1 | !!counts.refused << 2 | !!counts.different << 3 |
	       !!counts.miscounted << 4;
}

static void check_table(const struct form_table *table)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(table_child(table));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		printf("# the process ended with status %x\n", status);
		status = 0xff00;
	}
	status = WEXITSTATUS(status);
	ksft_test_result(!(status & 3), "%s: the forms ran\n", table->name);
	ksft_test_result(!(status & 7), "%s: no form is refused\n", table->name);
	ksft_test_result(!(status & 11), "%s: bare and probed states are equal\n", table->name);
	ksft_test_result(!(status & 19), "%s: each run is one hit\n", table->name);
}

/* States include registers of the processor.  Its number does not matter. */
static void stay_on_a_processor(void)
{
	unsigned long processors[16] = { 1 };

	syscall(__NR_sched_setaffinity, 0, sizeof(processors), processors);
}

int main(int argc, char **argv)
{
	const struct form_table *table;
	unsigned int i, tables = 0;

	seed = argc > 2 ? strtoul(argv[2], NULL, 0) : (unsigned long)getpid() * 7919;
	if (argc > 1)
		nr_states = atoi(argv[1]);
	stay_on_a_processor();
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (table = form_tables; table->begin; table++)
		tables++;
	ksft_print_header();
	ksft_set_plan(4 * tables);
	starts = allocate(nr_states * sizeof(*starts));
	for (i = 0; i < nr_states; i++)
		fill_start(&starts[i], i);
	for (table = form_tables; table->begin; table++)
		check_table(table);
	ksft_finished();
}
