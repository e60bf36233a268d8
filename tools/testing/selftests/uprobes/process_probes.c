// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of one process by pid and address, on text of files and on text that the program has
 * written itself. The module up_process registers them, see process_probes.sh.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"
#include "process.h"
#include "change.h"

/*
 * Loads all general registers, but the stack pointer, with the values that up_process knows, and
 * the flags of an equal comparison, with carry; known_insn is probed then.  Saves the stack
 * pointer.
 */
extern const char known_insn[];
unsigned long known_sp;
void known(void);

/* On x86-64, a probe of a file replaces the nop at its beginning by a call. */
void begin_with_nop(void);

#if defined(__x86_64__)
asm(".pushsection .text\n"
	"known: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"mov %rsp, known_sp(%rip); xor %eax, %eax; stc\n"
	"mov $0x101, %eax; mov $0x102, %ebx; mov $0x103, %ecx; mov $0x104, %edx\n"
	"mov $0x105, %esi; mov $0x106, %edi; mov $0x107, %ebp; mov $0x108, %r8d\n"
	"mov $0x109, %r9d; mov $0x10a, %r10d; mov $0x10b, %r11d; mov $0x10c, %r12d\n"
	"mov $0x10d, %r13d; mov $0x10e, %r14d; mov $0x10f, %r15d\n"
	"known_insn: nop\n"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
	".balign 16; begin_with_nop: .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0; ret\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .text\n"
	"known: push %ebx; push %ebp; push %esi; push %edi\n"
	"mov %esp, known_sp; xor %eax, %eax; stc\n"
	"mov $0x101, %eax; mov $0x102, %ebx; mov $0x103, %ecx; mov $0x104, %edx\n"
	"mov $0x105, %esi; mov $0x106, %edi; mov $0x107, %ebp\n"
	"known_insn: nop\n"
	"pop %edi; pop %esi; pop %ebp; pop %ebx; ret\n"
	"begin_with_nop: nop; ret\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .text; .balign 4\n"
	"known: stp x29, x30, [sp, #-96]!\n"
	"stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]\n"
	"stp x25, x26, [sp, #64]; stp x27, x28, [sp, #80]\n"
	"mov x0, sp; adrp x1, known_sp; str x0, [x1, :lo12:known_sp]; cmp x0, x0\n"
	"mov x0, #0x101; mov x1, #0x102; mov x2, #0x103; mov x3, #0x104\n"
	"mov x4, #0x105; mov x5, #0x106; mov x6, #0x107; mov x7, #0x108\n"
	"mov x8, #0x109; mov x9, #0x10a; mov x10, #0x10b; mov x11, #0x10c\n"
	"mov x12, #0x10d; mov x13, #0x10e; mov x14, #0x10f; mov x15, #0x110\n"
	"mov x16, #0x111; mov x17, #0x112; mov x18, #0x113; mov x19, #0x114\n"
	"mov x20, #0x115; mov x21, #0x116; mov x22, #0x117; mov x23, #0x118\n"
	"mov x24, #0x119; mov x25, #0x11a; mov x26, #0x11b; mov x27, #0x11c\n"
	"mov x28, #0x11d; mov x29, #0x11e; mov x30, #0x11f\n"
	"known_insn: nop\n"
	"ldp x19, x20, [sp, #16]; ldp x21, x22, [sp, #32]; ldp x23, x24, [sp, #48]\n"
	"ldp x25, x26, [sp, #64]; ldp x27, x28, [sp, #80]\n"
	"ldp x29, x30, [sp], #96; ret\n"
	"begin_with_nop: nop; ret\n"
	".popsection");
#endif

static void check_registers(void)
{
	int err = add("k", known_insn, "known");

	known();
	ksft_test_result(!err && get("k", HITS) == 1 && !get("k", ERRORS),
			 "the handler has all registers, and the flags: error %d\n", err);
	ksft_test_result(get("k", SP) == (long)known_sp, "and the stack pointer: 0x%lx, 0x%lx\n",
			 (unsigned long)get("k", SP), known_sp);
	command("drop");
	err = add("k", plain, "known");
	call_plain(1);
	ksft_test_result(!err && get("k", ERRORS) == 1, "and notices other values\n");
	command("drop");
}

/* --- Text of a file ---------------------------------------------------------------- */

static void check_file(void)
{
	int err;

	memcpy(before, plain, sizeof(before));
	err = add("a", plain, "");
	ksft_test_result(!err && call_plain(5) == 5 && get("a", HITS) == 5 && !get("a", ERRORS),
			 "each call is a hit: error %d, %ld hits\n", err, get("a", HITS));
	ksft_test_result(!unchanged(plain), "the text has a breakpoint\n");
	ksft_test_result(on("add", "a") == EBUSY, "refusal of a registered probe\n");
	ksft_test_result(strstr(read_all("/proc/self/maps"), "[uprobes]"),
			 "copies are in a mapping of the process\n");
	ksft_test_result(!on("off", "a") && unchanged(plain) && call_plain(3) == 3 &&
			 get("a", HITS) == 5, "a disabled probe has no breakpoint and no hits\n");
	ksft_test_result(!on("on", "a") && call_plain(3) == 3 && get("a", HITS) == 8,
			 "it is enabled again\n");
	ksft_test_result(!on("del", "a") && unchanged(plain) && call_plain(3) == 3 &&
			 get("a", HITS) == 8, "it is unregistered\n");
	ksft_test_result(!on("del", "a"), "to unregister it again has no effect\n");
	ksft_test_result(!on("add", "a") && call_plain(2) == 2 && get("a", HITS) == 10,
			 "it is registered again\n");
	command("drop");
}

static void check_order(void)
{
	int err = add("a", plain, "") ?: add("b", plain, "") ?: add("c", plain, "") ?:
		  add("d", plain, "") ?: add("e", plain, "");

	call_plain(1);
	ksft_test_result(!err && log_is("a b c d e "),
			 "handlers run in the order of registration\n");
	err = on("off", "c") ?: on("on", "c");
	call_plain(1);
	ksft_test_result(!err && log_is("a b c d e a b c d e "),
			 "a probe that is enabled again keeps its place\n");
	command("drop");
	err = add("a", plain, "") ?: add("b", plain, "") ?: add("c", plain, "") ?:
	      on("del", "a") ?: on("add", "a");
	call_plain(1);
	ksft_test_result(!err && log_is("b c a "), "one that is registered again comes last\n");
	command("drop");
}

/* A probe of the file, for all processes, at the same instruction. */
static void check_both(void)
{
	struct probes file;
	bool ok = probe_function(&file, plain);
	int err;

	call_plain(1);
	err = add("a", plain, "");
	call_plain(2);
	ksft_test_result(ok && !err && probe_count(&file) == 3 && get("a", HITS) == 2,
			 "beside a probe of the file: %lu and %ld hits\n", probe_count(&file),
			 get("a", HITS));
	on("del", "a");
	call_plain(2);
	ksft_test_result(probe_count(&file) == 5 && get("a", HITS) == 2,
			 "the probe of the file stays alone\n");
	on("add", "a");
	probe_remove(&file);
	call_plain(2);
	ksft_test_result(get("a", HITS) == 4, "the probe of the process stays alone: %ld hits\n",
			 get("a", HITS));
	ok = probe_function(&file, plain);
	call_plain(1);
	ksft_test_result(ok && probe_count(&file) == 1 && get("a", HITS) == 5,
			 "a probe of the file is added: %lu and %ld hits\n", probe_count(&file),
			 get("a", HITS));
	probe_remove(&file);
	command("drop");
	ksft_test_result(unchanged(plain), "the text is as before\n");
}

#ifdef __x86_64__
/* Is there the call, or else a breakpoint? */
static bool nop_is(bool call)
{
	return *(const unsigned char *)begin_with_nop == (call ? 0x48 : 0xcc);
}
#else
static bool nop_is(bool call)
{
	return true;
}
#endif

static bool nop_hits(struct probes *file, unsigned long of_file, long of_process)
{
	begin_with_nop();
	begin_with_nop();
	return probe_count(file) == of_file && get("a", HITS) == of_process;
}

/* Both kinds of probes at a nop come and go. */
static void check_nop(void)
{
	struct probes file;
	bool ok = probe_function(&file, begin_with_nop) && !add("a", begin_with_nop, "");

	ok = ok && nop_hits(&file, 2, 2);
	ok = ok && nop_is(false) && !on("del", "a") && nop_hits(&file, 4, 2) &&
	     nop_hits(&file, 6, 2) && nop_is(true);
	ok = ok && !on("add", "a") && nop_hits(&file, 8, 4);
	probe_remove(&file);
	ok = ok && nop_hits(&file, 8, 6) && nop_is(false);
	ok = ok && probe_function(&file, begin_with_nop) && nop_hits(&file, 2, 8);
	ksft_test_result(ok, "a nop with both: %lu and %ld hits\n", probe_count(&file),
			 get("a", HITS));
	probe_remove(&file);
	command("drop");
}

/* --- Written text ------------------------------------------------------------------ */

static void check_jit(void)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	char *code = jit(), *again;
	unsigned long hits = 0;
	int i, err = 0;

	for (i = 0; i < CODE_PROBES; i++)
		err = err ?: add(names[i], code + code_offsets[i], "");
	for (i = 0; i < 10; i++)
		err = err ?: !code_call(code, 0, i);
	for (i = 0; i < CODE_PROBES; i++)
		hits += get(names[i], HITS);
	ksft_test_result(!err && hits == 10 * CODE_PROBES, "written text: error %d, %lu hits\n",
			 err, hits);
	on("del", "b");
	memcpy(code, code_start, CODE_SIZE);
	__builtin___clear_cache(code, code + CODE_SIZE);
	ksft_test_result(code_call(code, 0, 3) && get("a", HITS) == 10,
			 "text that is written again has no probes\n");
	ksft_test_result(!on("del", "a") && code_call(code, 0, 3) &&
			 !memcmp(code, code_start, CODE_SIZE), "and unregistering leaves it\n");
	munmap(code, 4096);
	ksft_test_result(!get("c", REGISTERED) && !on("del", "c"),
			 "probes of unmapped text are unregistered\n");
	again = mmap(code, 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(again, code_start, CODE_SIZE);
	__builtin___clear_cache(again, again + CODE_SIZE);
	ksft_test_result(code_call(again, 0, 5) && !on("add", "a") && code_call(again, 0, 5) &&
			 get("a", HITS) == 11, "other text at the address is probed\n");
	code = mremap(again, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, again + 0x100000);
	ksft_test_result(code == again + 0x100000 && code_call(code, 0, 5) &&
			 get("a", HITS) == 11 && !get("a", REGISTERED),
			 "moved text has no probes\n");
	munmap(code, 4096);
	command("drop");
}

static void check_private_file(void)
{
	char *map;
	int err;

	code_file(FILE_PATH, 1);
	map = code_map(FILE_PATH, 1, ALL, MAP_PRIVATE);
	map[2048] = 1;
	err = add("a", map, "");
	ksft_test_result(!err && code_call(map, 0, 1) && get("a", HITS) == 1,
			 "a writable mapping of a file: error %d\n", err);
	command("drop");
	munmap(map, 4096);
	map = code_map(FILE_PATH, 1, PROT_READ | PROT_EXEC, MAP_SHARED);
	refused("a shared mapping", add("a", map, ""), EPERM);
	munmap(map, 4096);
	unlink(FILE_PATH);
}

/* --- Refusals ---------------------------------------------------------------------- */

static void check_refusals(void)
{
	static int data;
	char *code = jit();

	refused("no handler", add("a", plain, "nothing"), EINVAL);
	refused("a reserved member", add("a", plain, "reserved"), EINVAL);
	refused("no process", make("a", 99999, plain, "") ?: on("add", "a"), ESRCH);
	refused("a kernel thread", make("a", 2, plain, "") ?: on("add", "a"), EINVAL);
	refused("unmapped memory", add("a", (void *)4096, ""), EFAULT);
	refused("data", add("a", &data, ""), EACCES);
	refused("the inside of a probed instruction",
		add("a", code + code_offsets[1], "") ?: add("b", code + code_offsets[1] + 1, ""),
		EILSEQ);
	memcpy(code + 512, refused_code, sizeof(refused_code));
	refused("an instruction", add("a", code + 512, ""), EOPNOTSUPP);
	memcpy(code + 1024, breakpoint_code, sizeof(breakpoint_code));
	__builtin___clear_cache(code, code + 4096);
	refused("a foreign breakpoint", add("a", code + 1024, ""), EEXIST);
	refused("a return probe with too much data", add("a", plain, "return data=4097"), E2BIG);
	make("a", getpid(), plain, "");
	refused("a registration in a kprobe's handler", on("kprobe add", "a"), EINVAL);
	munmap(code, 4096);
}

static void check_foreign(void)
{
	char *code = jit();
	int err;

	memcpy(code + 1024, breakpoint_code, sizeof(breakpoint_code));
	__builtin___clear_cache(code, code + 4096);
	on_signal(SIGTRAP, on_trap, 0);
	err = add("a", code, "");
	((void (*)(void))(code + 1024))();
	ksft_test_result(!err && traps == 1 && code_call(code, 0, 1) && get("a", HITS) == 1,
			 "a foreign breakpoint raises SIGTRAP\n");
	command("drop");
	munmap(code, 4096);
}

/* --- Handlers that wait -------------------------------------------------------------- */

#define KNOWN	0x101

/* The handler reads a page that the process maps, but does not have yet. */
static void check_reading(void)
{
	const unsigned int known_value = KNOWN;
	char words[40], *map;
	int fd, err;

	code_file(FILE_PATH, 1);
	fd = open(FILE_PATH, O_WRONLY);
	write(fd, &known_value, sizeof(known_value));
	close(fd);
	map = code_map(FILE_PATH, 1, PROT_READ, MAP_PRIVATE);
	snprintf(words, sizeof(words), "read=0x%lx", (unsigned long)map);
	err = add("a", plain, words);
	ksft_test_result(!err && call_plain(1) == 1 && get("a", HITS) == 1 && !get("a", ERRORS),
			 "a handler faults a page in, under a mutex: error %d\n", err);
	munmap(map, 4096);
	call_plain(1);
	ksft_test_result(get("a", HITS) == 2 && get("a", ERRORS) == 1,
			 "and notices that it is unmapped\n");
	command("drop");
	unlink(FILE_PATH);
}

/* The same with a page that it writes. */
static void check_writing(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const volatile unsigned int *at = page;
	char words[40];
	int err;

	snprintf(words, sizeof(words), "write=0x%lx", (unsigned long)page);
	err = add("a", plain, words);
	ksft_test_result(!err && call_plain(1) == 1 && *at == KNOWN && !get("a", ERRORS),
			 "a handler writes data of the process: error %d, 0x%x\n", err, *at);
	change_protection(page, 4096, PROT_READ);
	ksft_test_result(call_plain(1) == 1 && get("a", HITS) == 2 && get("a", ERRORS) == 1,
			 "but not data that the process cannot write\n");
	command("drop");
	munmap(page, 4096);
}

/* --- Operations in handlers -------------------------------------------------------- */

static void check_deferred(void)
{
	int err = add("s", plain, "self");

	call_plain(3);
	ksft_test_result(!err && get("s", HITS) == 1 && get("s", CALLBACKS) == 1 &&
			 get("s", ASKED) == -EINPROGRESS && !get("s", RESULT) &&
			 !get("s", REGISTERED) && log_is("s s- "),
			 "a handler unregisters its own probe: %ld\n", get("s", ASKED));
	command("drop");

	err = make("n", getpid(), plain, "") ?: add("o", plain, "other=n") ?: add("b", plain, "");
	call_plain(1);
	ksft_test_result(!err && get("o", ASKED) == -EINPROGRESS && get("n", CALLBACKS) == 1 &&
			 !get("n", RESULT) && log_is("o b n+ "),
			 "a handler registers another probe, after all handlers\n");
	call_plain(1);
	ksft_test_result(get("n", HITS) == 1 && log_is("o b n+ o b n "), "which is hit next\n");
	command("drop");

	/* The one that is unregistered comes last. */
	err = make("c", getpid(), plain, "") ?: add("a", plain, "") ?:
	      add("b", plain, "remove=c") ?: on("add", "c");
	call_plain(1);
	ksft_test_result(!err && get("b", ASKED) == -EINPROGRESS && get("c", CALLBACKS) == 1 &&
			 !get("c", RESULT) && !get("c", REGISTERED) && log_is("a b c c- "),
			 "a handler unregisters another probe, after all handlers: %ld\n",
			 get("b", ASKED));
	call_plain(1);
	ksft_test_result(get("c", HITS) == 1 && log_is("a b c c- a b "),
			 "which is not hit any more\n");
	command("drop");

	err = make("n", getpid(), (void *)4096, "") ?: add("o", plain, "other=n");
	call_plain(1);
	ksft_test_result(!err && get("n", CALLBACKS) == 1 && get("n", RESULT) == -EFAULT &&
			 !get("n", REGISTERED), "a registration in a handler fails\n");
	command("drop");

	err = add("a", plain, "sleep");
	ksft_test_result(!err && call_plain(2) == 2 && get("a", HITS) == 2, "a handler sleeps\n");
	command("drop");
	check_reading();
	check_writing();
}

/* --- Probes of the kernel ------------------------------------------------------------ */

#define KERNEL_CALLS	100

/* Handlers call a function of the kernel that has a kprobe, a return probe and a jprobe. */
static void check_kernel(void)
{
	int err = command("kernel clear") ?: add("a", plain, "kprobes");

	/* The function is called once with these probes, and once without. */
	ksft_test_result(!err && call_plain(3) == 3 && get("a", HITS) == 3 && !get("a", RESULT) &&
			 kernel_calls_are(3),
			 "a handler registers a kprobe, a return probe and a jprobe: %ld\n",
			 get("a", RESULT));
	command("drop");

	err = add("a", plain, "calls") ?: add("r", plain, "return calls") ?: command("kernel on");
	ksft_test_result(!err && call_plain(KERNEL_CALLS) == KERNEL_CALLS &&
			 get("a", HITS) == KERNEL_CALLS && get("r", HITS) == KERNEL_CALLS &&
			 get("r", RETURNS) == KERNEL_CALLS && !get("a", ERRORS) &&
			 !get("r", ERRORS) && !get("r", MISSED) &&
			 kernel_calls_are(3 + 2 * KERNEL_CALLS),
			 "a function that handlers call has the same probes: error %d\n", err);
	err = on("del", "a");
	ksft_test_result(!err && call_plain(10) == 10 && get("a", HITS) == KERNEL_CALLS &&
			 get("r", RETURNS) == KERNEL_CALLS + 10 &&
			 kernel_calls_are(13 + 2 * KERNEL_CALLS),
			 "one probe of the process is unregistered: error %d\n", err);
	err = command("kernel off");
	ksft_test_result(!err && call_plain(10) == 10 && get("r", RETURNS) == KERNEL_CALLS + 20 &&
			 kernel_calls_are(13 + 2 * KERNEL_CALLS),
			 "the probes of that function are unregistered: error %d\n", err);
	command("drop");
}

/* --- Return probes ----------------------------------------------------------------- */

static void check_returns(void)
{
	int err = add("r", deep, "return");

	ksft_test_result(!err && deep(200) == 200 && get("r", HITS) == 201 &&
			 get("r", RETURNS) == 201 && !get("r", ERRORS) && !get("r", MISSED),
			 "returns of 201 calls: error %d, %ld seen\n", err, get("r", RETURNS));
	command("drop");
	err = add("r", deep, "return most=10");
	ksft_test_result(!err && deep(49) == 49 && get("r", RETURNS) == 10 &&
			 get("r", MISSED) == 40 && deep(9) == 9 && get("r", RETURNS) == 20,
			 "at most 10 at a time: %ld seen, %ld missed\n", get("r", RETURNS),
			 get("r", MISSED));
	command("drop");
	err = add("r", deep, "return data=4096");
	ksft_test_result(!err && deep(20) == 20 && get("r", RETURNS) == 21 && !get("r", ERRORS),
			 "the largest data: error %d, %ld seen\n", err, get("r", RETURNS));
	command("drop");
	/* At most one at a time: an instance that is kept would be counted. */
	err = add("r", deep, "return ignore most=1");
	ksft_test_result(!err && deep(20) == 20 && get("r", HITS) == 21 && !get("r", RETURNS) &&
			 !get("r", MISSED),
			 "an entry handler does not want the returns: %ld seen, %ld missed\n",
			 get("r", RETURNS), get("r", MISSED));
	command("drop");
	err = add("r", plain, "return");
	ksft_test_result(!err && !on("off", "r") && unchanged(plain) && call_plain(2) == 2 &&
			 !get("r", HITS), "a disabled return probe has no breakpoint\n");
	ksft_test_result(!on("on", "r") && call_plain(2) == 2 && get("r", HITS) == 2 &&
			 get("r", RETURNS) == 2, "a return probe is enabled again\n");
	command("drop");
	err = add("r", plain, "return result=77");
	ksft_test_result(!err && plain(1) == 77, "a return handler changes the result\n");
	command("drop");
	err = add("r", plain, "return self");
	ksft_test_result(!err && call_plain(3) == 3 && get("r", RETURNS) == 1 &&
			 get("r", CALLBACKS) == 1 && get("r", ASKED) == -EINPROGRESS,
			 "a return handler unregisters its probe: %ld\n", get("r", ASKED));
	command("drop");
	ksft_test_result(unchanged(plain) && call_plain(2) == 2, "the text is as before\n");
}

/* --- Changed registers --------------------------------------------------------------- */

/* Calls the function of change.h with a probe whose handler changes a register. */
static void check_change(const char *name, const char *at, const char *word, long number,
			 unsigned long wanted)
{
	unsigned long result;
	char words[40];
	int err;

	snprintf(words, sizeof(words), word, number);
	err = add("a", at, words);
	result = changed(0);
	ksft_test_result(!err && result == wanted && get("a", HITS) == 1 && !get("a", ERRORS),
			 "a handler changes %s: 0x%lx, wanted 0x%lx, error %d\n", name, result,
			 wanted, err);
	command("drop");
}

static void check_changes(void)
{
	ksft_test_result(changed(0) == 0x2301, "a function without a probe\n");
	check_change("nothing at a copied instruction", changed_copied, "", 0, 0x2301);
	check_change("the ip at a copied instruction", changed_copied, "ip=%ld",
		     changed_copied_end - changed_copied, 0x2201);
	check_change("nothing at an emulated instruction", changed_call, "", 0, 0x2301);
	check_change("the ip at an emulated instruction", changed_call, "ip=%ld",
		     changed_call_end - changed_call, 0x2101);
	check_change("the result at a copied instruction", changed_copied, "result=%ld", 0x50000,
		     0x52300);
	check_change("the result at an emulated instruction", changed_call, "result=%ld", 0x50000,
		     0x52200);
	check_change("the stack pointer", changed_sp, "sp=%ld", CHANGED_SLOT, 0x1301);
	check_change("the flags", changed_flags, "carry", 0, 0x12301);
}

/* --- Arrays ------------------------------------------------------------------------ */

static void check_batch(void)
{
	char *code = mmap(NULL, 8 * 4096, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long hits = 0, registered = 0;
	char name[16];
	int i, err, good = 0;

	for (i = 0; i < 40; i++) {
		memcpy(code + i * 800, code_start, CODE_SIZE);
		snprintf(name, sizeof(name), "n%d", 39 - i);
		make(name, getpid(), code + i * 800, "");
	}
	__builtin___clear_cache(code, code + 8 * 4096);
	make("bad", getpid(), (void *)4096, "");
	err = command("batch");
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		registered += get(name, REGISTERED);
	}
	ksft_test_result(err == EFAULT && !registered, "all of an array are refused\n");
	command("drop");
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", 39 - i);
		make(name, getpid(), code + i * 800, "");
	}
	err = command("batch");
	for (i = 0; i < 40; i++) {
		good += ((code_function *)(code + i * 800))(i) == i + 7UL;
		snprintf(name, sizeof(name), "n%d", i);
		hits += get(name, HITS);
	}
	ksft_test_result(!err && good == 40, "an array is registered: error %d\n", err);
	for (hits = 0, i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		hits += get(name, HITS) == 1;
	}
	ksft_test_result(hits == 40, "each has its hit: %lu\n", hits);
	command("drop");
	munmap(code, 8 * 4096);
}

static void check_batch_of_returns(void)
{
	int err;

	make("r", getpid(), plain, "return");
	make("q", getpid(), deep, "return");
	make("bad", getpid(), (void *)4096, "return");
	err = command("returns");
	ksft_test_result(err == EFAULT && !get("r", REGISTERED) && !get("q", REGISTERED) &&
			 unchanged(plain), "all of an array of return probes are refused\n");
	command("drop");
	make("r", getpid(), plain, "return");
	make("q", getpid(), deep, "return");
	err = command("returns");
	ksft_test_result(!err && call_plain(3) == 3 && deep(4) == 4 && get("r", RETURNS) == 3 &&
			 get("q", RETURNS) == 5 && !get("r", ERRORS) && !get("q", ERRORS),
			 "an array of return probes is registered: error %d\n", err);
	command("drop");
	ksft_test_result(unchanged(plain), "and unregistered\n");
}

int main(void)
{
	ksft_set_plan(80);
	check_file();
	check_registers();
	check_order();
	check_both();
	check_nop();
	check_jit();
	check_private_file();
	check_refusals();
	check_foreign();
	check_deferred();
	check_kernel();
	check_returns();
	check_changes();
	check_batch();
	check_batch_of_returns();
	ksft_finished();
}
