// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: write text, which is read-only where it is executed.
 *
 * The pages are mapped once more, writable, for as long as that takes.  The fixmap of
 * <asm/text-patching.h> shows one page at a time, and each time it is done with one all CPUs
 * have to forget it: a thousand probes are thousands of such invalidations.  Here all
 * pages of a batch are mapped together, and forgotten together.  Where there is no
 * memory for that the fixmap has to do: what is taken back has to go.
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

/* How many are written together, with the other CPUs stopped and interrupts off. */
#define WRITES_AT_ONCE	256

/* Up to so many pages are flushed from the TLBs one by one. */
#define FLUSHED_APART	8

/* An instruction of the text: where it is executed, what it is to be. */
struct text_write {
	void *addr;
	u32 insn;
	u32 page;		/* its page, of those that are mapped */
};

/* Under text_mutex. */
static struct {
	struct text_write writes[WRITES_AT_ONCE];
	struct page *pages[WRITES_AT_ONCE];
	unsigned int nr, nr_pages;
	void *alias;		/* of these pages, or NULL: by the fixmap */
	atomic_t arrived;	/* CPUs that have stopped */
	int written;		/* they may go on */
} pending;

/* One by one, or all that the TLBs know. */
static void flush_pages(unsigned long start, unsigned int nr)
{
	if (nr > FLUSHED_APART)
		flush_tlb_all();
	else
		flush_tlb_kernel_range(start, start + nr * PAGE_SIZE);
}

/* vmalloc puts the flush off, but text must not stay writable. */
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
 * On every CPU.  The last one to come writes; the others do not see an NMI until it has,
 * for its handler might be what is written.
 */
static int write_stopped(void *unused)
{
	unsigned long daif = local_daif_save();

	/* Fully ordered: the others are here before the first write. */
	if (atomic_inc_return(&pending.arrived) == num_online_cpus()) {
		write_all();
		/* Pairs with the others' acquire. */
		smp_store_release(&pending.written, 1);
	} else {
		/* Pairs with the writer's release. */
		while (!smp_load_acquire(&pending.written))
			cpu_relax();
		/* What has been fetched before is fetched again. */
		isb();
	}
	local_daif_restore(daif);
	return 0;
}
NOKPROBE_SYMBOL(write_stopped);

/**
 * probe_write_finish() - write what probe_write_queue() has collected
 * @cpus: what the CPUs do meanwhile
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
 * @addr: where it is executed
 * @insn: what it is to be
 * @cpus: what the CPUs do meanwhile, the same until probe_write_finish()
 *
 * It has been written when probe_write_finish() returns, or before.  Those of one page should
 * come one after the other.
 *
 * Context: task, may sleep.  cpus_read_lock() and text_mutex.
 */
void probe_write_queue(void *addr, u32 insn, enum probe_cpus cpus)
{
	struct text_write *w = &pending.writes[pending.nr];

	lockdep_assert_held(&text_mutex);

	/* The kernel's own text is in the area of vmalloc, too. */
	if (!pending.nr || !same_page(addr, w[-1].addr))
		pending.pages[pending.nr_pages++] = vmalloc_to_page(addr);
	w->addr = addr;
	w->insn = insn;
	w->page = pending.nr_pages - 1;
	if (++pending.nr == WRITES_AT_ONCE)
		probe_write_finish(cpus);
}

/* The page of slots that has been written last.  Under the core's lock for registrations. */
static struct {
	struct page *page;
	void *alias;
} window;

/**
 * arch_prepare_kprobes_end() - slots have been written for the time being
 *
 * See <linux/kprobes-arch.h>.
 */
void arch_prepare_kprobes_end(void)
{
	unmap_pages(window.alias, 1);
	window.page = NULL;
	window.alias = NULL;
}

/* A batch's slots are beside each other. */
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
 * probe_write() - write instructions into a slot that nobody executes
 * @to: where they run, all in one page
 * @insns: what
 * @nr: how many
 *
 * Other CPUs execute them after an exception or an interrupt, without which they may
 * have fetched what was there before: a hit of a BRK is one; for branches see
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
 * probe_tell_perf() - perf's decoders follow the text
 * @addr: where an instruction has been replaced
 * @old: what it was
 * @new: what it is
 *
 * Context: task.  text_mutex.
 */
void probe_tell_perf(void *addr, u32 old, u32 new)
{
	__le32 from = cpu_to_le32(old), to = cpu_to_le32(new);

	perf_event_text_poke(addr, &from, sizeof(from), &to, sizeof(to));
}
