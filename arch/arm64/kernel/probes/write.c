// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: write text, which is read-only where it is executed.
 *
 * The pages are mapped a second time, writable, for the duration of the write.  The fixmap of
 * <asm/text-patching.h> maps one page at a time, and the TLBs of all CPUs are invalidated after
 * each page: for a thousand probes, thousands of times.  Here all pages of a batch are mapped
 * together, and their TLB entries are invalidated together.  If the mapping cannot be
 * allocated, use the fixmap: disarming must not fail.
 */
#include <linux/cacheflush.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include <asm/daifflags.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "common.h"

/* Number of instructions that are written together, with other CPUs stopped and interrupts off. */
#define WRITES_AT_ONCE	256

/* Up to this number of pages, TLB entries are flushed one by one. */
#define FLUSHED_APART	8

/* A write to the text: the address at which the instruction is executed, and its new value. */
struct text_write {
	void *addr;
	u32 insn;
	u32 page;		/* index of its page in pending.pages */
};

/* The collected writes.  Protected by text_mutex. */
static struct {
	struct text_write writes[WRITES_AT_ONCE];
	struct page *pages[WRITES_AT_ONCE];
	unsigned int nr, nr_pages;
	void *alias;		/* mapping of these pages; NULL: use the fixmap */
	atomic_t arrived;	/* number of CPUs that have stopped */
	int written;		/* the stopped CPUs may continue */
} pending;

/* Flushes the TLB entries of the pages, or, if there are many pages, all entries. */
static void flush_pages(unsigned long start, unsigned int nr)
{
	if (nr > FLUSHED_APART)
		flush_tlb_all();
	else
		flush_tlb_kernel_range(start, start + nr * PAGE_SIZE);
}

/* Unmaps the pages.  vmalloc delays the flush, but text must not stay writable, so flush here. */
static void unmap_pages(void *alias, unsigned int nr)
{
	if (!alias)
		return;
	vm_unmap_ram(alias, nr);
	flush_pages((unsigned long)alias, nr);
}

static void write_one(const struct text_write *w)
{
	__le32 *alias = pending.alias + w->page * PAGE_SIZE + offset_in_page(w->addr);

	if (pending.alias)
		WRITE_ONCE(*alias, cpu_to_le32(w->insn));
	else
		WARN_ON_ONCE(aarch64_insn_write(w->addr, w->insn));
	caches_clean_inval_pou((unsigned long)w->addr, (unsigned long)w->addr + sizeof(*alias));
}
NOKPROBE_SYMBOL(write_one);

static void write_all(void)
{
	unsigned int i;

	for (i = 0; i < pending.nr; i++)
		write_one(&pending.writes[i]);
}
NOKPROBE_SYMBOL(write_all);

/*
 * Runs on every CPU.  The last CPU to arrive writes.  The others mask NMIs until it has
 * finished, because the handler of an NMI may execute the text that is being written.
 */
static int write_stopped(void *unused)
{
	unsigned long daif = local_daif_save();

	/* Fully ordered: the other CPUs have arrived before the first write. */
	if (atomic_inc_return(&pending.arrived) == num_online_cpus()) {
		write_all();
		/* Pairs with the others' acquire. */
		smp_store_release(&pending.written, 1);
	} else {
		/* Pairs with the writer's release. */
		while (!smp_load_acquire(&pending.written))
			cpu_relax();
		/* Discard instructions that were fetched before the write. */
		isb();
	}
	local_daif_restore(daif);
	return 0;
}
NOKPROBE_SYMBOL(write_stopped);

/**
 * probe_write_finish() - write the instructions that probe_write_queue() has collected
 * @cpus: state of the other CPUs meanwhile
 *
 * Context: task, may sleep.  cpus_read_lock() and text_mutex.
 */
void probe_write_finish(enum probe_cpus cpus)
{
	lockdep_assert_held(&text_mutex);

	if (!pending.nr)
		return;
	pending.alias = vm_map_ram(pending.pages, pending.nr_pages, NUMA_NO_NODE);
	if (cpus == CPUS_STOP) {
		atomic_set(&pending.arrived, 0);
		pending.written = 0;
		stop_machine_cpuslocked(write_stopped, NULL, cpu_online_mask);
	} else {
		write_all();
	}
	unmap_pages(pending.alias, pending.nr_pages);
	pending.nr = 0;
	pending.nr_pages = 0;
}

static bool same_page(const void *a, const void *b)
{
	return !(((unsigned long)a ^ (unsigned long)b) & PAGE_MASK);
}

/**
 * probe_write_queue() - write an instruction of the text, together with others
 * @addr: address at which it is executed
 * @insn: the new instruction
 * @cpus: state of the other CPUs; must not change until probe_write_finish()
 *
 * The instruction is written when probe_write_finish() returns, or earlier.  Instructions of the
 * same page should be queued one after the other.
 *
 * Context: task, may sleep.  cpus_read_lock() and text_mutex.
 */
void probe_write_queue(void *addr, u32 insn, enum probe_cpus cpus)
{
	struct text_write *w = &pending.writes[pending.nr];

	lockdep_assert_held(&text_mutex);

	/* The kernel's own text is in the vmalloc area, too. */
	if (!pending.nr || !same_page(addr, w[-1].addr))
		pending.pages[pending.nr_pages++] = vmalloc_to_page(addr);
	w->addr = addr;
	w->insn = insn;
	w->page = pending.nr_pages - 1;
	if (++pending.nr == WRITES_AT_ONCE)
		probe_write_finish(cpus);
}

/* The page of slots that was written last.  Protected by kprobe_mutex. */
static struct {
	struct page *page;
	void *alias;
} window;

/**
 * arch_prepare_kprobes_end() - unmap the page of slots after a batch has been prepared
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_prepare_kprobes_end(void)
{
	unmap_pages(window.alias, 1);
	window.page = NULL;
	window.alias = NULL;
}

/* Maps the page of @slot, and keeps it mapped, because slots of a batch are next to each other. */
static __le32 *map_slot(kprobe_opcode_t *slot)
{
	struct page *page = vmalloc_to_page(slot);

	if (page != window.page) {
		arch_prepare_kprobes_end();
		window.page = page;
		window.alias = vm_map_ram(&page, 1, NUMA_NO_NODE);
	}
	return window.alias ? window.alias + offset_in_page(slot) : NULL;
}

/**
 * probe_write() - write instructions into a slot that no CPU executes
 * @to: address at which they run, all in one page
 * @insns: the instructions
 * @nr: number of instructions
 *
 * Another CPU may still have the old contents of the slot in its pipeline until it takes an
 * exception or an interrupt.  A hit of a BRK is such an exception; for branches see
 * arch_optimize_kprobes().
 *
 * Context: task, may sleep; while a batch is prepared.
 */
void probe_write(kprobe_opcode_t *to, const u32 *insns, unsigned int nr)
{
	__le32 *alias = map_slot(to);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (alias)
			alias[i] = cpu_to_le32(insns[i]);
		else
			WARN_ON_ONCE(aarch64_insn_write(to + i, insns[i]));
	}
	caches_clean_inval_pou((unsigned long)to, (unsigned long)(to + nr));
}

/**
 * probe_report_poke() - report a change of the text to perf, whose decoders need it
 * @addr: address of the instruction that has been replaced
 * @old: the old instruction
 * @new: the new instruction
 *
 * Context: task.  text_mutex.
 */
void probe_report_poke(void *addr, u32 old, u32 new)
{
	__le32 from = cpu_to_le32(old), to = cpu_to_le32(new);

	perf_event_text_poke(addr, &from, sizeof(from), &to, sizeof(to));
}
