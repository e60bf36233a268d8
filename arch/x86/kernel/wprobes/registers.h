/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _X86_WPROBES_REGISTERS_H
#define _X86_WPROBES_REGISTERS_H

#include <linux/hw_breakpoint.h>
#include <linux/percpu.h>

/* The slot of each register of this CPU that is in wprobe_regs. */
DECLARE_PER_CPU(u8 [HBP_NUM], wprobe_slot_of_reg);

#endif /* _X86_WPROBES_REGISTERS_H */
