/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The old implementation, or the new one: see KPROBES_CORE. */
#ifndef CONFIG_KPROBES_CORE
#include <asm/probes-stock.h>
#else
@new@
#endif
