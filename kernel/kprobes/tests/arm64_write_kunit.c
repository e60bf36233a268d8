// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How text is written (arm64): with or without a mapping of its pages; and that slots have pages
 * only if these can be protected.
 */
#include <linux/execmem.h>
#include <asm/insn.h>
#include <asm/text-patching.h>
#include <asm/pointer_auth.h>

#include "asm_text.h"
#include "counted.h"
#include "optimized.h"

/* More probes than are written together, so far apart that each page has a few of them. */
#define NR_PROBES	300
#define APART		16	/* instructions */

void kprobes_write_nops(void);

TEXT_FUNCTION(kprobes_write_nops,
	      ".rept " __stringify(NR_PROBES) " * " __stringify(APART) "\n"
	      "nop\n"
	      ".endr\n"
	      "ret\n");

TRAP_TARGET(plus_one, 1)

static int mappings, refused;

static int count_mapping(struct kprobe *p, struct pt_regs *regs)
{
	mappings++;
	return 0;
}

/* Makes the probed function return @value at once. */
static int return_at_once(struct pt_regs *regs, long value)
{
	refused++;
	regs_set_return_value(regs, value);
	instruction_pointer_set(regs, ptrauth_strip_kernel_insn_pac(procedure_link_pointer(regs)));
	return 1;
}

/* Makes vm_map_ram() fail for lack of memory. */
static int refuse_mapping(struct kprobe *p, struct pt_regs *regs)
{
	return return_at_once(regs, 0);
}

/* Makes set_memory_ro() fail. */
static int refuse_protection(struct kprobe *p, struct pt_regs *regs)
{
	return return_at_once(regs, -ENOMEM);
}

static void hit_all(struct kunit *test, struct counted *probes, int nr, int times)
{
	int i;

	kprobes_write_nops();
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, probes[i].pre, times);
}

static void check_many(struct kunit *test)
{
	struct counted *probes = kunit_kcalloc(test, NR_PROBES, sizeof(*probes), GFP_KERNEL);
	struct kprobe **kps = kunit_kcalloc(test, NR_PROBES, sizeof(*kps), GFP_KERNEL);
	u32 insn;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, probes);
	KUNIT_ASSERT_NOT_NULL(test, kps);
	for (i = 0; i < NR_PROBES; i++) {
		probes[i] = counted_at((void *)kprobes_write_nops +
				       i * APART * AARCH64_INSN_SIZE, true, false);
		kps[i] = &probes[i].kp;
	}
	KUNIT_ASSERT_EQ(test, register_kprobes(kps, NR_PROBES), 0);
	hit_all(test, probes, NR_PROBES, 1);
	wait_for_kprobe_optimizer();
	hit_all(test, probes, NR_PROBES, 2);
	unregister_kprobes(kps, NR_PROBES);
	for (i = 0; i < NR_PROBES; i++) {
		KUNIT_EXPECT_EQ(test, aarch64_insn_read(kps[i]->addr, &insn), 0);
		KUNIT_EXPECT_EQ(test, insn, aarch64_insn_gen_nop());
	}
	hit_all(test, probes, NR_PROBES, 2);
}

/* A batch is mapped as a whole: its text in two parts, and its slots. */
static void maps_a_batch_once(struct kunit *test)
{
	struct kprobe watch = { .symbol_name = "vm_map_ram", .pre_handler = count_mapping };
	bool jumps = kprobe_optimization_allowed;

	KUNIT_ASSERT_EQ(test, register_kprobe(&watch), 0);
	mappings = 0;
	check_many(test);
	KUNIT_EXPECT_GE(test, mappings, 2);
	/*
	 * Jumps: one mapping of the detours and one of the branches for each part of the
	 * optimizer's work.
	 */
	KUNIT_EXPECT_LE(test, mappings, jumps ? 60 : 12);
	unregister_kprobe(&watch);
}

static void no_memory_for_a_mapping(struct kunit *test)
{
	struct kprobe refuse = { .symbol_name = "vm_map_ram", .pre_handler = refuse_mapping };
	struct counted one = counted_at(plus_one, true, true);

	KUNIT_ASSERT_EQ(test, register_kprobe(&refuse), 0);
	refused = 0;
	KUNIT_EXPECT_EQ(test, register_kprobe(&one.kp), 0);
	KUNIT_EXPECT_GE(test, refused, 2);
	KUNIT_EXPECT_EQ(test, plus_one(1), 2);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, plus_one(1), 2);
	KUNIT_EXPECT_EQ(test, one.pre, 2);
	KUNIT_EXPECT_EQ(test, one.post, 2);
	unregister_kprobe(&one.kp);
	KUNIT_EXPECT_EQ(test, plus_one(1), 2);
	KUNIT_EXPECT_EQ(test, one.pre, 2);
	check_many(test);
	unregister_kprobe(&refuse);
}

/* A page whose protection cannot be changed is not used. */
static void no_protection_for_slots(struct kunit *test)
{
	struct kprobe refuse = { .symbol_name = "set_memory_ro", .pre_handler = refuse_protection };
	void *page;

	KUNIT_ASSERT_EQ(test, register_kprobe(&refuse), 0);
	refused = 0;
	page = alloc_insn_page();
	unregister_kprobe(&refuse);
	KUNIT_EXPECT_GE(test, refused, 1);
	KUNIT_EXPECT_NULL(test, page);
	if (page)
		execmem_free(page);
	page = alloc_insn_page();
	KUNIT_EXPECT_NOT_NULL(test, page);
	if (page)
		execmem_free(page);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(maps_a_batch_once),
	KUNIT_CASE(no_memory_for_a_mapping),
	KUNIT_CASE(no_protection_for_slots),
	{}
};

static struct kunit_suite suite = {
	.name = "kprobes_arm64_write",
	.test_cases = cases,
};
kunit_test_suite(suite);
