// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: write breakpoints and remove them, and allocate memory for slots.
 *
 * An instruction may be written while other CPUs execute it only if both the old one
 * and the new one are of a few kinds, B and BRK among them (Arm ARM, B2.2.5,
 * "Concurrent modification and execution of instructions").  The probed instruction may be
 * of any kind, so the other CPUs have to be stopped: once for many breakpoints.
 */
#include <linux/cacheflush.h>
#include <linux/execmem.h>
#include <linux/kasan.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/vmalloc.h>
#include <asm/debug-monitors.h>

#include "common.h"

/* Writes the breakpoints of a batch if @arm, otherwise the original instructions. */
static void write_batch(struct list_head *batch, bool arm)
{
	struct kprobe *kp;

	lockdep_assert_held(&text_mutex);

	list_for_each_entry(kp, batch, list)
		probe_write_queue(kp->addr, arm ? BRK64_OPCODE_KPROBES : kp->opcode, CPUS_STOP);
	probe_write_finish(CPUS_STOP);
	list_for_each_entry(kp, batch, list)
		probe_report_poke(kp->addr, arm ? kp->opcode : BRK64_OPCODE_KPROBES,
				  arm ? BRK64_OPCODE_KPROBES : kp->opcode);
}

/**
 * arch_arm_kprobes() - write the breakpoints of a batch
 * @batch: list of representatives
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_arm_kprobes(struct list_head *batch)
{
	write_batch(batch, true);
}

/**
 * arch_disarm_kprobes() - restore the text of a batch
 * @batch: list of representatives
 *
 * On return every CPU has left the exception, because the exception runs with interrupts
 * off, and a CPU can be stopped only while its interrupts are on.
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_disarm_kprobes(struct list_head *batch)
{
	write_batch(batch, false);
}

static void fill_with_brk(u32 *page)
{
	unsigned int i;

	for (i = 0; i < PAGE_SIZE / sizeof(*page); i++)
		page[i] = (__force u32)cpu_to_le32(AARCH64_BREAK_FAULT);
}

/* The distance that a branch reaches, and the range from which it reaches all of the kernel. */
#define REACH		((unsigned long)SZ_128M)
#define LOWEST		max((unsigned long)_end - REACH, VMALLOC_START)
#define HIGHEST		min((unsigned long)_stext + REACH, VMALLOC_END)

static bool near_kernel(const void *page)
{
	unsigned long addr = (unsigned long)page;

	return addr >= (unsigned long)_end - REACH && addr < (unsigned long)_stext + REACH;
}

/*
 * Allocates a page in the area of modules, from which a branch reaches modules and the kernel.
 * Modules may be far from the kernel, because of the configuration, or because the space near it
 * is used up; then a page near the kernel is preferred.  execmem has no range for that.
 */
static void *alloc_page_near_kernel(void)
{
	void *page = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE), *near;

	if (page && near_kernel(page))
		return page;
	near = __vmalloc_node_range(PAGE_SIZE, PAGE_SIZE, LOWEST, HIGHEST,
				    GFP_KERNEL | __GFP_NOWARN, PAGE_KERNEL,
				    VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
				    __builtin_return_address(0));
	/* Remove the tag, as execmem does, because the page is executed at this address. */
	near = kasan_reset_tag(near);
	if (!near)
		return page;
	if (page)
		execmem_free(page);
	return near;
}

/**
 * alloc_insn_page() - allocate a page for slots
 *
 * The page is within a branch's reach of the kernel if there is room; execmem's area for
 * probes is not.  It is filled with an instruction that traps.
 *
 * Context: task, may sleep.
 * Return: the page, read-only and executable, for execmem_free(); or NULL.
 */
void *alloc_insn_page(void)
{
	void *page = alloc_page_near_kernel();

	if (!page)
		return NULL;
	fill_with_brk(page);
	caches_clean_inval_pou((unsigned long)page, (unsigned long)page + PAGE_SIZE);
	if (set_memory_rox((unsigned long)page, 1)) {
		execmem_free(page);
		return NULL;
	}
	return page;
}
