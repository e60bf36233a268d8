/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints of the uprobes engine: changes of a site's state, patched text, and refusals.
 * They are in slow paths only: a hit fires one only if it is the first at a site in a process, or
 * if its handlers want no more hits.
 *
 * The system is not called "uprobes" because that is the default group of uprobe-based
 * events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM uprobe_core

#if !defined(_KERNEL_UPROBES_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _KERNEL_UPROBES_TRACE_H

#include <linux/tracepoint.h>

#include "internal.h"

#define show_uprobe_site_state(state)					\
	__print_symbolic(state,						\
			 { UPROBE_SITE_NEW,	"new" },		\
			 { UPROBE_SITE_BOOSTED,	"boosted" },		\
			 { UPROBE_SITE_EMULATED, "emulated" },		\
			 { UPROBE_SITE_GONE,	"gone" })

TRACE_EVENT(uprobe_site_state,
	TP_PROTO(unsigned long vaddr, unsigned long slot, enum uprobe_site_state from,
		 enum uprobe_site_state to),
	TP_ARGS(vaddr, slot, from, to),
	TP_STRUCT__entry(
		__field(unsigned long, vaddr)
		__field(unsigned long, slot)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->vaddr = vaddr;
		__entry->slot = slot;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%lx slot %lx %s -> %s", __entry->vaddr, __entry->slot,
		  show_uprobe_site_state(__entry->from), show_uprobe_site_state(__entry->to))
);

TRACE_EVENT(uprobe_text,
	TP_PROTO(unsigned long vaddr, bool armed),
	TP_ARGS(vaddr, armed),
	TP_STRUCT__entry(
		__field(unsigned long, vaddr)
		__field(bool, armed)
	),
	TP_fast_assign(
		__entry->vaddr = vaddr;
		__entry->armed = armed;
	),
	TP_printk("%lx %s", __entry->vaddr, __entry->armed ? "armed" : "disarmed")
);

TRACE_EVENT(uprobe_refused,
	TP_PROTO(struct inode *inode, loff_t offset, unsigned long vaddr, const char *reason,
		 int err),
	TP_ARGS(inode, offset, vaddr, reason, err),
	TP_STRUCT__entry(
		__field(unsigned long, ino)
		__field(loff_t, offset)
		__field(unsigned long, vaddr)
		__field(int, err)
		__string(reason, reason)
	),
	TP_fast_assign(
		__entry->ino = inode ? inode->i_ino : 0;
		__entry->offset = offset;
		__entry->vaddr = vaddr;
		__entry->err = err;
		__assign_str(reason);
	),
	TP_printk("inode %lu offset 0x%llx at %lx: %s (%d)", __entry->ino, __entry->offset,
		  __entry->vaddr, __get_str(reason), __entry->err)
);

#endif /* _KERNEL_UPROBES_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
