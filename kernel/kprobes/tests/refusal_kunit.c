// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every refusal that built-in code can provoke: its errno, that text and struct are unchanged,
 * and that a valid registration works afterwards.  The suite tests the table in
 * Documentation/trace/kprobes.rst, section "Errors".
 */
#include <linux/bug.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <asm/sections.h>

#ifdef CONFIG_X86
#include <asm/nospec-branch.h>
#endif

#include "asm_text.h"
#include "counted.h"

static DEFINE_STATIC_KEY_FALSE(refusal_key);
static int data_target;

TRAP_TARGET(good_target, 1)

static noinline __noclone notrace __maybe_unused int jump_label_target(int x)
{
	KEEP_CALL(x);
	if (static_branch_unlikely(&refusal_key))
		x *= 3;
	return x;
}

static noinline __noclone int ftrace_target(int x)
{
	KEEP_CALL(x);
	return x - 1;
}

TRACED_TARGET(nokprobe_target, 2)
NOKPROBE_SYMBOL(nokprobe_target);

static noinline noinstr int noinstr_target(int x)
{
	return x + 3;
}

static noinline int __kprobes section_target(int x)
{
	KEEP_CALL(x);
	return x + 4;
}

#if defined(CONFIG_GENERIC_BUG) && defined(__WARN_FLAGS) && \
	!defined(CONFIG_HAVE_KPROBES_ON_BUGS)
#define REFUSES_WARNINGS
static noinline __noclone notrace int bug_target(int x)
{
	KEEP_CALL(x);
	WARN_ON_ONCE(x == 12345);
	return x;
}
#endif

/* Registers at @addr, expects @err, and checks that nothing has changed. */
static void expect_refused(struct kunit *test, void *addr, int err)
{
	struct counted c = counted_at(addr, true, true);
	struct counted good = counted_at(good_target, true, false);
	int ret = register_kprobe(&c.kp);

	KUNIT_EXPECT_EQ_MSG(test, ret, err, "at %pS", addr);
	if (!ret)
		unregister_kprobe(&c.kp);
	KUNIT_EXPECT_PTR_EQ(test, (void *)c.kp.addr, probe_entry(addr));
	KUNIT_EXPECT_EQ(test, c.kp.flags, 0);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(addr), NULL);

	KUNIT_ASSERT_EQ(test, register_kprobe(&good.kp), 0);
	good_target(1);
	unregister_kprobe(&good.kp);
	KUNIT_EXPECT_EQ(test, good.pre, 1);
}

/* The same for those of the functions that this kernel has; returns their number. */
static int expect_names_refused(struct kunit *test, const char *const *names, int nr)
{
	unsigned long addr;
	int i, found = 0;

	for (i = 0; i < nr; i++) {
		addr = kallsyms_lookup_name(names[i]);
		if (!addr)
			continue;
		found++;
		expect_refused(test, (void *)addr, -EINVAL);
	}
	return found;
}

static void bad_arguments(struct kunit *test)
{
	struct counted c = counted_at(good_target, true, false);
	struct kprobe *kps[] = { &c.kp, NULL };

	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(NULL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobes(kps, 2), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, probe_at(good_target), NULL);
}

static void both_or_neither_of_symbol_and_address(struct kunit *test)
{
	struct counted c = counted_at(good_target, true, false);

	c.kp.symbol_name = "good_target";
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), -EINVAL);
	c.kp.symbol_name = NULL;
	c.kp.addr = NULL;
	KUNIT_EXPECT_EQ(test, register_kprobe(&c.kp), -EINVAL);
}

static void unknown_symbol(struct kunit *test)
{
	struct kprobe kp = { .symbol_name = "there_is_no_such_function" };

	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -ENOENT);
	kp.symbol_name = "no_such_module:no_such_function";
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, (void *)kp.addr, NULL);
}

static void outside_the_text(struct kunit *test)
{
	void *heap = kunit_kmalloc(test, 64, GFP_KERNEL);

	expect_refused(test, &data_target, -EINVAL);
	expect_refused(test, heap, -EINVAL);
	expect_refused(test, (void *)0x1000, -EINVAL);
	expect_refused(test, (void *)-16UL, -EINVAL);
	/* A page with code for user space, which counts as kernel text. */
	if (IS_ENABLED(CONFIG_ARM))
		expect_refused(test, (void *)0xffff0fe0UL, -EINVAL);
}

static void blacklisted(struct kunit *test)
{
	expect_refused(test, nokprobe_target, -EINVAL);
	expect_refused(test, noinstr_target, -EINVAL);
	expect_refused(test, section_target, -EINVAL);
	expect_refused(test, get_kprobe, -EINVAL);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)nokprobe_target));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((unsigned long)good_target));
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((unsigned long)ftrace_target));
}

/* The caller gets the reason of its own registration. */
static void the_reason_is_returned(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = probe_entry(good_target), .data_size = SZ_1M };
	struct counted good = counted_at(good_target, true, false);
	struct counted bad = counted_at(nokprobe_target, true, false);
	struct kprobe_why why = { "unchanged", "unchanged" };

	KUNIT_EXPECT_EQ(test, register_kprobe_why(&bad.kp, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.text, "blacklisted");
	KUNIT_EXPECT_NULL(test, why.detail);
	KUNIT_ASSERT_EQ(test, register_kprobe_why(&good.kp, &why), 0);
	KUNIT_EXPECT_NULL(test, why.text);
	KUNIT_EXPECT_EQ(test, register_kprobe_why(&good.kp, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.text, "already registered");
	unregister_kprobe(&good.kp);
	if (!IS_ENABLED(CONFIG_KRETPROBES))
		return;
	KUNIT_EXPECT_EQ(test, register_kretprobe_why(&rp, &why), -E2BIG);
	KUNIT_EXPECT_STREQ(test, why.text, "data_size too large");
}

#if defined(CONFIG_X86) && defined(CONFIG_DYNAMIC_FTRACE)
/* All bytes of the trampolines, and none before them. */
static void ftraces_trampolines(struct kunit *test)
{
	expect_refused(test, ftrace_caller, -EINVAL);
	expect_refused(test, ftrace_call, -EINVAL);
	expect_refused(test, ftrace_regs_caller, -EINVAL);
	expect_refused(test, ftrace_regs_call, -EINVAL);
	KUNIT_EXPECT_FALSE(test, within_kprobe_blacklist((ulong)text_at(ftrace_caller, -1)));
}
#endif

/* The first and the last byte of a section are blacklisted. */
static void ends_of_a_blacklisted_section(struct kunit *test)
{
	unsigned long start = (unsigned long)__noinstr_text_start;
	unsigned long end = (unsigned long)__noinstr_text_end;

	KUNIT_ASSERT_LT(test, start, end);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(start));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(end - 1));
	start = (unsigned long)__kprobes_text_start;
	end = (unsigned long)__kprobes_text_end;
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(start));
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist(end - 1));
}

#ifdef CONFIG_MITIGATION_RETHUNK
/* Every return executes them, also the returns of a hit. */
static void return_thunks(struct kunit *test)
{
	expect_refused(test, __x86_return_thunk, -EINVAL);
	expect_refused(test, x86_return_thunk, -EINVAL);
	if (IS_ENABLED(CONFIG_MITIGATION_CALL_DEPTH_TRACKING))
		expect_refused(test, call_depth_return_thunk, -EINVAL);
	if (IS_ENABLED(CONFIG_MITIGATION_UNRET_ENTRY))
		expect_refused(test, retbleed_return_thunk, -EINVAL);
	if (IS_ENABLED(CONFIG_MITIGATION_SRSO)) {
		expect_refused(test, srso_return_thunk, -EINVAL);
		expect_refused(test, srso_alias_return_thunk, -EINVAL);
	}
	if (IS_ENABLED(CONFIG_MITIGATION_ITS))
		expect_refused(test, its_return_thunk, -EINVAL);
}
#endif

#ifdef CONFIG_MITIGATION_ITS
static void thunks_of_indirect_target_selection(struct kunit *test)
{
	expect_refused(test, __x86_indirect_its_thunk_array, -EINVAL);
	expect_refused(test, __x86_indirect_its_thunk_array + 1, -EINVAL);
}
#endif

#ifdef CONFIG_X86_64
/* A kCFI check.  The report of its failure reads the first two instructions. */
asm(".pushsection .text\n"
	".global kprobes_kunit_kcfi\n"
	".type kprobes_kunit_kcfi, @function\n"
	"kprobes_kunit_kcfi:\n" ANNOTATE_NOENDBR "\n"
	"	nop\n"
	"	movl $0x12345678, %r10d\n"
	"	addl -4(%r11), %r10d\n"
	"	.byte 0x74, 0x02\n"
	"	ud2\n"
	"	nop\n"
	"	nop\n"
	".size kprobes_kunit_kcfi, . - kprobes_kunit_kcfi\n"
	".popsection\n");
asmlinkage void kprobes_kunit_kcfi(void);
STACK_FRAME_NON_STANDARD(kprobes_kunit_kcfi);

static void a_kcfi_check(struct kunit *test)
{
	struct counted je = counted_at(text_at(kprobes_kunit_kcfi, 11), true, false);

	/* The movl and the addl. */
	expect_refused(test, text_at(kprobes_kunit_kcfi, 1), -EINVAL);
	expect_refused(test, text_at(kprobes_kunit_kcfi, 7), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobe(&je.kp), 0);
	/* Also if the breakpoint of a probe is in the check. */
	expect_refused(test, text_at(kprobes_kunit_kcfi, 1), -EINVAL);
	expect_refused(test, text_at(kprobes_kunit_kcfi, 7), -EINVAL);
	unregister_kprobe(&je.kp);
}
#endif

#ifdef CONFIG_X86
static void entry_text(struct kunit *test)
{
	expect_refused(test, __entry_text_start, -EINVAL);
	expect_refused(test, __entry_text_end - 1, -EINVAL);
}

static void inside_an_instruction(struct kunit *test)
{
	int i, refused = 0;

	/* In any 16 bytes of code, some address is inside an instruction. */
	for (i = 1; i < TEXT_BYTES; i++) {
		struct counted c = counted_at(text_at(good_target, i), true, false);
		int ret = register_kprobe(&c.kp);

		if (!ret)
			unregister_kprobe(&c.kp);
		refused += ret == -EILSEQ;
	}
	KUNIT_EXPECT_GT(test, refused, 0);
}
#endif

static void inside_ftraces_instruction(struct kunit *test)
{
	unsigned long site = ftrace_location((unsigned long)ftrace_target);

	if (!site)
		kunit_skip(test, "ftrace does not own function entries here");
	expect_refused(test, (void *)site + 1, -EILSEQ);
	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		expect_refused(test, (void *)site, -EINVAL);
}

#ifdef CONFIG_JUMP_LABEL
static void a_jump_label(struct kunit *test)
{
	struct jump_entry *entry;

	jump_label_target(1);
	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		if (jump_entry_key(entry) == &refusal_key.key)
			break;
	}
	KUNIT_ASSERT_TRUE(test, entry < __stop___jump_table);
	expect_refused(test, (void *)jump_entry_code(entry), -EINVAL);
}
#endif

#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
static void a_static_call(struct kunit *test)
{
	extern struct static_call_site __start_static_call_sites[],
				       __stop_static_call_sites[];
	struct static_call_site *site = __start_static_call_sites;

	KUNIT_ASSERT_TRUE(test, site < __stop_static_call_sites);
	/* Find one that is not refused for another reason first. */
	for (; site < __stop_static_call_sites; site++) {
		unsigned long addr = (long)site->addr + (long)&site->addr;

		if (within_kprobe_blacklist(addr) || init_section_contains((void *)addr, 1))
			continue;
		expect_refused(test, (void *)addr, -EINVAL);
		return;
	}
	kunit_skip(test, "all static calls are blacklisted");
}
#endif

#ifdef CONFIG_HAVE_STATIC_CALL
static int first_callee(void)
{
	return 1;
}

static int second_callee(void)
{
	return 2;
}

DEFINE_STATIC_CALL(kprobes_refusal_call, first_callee);

/* static_call_update() rewrites the trampoline, and still works after a refused probe. */
static void a_static_calls_trampoline(struct kunit *test)
{
	void *trampoline = dereference_symbol_descriptor(&STATIC_CALL_TRAMP(kprobes_refusal_call));

	expect_refused(test, trampoline, -EINVAL);
	KUNIT_EXPECT_TRUE(test, within_kprobe_blacklist((unsigned long)trampoline));
	KUNIT_EXPECT_EQ(test, static_call(kprobes_refusal_call)(), 1);
	static_call_update(kprobes_refusal_call, second_callee);
	KUNIT_EXPECT_EQ(test, static_call(kprobes_refusal_call)(), 2);
	static_call_update(kprobes_refusal_call, first_callee);
}
#endif

/*
 * Call depth tracking and FineIBT execute the padding, also in front of functions that hits
 * call.
 */
static void padding_in_front_of_a_function(struct kunit *test)
{
	static const char *const names[] = { "__pfx_good_target", "__cfi_good_target" };

	if (!expect_names_refused(test, names, ARRAY_SIZE(names)))
		kunit_skip(test, "functions have no padding here");
}

#ifdef CONFIG_CALL_THUNKS
int kprobes_kunit_padded(void);
TEXT_FUNCTION(kprobes_kunit_padded,
	      "xorl	%eax, %eax\n"
	      TEXT_RETURN);

/* The padding of a function in assembly has no symbol; callers may enter it in the middle. */
static void padding_without_a_symbol(struct kunit *test)
{
	struct counted entry = counted_at(kprobes_kunit_padded, true, false);
	int i;

	for (i = 1; i <= CONFIG_FUNCTION_PADDING_BYTES; i++)
		expect_refused(test, text_at(kprobes_kunit_padded, -i), -EINVAL);
	KUNIT_EXPECT_EQ(test, register_kprobe(&entry.kp), 0);
	KUNIT_EXPECT_EQ(test, kprobes_kunit_padded(), 0);
	KUNIT_EXPECT_EQ(test, entry.pre, 1);
	unregister_kprobe(&entry.kp);
}
#endif

#ifdef CONFIG_PREEMPTION
/* A detour ends with a call of the first function; in some kernels, through the others. */
static void scheduling_at_the_end_of_a_detour(struct kunit *test)
{
	static const char *const names[] = {
		"preempt_schedule_notrace", "dynamic_preempt_schedule_notrace",
		"preempt_schedule_notrace_thunk", "__SCT__preempt_schedule_notrace",
	};

	KUNIT_ASSERT_NE(test, kallsyms_lookup_name(names[0]), 0);
	expect_names_refused(test, names, ARRAY_SIZE(names));
}
#endif

#ifdef REFUSES_WARNINGS
static void a_warning(struct kunit *test)
{
	unsigned long addr = (unsigned long)bug_target;
	int i;

	bug_target(1);
	for (i = 0; i < 256 && !find_bug(addr + i); i++)
		;
	KUNIT_ASSERT_LT(test, i, 256);
	expect_refused(test, (void *)addr + i, -EINVAL);
}
#endif

#ifdef CONFIG_X86
/* Text without RCU, in which offline CPUs are, or that is copied; some only with an option. */
static void text_where_no_handler_can_run(struct kunit *test)
{
	static const char *const names[] = {
		"ret_from_fork", "ret_from_fork_asm", "mwait_play_dead", "hlt_play_dead",
		"acpi_idle_play_dead", "sev_es_ap_hlt_loop", "machine_kexec", "restore_registers",
		"core_restore_code", "restore_image", "swsusp_arch_suspend",
	};

	KUNIT_EXPECT_NE(test, kallsyms_lookup_name("ret_from_fork"), 0);
	expect_names_refused(test, names, ARRAY_SIZE(names));
}

/*
 * Never executed: each label is an instruction that cannot be probed.  They are marked as
 * data, because objtool rejects such instructions in a function.
 */
asmlinkage void kprobes_kunit_refused(void);
extern char refused_iret[], refused_int3[], refused_ud2[], refused_lret[],
	refused_mov_ss[], refused_int80[], refused_ret16[], refused_xbegin[],
	refused_far_jmp[], refused_far_call[];

asm(".pushsection .text\n"
	".global kprobes_kunit_refused\n"
	".type kprobes_kunit_refused, @function\n"
	"kprobes_kunit_refused:\n" ANNOTATE_NOENDBR "\n"
	"	nop\n"
	"refused_iret:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xcf\n"
	"refused_ud2:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0x0f, 0x0b\n"
	"refused_lret:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xcb\n"
	"refused_mov_ss:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0x8e, 0xd0\n"
	"refused_int80:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xcd, 0x80\n"
	"refused_ret16:\n" ANNOTATE_NOENDBR "\n"
	ANNOTATE_RETPOLINE_SAFE "\n"
	"	.byte 0x66, 0xc3\n"
	"refused_xbegin:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xc7, 0xf8, 0, 0, 0, 0\n"
	"refused_far_jmp:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xff, 0x28\n"
	"refused_far_call:\n" ANNOTATE_NOENDBR "\n"
	ANNOTATE_RETPOLINE_SAFE "\n"
	"	.byte 0xff, 0x18\n"
	"refused_int3:\n" ANNOTATE_NOENDBR "\n"
	"	.byte 0xcc\n"
	"	nop\n"
	".size kprobes_kunit_refused, . - kprobes_kunit_refused\n"
	".popsection\n");
STACK_FRAME_NON_STANDARD(kprobes_kunit_refused);

static void instructions_that_cannot_be_probed(struct kunit *test)
{
	char *const refused[] = {
		refused_iret, refused_ud2, refused_lret, refused_mov_ss,
		refused_int80, refused_ret16, refused_xbegin, refused_far_jmp,
		refused_far_call, refused_int3,
	};
	struct kprobe iret = { .addr = refused_iret };
	struct kprobe_why why;
	u8 text[TEXT_BYTES];
	int i;

	text_save(text, refused_iret);
	KUNIT_EXPECT_EQ(test, register_kprobe_why(&iret, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.text, "the instruction cannot be probed");
	KUNIT_EXPECT_NOT_NULL(test, why.detail);
	for (i = 0; i < ARRAY_SIZE(refused); i++)
		expect_refused(test, refused[i], -EINVAL);
	EXPECT_TEXT(test, text, refused_iret);
}
#endif

#ifdef CONFIG_X86_64
/*
 * The padding consists of int3 and counts as part of the last function.  If each refusal
 * decoded all of it, up to 2 MiB, it would block all registrations for that time; these
 * refusals take milliseconds.
 */
static void padding_in_front_of_the_entry_text(struct kunit *test)
{
	char *end = PTR_ALIGN_DOWN(&__entry_text_start[0], PMD_SIZE), *at = end - SZ_4K;
	u64 start;

	if (end - SZ_64K < _stext || memchr_inv(end - SZ_64K, 0xcc, SZ_64K))
		kunit_skip(test, "the padding is too short");
	expect_refused(test, at, -EINVAL);
	start = ktime_get_ns();
	for (; at < end; at += 16) {
		struct kprobe kp = { .addr = at };

		KUNIT_EXPECT_EQ(test, register_kprobe(&kp), -EINVAL);
	}
	KUNIT_EXPECT_LT(test, ktime_get_ns() - start, NSEC_PER_SEC);
}
#endif

/* A breakpoint there would be hit again before its hit is recorded. */
static void on_the_way_to_a_hit(struct kunit *test)
{
	static const char *const names[] = {
		"trace_clock_local", "trace_osnoise_callback", "trace_hwlat_callback",
		"__sanitizer_cov_trace_pc", "__sanitizer_cov_trace_cmp4",
		"__sanitizer_cov_trace_switch", "check_kcov_mode", "canonicalize_ip",
		"write_comp_data", "lockdep_hardirqs_on_prepare",
		IS_ENABLED(CONFIG_X86) ? "sched_clock" : "",
	};

	if (!expect_names_refused(test, names, ARRAY_SIZE(names)))
		kunit_skip(test, "this kernel has none of them");
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE(bad_arguments),
	KUNIT_CASE(both_or_neither_of_symbol_and_address),
	KUNIT_CASE(unknown_symbol),
	KUNIT_CASE(outside_the_text),
	KUNIT_CASE(blacklisted),
	KUNIT_CASE(the_reason_is_returned),
	KUNIT_CASE(on_the_way_to_a_hit),
#if defined(CONFIG_X86) && defined(CONFIG_DYNAMIC_FTRACE)
	KUNIT_CASE(ftraces_trampolines),
#endif
	KUNIT_CASE(ends_of_a_blacklisted_section),
	KUNIT_CASE(inside_ftraces_instruction),
#ifdef CONFIG_JUMP_LABEL
	KUNIT_CASE(a_jump_label),
#endif
#ifdef CONFIG_HAVE_STATIC_CALL_INLINE
	KUNIT_CASE(a_static_call),
#endif
#ifdef CONFIG_HAVE_STATIC_CALL
	KUNIT_CASE(a_static_calls_trampoline),
#endif
	KUNIT_CASE(padding_in_front_of_a_function),
#ifdef CONFIG_CALL_THUNKS
	KUNIT_CASE(padding_without_a_symbol),
#endif
#ifdef CONFIG_PREEMPTION
	KUNIT_CASE(scheduling_at_the_end_of_a_detour),
#endif
#ifdef REFUSES_WARNINGS
	KUNIT_CASE(a_warning),
#endif
#ifdef CONFIG_MITIGATION_RETHUNK
	KUNIT_CASE(return_thunks),
#endif
#ifdef CONFIG_MITIGATION_ITS
	KUNIT_CASE(thunks_of_indirect_target_selection),
#endif
#ifdef CONFIG_X86_64
	KUNIT_CASE(a_kcfi_check),
	KUNIT_CASE(padding_in_front_of_the_entry_text),
#endif
#ifdef CONFIG_X86
	KUNIT_CASE(text_where_no_handler_can_run),
	KUNIT_CASE(entry_text),
	KUNIT_CASE(inside_an_instruction),
	KUNIT_CASE(instructions_that_cannot_be_probed),
#endif
	{}
};

static struct kunit_suite refusal_suite = {
	.name = "kprobes_refusal",
	.test_cases = refusal_cases,
};
kunit_test_suite(refusal_suite);
