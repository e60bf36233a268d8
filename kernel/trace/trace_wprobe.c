// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dynamic events on watchpoint probes.
 *
 *	w[:[GROUP/]EVENT] [r|w|rw]@PLACE[:LENGTH] [ARGUMENT...]
 *
 * PLACE is ADDRESS, SYMBOL[+OFFSET], or pid:PID:ADDRESS for data of a process.  Without a type of
 * access, it is rw.
 *
 * Arguments are those of kprobe events, and $addr, $value and $old: the watched address, and the
 * watched bytes after and before the access.  Written to dynamic_events in tracefs.
 */
#define pr_fmt(fmt) "trace_wprobe: " fmt

#include <linux/ctype.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/rculist.h>
#include <linux/security.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "trace_wprobe.h"
#include "trace_probe_kernel.h"
#include "trace_probe_tmpl.h"

#define WPROBE_EVENT_SYSTEM	"wprobes"

static struct trace_wprobe *to_trace_wprobe(struct dyn_event *ev)
{
	return container_of(ev, struct trace_wprobe, devent);
}

/* --- Hits ---------------------------------------------------------------------- */

/* A word of the stack.  Accesses of a process have its registers. */
static unsigned long stack_nth(struct pt_regs *regs, unsigned int n)
{
	unsigned long __user *at = (unsigned long __user *)user_stack_pointer(regs) + n;
	unsigned long value;

	if (!user_mode(regs))
		return regs_get_kernel_stack_nth(regs, n);
	return copy_from_user_nofault(&value, at, sizeof(value)) ? 0 : value;
}

/* Loads the value that an argument begins with; trace_probe_tmpl.h does the rest. */
static int process_fetch_insn(struct fetch_insn *code, void *rec, void *edata, void *dest,
			      void *base)
{
	unsigned long val;
	int ret;

	for (; code->op == FETCH_NOP_SYMBOL; code++)
		;
	if (code->op == FETCH_OP_EDATA) {
		val = *(unsigned long *)(edata + code->offset);
	} else if (code->op == FETCH_OP_REG) {
		val = regs_get_register(rec, code->param);
	} else if (code->op == FETCH_OP_STACK) {
		val = stack_nth(rec, code->param);
	} else if (code->op == FETCH_OP_STACKP) {
		val = kernel_stack_pointer(rec);
	} else {
		ret = process_common_fetch_insn(code, &val);
		if (ret < 0)
			return ret;
	}
	return process_fetch_insn_bottom(code + 1, val, dest, base);
}

static void record(struct trace_wprobe *tw, struct pt_regs *regs, struct values *values,
		   struct trace_event_file *file)
{
	struct kprobe_trace_entry_head *entry;
	struct trace_event_buffer buffer;
	int dynamic;

	if (trace_trigger_soft_disabled(file))
		return;
	dynamic = __get_data_size(&tw->tp, regs, values);
	entry = trace_event_buffer_reserve(&buffer, file, sizeof(*entry) + tw->tp.size + dynamic);
	if (!entry)
		return;
	buffer.regs = regs;
	entry->ip = instruction_pointer(regs);
	store_trace_args(entry + 1, &tw->tp, regs, values, sizeof(*entry), dynamic);
	trace_event_buffer_commit(&buffer);
}

static void record_perf(struct trace_wprobe *tw, struct pt_regs *regs, struct values *values)
{
	struct trace_event_call *call = trace_probe_event_call(&tw->tp);
	struct hlist_head *head = this_cpu_ptr(call->perf_events);
	struct kprobe_trace_entry_head *entry;
	int dynamic, size, rctx;

	if (hlist_empty(head))
		return;
	dynamic = __get_data_size(&tw->tp, regs, values);
	/* The buffer has a 32-bit size before the record, and is aligned to 64 bits. */
	size = sizeof(*entry) + tw->tp.size + dynamic;
	size = round_up(size + sizeof(u32), sizeof(u64)) - sizeof(u32);
	entry = perf_trace_buf_alloc(size, NULL, &rctx);
	if (!entry)
		return;
	entry->ip = instruction_pointer(regs);
	store_trace_args(entry + 1, &tw->tp, regs, values, sizeof(*entry), dynamic);
	perf_trace_buf_submit(entry, size, rctx, call->event.type, 1, regs, head, NULL);
}

static void trace_hit(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		      unsigned long new)
{
	struct trace_wprobe *tw = container_of(wp, struct trace_wprobe, wp);
	struct values values = { .value = new, .old = old };
	struct event_file_link *link;
	unsigned int flags;

	/*
	 * Handlers for data of processes are preemptible.  The flag is read with preemption
	 * disabled, because perf clears it, and frees its buffers a grace period later.
	 */
	guard(preempt_notrace)();
	values.addr = (unsigned long)wprobe_address(wp);
	flags = trace_probe_load_flag(&tw->tp);
	if (flags & TP_FLAG_TRACE) {
		trace_probe_for_each_link_rcu(link, &tw->tp)
			record(tw, regs, &values, link->file);
	}
	if (flags & TP_FLAG_PROFILE)
		record_perf(tw, regs, &values);
}

static enum print_line_t print_event(struct trace_iterator *iter, int flags,
				     struct trace_event *event)
{
	struct kprobe_trace_entry_head *field = (void *)iter->ent;
	struct trace_event_call *call = container_of(event, struct trace_event_call, event);
	struct trace_probe *tp = trace_probe_primary_from_call(call);
	struct trace_seq *s = &iter->seq;

	if (WARN_ON_ONCE(!tp))
		return trace_handle_return(s);
	trace_seq_printf(s, "%s: (", trace_probe_name(tp));
	if (seq_print_ip_sym_offset(s, field->ip, flags)) {
		trace_seq_putc(s, ')');
		if (trace_probe_print_args(s, tp->args, tp->nr_args, (u8 *)(field + 1), field) >= 0)
			trace_seq_putc(s, '\n');
	}
	return trace_handle_return(s);
}

static struct trace_event_functions print_funcs = {
	.trace = print_event,
};

/* --- Enabling -------------------------------------------------------------------- */

static int define_fields(struct trace_event_call *event_call)
{
	struct trace_probe *tp = trace_probe_primary_from_call(event_call);
	struct kprobe_trace_entry_head field;
	int ret;

	if (WARN_ON_ONCE(!tp))
		return -ENOENT;
	DEFINE_FIELD(unsigned long, ip, FIELD_STRING_IP, 0);
	return traceprobe_define_arg_fields(event_call, sizeof(field), tp);
}

static struct trace_event_fields fields[] = {
	{ .type = TRACE_FUNCTION_TYPE, .define_fields = define_fields },
	{}
};

/*
 * Events are enabled, disabled and removed under event_mutex, which perf takes under its own locks
 * when a task with an inherited event exits.  The functions for a probe on data of a process take
 * these locks of perf, so they are not called here: such a probe is always enabled, and trace_hit()
 * tests the flags of the event.
 */
static int enable_probe(struct trace_wprobe *tw)
{
	if (tw->wp.pid)
		return READ_ONCE(tw->wp.flags) & WPROBE_FLAG_GONE ? -ESRCH : 0;
	return enable_wprobe(&tw->wp);
}

static int enable_file(struct trace_wprobe *tw, struct trace_event_file *file)
{
	int ret = trace_probe_add_file(&tw->tp, file);

	if (ret)
		return ret;
	trace_probe_set_flag(&tw->tp, TP_FLAG_TRACE);
	ret = enable_probe(tw);
	if (ret)
		trace_probe_remove_file(&tw->tp, file);
	return ret;
}

static int disable_flag(struct trace_wprobe *tw, unsigned int flag)
{
	trace_probe_clear_flag(&tw->tp, flag);
	/* If its memory is gone, the probe has been disabled for good. */
	if (!tw->wp.pid && !trace_probe_is_enabled(&tw->tp))
		disable_wprobe(&tw->wp);
	return 0;
}

static int disable_file(struct trace_wprobe *tw, struct trace_event_file *file)
{
	int ret;

	if (!trace_probe_get_file_link(&tw->tp, file))
		return -ENOENT;
	if (trace_probe_has_single_file(&tw->tp))
		disable_flag(tw, TP_FLAG_TRACE);
	ret = trace_probe_remove_file(&tw->tp, file);
	/* Nothing has waited for trace_hit(), which may use the file. */
	if (tw->wp.pid)
		synchronize_rcu();
	return ret;
}

static int enable_perf(struct trace_wprobe *tw)
{
	int ret = enable_probe(tw);

	if (!ret)
		trace_probe_set_flag(&tw->tp, TP_FLAG_PROFILE);
	return ret;
}

static int change_event(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct trace_probe *tp = trace_probe_primary_from_call(call);
	struct trace_wprobe *tw = container_of(tp, struct trace_wprobe, tp);

	if (WARN_ON_ONCE(!tp))
		return -ENODEV;
	switch (type) {
	case TRACE_REG_REGISTER:
		return enable_file(tw, data);
	case TRACE_REG_UNREGISTER:
		return disable_file(tw, data);
	case TRACE_REG_PERF_REGISTER:
		return enable_perf(tw);
	case TRACE_REG_PERF_UNREGISTER:
		return disable_flag(tw, TP_FLAG_PROFILE);
	default:
		return 0;
	}
}

/* --- Making and removing --------------------------------------------------------- */

static struct dyn_event_operations wprobe_ops;

static void free_trace_wprobe(struct trace_wprobe *tw)
{
	if (IS_ERR_OR_NULL(tw))
		return;
	trace_probe_cleanup(&tw->tp);
	put_pid(tw->pid);
	kfree(tw->spec);
	kfree(tw->symbol);
	kfree(tw);
}

DEFINE_FREE(trace_wprobe, struct trace_wprobe *, free_trace_wprobe(_T))

/* Frees removed events of processes; see enable_probe(). */
static LLIST_HEAD(all_ended);

static void free_ended(struct work_struct *work)
{
	struct trace_wprobe *tw, *next;

	llist_for_each_entry_safe(tw, next, llist_del_all(&all_ended), ended) {
		unregister_wprobe(&tw->wp);
		free_trace_wprobe(tw);
	}
}

static DECLARE_WORK(free_work, free_ended);

static int register_event(struct trace_wprobe *tw)
{
	struct trace_event_call *call = trace_probe_event_call(&tw->tp);
	int ret;

	call->event.funcs = &print_funcs;
	call->class->fields_array = fields;
	call->class->reg = change_event;
	ret = traceprobe_set_print_fmt(&tw->tp, PROBE_PRINT_NORMAL);
	if (ret < 0)
		return ret;

	guard(mutex)(&event_mutex);
	ret = trace_probe_register_event_call(&tw->tp);
	if (ret == -EEXIST) {
		trace_probe_log_set_index(0);
		trace_probe_log_err(0, EVENT_EXIST);
	}
	if (!ret)
		ret = dyn_event_add(&tw->devent, call);
	return ret;
}

static struct trace_wprobe *alloc_trace_wprobe(const char *group, const char *event, int nr_args)
{
	struct trace_wprobe *tw = kzalloc(struct_size(tw, tp.args, nr_args), GFP_KERNEL);
	int ret;

	if (!tw)
		return ERR_PTR(-ENOMEM);
	ret = trace_probe_init(&tw->tp, event, group, false, nr_args);
	if (!ret)
		ret = dyn_event_init(&tw->devent, &wprobe_ops);
	if (!ret)
		return tw;
	free_trace_wprobe(tw);
	return ERR_PTR(ret);
}

/* Makes a name from the place, if the user has given none. */
static void default_name(char *buf, size_t size, const char *spec)
{
	char *c;

	snprintf(buf, size, "w_%s", strchr(spec, '@') + 1);
	for (c = buf; *c; c++) {
		if (!isalnum(*c))
			*c = '_';
	}
}

static void log_refusal(const char *reason)
{
	char buf[80];

	snprintf(buf, sizeof(buf), "Probe refused: %s", reason);
	trace_probe_log_set_index(1);
	trace_probe_log_text(0, buf);
}

/* Makes the event of a command that begins with w. */
static int make(int argc, const char *argv[])
{
	struct trace_wprobe *tw __free(trace_wprobe) = NULL;
	const char *event = NULL, *group = WPROBE_EVENT_SYSTEM;
	char name[MAX_EVENT_NAME_LEN], group_buf[MAX_EVENT_NAME_LEN];
	int i, ret;

	ret = security_locked_down(LOCKDOWN_KPROBES);
	if (ret)
		return ret;
	if (argc - 2 > MAX_TRACE_ARGS) {
		trace_probe_log_set_index(2);
		trace_probe_log_text(0, "The event has too many arguments");
		return -E2BIG;
	}
	if (argv[0][1]) {
		event = &argv[0][2];
		ret = traceprobe_parse_event_name(&event, &group, group_buf, 2);
		if (ret)
			return ret;
	}
	if (!event) {
		default_name(name, sizeof(name), argv[1]);
		event = name;
	}
	tw = alloc_trace_wprobe(group, event, argc - 2);
	if (IS_ERR(tw))
		return PTR_ERR(tw);
	/* The registers of removed events are released. */
	flush_work(&free_work);
	ret = trace_wprobe_parse_spec(tw, argv[1]);
	if (ret)
		return ret;
	tw->wp.handler = trace_hit;
	/* A register is reserved also while the event is disabled. */
	tw->wp.flags = tw->wp.pid ? 0 : WPROBE_FLAG_DISABLED;
	ret = register_wprobe(&tw->wp);
	if (ret) {
		log_refusal(tw->wp.refusal);
		return ret;
	}
	for (i = 0; i < argc - 2 && !ret; i++)
		ret = trace_wprobe_parse_arg(tw, i, argv[i + 2]);
	ret = ret ?: register_event(tw);
	if (ret)
		unregister_wprobe(&tw->wp);
	else
		tw = NULL;	/* the list of events has it now */
	return ret;
}

static int create(int argc, const char *argv[])
{
	int ret;

	if (argv[0][0] != 'w' || (argv[0][1] && argv[0][1] != ':') || argc < 2 ||
	    !strchr(argv[1], '@'))
		return -ECANCELED;

	trace_probe_log_init("wprobe", argc, argv);
	ret = make(argc, argv);
	trace_probe_log_clear();
	return ret;
}

static int create_event(const char *command)
{
	return trace_probe_create(command, create);
}

static int show_event(struct seq_file *m, struct dyn_event *ev)
{
	struct trace_wprobe *tw = to_trace_wprobe(ev);
	char *spec __free(kfree) = trace_wprobe_get_spec(tw);
	int i;

	if (!spec)
		return -ENOMEM;
	seq_printf(m, "w:%s/%s %s", trace_probe_group_name(&tw->tp), trace_probe_name(&tw->tp),
		   spec);
	for (i = 0; i < tw->tp.nr_args; i++)
		seq_printf(m, " %s=%s", tw->tp.args[i].name, tw->tp.args[i].comm);
	seq_putc(m, '\n');
	return 0;
}

static bool event_is_busy(struct dyn_event *ev)
{
	return trace_probe_is_enabled(&to_trace_wprobe(ev)->tp);
}

static int free_event(struct dyn_event *ev)
{
	struct trace_wprobe *tw = to_trace_wprobe(ev);
	int ret;

	if (event_is_busy(ev))
		return -EBUSY;
	/* Event probes refer to the fields. */
	if (trace_event_dyn_busy(trace_probe_event_call(&tw->tp)))
		return -EBUSY;
	ret = trace_probe_unregister_event_call(&tw->tp);
	if (ret)
		return ret;
	dyn_event_remove(ev);
	if (tw->wp.pid) {
		llist_add(&tw->ended, &all_ended);
		schedule_work(&free_work);
		return 0;
	}
	unregister_wprobe(&tw->wp);
	free_trace_wprobe(tw);
	return 0;
}

static bool match_event(const char *system, const char *event, int argc, const char **argv,
			struct dyn_event *ev)
{
	struct trace_wprobe *tw = to_trace_wprobe(ev);
	char *spec __free(kfree) = NULL;

	if (event[0] && strcmp(trace_probe_name(&tw->tp), event))
		return false;
	if (system && strcmp(trace_probe_group_name(&tw->tp), system))
		return false;
	if (!argc)
		return true;
	spec = trace_wprobe_get_spec(tw);
	return spec && !strcmp(argv[0], spec) &&
	       trace_probe_match_command_args(&tw->tp, argc - 1, argv + 1);
}

static struct dyn_event_operations wprobe_ops = {
	.create	 = create_event,
	.show	 = show_event,
	.is_busy = event_is_busy,
	.free	 = free_event,
	.match	 = match_event,
};

static int __init trace_wprobe_init(void)
{
	return dyn_event_register(&wprobe_ops);
}
core_initcall(trace_wprobe_init);
