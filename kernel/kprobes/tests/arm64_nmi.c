// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NMIs that a CPU sends to itself (arm64): a per-CPU interrupt to which no device is
 * connected, with the priority of an NMI.  A write to the GIC makes it pending.
 */
#include <kunit/test.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "nmi.h"

/* The interrupt in terms of the GIC's device tree binding: PPI 15, edge triggered. */
#define PPI		1
#define UNUSED_PPI	15

/* An exception masks NMIs. */
const bool kprobes_nmi_in_traps;

static DEFINE_PER_CPU(int, nothing);
static unsigned int irq;
static bool (*nmi_body)(void);

static irqreturn_t handle(int irq, void *dev)
{
	return nmi_body() ? IRQ_HANDLED : IRQ_NONE;
}

static unsigned int map_irq(void)
{
	struct device_node *gic = of_find_compatible_node(NULL, NULL, "arm,gic-v3");
	struct irq_fwspec fwspec = {
		.fwnode = of_fwnode_handle(gic),
		.param_count = 3,
		.param = { PPI, UNUSED_PPI, IRQ_TYPE_EDGE_RISING },
	};

	if (!gic)
		return 0;
	of_node_put(gic);
	return irq_create_fwspec_mapping(&fwspec);
}

/* On every CPU, because a case and its clean-up may run on different ones. */
static void enable(void *failed)
{
	if (prepare_percpu_nmi(irq))
		atomic_inc(failed);
	else
		enable_percpu_nmi(irq, IRQ_TYPE_NONE);
}

static void disable(void *unused)
{
	disable_percpu_nmi(irq);
	teardown_percpu_nmi(irq);
}

/* x86_nmi.c describes these functions. */

int kprobes_nmi_init(struct kunit *test, bool (*body)(void))
{
	atomic_t failed = ATOMIC_INIT(0);
	int ret;

	irq = 0;
	if (!system_uses_irq_prio_masking())
		kunit_skip(test, "no pseudo NMIs (irqchip.gicv3_pseudo_nmi=1)");
	nmi_body = body;
	irq = map_irq();
	if (!irq)
		return -ENODEV;
	ret = request_percpu_nmi(irq, handle, "kprobes_kunit", NULL, &nothing);
	if (ret) {
		irq_dispose_mapping(irq);
		irq = 0;
		return ret;
	}
	on_each_cpu(enable, &failed, true);
	return atomic_read(&failed) ? -EIO : 0;
}

void kprobes_nmi_exit(struct kunit *test)
{
	if (!irq)
		return;
	on_each_cpu(disable, NULL, true);
	free_percpu_nmi(irq, &nothing);
	irq_dispose_mapping(irq);
	irq = 0;
}

void kprobes_nmi_raise(void)
{
	struct irq_data *data = irq_get_irq_data(irq);

	data->chip->irq_set_irqchip_state(data, IRQCHIP_STATE_PENDING, true);
}

bool kprobes_nmi_comes_now(void)
{
	return !(read_sysreg(daif) & PSR_I_BIT);
}
