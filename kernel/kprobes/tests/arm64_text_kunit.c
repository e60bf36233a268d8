// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text that is executed at EL2, at other addresses, without the kernel's vectors or without
 * a stack (arm64): none of its addresses can be probed, however the kernel was booted.
 * Also data in the text, in front of functions, post handlers of instructions that cannot be
 * stepped, and breakpoints that are not on a probe.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <asm/brk-imm.h>
#include <asm/daifflags.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/kexec.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "../../../arch/arm64/kernel/probes/detour.h"
#include "asm_text.h"
#include "counted.h"

/* --- Sections ---------------------------------------------------------------------- */

static const struct text_section {
	const char *name;
	const char *start, *end;
} text_sections[] = {
	{ "hypervisor", __hyp_text_start, __hyp_text_end },
	{ "hypervisor, identity", __hyp_idmap_text_start, __hyp_idmap_text_end },
	{ "identity", __idmap_text_start, __idmap_text_end },
#ifdef CONFIG_UNMAP_KERNEL_AT_EL0
	{ "trampolines of vectors", __entry_tramp_text_start, __entry_tramp_text_end },
#endif
#ifdef CONFIG_HIBERNATION
	{ "hibernation", __hibernate_exit_text_start, __hibernate_exit_text_end },
#endif
};

KUNIT_ARRAY_PARAM_DESC(section, text_sections, name);

static int try(unsigned long addr)
{
	struct counted c = counted_at((void *)addr, true, false);
	int ret = register_kprobe(&c.kp);

	if (!ret)
		unregister_kprobe(&c.kp);
	return ret;
}

static void sections_are_refused(struct kunit *test)
{
	const struct text_section *section = test->param_value;
	unsigned long addr;

	if (section->start == section->end)
		kunit_skip(test, "the section is empty");
	for (addr = (unsigned long)section->start; addr < (unsigned long)section->end;
	     addr += AARCH64_INSN_SIZE)
		KUNIT_ASSERT_EQ_MSG(test, try(addr), -EINVAL, "%pS", (void *)addr);
}

/* --- Names ------------------------------------------------------------------------- */

/* Prefix of the hypervisor's symbols, wherever the linker places them. */
#define HYPERVISOR	"__kvm_nvhe_"

struct found {
	unsigned long addr[16];
	unsigned int nr, all;
};

/*
 * Finds the first symbol that is not refused.  Symbols of the kernel with which the
 * hypervisor is linked have a second name with the prefix.  They have another name first
 * and are skipped.
 */
static int find_hypervisor(void *data, const char *name, unsigned long addr)
{
	char first[KSYM_NAME_LEN];
	struct found *found = data;

	if (!str_has_prefix(name, HYPERVISOR) || !__is_kernel_text(addr) ||
	    lookup_symbol_name(addr, first) || !str_has_prefix(first, HYPERVISOR))
		return 0;
	found->all++;
	if (!within_kprobe_blacklist(addr) && found->nr < ARRAY_SIZE(found->addr))
		found->addr[found->nr++] = addr;
	return 0;
}

static void hypervisor_is_refused(struct kunit *test)
{
	struct found found = { };
	unsigned int i;

	kallsyms_on_each_symbol(find_hypervisor, &found);
	if (!found.all)
		kunit_skip(test, "no hypervisor in this kernel");
	for (i = 0; i < found.nr; i++)
		KUNIT_EXPECT_TRUE_MSG(test, false, "%pS", (void *)found.addr[i]);
}

/* Coming up or waking of a CPU; with VHE, entry to and exit from a guest. */
static const char *const without_vectors[] = {
	"__secondary_switched",
	"finalise_el2",
#ifdef CONFIG_CPU_PM
	"_cpu_resume",
	"cpu_do_resume",
#endif
#ifdef CONFIG_KVM
	"__guest_enter",
	"__guest_exit",
	"abort_guest_exit_end",
	"el1_sync",
	"el2_error",
	"__kvm_hyp_vector",
	"__bp_harden_hyp_vecs",
	/* These are in C. */
	"__debug_switch_to_guest",
	"__kvm_adjust_pc",
	"__vgic_v3_perform_cpuif_access",
	"get_timer_map",
	"vcpu_read_sys_reg",
	"vcpu_write_sys_reg",
#ifdef CONFIG_ARM64_PTR_AUTH
	"kvm_auth_eretax",
#endif
#endif
};

/* Tries all instructions of a function.  Returns false if there is none with this name. */
static bool function_is_refused(struct kunit *test, const char *name)
{
	unsigned long addr, start = kallsyms_lookup_name(name), size, offset;

	if (!start || !kallsyms_lookup_size_offset(start, &size, &offset))
		return false;
	for (addr = start; addr < start + size; addr += AARCH64_INSN_SIZE)
		KUNIT_EXPECT_EQ_MSG(test, try(addr), -EINVAL, "%pS", (void *)addr);
	return true;
}

static void text_without_vectors_is_refused(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(without_vectors); i++)
		KUNIT_EXPECT_TRUE_MSG(test, function_is_refused(test, without_vectors[i]), "%s",
				      without_vectors[i]);
	/* The compiler may inline it. */
	function_is_refused(test, "__sysreg_restore_el1_state");
}

/* --- Inner labels ------------------------------------------------------------------ */

/* Each is a symbol, and so ends the one before it. */
static const char *const inner_labels[] = {
	kprobe_detour_enter_linked, kprobe_detour_enter_whole_linked,
	kprobe_detour_enter_post_linked, kprobe_detour_enter_return_linked,
	kprobe_detour_returning, kprobe_detour_returned, kprobe_detour_leaving,
	kprobe_detour_elsewhere, kretprobe_trampoline_linked, kretprobe_trampoline_unlinked,
};

static void inner_labels_are_refused(struct kunit *test)
{
	unsigned long addr, end, size, offset;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inner_labels); i++) {
		addr = (unsigned long)inner_labels[i];
		KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(addr, &size, &offset));
		for (end = addr + size; addr < end; addr += AARCH64_INSN_SIZE)
			KUNIT_ASSERT_EQ_MSG(test, try(addr), -EINVAL, "%pS", (void *)addr);
	}
}

/* --- Data -------------------------------------------------------------------------- */

/* A word of data that is also an instruction: add w0, w0, #1. */
#define DATA_WORD	0x11000400

/* The word is where the compiler places a type hash: after one function, before the next. */
int kprobes_text_before(void);
int kprobes_text_hashed(void);
int kprobes_text_after(void);
TEXT_FUNCTION(kprobes_text_before,
	      "ret\n"
	      ".word " __stringify(DATA_WORD) "\n");
TEXT_NEXT_FUNCTION(kprobes_text_hashed,
		   "mov	w0, #5\n"
		   "ret\n");
TEXT_NEXT_FUNCTION(kprobes_text_after,
		   "ret\n");

static void type_hash_is_refused(struct kunit *test)
{
	int refused = IS_ENABLED(CONFIG_CFI) ? -EINVAL : 0;

	KUNIT_EXPECT_EQ(test, try((unsigned long)kprobes_text_hashed - AARCH64_INSN_SIZE), refused);
	/* The last instruction of a function that is not followed by a hash. */
	KUNIT_EXPECT_EQ(test, try((unsigned long)kprobes_text_after - AARCH64_INSN_SIZE), 0);
	/* A real hash, which may not be a valid instruction. */
	if (refused)
		KUNIT_EXPECT_EQ(test, try((unsigned long)counted_pre - AARCH64_INSN_SIZE), refused);
}

/* Looking for a store-exclusive, the check of a probe must not leave the text. */
int kprobes_text_leaves(void);
TEXT_FUNCTION(kprobes_text_leaves,
	      "nop\n"
	      "b	kprobes_text_stray\n"
	      ".pushsection .rodata\n"
	      ".balign 4\n"
	      "kprobes_text_stray:\n"
	      "stxr	w0, x1, [x2]\n"
	      ".popsection\n");

static void data_is_not_read(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, try((unsigned long)kprobes_text_leaves), 0);
}

TRACED_TARGET(traced, 1)

static void write_word(unsigned long addr, u32 word)
{
	mutex_lock(&text_mutex);
	aarch64_insn_patch_text_nosync((void *)addr, word);
	mutex_unlock(&text_mutex);
}

/* The address may look like any instruction; here it looks like a valid one. */
static void ops_address_is_refused(struct kunit *test)
{
	unsigned long addr, entry = (unsigned long)traced;
	u32 word;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		kunit_skip(test, "entries have no address of ftrace_ops");
	KUNIT_ASSERT_NE(test, ftrace_location(entry), 0);
	for (addr = entry - sizeof(struct ftrace_ops *); addr < entry; addr += AARCH64_INSN_SIZE) {
		KUNIT_ASSERT_EQ(test, aarch64_insn_read((void *)addr, &word), 0);
		write_word(addr, DATA_WORD);
		KUNIT_EXPECT_EQ_MSG(test, try(addr), -EINVAL, "%pS", (void *)addr);
		write_word(addr, word);
	}
	KUNIT_EXPECT_EQ(test, traced(4), 5);
}

/* --- Instructions that cannot trap after their copy -------------------------------- */

int kprobes_text_masks(void);
TEXT_FUNCTION(kprobes_text_masks,
	      "msr	daifset, #0\n"
	      "ret\n");

static void a_post_handler_of_masks_is_refused(struct kunit *test)
{
	struct counted c = counted_at(kprobes_text_masks, true, true);
	struct kprobe_why why = {};

	KUNIT_EXPECT_EQ(test, try((unsigned long)kprobes_text_masks), 0);
	KUNIT_EXPECT_EQ(test, register_kprobe_why(&c.kp, &why), -EINVAL);
	KUNIT_EXPECT_STREQ(test, why.detail, "no copy can trap after it, as a post_handler needs");
}

/* --- Breakpoints that are not on a probe ------------------------------------------- */

/* Is not called: a handler is told that the first instruction was executed. */
int kprobes_text_breakpoints(void);
TEXT_FUNCTION(kprobes_text_breakpoints,
	      "brk	#" __stringify(KPROBES_BRK_IMM) "\n"
	      "brk	#" __stringify(KPROBES_BRK_SS_IMM) "\n"
	      "ret\n");

static void a_foreign_breakpoint_is_not_handled(struct kunit *test)
{
	unsigned long addr = (unsigned long)kprobes_text_breakpoints;
	struct pt_regs regs = { .pc = addr };
	unsigned long flags;
	int hit, step;

	flags = local_daif_save();
	hit = kprobe_brk_handler(&regs, 0);
	regs.pc = addr + AARCH64_INSN_SIZE;
	step = kprobe_ss_brk_handler(&regs, 0);
	local_daif_restore(flags);
	KUNIT_EXPECT_EQ(test, hit, DBG_HOOK_ERROR);
	KUNIT_EXPECT_EQ(test, step, DBG_HOOK_ERROR);
	KUNIT_EXPECT_EQ(test, regs.pc, addr + AARCH64_INSN_SIZE);
}

static struct kunit_case text_cases[] = {
	KUNIT_CASE_PARAM(sections_are_refused, section_gen_params),
	KUNIT_CASE(hypervisor_is_refused),
	KUNIT_CASE(text_without_vectors_is_refused),
	KUNIT_CASE(inner_labels_are_refused),
	KUNIT_CASE(type_hash_is_refused),
	KUNIT_CASE(data_is_not_read),
	KUNIT_CASE(ops_address_is_refused),
	KUNIT_CASE(a_post_handler_of_masks_is_refused),
	KUNIT_CASE(a_foreign_breakpoint_is_not_handled),
	{}
};

static struct kunit_suite text_suite = {
	.name = "kprobes_arm64_text",
	.test_cases = text_cases,
};

kunit_test_suite(text_suite);
