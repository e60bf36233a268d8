// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers consumers of uprobes on behalf of scripts.  Commands are lines that are written to
 * debugfs up_test/control; the write returns the result of the command.
 *
 *	add NAME path=P offset=N WORD...	register a consumer
 *	del NAME				unregister it and free it
 *	free					finish all unregistrations, once
 *	clear					forget the log
 *
 * The words of "add" are:
 *
 *	ref=N		offset of the counter of users
 *	return		it has a ret_handler and no handler
 *	session		it has both, and the handler stores a cookie for the ret_handler
 *	odd		its handler returns UPROBE_HANDLER_IGNORE for every second hit
 *	once		its handler returns UPROBE_HANDLER_REMOVE, which the filter confirms
 *	pid=N		its filter accepts only the memory of that process
 *	none		its filter accepts nothing
 *	ip=N		its handler, or ret_handler, adds N to the instruction pointer
 *	result=N	its handler, or ret_handler, sets the register of results
 *	sleep		its handlers sleep
 *	nosync		"del" does not wait; "free" does
 *
 * Read up_test/probes for a line for each consumer: name, hits, returns, errors.  An error is
 * a wrong instruction pointer or cookie in a handler.  Read up_test/log for the names of the
 * consumers whose handlers have run, in that order; a ret_handler's with a minus.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/namei.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/uprobes.h>

#include "up_control.h"

/* --- Consumers -------------------------------------------------------------------- */

/*
 * struct consumer - a registered consumer
 * @uc: the registered consumer
 * @uprobe: handle of the registration
 * @path: keeps the file
 * @entry: in consumers
 * @name: chosen by the script
 * @offset: in the file
 * @mm: memory that the filter accepts, or NULL
 * @changes: those of its handler, or ret_handler
 * @has_filter: the filter accepts only @mm
 * @odd: ignore every second return
 * @once: remove from a process at its first hit
 * @sleep: handlers sleep
 * @nosync: unregister without waiting
 * @removed: @once has removed it
 * @hits: of the handler
 * @returns: of the ret_handler
 * @errors: wrong arguments of either
 */
struct consumer {
	struct uprobe_consumer uc;
	struct uprobe *uprobe;
	struct path path;
	struct list_head entry;
	char name[NAME_SIZE];
	loff_t offset;
	struct mm_struct *mm;
	struct changes changes;
	bool has_filter, odd, once, sleep, nosync;
	bool removed;
	atomic_long_t hits, returns, errors;
};

/* Protected by the lock of commands. */
static LIST_HEAD(consumers);
static LIST_HEAD(dead);			/* unregistered without waiting */

/* A probed instruction is in a file, so its address has the offset's place in the page. */
static bool wrong_ip(const struct consumer *c, struct pt_regs *regs)
{
	return (instruction_pointer(regs) ^ c->offset) & ~PAGE_MASK;
}

static int on_hit(struct uprobe_consumer *uc, struct pt_regs *regs, __u64 *data)
{
	struct consumer *c = container_of(uc, struct consumer, uc);
	long nr = atomic_long_inc_return(&c->hits);

	log_add("", c->name, "\n");
	/* Another handler may have moved it, in the tests with "ip". */
	if (!c->changes.ip && wrong_ip(c, regs))
		atomic_long_inc(&c->errors);
	if (c->sleep)
		msleep(20);
	if (!uc->ret_handler)
		make_changes(&c->changes, regs);
	if (data)
		*data = nr + ((u64)current->pid << 32);
	if (c->once) {
		WRITE_ONCE(c->removed, true);
		return UPROBE_HANDLER_REMOVE;
	}
	return c->odd && nr % 2 ? UPROBE_HANDLER_IGNORE : 0;
}

/* Without recursion in the probed function, the last hit of this thread is the one that returns. */
static int on_return(struct uprobe_consumer *uc, unsigned long func, struct pt_regs *regs,
		     __u64 *data)
{
	struct consumer *c = container_of(uc, struct consumer, uc);

	atomic_long_inc(&c->returns);
	log_add("-", c->name, "\n");
	if ((func ^ c->offset) & ~PAGE_MASK)
		atomic_long_inc(&c->errors);
	if (uc->handler && (!data || *data >> 32 != current->pid))
		atomic_long_inc(&c->errors);
	if (c->sleep)
		msleep(20);
	make_changes(&c->changes, regs);
	return 0;
}

static bool accepts(struct uprobe_consumer *uc, struct mm_struct *mm)
{
	struct consumer *c = container_of(uc, struct consumer, uc);

	if (c->once)
		return !READ_ONCE(c->removed);
	return mm == c->mm;
}

static struct consumer *find(const char *name)
{
	struct consumer *c;

	list_for_each_entry(c, &consumers, entry) {
		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

static void destroy(struct consumer *c)
{
	if (c->mm)
		mmdrop(c->mm);
	path_put(&c->path);
	kfree(c);
}

/* --- Commands --------------------------------------------------------------------- */

static int take_memory(struct consumer *c, const char *number)
{
	struct task_struct *task;
	struct mm_struct *mm;
	int nr;

	if (kstrtoint(number, 0, &nr))
		return -EINVAL;
	rcu_read_lock();
	task = get_pid_task(find_vpid(nr), PIDTYPE_PID);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (!mm)
		return -ESRCH;
	mmgrab(mm);
	mmput(mm);
	c->mm = mm;
	c->has_filter = true;
	return 0;
}

static int take_word(struct consumer *c, char *word, loff_t *ref)
{
	char *value = split_word(word);
	int ret = take_change(&c->changes, word, value);

	if (ret <= 0)
		return ret;
	if (!strcmp(word, "path"))
		return kern_path(value, LOOKUP_FOLLOW, &c->path);
	if (!strcmp(word, "offset"))
		return kstrtoll(value, 0, &c->offset);
	if (!strcmp(word, "ref"))
		return kstrtoll(value, 0, ref);
	if (!strcmp(word, "pid"))
		return take_memory(c, value);
	if (!strcmp(word, "return") || !strcmp(word, "session"))
		c->uc.ret_handler = on_return;
	if (!strcmp(word, "return"))
		c->uc.handler = NULL;
	else if (!strcmp(word, "none"))
		c->has_filter = true;
	else if (!strcmp(word, "odd"))
		c->odd = true;
	else if (!strcmp(word, "once"))
		c->once = true;
	else if (!strcmp(word, "sleep"))
		c->sleep = true;
	else if (!strcmp(word, "nosync"))
		c->nosync = true;
	else if (strcmp(word, "session"))
		return -EINVAL;
	return 0;
}

static int add(struct consumer *c, char *words)
{
	loff_t ref = 0;
	char *word;
	int ret;

	while ((word = strsep(&words, " "))) {
		ret = *word ? take_word(c, word, &ref) : 0;
		if (ret)
			return ret;
	}
	if (!c->path.dentry)
		return -EINVAL;
	if (c->has_filter || c->once)
		c->uc.filter = accepts;
	c->uprobe = uprobe_register(d_real_inode(c->path.dentry), c->offset, ref, &c->uc);
	return PTR_ERR_OR_ZERO(c->uprobe);
}

static int command_add(char *name, char *words)
{
	struct consumer *c;
	int ret;

	if (find(name))
		return -EEXIST;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	strscpy(c->name, name);
	c->uc.handler = on_hit;
	list_add_tail(&c->entry, &consumers);
	ret = add(c, words);
	if (ret) {
		list_del(&c->entry);
		destroy(c);
	}
	return ret;
}

static void remove(struct consumer *c)
{
	uprobe_unregister_nosync(c->uprobe, &c->uc);
	list_move_tail(&c->entry, &dead);
}

static void free_dead(void)
{
	struct consumer *c, *next;

	uprobe_unregister_sync();
	list_for_each_entry_safe(c, next, &dead, entry) {
		list_del(&c->entry);
		destroy(c);
	}
}

static int command_del(struct consumer *c)
{
	bool nosync = c->nosync;

	remove(c);
	if (!nosync)
		free_dead();
	return 0;
}

static int run(char *line)
{
	char *command = strsep(&line, " "), *name = strsep(&line, " ");
	struct consumer *c;

	if (!strcmp(command, "clear")) {
		log_clear();
		return 0;
	}
	if (!strcmp(command, "free")) {
		free_dead();
		return 0;
	}
	if (!name || strlen(name) >= NAME_SIZE)
		return -EINVAL;
	if (!strcmp(command, "add"))
		return command_add(name, line);
	c = find(name);
	if (!c)
		return -ENOENT;
	if (!strcmp(command, "del"))
		return command_del(c);
	return -EINVAL;
}

/* --- Files ------------------------------------------------------------------------ */

static int probes_show(struct seq_file *m, void *v)
{
	struct consumer *c;

	guard(mutex)(&lock);
	list_for_each_entry(c, &consumers, entry)
		seq_printf(m, "%s %ld %ld %ld\n", c->name, atomic_long_read(&c->hits),
			   atomic_long_read(&c->returns), atomic_long_read(&c->errors));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(probes);

static struct dentry *directory;

static int __init up_test_init(void)
{
	directory = control_create("up_test");
	debugfs_create_file("probes", 0400, directory, NULL, &probes_fops);
	return 0;
}

static void __exit up_test_exit(void)
{
	struct consumer *c, *next;

	debugfs_remove(directory);
	list_for_each_entry_safe(c, next, &consumers, entry)
		remove(c);
	free_dead();
}

module_init(up_test_init);
module_exit(up_test_exit);
MODULE_DESCRIPTION("Registers consumers of uprobes for selftests");
MODULE_LICENSE("GPL");
