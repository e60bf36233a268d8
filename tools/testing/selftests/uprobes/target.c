// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose functions scripts probe.
 *
 *	target offsets			print the name and the offset of each function
 *	target addresses		the same with the addresses
 *	target instructions		print addresses of instructions of "plain", and its size
 *	target call NAME COUNT		call a function that often; print the last result
 *	target wait FILE NAME COUNT	the same, after the file has appeared
 *	target twice FILE NAME COUNT	call COUNT times, print, wait for the file, and again
 *	target thread FILE NAME COUNT	print the number of a thread, which ends when the file has
 *					appeared; call after the file has gone
 *	target share FILE OFFSET	map a page of the file, shared and executable
 *	target perf ID			as a user without privileges, open a perf event for this
 *					process; print the error, or 0
 *
 * "plain" returns its argument and 1; "skipped" has an instruction that adds 0x100, which a
 * handler can skip; "usdt" has a nop, on x86 that of ten bytes, between two instructions that add;
 * "counter" is the variable that counts users of "counted"; "jit" is a copy of "plain" that the
 * program writes before the first call.
 */
#include "probe.h"
#include "system.h"

unsigned long target_plain(unsigned long value);
extern char target_plain_second[], target_plain_third[], target_plain_end[];
unsigned long target_skipped(unsigned long value);
extern char target_skipped_insn[];
unsigned long target_usdt(unsigned long value);
extern char target_usdt_nop[];
unsigned long target_counted(unsigned long value);
extern volatile unsigned short target_counter;

#define NOP_OF_TEN_BYTES	".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"

#if defined(__x86_64__)
asm(".pushsection .text; .balign 16\n"
	".type target_plain, %function; .size target_plain, 16\n"
	"target_plain: push %rbx\n"
	"target_plain_second: lea 1(%rdi), %rax\n"
	"target_plain_third: pop %rbx; ret\n"
	"target_plain_end:\n"
	".balign 16\n"
	"target_skipped: lea 1(%rdi), %rax\n"
	"target_skipped_insn: lea 0x100(%rax), %rax\n"
	"lea 2(%rax), %rax; ret\n"
	".balign 16\n"
	"target_usdt: lea 1(%rdi), %rax\n"
	"target_usdt_nop: " NOP_OF_TEN_BYTES
	"lea 2(%rax), %rax; ret\n"
	".balign 16\n"
	"target_counted: nop; lea 3(%rdi), %rax; ret\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text; .balign 16\n"
	".type target_plain, %function; .size target_plain, 16\n"
	"target_plain: push %ebx\n"
	"target_plain_second: mov 8(%esp), %eax\n"
	"target_plain_third: inc %eax; pop %ebx; ret\n"
	"target_plain_end:\n"
	".balign 16\n"
	"target_skipped: mov 4(%esp), %eax; inc %eax\n"
	"target_skipped_insn: lea 0x100(%eax), %eax\n"
	"add $2, %eax; ret\n"
	".balign 16\n"
	"target_usdt: mov 4(%esp), %eax; inc %eax\n"
	"target_usdt_nop: " NOP_OF_TEN_BYTES
	"add $2, %eax; ret\n"
	".balign 16\n"
	"target_counted: nop; mov 4(%esp), %eax; add $3, %eax; ret\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text; .balign 16\n"
	".type target_plain, %function; .size target_plain, 16\n"
	"target_plain: stp x29, x30, [sp, #-16]!\n"
	"target_plain_second: add x0, x0, #1\n"
	"target_plain_third: ldp x29, x30, [sp], #16; ret\n"
	"target_plain_end:\n"
	".balign 16\n"
	"target_skipped: add x0, x0, #1\n"
	"target_skipped_insn: add x0, x0, #0x100\n"
	"add x0, x0, #2; ret\n"
	".balign 16\n"
	"target_usdt: add x0, x0, #1\n"
	"target_usdt_nop: nop\n"
	"add x0, x0, #2; ret\n"
	".balign 16\n"
	"target_counted: nop; add x0, x0, #3; ret\n"
	".popsection");
#endif

asm(".pushsection .probes, \"aw\"; .balign 2\n"
	".globl target_counter; target_counter: .short 0, 0; .popsection");

/*
 * The note of SystemTap's <sys/sdt.h> about "counted", a probe (USDT) of the provider "target": the
 * addresses of the nop, of a section that prelinking moves, and of the counter; the names; and
 * where the argument is.
 */
#if defined(__x86_64__)
#define ADDRESS		".8byte "
#define ARGUMENT	"8@%rdi"
#elif defined(__i386__)
#define ADDRESS		".4byte "
#define ARGUMENT	"4@4(%esp)"
#elif defined(__aarch64__)
#define ADDRESS		".8byte "
#define ARGUMENT	"8@x0"
#endif

asm(".pushsection .stapsdt.base, \"a\"\n"
	"target_base: .byte 0; .popsection\n"
	".pushsection .note.stapsdt, \"\", %note; .balign 4\n"
	".4byte 2f - 1f, 4f - 3f, 3\n"
	"1: .asciz \"stapsdt\"\n"
	"2: .balign 4\n"
	"3: " ADDRESS "target_counted, target_base, target_counter\n"
	".asciz \"target\"; .asciz \"counted\"; .asciz \"" ARGUMENT "\"\n"
	"4: .balign 4; .popsection");

static unsigned long target_shown(unsigned long value)
{
	return target_counter + value;
}

/* The address of written text. */
#define JIT_TEXT	((void *)0x20000000)

static unsigned long target_jit(unsigned long value)
{
	static void *text;

	if (!text) {
		text = mmap(JIT_TEXT, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		memcpy(text, target_plain, target_plain_end - (char *)target_plain);
		__builtin___clear_cache((char *)text, (char *)text + 4096);
	}
	return ((unsigned long (*)(unsigned long value))text)(value);
}

static const struct {
	const char *name;
	const void *probe;
	unsigned long (*function)(unsigned long value);
} targets[] = {
	{ "plain", target_plain, target_plain },
	{ "skipped", target_skipped_insn, target_skipped },
	{ "usdt", target_usdt_nop, target_usdt },
	{ "counted", target_counted, target_counted },
	{ "counter", (void *)&target_counter, target_shown },
	{ "jit", JIT_TEXT, target_jit },
};

#define NR_TARGETS	ARRAY_SIZE(targets)

static int list(bool addresses)
{
	unsigned int i;

	for (i = 0; i < NR_TARGETS; i++)
		printf("%s 0x%lx\n", targets[i].name,
		       addresses ? (unsigned long)targets[i].probe :
				   file_offset(targets[i].probe));
	return 0;
}

static int instructions(void)
{
	printf("first 0x%lx\nsecond 0x%lx\nthird 0x%lx\nsize %lu\n", (unsigned long)target_plain,
	       (unsigned long)target_plain_second, (unsigned long)target_plain_third,
	       (unsigned long)target_plain_end - (unsigned long)target_plain);
	return 0;
}

/* The counter is printed as it is. */
static int call(const char *name, int count)
{
	unsigned long result = 0;
	unsigned int i;
	int j;

	for (i = 0; i < NR_TARGETS; i++) {
		if (strcmp(targets[i].name, name))
			continue;
		for (j = 0; j < count; j++)
			result = targets[i].function(strcmp(name, "counter") ? j : 0);
		printf("%lu\n", result);
		return 0;
	}
	return 1;
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		usleep(10000);
}

static void wait_in_thread(void *file)
{
	printf("%ld\n", (long)syscall(__NR_gettid));
	wait_for(file);
}

static int call_after_thread(const char *file, const char *name, int count)
{
	static struct thread thread;

	thread_start(&thread, wait_in_thread, (void *)file);
	if (!thread_wait(&thread, 60))
		return 1;
	while (!access(file, F_OK))
		usleep(10000);
	return call(name, count);
}

static int share(const char *file, unsigned long offset)
{
	const unsigned long size = getpagesize();
	int fd = open(file, O_RDONLY);
	void *text = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, offset & -size);

	return text == MAP_FAILED;
}

#define NOBODY	65534

static int open_as_nobody(int id)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id;
	attr.exclude_kernel = 1;
	if (syscall(__NR_setresuid, NOBODY, NOBODY, NOBODY))
		return 1;
	fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	printf("%d\n", fd < 0 ? errno : 0);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "offsets"))
		return list(false);
	if (argc == 2 && !strcmp(argv[1], "addresses"))
		return list(true);
	if (argc == 2 && !strcmp(argv[1], "instructions"))
		return instructions();
	if (argc == 4 && !strcmp(argv[1], "call"))
		return call(argv[2], atoi(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "share"))
		return share(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 3 && !strcmp(argv[1], "perf"))
		return open_as_nobody(atoi(argv[2]));
	if (argc == 5 && !strcmp(argv[1], "thread"))
		return call_after_thread(argv[2], argv[3], atoi(argv[4]));
	if (argc == 5 && !strcmp(argv[1], "wait")) {
		wait_for(argv[2]);
		return call(argv[3], atoi(argv[4]));
	}
	if (argc == 5 && !strcmp(argv[1], "twice")) {
		call(argv[3], atoi(argv[4]));
		wait_for(argv[2]);
		return call(argv[3], atoi(argv[4]));
	}
	return 2;
}
