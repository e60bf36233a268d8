// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel code that reads the text or the stack at a probe (x86): fixups that decode the
 * faulting instruction, machine checks, unwinders.
 */
#include <linux/extable.h>
#include <linux/kallsyms.h>
#include <linux/kprobes-frame.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>
#include <asm/frame.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>
#include <asm/trapnr.h>

#include "../../../arch/x86/kernel/kprobes/classify.h"
#include "../internal.h"
#include "../slots.h"
#include "asm_case.h"
#include "counted.h"
#include "opt_functions.h"

/* --- load_unaligned_zeropad() ------------------------------------------------------- */

asm(ASM_FUNCTION(kprobes_text_zeropad,
		 ASM_PLACE(kprobes_text_load)
		 "mov (" ARG "), " AX "\n"
		 ASM_PLACE(kprobes_text_loaded)
		 ASM_RET)
	_ASM_EXTABLE_TYPE(kprobes_text_load, kprobes_text_loaded, EX_TYPE_ZEROPAD));

/* The load is longer than a jump, so the fixup is after a jump that replaces it. */
asm(ASM_FUNCTION(kprobes_text_long_zeropad,
		 ASM_PLACE(kprobes_text_long_load)
		 "{disp32} mov (" ARG "), " AX "\n"
		 ASM_PLACE(kprobes_text_long_loaded)
		 ASM_RET)
	_ASM_EXTABLE_TYPE(kprobes_text_long_load, kprobes_text_long_loaded, EX_TYPE_ZEROPAD));

/* Loads across the end of the last mapped page, of which only three bytes are read. */
static void expect_load(struct kunit *test, unsigned long (*load)(const void *from))
{
	char *page = vmalloc(PAGE_SIZE), *last;

	KUNIT_ASSERT_NOT_NULL(test, page);
	last = page + PAGE_SIZE - 3;
	memcpy(last, "abc", 3);
	KUNIT_EXPECT_EQ(test, load(last), 0x636261);
	vfree(page);
}

static void a_load_into_an_unmapped_page(struct kunit *test)
{
	struct counted pre = counted_at(kprobes_text_load, true, false);
	struct counted both = counted_at(kprobes_text_load, true, true);

	expect_load(test, kprobes_text_zeropad);
	KUNIT_ASSERT_EQ(test, register_kprobe(&pre.kp), 0);
	expect_load(test, kprobes_text_zeropad);
	KUNIT_EXPECT_EQ(test, register_kprobe(&both.kp), 0);
	expect_load(test, kprobes_text_zeropad);
	unregister_kprobe(&both.kp);
	unregister_kprobe(&pre.kp);
	KUNIT_EXPECT_EQ(test, pre.pre, 2);
	KUNIT_EXPECT_EQ(test, both.pre, 1);
	KUNIT_EXPECT_EQ(test, both.post, 0);
}

/* The fixup decodes the load, and so needs all of the bytes that the jump has replaced. */
static void a_load_that_a_jump_replaces(struct kunit *test)
{
	struct counted c = counted_at(kprobes_text_long_load, true, false);

	expect_load(test, kprobes_text_long_zeropad);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	EXPECT_JUMP(test, &c.kp, kprobe_optimization_allowed);
	expect_load(test, kprobes_text_long_zeropad);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 1);
}

/* --- Text as it was ----------------------------------------------------------------- */

#define TEXT_LEN	12

static void expect_original(struct kunit *test, const u8 *text, unsigned long start)
{
	u8 bytes[TEXT_LEN];
	unsigned int i;

	for (i = 0; i < TEXT_LEN; i++) {
		KUNIT_EXPECT_EQ(test, kprobe_copy_text(bytes, start + i, TEXT_LEN - i), 0);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(bytes, text + i, TEXT_LEN - i), 0,
				    "from byte %u on", i);
	}
}

static void text_without_probes(struct kunit *test)
{
	struct counted c = counted_at(kprobes_opt_three, true, false);
	unsigned long start = (unsigned long)kprobes_opt_three;
	u8 text[TEXT_LEN];

	memcpy(text, text_at(kprobes_opt_three, 0), TEXT_LEN);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	expect_original(test, text, start);
	wait_for_kprobe_optimizer();
	expect_original(test, text, start);
	unregister_kprobe(&c.kp);
	expect_original(test, text, start);
}

/* Also for registrations: text of a module may be freed while it is read. */
static void text_that_cannot_be_read(struct kunit *test)
{
	char *page = vmalloc(PAGE_SIZE);
	u8 text[2];

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, kprobe_copy_text(text, PAGE_SIZE / 2, 1), -ERANGE);
	/* No page is mapped behind that of vmalloc(). */
	KUNIT_EXPECT_EQ(test, kprobe_copy_text(text, (unsigned long)page + PAGE_SIZE, 1), -EFAULT);
	KUNIT_EXPECT_EQ(test, kprobe_copy_text(text, (unsigned long)page + PAGE_SIZE - 1, 2),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, kprobe_copy_text(text, (unsigned long)page + PAGE_SIZE - 1, 1), 0);
	vfree(page);
}

/* A compiler may fill the space behind a jump like this. */
asm(ASM_FUNCTION(kprobes_text_behind,
		 "jmp 1f\n"
		 "int3\n"
		 "1: mov $3, %eax\n"
		 ASM_RET));

/* The places inside have no symbols, which would end the function. */
#define BEHIND	text_at(probe_entry(kprobes_text_behind), JMP8_INSN_SIZE + INT3_INSN_SIZE)

/* Functions are decoded from their start, and an int3 need not be a debugger's. */
static void behind_a_breakpoint_of_padding(struct kunit *test)
{
	struct counted c = counted_at(BEHIND, true, false);
	unsigned long size, offset;

	KUNIT_ASSERT_EQ(test, *(u8 *)text_at(BEHIND, -INT3_INSN_SIZE), INT3_INSN_OPCODE);
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset((unsigned long)BEHIND, &size,
							    &offset));
	KUNIT_ASSERT_EQ(test, (unsigned long)BEHIND - offset, (unsigned long)kprobes_text_behind);
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_EQ(test, kprobes_text_behind(), 3);
	EXPECT_JUMP(test, &c.kp, kprobe_optimization_allowed);
	KUNIT_EXPECT_EQ(test, kprobes_text_behind(), 3);
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_EQ(test, c.pre, 2);
}

/* --- Machine checks ----------------------------------------------------------------- */

asm(ASM_FUNCTION(kprobes_text_checked,
		 ASM_PLACE(kprobes_text_checked_load)
		 "mov (" ARG "), " AX "\n"
		 ASM_PLACE(kprobes_text_checked_fixup)
		 ASM_RET)
	_ASM_EXTABLE(kprobes_text_checked_load, kprobes_text_checked_fixup));

/*
 * The state in which a machine check finds a copy that is stepped: interrupts off, at another
 * context level.
 */
static void leaving_a_copy(struct kunit *test)
{
	struct counted c = counted_at(kprobes_text_checked_load, true, true);
	struct pt_regs regs = { .cs = __KERNEL_CS, .flags = X86_EFLAGS_FIXED };
	struct kprobe_frame *frame;
	struct kprobe *kp;
	int fixed;

	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	kp = probe_at(kprobes_text_checked_load);
	KUNIT_ASSERT_NOT_NULL(test, kp);
	KUNIT_ASSERT_NOT_NULL(test, kp->ainsn.step);

	local_irq_disable();
	frame = kprobe_this_frame();
	kprobe_frame_enter(frame, kp);
	frame->saved_flags = X86_EFLAGS_IF;
	frame->stepping = true;
	regs.ip = (unsigned long)kp->ainsn.step;
	__nmi_enter();
	fixed = fixup_exception(&regs, X86_TRAP_MC, 0, 0);
	__nmi_exit();
	KUNIT_EXPECT_EQ(test, fixed, 1);
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)kprobes_text_checked_fixup);
	KUNIT_EXPECT_EQ(test, regs.flags, X86_EFLAGS_FIXED | X86_EFLAGS_IF);
	KUNIT_EXPECT_TRUE(test, kprobe_frame_is_free(frame));
	KUNIT_EXPECT_FALSE(test, frame->stepping);
	kprobe_frame_step_ends(frame);
	kprobe_frame_leave(frame);

	/* A boosted copy has no frame.  Other addresses are not changed. */
	regs.ip = (unsigned long)kp->ainsn.insn;
	kprobe_leave_copy(&regs);
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)kprobes_text_checked_load);
	kprobe_leave_copy(&regs);
	KUNIT_EXPECT_EQ(test, regs.ip, (unsigned long)kprobes_text_checked_load);
	local_irq_enable();
	unregister_kprobe(&c.kp);
}

/* --- Points and their copies --------------------------------------------------------- */

static unsigned long stale_hit(unsigned long addr)
{
	struct pt_regs regs = { .ip = addr + INT3_INSN_SIZE, .cs = __KERNEL_CS };

	local_irq_disable();
	if (!kprobe_int3_handler(&regs))
		regs.ip = 0;
	local_irq_enable();
	return regs.ip;
}

/* Copies of a batch are written together, after the points are in the table. */
static void a_stale_breakpoint(struct kunit *test)
{
	struct kprobe_place place = { .addr = (unsigned long)kprobes_text_load };
	struct counted first = counted_at(kprobes_text_load, true, false);
	struct kprobe_point *point;
	const char *why = NULL;
	LIST_HEAD(points);

	/* Nobody looks for probes before the first is registered. */
	KUNIT_ASSERT_EQ(test, register_kprobe(&first.kp), 0);
	unregister_kprobe(&first.kp);

	guard(mutex)(&kprobe_mutex);
	KUNIT_EXPECT_EQ(test, kprobe_table_reserve(1), 0);
	point = kprobe_point_create(&place, &why);
	KUNIT_EXPECT_FALSE(test, IS_ERR(point));
	if (IS_ERR(point))
		return;
	kprobe_table_insert(point);
	/* One copy that is written alone is written at once. */
	if (TEXT_POKE_PAGES > 1)
		KUNIT_EXPECT_EQ(test, stale_hit(place.addr), place.addr);
	arch_prepare_kprobes_end();
	KUNIT_EXPECT_NOT_NULL(test, point->kp.ainsn.insn);
	KUNIT_EXPECT_EQ(test, stale_hit(place.addr), (unsigned long)point->kp.ainsn.insn);
	KUNIT_EXPECT_EQ(test, *point->kp.ainsn.insn, *(u8 *)place.addr);

	kprobe_collect(point, &points);
	kprobe_points_unpublish(&points);
	kprobe_points_release(&points);
}

/* The number of slots that a point has, without those of detours. */
static unsigned int slots_of(const struct kprobe *kp)
{
	unsigned int nr = 0, bucket, i;
	struct slot_page *page;

	guard(mutex)(&kprobe_insn_slots.mutex);
	hash_for_each(kprobe_slot_pages, bucket, page, node) {
		for (i = 0; page->cache == &kprobe_insn_slots && i < page->nr; i++)
			nr += page->owners[i] == kp;
	}
	return nr;
}

/* Two probes at one address, both with a post handler, need one copy that ends with a trap. */
static void copies_of_a_batch(struct kunit *test)
{
	struct counted a = counted_at(kprobes_text_load, true, true);
	struct counted b = counted_at(kprobes_text_load, true, true);
	struct kprobe *both[] = { &a.kp, &b.kp };

	KUNIT_ASSERT_EQ(test, register_kprobes(both, ARRAY_SIZE(both)), 0);
	KUNIT_EXPECT_EQ(test, slots_of(probe_at(kprobes_text_load)), 2U);
	unregister_kprobes(both, ARRAY_SIZE(both));
}

/* --- Stack traces ------------------------------------------------------------------- */

/*
 * In C: a kernel that tracks the depth of calls enters it in the code in front of it, and only
 * functions of a compiler have data for unwinders there.
 */
noinline void kprobes_text_callee(void)
{
	barrier();
}

asm(ASM_FUNCTION(kprobes_text_caller,
		 FRAME_BEGIN
		 ASM_PLACE(kprobes_text_call)
		 "call kprobes_text_callee\n"
		 ASM_PLACE(kprobes_text_called)
		 FRAME_END
		 ASM_RET));

static unsigned long trace[32];
static unsigned int nr_trace;
static unsigned long wanted;

static void trace_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	nr_trace = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
}

static noinline __noclone void call_the_caller(void)
{
	wanted = _RET_IP_;
	kprobes_text_caller();
	barrier();
}

static bool traced(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < nr_trace && trace[i] != addr; i++)
		;
	return i < nr_trace;
}

/* The call is emulated, so the registers are those at the entry of the callee. */
static void callers_after_an_emulated_call(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)kprobes_text_call, .post_handler = trace_post };

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	nr_trace = 0;
	call_the_caller();
	unregister_kprobe(&kp);
	KUNIT_EXPECT_GT(test, nr_trace, 0U);
	KUNIT_EXPECT_TRUE(test, traced(wanted));
	if (IS_ENABLED(CONFIG_UNWINDER_ORC))
		KUNIT_EXPECT_TRUE(test, traced((unsigned long)kprobes_text_called));
}

/* --- Distances ---------------------------------------------------------------------- */

static void the_reach_of_a_jump(struct kunit *test)
{
	u64 at = (unsigned long)kprobes_text_caller, far = at ^ BIT_ULL(31);
	u8 jump[PROBE_JUMP_LEN];

	KUNIT_EXPECT_EQ(test, probe_put_jump(INSN_MODE_KERN, jump, at, at), PROBE_JUMP_LEN);
	KUNIT_EXPECT_EQ(test, probe_put_jump(INSN_MODE_KERN, jump, at, far),
			IS_ENABLED(CONFIG_X86_64) ? -ERANGE : PROBE_JUMP_LEN);
}

#ifdef CONFIG_X86_64
extern char kprobes_text_far_insn[];

/* The operand is so far before the instruction that a copy in a slot does not reach it. */
asm(ASM_FUNCTION(kprobes_text_far,
		 ASM_PLACE(kprobes_text_far_insn)
		 "mov -0x7ffffff0(%rip), %rax\n"
		 ASM_RET));

static void an_operand_out_of_reach(struct kunit *test)
{
	struct counted c = counted_at(kprobes_text_far_insn, true, false);
	struct kprobe_why why = {};

	KUNIT_EXPECT_EQ(test, register_kprobe_why(&c.kp, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.text, "the instruction cannot be probed");
	KUNIT_EXPECT_STREQ(test, why.detail,
			   "a copy does not reach its operand or the next instruction");
}
#endif

/* --- Instructions that wait for an interrupt ----------------------------------------- */

/* Is not called. */
asm(ASM_FUNCTION(kprobes_text_waits,
		 "nop\n"
		 ASM_PLACE(kprobes_text_hlt)
		 "hlt\n"
		 ASM_PLACE(kprobes_text_mwait)
		 ".byte 0x0f, 0x01, 0xc9\n"
		 ASM_PLACE(kprobes_text_mwaitx)
		 ".byte 0x0f, 0x01, 0xfb\n"
		 ASM_PLACE(kprobes_text_monitor)
		 ".byte 0x0f, 0x01, 0xc8\n"
		 ASM_RET));

static int try_post(char *insn, struct kprobe_why *why)
{
	struct counted c = counted_at(insn, true, true);
	int ret = register_kprobe_why(&c.kp, why);

	if (!ret)
		unregister_kprobe(&c.kp);
	return ret;
}

/* A copy with a breakpoint after it runs with interrupts masked, so it would wait forever. */
static void a_post_handler_after_a_wait_is_refused(struct kunit *test)
{
	char *const waits[] = { kprobes_text_hlt, kprobes_text_mwait, kprobes_text_mwaitx };
	struct kprobe_why why = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(waits); i++) {
		struct counted pre = counted_at(waits[i], true, false);

		KUNIT_EXPECT_EQ(test, try_post(waits[i], &why), -EINVAL);
		KUNIT_EXPECT_STREQ(test, why.detail,
				   "no copy can trap after it, as a post_handler needs");
		KUNIT_EXPECT_PTR_EQ(test, probe_at(waits[i]), NULL);
		KUNIT_ASSERT_EQ(test, register_kprobe(&pre.kp), 0);
		/* Likewise if it is not the first probe there. */
		KUNIT_EXPECT_EQ(test, try_post(waits[i], &why), -EINVAL);
		unregister_kprobe(&pre.kp);
	}
	KUNIT_EXPECT_EQ(test, try_post(kprobes_text_monitor, &why), 0);
}

static struct kunit_case text_cases[] = {
	KUNIT_CASE(the_reach_of_a_jump),
	KUNIT_CASE(a_post_handler_after_a_wait_is_refused),
#ifdef CONFIG_X86_64
	KUNIT_CASE(an_operand_out_of_reach),
#endif
	KUNIT_CASE(a_load_into_an_unmapped_page),
	KUNIT_CASE(a_load_that_a_jump_replaces),
	KUNIT_CASE(text_without_probes),
	KUNIT_CASE(text_that_cannot_be_read),
	KUNIT_CASE(behind_a_breakpoint_of_padding),
	KUNIT_CASE(leaving_a_copy),
	KUNIT_CASE(a_stale_breakpoint),
	KUNIT_CASE(copies_of_a_batch),
	KUNIT_CASE(callers_after_an_emulated_call),
	{}
};

static struct kunit_suite text_suite = {
	.name = "kprobes_x86_text",
	.test_cases = text_cases,
};

kunit_test_suite(text_suite);
