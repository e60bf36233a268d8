// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers probes of processes on behalf of the program process_probes.  Commands are lines that
 * are written to debugfs up_process/control; the write returns the result of the command.
 *
 *	new NAME pid=N at=N WORD...	make a probe
 *	add NAME			register it
 *	del NAME			unregister it
 *	forget NAME			unregister it, and forget it
 *	on NAME, off NAME		enable it, disable it
 *	pid NAME N			change its pid, also if it is registered
 *	batch				register all that are not registered, as an array
 *	returns				the same for all return probes
 *	twice NAME, null NAME		register an array that has it twice, or NULL and it
 *	array N				register and unregister arrays of N probes: 0 or less
 *	drop				unregister and forget all
 *	kernel WORD			probes of a function of the kernel, see up_kernel.h
 *	follow NAME			register it in the next child of its process
 *	dying COMMAND			do a command while the caller is being killed
 *	kprobe COMMAND			do it in the handler of a kprobe
 *
 * The words of "new" are:
 *
 *	return		a return probe, with data
 *	most=N		its maxactive
 *	data=N		its data_size
 *	size=N		it is on the exits of the function, which has this size
 *	entry		it has an entry handler, although it is on exits
 *	ignore		its entry handler does not want the return
 *	nothing		it has no handler
 *	reserved	a reserved member is not zero
 *	sleep		the handler sleeps, and allocates memory
 *	meet		the handler waits until a second call of it runs
 *	signal		the handler sends SIGUSR1 to the thread
 *	kill		the handler kills its process
 *	known		the general registers are KNOWN, KNOWN + 1 and so on, and the flags
 *			those of an equal comparison with carry, or it is an error
 *	read=N		the handler reads KNOWN at this address of its process, or it is an error
 *	write=N		the handler writes KNOWN to this address, or it is an error
 *	quiet		the log does not have it
 *	self		the handler unregisters the probe
 *	off		the handler disables the probe
 *	other=NAME	the handler registers another probe
 *	remove=NAME	the handler unregisters another probe
 *	begin=NAME	the callback registers another probe
 *	end=NAME	the callback unregisters another probe, which must have no callbacks then
 *	kprobes		the handler registers and unregisters probes of that function
 *	calls		the handler calls that function
 *	notify		the handler registers the notifier of this module again
 *	dies		the handler is a bug
 *	leaves		the exit of its process, which is followed, unregisters it
 *	ip=N		the handler adds N to the instruction pointer
 *	sp=N		the handler adds N to the stack pointer
 *	carry		the handler sets the carry flag
 *	result=N	the handler sets the register of results
 *
 * up_process/probes has a line for each: name, hits, returns, missed, callbacks, result of the
 * last callback or operation in a notifier, errors, 1 if it is registered, the result of the last
 * operation that its handler or its callback has asked for, and the stack pointer of the last hit.
 * up_process/log has the names of probes whose handlers have run, with a "+" or "-" for callbacks
 * of registrations and removals, in that order.  up_process/events has the numbers of forks, execs,
 * exits, and exits of tasks without memory.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uprobes.h>

#include "up_control.h"
#include "up_in_kprobe.h"
#include "up_kernel.h"
#include "up_registers.h"

#define MOST	64	/* probes in a batch */

/* --- Probes ----------------------------------------------------------------------- */

/*
 * struct probe - a probe
 * @rp: its first member is registered if it is no return probe
 * @entry: in probes
 * @name: chosen by the program
 * @is_return: it is a return probe
 * @ignore: the entry handler does not want the return
 * @sleep: the handler sleeps
 * @meet: the handler waits for another one
 * @signal: the handler sends a signal
 * @kill: the handler kills its process
 * @known: the registers of the hit are known
 * @quiet: its hits are not in the log
 * @self: the handler unregisters it
 * @off: the handler disables it
 * @kprobes: the handler registers probes of the kernel
 * @calls: the handler calls a function of the kernel
 * @notify: the handler registers the notifier
 * @dies: the handler is a bug
 * @leaves: the exit of its process unregisters it
 * @other: the handler registers it, or NULL
 * @remove: the handler unregisters it, or NULL
 * @begin: the callback registers it, or NULL
 * @end: the callback unregisters it, or NULL
 * @ended: by such a callback
 * @read: the handler reads KNOWN there, or 0
 * @write: the handler writes KNOWN there, or 0
 * @sp: stack pointer of the last hit
 * @changes: those of the handler
 * @result: of the last callback, or of another operation in a handler or a notifier
 * @asked: result of the last operation in the handler or the callback
 * @hits: of the handler
 * @returns: of the return handler
 * @callbacks: of the callback
 * @errors: wrong registers or data
 */
struct probe {
	struct uretprobe rp;
	struct list_head entry;
	char name[NAME_SIZE];
	bool is_return, ignore, sleep, meet, signal, kill, known, quiet, self, kprobes, calls,
	     notify, dies, leaves, off;
	struct probe *other, *remove, *begin, *end;
	bool ended;
	unsigned long read, write, sp;
	struct changes changes;
	int result, asked;
	atomic_long_t hits, returns, callbacks, errors;
};

static LIST_HEAD(probes);	/* protected by the lock of commands */

static int add(struct probe *p)
{
	return p->is_return ? register_uretprobe(&p->rp) : register_uprobe(&p->rp.up);
}

static int del(struct probe *p)
{
	return p->is_return ? unregister_uretprobe(&p->rp) : unregister_uprobe(&p->rp.up);
}

static int enable(struct probe *p)
{
	return p->is_return ? enable_uretprobe(&p->rp) : enable_uprobe(&p->rp.up);
}

static int disable(struct probe *p)
{
	return p->is_return ? disable_uretprobe(&p->rp) : disable_uprobe(&p->rp.up);
}

static struct notifier_block notifier;

/* Waits until another thread is in the handler, too, but not for ever. */
static void meet(struct probe *p)
{
	unsigned int tries = 500;

	while (atomic_long_read(&p->hits) < 2 && tries--)
		msleep(20);
}

/* Not BUG(): on arm64, its exception would be left open on this CPU. */
static void die(void)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
}

static void on_hit(struct uprobe *u, struct pt_regs *regs)
{
	struct probe *p = container_of(u, struct probe, rp.up);

	atomic_long_inc(&p->hits);
	if (!p->quiet)
		log_add("", p->name, " ");
	if (instruction_pointer(regs) != u->vaddr || !user_mode(regs))
		atomic_long_inc(&p->errors);
	if (p->known && !are_known(regs))
		atomic_long_inc(&p->errors);
	if ((p->read && !read_known(p->read)) || (p->write && !write_known(p->write)))
		atomic_long_inc(&p->errors);
	WRITE_ONCE(p->sp, user_stack_pointer(regs));
	if (p->sleep) {
		msleep(20);
		kfree(kmalloc(PAGE_SIZE, GFP_KERNEL));
	}
	if (p->meet)
		meet(p);
	if (p->signal)
		send_sig(SIGUSR1, current, 0);
	if (p->kill)
		send_sig(SIGKILL, current, 1);
	if (p->kprobes)
		p->result = use_kernel_probes();
	if (p->calls)
		call_kernel_function();
	if (p->notify)
		p->result = register_uprobe_process_notifier(&notifier);
	if (p->dies)
		die();
	if (p->other && !p->other->rp.up.registration)
		p->asked = add(p->other);
	if (p->remove && READ_ONCE(p->remove->rp.up.registration))
		p->asked = del(p->remove);
	if (p->self)
		p->asked = del(p);
	if (p->off)
		p->asked = disable(p);
	make_changes(&p->changes, regs);
}

static int on_entry(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe *p = container_of(ri->rp, struct probe, rp);

	atomic_long_inc(&p->hits);
	*(u64 *)ri->data = (unsigned long)current;
	return p->ignore;
}

static bool return_is_right(struct probe *p, struct uretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long ip = instruction_pointer(regs);

	if (ri->func != p->rp.up.vaddr)
		return false;
	/* The instruction has not taken effect. */
	if (p->rp.size)
		return ip - ri->func < p->rp.size && ri->ret_addr;
	return *(u64 *)ri->data == (unsigned long)current && ri->ret_addr == ip;
}

static int on_return(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe *p = container_of(ri->rp, struct probe, rp);

	atomic_long_inc(&p->returns);
	if (!p->quiet)
		log_add("", p->name, " ");
	if (!return_is_right(p, ri, regs))
		atomic_long_inc(&p->errors);
	if (p->sleep)
		msleep(20);
	if (p->calls)
		call_kernel_function();
	if (p->self)
		p->asked = del(p);
	make_changes(&p->changes, regs);
	return 0;
}

static void on_change(struct uprobe *u, int reg, int result)
{
	struct probe *p = container_of(u, struct probe, rp.up);

	atomic_long_inc(&p->callbacks);
	if (READ_ONCE(p->ended))
		atomic_long_inc(&p->errors);
	if (p->begin)
		p->asked = add(p->begin);
	if (p->end) {
		del(p->end);
		WRITE_ONCE(p->end->ended, true);
	}
	p->result = result;
	log_add("", p->name, reg ? "+ " : "- ");
}

static struct probe *find(const char *name)
{
	struct probe *p;

	list_for_each_entry(p, &probes, entry) {
		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

/* --- Notifier ----------------------------------------------------------------------- */

static struct probe *to_follow;
static atomic_t forks, execs, exits, without_memory;
static pid_t followed;

static int on_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct task_struct *task = data;
	struct probe *p = READ_ONCE(to_follow);

	if (event == UPROBE_PROCESS_EXIT && !task->mm)
		atomic_inc(&without_memory);
	if (!p)
		return NOTIFY_DONE;
	if (event == UPROBE_PROCESS_FORK && current->tgid == followed) {
		atomic_inc(&forks);
		p->rp.up.pid = task->pid;
		p->result = add(p);
	} else if (event == UPROBE_PROCESS_EXEC && task->tgid == p->rp.up.pid) {
		atomic_inc(&execs);
	} else if (event == UPROBE_PROCESS_EXIT && task->tgid == p->rp.up.pid) {
		atomic_inc(&exits);
		if (p->leaves)
			p->result = del(p);
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_event };

/* --- Commands --------------------------------------------------------------------- */

static int take_size(const char *text, size_t *size)
{
	unsigned long value;
	int ret = kstrtoul(text, 0, &value);

	*size = value;
	return ret;
}

/* Words that are members of struct probe: flags, other probes, and addresses. */
static const struct member {
	const char *word;
	size_t offset;
} flags[] = {
#define MEMBER(name) { #name, offsetof(struct probe, name) }
	MEMBER(ignore), MEMBER(sleep), MEMBER(meet), MEMBER(signal), MEMBER(kill), MEMBER(known),
	MEMBER(quiet), MEMBER(self), MEMBER(kprobes), MEMBER(calls), MEMBER(notify), MEMBER(dies),
	MEMBER(leaves), MEMBER(off),
}, links[] = {
	MEMBER(other), MEMBER(remove), MEMBER(begin), MEMBER(end),
}, numbers[] = {
	MEMBER(read), MEMBER(write), { "at", offsetof(struct probe, rp.up.vaddr) },
};

static void *find_member(struct probe *p, const char *word, const struct member *members,
			 unsigned int nr)
{
	for (; nr--; members++) {
		if (!strcmp(word, members->word))
			return (void *)p + members->offset;
	}
	return NULL;
}

static int take_word(struct probe *p, char *word)
{
	char *value = split_word(word);
	int ret = take_change(&p->changes, word, value);
	bool *flag = find_member(p, word, flags, ARRAY_SIZE(flags));
	struct probe **link = find_member(p, word, links, ARRAY_SIZE(links));
	unsigned long *number = find_member(p, word, numbers, ARRAY_SIZE(numbers));

	if (ret <= 0)
		return ret;
	if (flag) {
		*flag = true;
		return 0;
	}
	if (number)
		return kstrtoul(value, 0, number);
	if (link) {
		*link = find(value);
		return *link ? 0 : -ENOENT;
	}
	if (!strcmp(word, "pid"))
		return kstrtoint(value, 0, &p->rp.up.pid);
	if (!strcmp(word, "most"))
		return kstrtoint(value, 0, &p->rp.maxactive);
	if (!strcmp(word, "data"))
		return take_size(value, &p->rp.data_size);
	if (!strcmp(word, "size")) {
		p->rp.entry_handler = NULL;
		p->rp.data_size = 0;
		return take_size(value, &p->rp.size);
	}
	if (!strcmp(word, "return")) {
		p->is_return = true;
		p->rp.up.handler = NULL;
		p->rp.handler = on_return;
		p->rp.entry_handler = on_entry;
		p->rp.data_size = sizeof(u64);
	} else if (!strcmp(word, "entry")) {
		p->rp.entry_handler = on_entry;
	} else if (!strcmp(word, "nothing")) {
		p->rp.up.handler = NULL;
	} else if (!strcmp(word, "reserved")) {
		p->rp.up.registration = (void *)p;
	} else {
		return -EINVAL;
	}
	return 0;
}

static int command_new(char *name, char *words)
{
	struct probe *p;
	char *word;
	int ret = 0;

	if (find(name))
		return -EEXIST;
	p = kzalloc_obj(*p);
	if (!p)
		return -ENOMEM;
	strscpy(p->name, name);
	p->rp.up.handler = on_hit;
	p->rp.up.registration_callback = on_change;
	while (!ret && (word = strsep(&words, " ")))
		ret = *word ? take_word(p, word) : 0;
	if (ret)
		kfree(p);
	else
		list_add_tail(&p->entry, &probes);
	return ret;
}

/* Registers all probes, or return probes, that are not registered. */
static int command_batch(bool returns)
{
	static struct uretprobe *rps[MOST];
	static struct uprobe *us[MOST];
	struct probe *p;
	int n = 0;

	list_for_each_entry(p, &probes, entry) {
		if (p->rp.up.registration || p->is_return != returns || n == MOST)
			continue;
		rps[n] = &p->rp;
		us[n++] = &p->rp.up;
	}
	return returns ? register_uretprobes(rps, n) : register_uprobes(us, n);
}

/* Registers an array that has a probe twice; or one with NULL and it, and unregisters that. */
static int command_pair(struct probe *p, bool null)
{
	struct uretprobe *rps[] = { null ? NULL : &p->rp, &p->rp };
	struct uprobe *us[] = { null ? NULL : &p->rp.up, &p->rp.up };
	int ret = p->is_return ? register_uretprobes(rps, 2) : register_uprobes(us, 2);

	if (!null)
		return ret;
	return (p->is_return ? unregister_uretprobes(rps, 2) : unregister_uprobes(us, 2)) ?: ret;
}

/* All functions for arrays return the same. */
static int command_array(const char *text)
{
	int num, ret = kstrtoint(text, 0, &num);

	if (ret || num > 0)
		return ret ?: -ERANGE;
	ret = register_uprobes(NULL, num);
	if (unregister_uprobes(NULL, num) != ret || register_uretprobes(NULL, num) != ret ||
	    unregister_uretprobes(NULL, num) != ret)
		return -EIO;
	return ret;
}

static int command_drop(void)
{
	struct uretprobe *rps[MOST];
	struct uprobe *us[MOST];
	int n = 0, returns = 0;
	struct probe *p, *next;

	WRITE_ONCE(to_follow, NULL);
	list_for_each_entry(p, &probes, entry) {
		if (p->rp.up.registration == (void *)p)
			p->rp.up.registration = NULL;
		if (p->is_return && returns < MOST)
			rps[returns++] = &p->rp;
		else if (!p->is_return && n < MOST)
			us[n++] = &p->rp.up;
		else
			del(p);
	}
	unregister_uprobes(us, n);
	unregister_uretprobes(rps, returns);
	list_for_each_entry_safe(p, next, &probes, entry) {
		list_del(&p->entry);
		kfree(p);
	}
	log_clear();
	return 0;
}

static int run(char *line)
{
	char *command = strsep(&line, " "), *name;
	struct probe *p;

	if (!strcmp(command, "dying")) {
		/* A task that is being killed cannot fault pages in. */
		send_sig(SIGKILL, current, 1);
		command = strsep(&line, " ");
	}
	if (!strcmp(command, "kprobe"))
		return run_in_kprobe(line);
	name = strsep(&line, " ");
	if (!strcmp(command, "drop"))
		return command_drop();
	if (!strcmp(command, "batch") || !strcmp(command, "returns"))
		return command_batch(!strcmp(command, "returns"));
	if (!name || strlen(name) >= NAME_SIZE)
		return -EINVAL;
	if (!strcmp(command, "array"))
		return command_array(name);
	if (!strcmp(command, "kernel"))
		return command_kernel(name);
	if (!strcmp(command, "new"))
		return command_new(name, line);
	p = find(name);
	if (!p)
		return -ENOENT;
	if (!strcmp(command, "add"))
		return add(p);
	if (!strcmp(command, "del"))
		return del(p);
	if (!strcmp(command, "twice") || !strcmp(command, "null"))
		return command_pair(p, !strcmp(command, "null"));
	if (!strcmp(command, "forget")) {
		del(p);
		list_del(&p->entry);
		kfree(p);
		return 0;
	}
	if (!strcmp(command, "on"))
		return enable(p);
	if (!strcmp(command, "off"))
		return disable(p);
	if (!strcmp(command, "pid"))
		return line ? kstrtoint(line, 0, &p->rp.up.pid) : -EINVAL;
	if (strcmp(command, "follow"))
		return -EINVAL;
	followed = p->rp.up.pid;
	WRITE_ONCE(to_follow, p);
	return 0;
}

/* --- Files ------------------------------------------------------------------------ */

static int probes_show(struct seq_file *m, void *v)
{
	struct probe *p;

	guard(mutex)(&lock);
	list_for_each_entry(p, &probes, entry)
		seq_printf(m, "%s %ld %ld %ld %ld %d %ld %d %d %ld\n", p->name,
			   atomic_long_read(&p->hits), atomic_long_read(&p->returns),
			   (long)p->rp.up.nmissed + atomic_read(&p->rp.nmissed),
			   atomic_long_read(&p->callbacks), p->result,
			   atomic_long_read(&p->errors), !!READ_ONCE(p->rp.up.registration),
			   p->asked, (long)READ_ONCE(p->sp));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(probes);

static int events_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d %d %d %d\n", atomic_read(&forks), atomic_read(&execs),
		   atomic_read(&exits), atomic_read(&without_memory));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(events);
static struct dentry *directory;

static int __init up_process_init(void)
{
	int ret = register_uprobe_process_notifier(&notifier);

	if (ret)
		return ret;
	directory = control_create(KBUILD_MODNAME);
	debugfs_create_file("probes", 0400, directory, NULL, &probes_fops);
	debugfs_create_file("events", 0400, directory, NULL, &events_fops);
	debugfs_create_file("kernel", 0400, directory, NULL, &kernel_fops);
	return 0;
}

static void __exit up_process_exit(void)
{
	debugfs_remove(directory);
	unregister_uprobe_process_notifier(&notifier);
	command_drop();
	command_kernel("off");
}

module_init(up_process_init);
module_exit(up_process_exit);
MODULE_DESCRIPTION("Registers probes of processes for selftests");
MODULE_LICENSE("GPL");
