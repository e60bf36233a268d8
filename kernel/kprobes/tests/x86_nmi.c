// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NMIs that a CPU sends to itself (x86).
 */
#include <kunit/test.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "nmi.h"

/* NMIs are taken while the handlers of a trap run. */
const bool kprobes_nmi_in_traps = true;

static bool (*nmi_body)(void);

static int handle(unsigned int type, struct pt_regs *regs)
{
	return nmi_body() ? NMI_HANDLED : NMI_DONE;
}

/**
 * kprobes_nmi_init() - prepare a case of the suite
 * @test: the case; skipped if there are no NMIs
 * @body: called in each NMI; returns whether it was raised by the suite
 *
 * Context: task, which stays on its CPU.
 * Return: 0 or a negative errno.
 */
int kprobes_nmi_init(struct kunit *test, bool (*body)(void))
{
	if (!boot_cpu_has(X86_FEATURE_APIC))
		kunit_skip(test, "no local APIC");
	nmi_body = body;
	return register_nmi_handler(NMI_LOCAL, handle, NMI_FLAG_FIRST, "kprobes_kunit");
}

/**
 * kprobes_nmi_exit() - clean up after a case
 * @test: the case, whether it has passed or failed
 *
 * Context: task.
 */
void kprobes_nmi_exit(struct kunit *test)
{
	if (boot_cpu_has(X86_FEATURE_APIC))
		unregister_nmi_handler(NMI_LOCAL, "kprobes_kunit");
}

/**
 * kprobes_nmi_raise() - send an NMI to this CPU
 *
 * Context: any, preemption disabled.
 */
void kprobes_nmi_raise(void)
{
	__apic_send_IPI_mask(cpumask_of(raw_smp_processor_id()), NMI_VECTOR);
}

/**
 * kprobes_nmi_comes_now() - does this CPU take an NMI at once?
 *
 * Context: any.
 */
bool kprobes_nmi_comes_now(void)
{
	return true;
}
