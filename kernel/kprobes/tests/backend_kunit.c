// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that backends and other kernel code call: caches of slots, and functions that
 * find the probe at an address.
 */
#include <linux/execmem.h>
#include <linux/kallsyms.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "../internal.h"
#include "counted.h"

TRAP_TARGET(backend_target, 1)

#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
/* A cache of the test: two slots fill a page. */
DEFINE_INSN_CACHE_OPS(test)

struct kprobe_insn_cache kprobe_test_slots = {
	.mutex		= __MUTEX_INITIALIZER(kprobe_test_slots.mutex),
	.alloc		= alloc_insn_page,
	.free		= execmem_free,
	.sym		= "kprobe_test_page",
	.pages		= LIST_HEAD_INIT(kprobe_test_slots.pages),
	.insn_size	= PAGE_SIZE / 2,
};

static void a_cache_hands_out_slots(struct kunit *test)
{
	kprobe_opcode_t *slots[3];
	int i;

	for (i = 0; i < 3; i++) {
		slots[i] = get_test_slot();
		KUNIT_ASSERT_NOT_NULL(test, slots[i]);
		KUNIT_EXPECT_TRUE(test, is_kprobe_test_slot((unsigned long)slots[i]));
		KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)slots[i]));
	}
	KUNIT_EXPECT_EQ(test, abs((void *)slots[1] - (void *)slots[0]), PAGE_SIZE / 2);
	KUNIT_EXPECT_NE(test, (unsigned long)slots[2] & PAGE_MASK,
			(unsigned long)slots[0] & PAGE_MASK);

	/* Freeing the last slot of a page frees the page if another page has room. */
	free_test_slot(slots[2], 0);
	free_test_slot(slots[0], 1);
	KUNIT_EXPECT_PTR_EQ(test, get_test_slot(), slots[0]);
	free_test_slot(slots[0], 1);
	free_test_slot(slots[1], 1);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&kprobe_test_slots.pages));
}

static void a_cache_has_symbols(struct kunit *test)
{
	char sym[KSYM_NAME_LEN], type = 0;
	unsigned int symnum = 0;
	unsigned long value = 0;
	kprobe_opcode_t *slot = get_test_slot();
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, slot);
	ret = kprobe_cache_get_kallsym(&kprobe_test_slots, &symnum, &value, &type, sym);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, value, (unsigned long)slot & PAGE_MASK);
	KUNIT_EXPECT_EQ(test, type, 't');
	KUNIT_EXPECT_STREQ(test, sym, "kprobe_test_page");

	symnum = 10;
	ret = kprobe_cache_get_kallsym(&kprobe_test_slots, &symnum, &value, &type, sym);
	KUNIT_EXPECT_EQ(test, ret, -ERANGE);
	KUNIT_EXPECT_LT(test, symnum, 10);
	free_test_slot(slot, 1);
}

/* Do the kernel's symbols include the page of @slot, with that name? */
static bool has_symbol(const kprobe_opcode_t *slot, const char *name)
{
	char sym[KSYM_NAME_LEN], type;
	unsigned long value;
	unsigned int i;

	for (i = 0; !kprobe_get_kallsym(i, &value, &type, sym); i++) {
		/* A page need not be aligned. */
		if ((unsigned long)slot - value < PAGE_SIZE && !strcmp(sym, name))
			return true;
	}
	return false;
}

/* Slots are executed, so they are written through other mappings only. */
static void expect_read_only(struct kunit *test, kprobe_opcode_t *slot)
{
	u8 byte = *(u8 *)slot;

	KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault(slot, &byte, sizeof(byte)), -EFAULT);
}

static void skip_unless_read_only(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_STRICT_KERNEL_RWX))
		kunit_skip(test, "text can be written in this kernel");
	if (!IS_ENABLED(CONFIG_X86) && !IS_ENABLED(CONFIG_ARM64))
		kunit_skip(test, "slots of the stock backends");
}

static void slots_of_probes_have_symbols(struct kunit *test)
{
	kprobe_opcode_t *slot = get_insn_slot();

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_TRUE(test, is_kprobe_insn_slot((unsigned long)slot));
	KUNIT_EXPECT_TRUE(test, has_symbol(slot, KPROBE_INSN_PAGE_SYM));
	free_insn_slot(slot, 0);
}

static void slots_of_probes_cannot_be_written(struct kunit *test)
{
	kprobe_opcode_t *slot;

	skip_unless_read_only(test);
	slot = get_insn_slot();
	KUNIT_ASSERT_NOT_NULL(test, slot);
	expect_read_only(test, slot);
	free_insn_slot(slot, 0);
}
#endif

#ifdef CONFIG_OPTPROBES
static void slots_of_detours_have_symbols(struct kunit *test)
{
	kprobe_opcode_t *slot = get_optinsn_slot();

	KUNIT_ASSERT_NOT_NULL(test, slot);
	KUNIT_EXPECT_TRUE(test, is_kprobe_optinsn_slot((unsigned long)slot));
	KUNIT_EXPECT_FALSE(test, is_kprobe_insn_slot((unsigned long)slot));
	KUNIT_EXPECT_TRUE(test, has_symbol(slot, KPROBE_OPTINSN_PAGE_SYM));
	free_optinsn_slot(slot, 0);
}

static void slots_of_detours_cannot_be_written(struct kunit *test)
{
	kprobe_opcode_t *slot;

	skip_unless_read_only(test);
	slot = get_optinsn_slot();
	KUNIT_ASSERT_NOT_NULL(test, slot);
	expect_read_only(test, slot);
	free_optinsn_slot(slot, 0);
}

static bool disarmed(struct kprobe *p)
{
	guard(mutex)(&kprobe_mutex);
	return kprobe_disarmed(p);
}

static void kprobe_disarmed_by_state(struct kunit *test)
{
	struct counted c = counted_at(backend_target, true, false);

	KUNIT_EXPECT_TRUE(test, disarmed(&c.kp));
	KUNIT_ASSERT_EQ(test, register_kprobe(&c.kp), 0);
	KUNIT_EXPECT_FALSE(test, disarmed(&c.kp));
	KUNIT_EXPECT_FALSE(test, disarmed(probe_at(c.kp.addr)));
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_FALSE(test, disarmed(&c.kp));
	KUNIT_EXPECT_EQ(test, disable_kprobe(&c.kp), 0);
	KUNIT_EXPECT_TRUE(test, disarmed(&c.kp));
	KUNIT_EXPECT_TRUE(test, disarmed(probe_at(c.kp.addr)));
	unregister_kprobe(&c.kp);
	KUNIT_EXPECT_TRUE(test, disarmed(&c.kp));
}
#endif

/* The wait ends also in kernels without jumps. */
static void waiting_for_the_optimizer_ends(struct kunit *test)
{
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, backend_target(1), 2);
}

static struct kunit_case backend_cases[] = {
#ifdef __ARCH_WANT_KPROBES_INSN_SLOT
	KUNIT_CASE(a_cache_hands_out_slots),
	KUNIT_CASE(a_cache_has_symbols),
	KUNIT_CASE(slots_of_probes_have_symbols),
	KUNIT_CASE(slots_of_probes_cannot_be_written),
#endif
#ifdef CONFIG_OPTPROBES
	KUNIT_CASE(slots_of_detours_have_symbols),
	KUNIT_CASE(slots_of_detours_cannot_be_written),
	KUNIT_CASE(kprobe_disarmed_by_state),
#endif
	KUNIT_CASE(waiting_for_the_optimizer_ends),
	{}
};

/* is_kprobe_insn_slot() and is_kprobe_optinsn_slot() are false until a probe is registered. */
static int backend_suite_init(struct kunit_suite *suite)
{
	struct counted c = counted_at(backend_target, true, false);
	int ret = register_kprobe(&c.kp);

	if (ret)
		return ret;
	unregister_kprobe(&c.kp);
	return kprobes_in_use() ? 0 : -EINVAL;
}

static struct kunit_suite backend_suite = {
	.name = "kprobes_backend",
	.suite_init = backend_suite_init,
	.test_cases = backend_cases,
};
kunit_test_suite(backend_suite);
