/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints of the kprobes core: changes of a probepoint's state, and reasons of
 * refusals.  They are in slow paths only; none fires at a hit.
 *
 * The system is not called "kprobes" because that is the default group of
 * kprobe-based events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kprobe_core

#if !defined(_KERNEL_KPROBES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KERNEL_KPROBES_TRACE_H

#include <linux/tracepoint.h>

#include "internal.h"

#define show_kprobe_state(state)					\
	__print_symbolic(state,						\
			 { KPROBE_DISARMED,	"disarmed" },		\
			 { KPROBE_BREAKPOINT,	"breakpoint" },		\
			 { KPROBE_JUMP,		"jump" },		\
			 { KPROBE_FTRACE,	"ftrace" },		\
			 { KPROBE_CARRIED,	"carried" },		\
			 { KPROBE_GONE,		"gone" })

TRACE_EVENT(kprobe_state,
	TP_PROTO(unsigned long addr, enum kprobe_state from, enum kprobe_state to),
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
		  show_kprobe_state(__entry->from),
		  show_kprobe_state(__entry->to))
);

TRACE_EVENT(kprobe_refused,
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

TRACE_EVENT(kprobe_unoptimized,
	TP_PROTO(unsigned long addr, const char *reason),
	TP_ARGS(addr, reason),
	TP_STRUCT__entry(
		__field(unsigned long, addr)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__assign_str(reason);
	),
	TP_printk("%pS: %s", (void *)__entry->addr, __get_str(reason))
);

#endif /* _KERNEL_KPROBES_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel/kprobes
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
