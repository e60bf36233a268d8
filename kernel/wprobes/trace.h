/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints of watchpoint probes: changes of a watch's state, and reasons of refusals.  They
 * are in slow paths only; none fires at a hit.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wprobe_core

#if !defined(_KERNEL_WPROBES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KERNEL_WPROBES_TRACE_H

#include <linux/tracepoint.h>

#include "internal.h"

#define show_wprobe_state(state)					\
	__print_symbolic(state,						\
			 { WPROBE_NEW,		"new" },		\
			 { WPROBE_OFF,		"off" },		\
			 { WPROBE_ARMED,	"armed" },		\
			 { WPROBE_PARKED,	"parked" },		\
			 { WPROBE_GONE,		"gone" })

TRACE_EVENT(wprobe_state,
	TP_PROTO(unsigned long addr, enum wprobe_state from, enum wprobe_state to),
	TP_ARGS(addr, from, to),
	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%pS %s -> %s", (void *)__entry->addr,
		  show_wprobe_state(__entry->from),
		  show_wprobe_state(__entry->to))
);

TRACE_EVENT(wprobe_refused,
	TP_PROTO(unsigned long addr, const char *reason, int err),
	TP_ARGS(addr, reason, err),
	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__field(int, err)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->err = err;
		__assign_str(reason);
	),
	TP_printk("%pS: %s (%d)", (void *)__entry->addr, __get_str(reason),
		  __entry->err)
);

#endif /* _KERNEL_WPROBES_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel/wprobes
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
