// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parse the commands that define events on watchpoint probes; trace_wprobe.c has the syntax.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace_wprobe.h"

#define DEFAULT_LENGTH		4

/* Logs an error at @column of the place; returns @err. */
static int bad_place(int column, const char *text, int err)
{
	trace_probe_log_set_index(1);
	trace_probe_log_text(column, text);
	return err;
}

static int parse_type(struct wprobe *wp, const char *spec)
{
	if (strstarts(spec, "r@"))
		wp->type = WPROBE_READ;
	else if (strstarts(spec, "w@"))
		wp->type = WPROBE_WRITE;
	else if (strstarts(spec, "rw@") || strstarts(spec, "@"))
		wp->type = WPROBE_RW;
	else
		return bad_place(0, "The access is not r, w or rw", -EINVAL);
	return 0;
}

/* A name, and the number of symbols that have it. */
struct symbol_count {
	const char	*name;
	unsigned int	nr;
};

static int count_symbol(void *data, unsigned long addr)
{
	struct symbol_count *count = data;

	count->nr++;
	return 0;
}

static int count_symbol_of_module(void *data, const char *name, unsigned long addr)
{
	struct symbol_count *count = data;

	count->nr += !strcmp(name, count->name);
	return 0;
}

/* Do several symbols have the name?  Symbols of modules count only if the kernel has none. */
static bool is_ambiguous(const char *name)
{
	struct symbol_count count = { .name = name };

	kallsyms_on_each_match_symbol(count_symbol, name, &count);
	if (!count.nr)
		module_kallsyms_on_each_symbol(NULL, count_symbol_of_module, &count);
	return count.nr > 1;
}

static int parse_address(struct wprobe *wp, const char *text, int column)
{
	int ret = kstrtoul(text, 0, (unsigned long *)&wp->addr);

	return ret ? bad_place(column, "The address is not a number", ret) : 0;
}

/* Parses a place of the kernel, ADDRESS or SYMBOL+OFFSET, at @column of the text. */
static int parse_kernel_place(struct trace_wprobe *tw, char *place, int column)
{
	long offset = 0;
	int ret;

	if (isdigit(place[0]))
		return parse_address(&tw->wp, place, column);
	ret = traceprobe_split_symbol_offset(place, &offset);
	if (ret)
		return bad_place(column, "The offset is not a number", ret);
	if (is_ambiguous(place)) {
		trace_probe_log_set_index(1);
		trace_probe_log_err(column, NON_UNIQ_SYMBOL);
		return -EADDRNOTAVAIL;
	}
	tw->symbol = kstrdup(place, GFP_KERNEL);
	tw->wp.symbol_name = tw->symbol;
	tw->wp.offset = offset;
	return tw->symbol ? 0 : -ENOMEM;
}

/* Parses PID:ADDRESS, at @column of the text; the pid is of the writer's namespace. */
static int parse_process_place(struct trace_wprobe *tw, char *place, int column)
{
	char *text = strsep(&place, ":");
	struct task_struct *task;
	pid_t pid;

	if (!place || kstrtoint(text, 10, &pid) || !pid)
		return bad_place(column, "The process is not a pid", -EINVAL);
	scoped_guard(rcu) {
		task = find_task_by_vpid(pid);
		if (task) {
			tw->wp.pid = task_pid_nr(task);
			tw->pid = get_pid(task_tgid(task));
		}
	}
	if (!task)
		return bad_place(column, "No process has this pid", -ESRCH);
	return parse_address(&tw->wp, place, column + (place - text));
}

/* Cuts off ":LENGTH" if it is there; returns it, or NULL. */
static char *cut_length(char *place)
{
	char *length = strchr(place, ':');

	if (length)
		*length++ = '\0';
	return length;
}

/**
 * trace_wprobe_parse_spec() - parse the type, place and length of an event
 * @tw: the event; its probe is filled in
 * @spec: [TYPE]@PLACE[:LENGTH]; it has an '@'
 *
 * Context: task, may sleep; between trace_probe_log_init() and trace_probe_log_clear().
 * Return: 0; -EINVAL or -ERANGE if the text is wrong; -EADDRNOTAVAIL if several symbols have the
 * name; -ESRCH if no process has the pid; -ENOMEM.
 */
int trace_wprobe_parse_spec(struct trace_wprobe *tw, const char *spec)
{
	char *place __free(kfree) = NULL, *address, *length;
	int column = strchr(spec, '@') + 1 - spec;
	bool process;
	int ret;

	tw->spec = kstrdup(spec, GFP_KERNEL);
	place = kstrdup(spec + column, GFP_KERNEL);
	if (!tw->spec || !place)
		return -ENOMEM;
	ret = parse_type(&tw->wp, spec);
	if (ret)
		return ret;
	tw->wp.len = DEFAULT_LENGTH;
	process = strstarts(place, "pid:");
	address = process ? strchr(place + 4, ':') : place;
	if (!address)
		return bad_place(column, "The place has no address", -EINVAL);
	length = cut_length(address + process);
	if (length) {
		ret = kstrtouint(length, 0, &tw->wp.len);
		if (ret)
			return bad_place(column + (length - place), "The length is not a number",
					 ret);
	}
	if (process)
		return parse_process_place(tw, place + 4, column + 4);
	return parse_kernel_place(tw, place, column);
}

/**
 * trace_wprobe_get_spec() - type, place and length of an event
 * @tw: the event
 *
 * The pid of a process is that of current's namespace, who need not have made the event.
 *
 * Context: task, may sleep.
 * Return: a string that the caller frees, or NULL without memory.
 */
char *trace_wprobe_get_spec(struct trace_wprobe *tw)
{
	const char *pid, *rest;

	if (!tw->pid)
		return kstrdup(tw->spec, GFP_KERNEL);
	pid = strchr(tw->spec, ':') + 1;
	rest = strchr(pid, ':');
	return kasprintf(GFP_KERNEL, "%.*s%d%s", (int)(pid - tw->spec), tw->spec,
			 pid_nr_ns(tw->pid, task_active_pid_ns(current)), rest);
}

/* Finds $addr, $value or $old in an argument; *@offset is that in the entry data. */
static char *find_variable(char *arg, const char **name, int *offset)
{
	static const struct {
		const char *name;
		int offset;
	} variables[] = {
		{ "$addr", offsetof(struct values, addr) },
		{ "$value", offsetof(struct values, value) },
		{ "$old", offsetof(struct values, old) },
	};
	unsigned int i;
	char *at;

	for (i = 0; i < ARRAY_SIZE(variables); i++) {
		at = strstr(arg, variables[i].name);
		if (!at || isalnum(at[strlen(variables[i].name)]))
			continue;
		*name = variables[i].name;
		*offset = variables[i].offset;
		return at;
	}
	return NULL;
}

/**
 * trace_wprobe_parse_arg() - parse an argument of an event
 * @tw: the event, whose probe is registered
 * @i: number of the argument
 * @arg: the text
 *
 * $addr, $value and $old are parsed as an immediate number, whose load is then replaced by one of
 * the entry data, where struct values has them.
 *
 * Context: task, may sleep; between trace_probe_log_init() and trace_probe_log_clear().
 * Return: 0; -EINVAL or another errno of the parser if the text is wrong; -ENOMEM.
 */
int trace_wprobe_parse_arg(struct trace_wprobe *tw, int i, const char *arg)
{
	struct traceprobe_parse_context ctx = { .flags = TPARG_FL_KERNEL };
	char *text __free(kfree) = kstrdup(arg, GFP_KERNEL);
	const char *name, *comm;
	int offset, ret;
	char *at;

	if (!text)
		return -ENOMEM;
	at = find_variable(text, &name, &offset);
	if (at) {
		/* A number as long as the name, so that the columns of errors stay. */
		memset(at, '0', strlen(name));
		*at = '\\';
	}
	trace_probe_log_set_index(i + 2);
	ctx.offset = 0;
	ret = traceprobe_parse_probe_arg(&tw->tp, i, text, &ctx);
	traceprobe_finish_parse(&ctx);
	/* Finds the addresses of symbols. */
	if (!ret) {
		ret = traceprobe_update_arg(&tw->tp.args[i]);
		if (ret == -ENOENT)
			trace_probe_log_err(0, BAD_PROBE_ADDR);
	}
	if (ret || !at)
		return ret;
	/* The variable is in a string, which is no number. */
	if (tw->tp.args[i].code[0].op != FETCH_OP_IMM) {
		trace_probe_log_err(at - text, BAD_VAR);
		return -EINVAL;
	}
	tw->tp.args[i].code[0].op = FETCH_OP_EDATA;
	tw->tp.args[i].code[0].offset = offset;
	/* The argument is shown as the user has written it. */
	comm = strchr(arg, '=');
	comm = kstrdup(comm ? comm + 1 : arg, GFP_KERNEL);
	if (!comm)
		return -ENOMEM;
	kfree(tw->tp.args[i].comm);
	tw->tp.args[i].comm = comm;
	return 0;
}
