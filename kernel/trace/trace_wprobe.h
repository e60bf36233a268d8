/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KERNEL_TRACE_WPROBE_H
#define _KERNEL_TRACE_WPROBE_H
/*
 * Dynamic events on watchpoint probes: the object that trace_wprobe.c and trace_wprobe_parse.c
 * share.
 */
#include <linux/llist.h>
#include <linux/wprobes.h>

#include "trace_dynevent.h"
#include "trace_probe.h"

/**
 * struct trace_wprobe - an event on a watchpoint probe
 * @devent:	links the event into the list of dynamic events
 * @wp:		the probe; disabled while the event is, unless it is on data of a process
 * @spec:	type, place and length, as the user has written them
 * @pid:	the process, or NULL
 * @symbol:	symbol of the place, or NULL
 * @ended:	links a removed event into the list of those that are freed
 * @tp:		the event, and its arguments; at the end, because its size varies
 */
struct trace_wprobe {
	struct dyn_event devent;
	struct wprobe wp;
	char *spec;
	struct pid *pid;
	char *symbol;
	struct llist_node ended;
	struct trace_probe tp;
};

/* Entry data: the values of $addr, $value and $old. */
struct values {
	unsigned long addr;
	unsigned long value;
	unsigned long old;
};

/* trace_wprobe_parse.c */
int trace_wprobe_parse_spec(struct trace_wprobe *tw, const char *spec);
char *trace_wprobe_get_spec(struct trace_wprobe *tw);
int trace_wprobe_parse_arg(struct trace_wprobe *tw, int i, const char *arg);

#endif /* _KERNEL_TRACE_WPROBE_H */
