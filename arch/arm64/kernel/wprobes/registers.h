/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ARM64_WPROBES_REGISTERS_H
#define _ARM64_WPROBES_REGISTERS_H

#include <linux/hw_breakpoint.h>
#include <linux/percpu.h>
#include <linux/wprobes-arch.h>

/**
 * struct wprobe_register - a register of this CPU
 * @slot:	number of its slot
 * @loaded:	data of the core about it
 * @range:	its content
 */
struct wprobe_register {
	unsigned int slot;
	struct wprobe_loaded *loaded;
	struct wprobe_range range;
};

/* The registers of this CPU that watchpoint probes use. */
DECLARE_PER_CPU(unsigned long, wprobe_regs);
DECLARE_PER_CPU(struct wprobe_register [ARM_MAX_WRP], wprobe_registers);

void wprobe_resume_registers(void);

#endif /* _ARM64_WPROBES_REGISTERS_H */
