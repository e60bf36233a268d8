// SPDX-License-Identifier: GPL-2.0
/*
 * Registers consumers of uprobes for the program that measures them (lab/bench/uclient.c).
 * All code uses only the public API, so that one source measures any implementation.
 *
 *	debugfs/uprobe_bench/run	takes one command a write
 *	debugfs/uprobe_bench/count	shows how often handlers have run
 *
 *	file PATH			the file of the following offsets
 *	entry|return|session OFFSET [NUMBER]	register that many consumers there
 *	many FIRST STEP NUMBER		register one at each of that many offsets
 *	drop				unregister all
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#define COMMAND_SIZE	256

/* On one processor a plain number counts right, and costs least. */
static unsigned long counted;
static DEFINE_PER_CPU(unsigned long, counted_here);

struct bench_uprobe {
	struct uprobe_consumer consumer;
	struct uprobe *uprobe;
	struct list_head entry;
};

static DEFINE_MUTEX(bench_mutex);	/* protects the list and the path */
static LIST_HEAD(bench_uprobes);
static struct path path;

static int count_hit(struct uprobe_consumer *consumer, struct pt_regs *regs, __u64 *data)
{
	counted++;
	return 0;
}

static int count_hit_here(struct uprobe_consumer *consumer, struct pt_regs *regs, __u64 *data)
{
	this_cpu_inc(counted_here);
	return 0;
}

static int count_return(struct uprobe_consumer *consumer, unsigned long func,
			struct pt_regs *regs, __u64 *data)
{
	counted++;
	return 0;
}

static int count_return_here(struct uprobe_consumer *consumer, unsigned long func,
			     struct pt_regs *regs, __u64 *data)
{
	this_cpu_inc(counted_here);
	return 0;
}

static int add(loff_t offset, bool entry, bool returns)
{
	struct bench_uprobe *u = kzalloc(sizeof(*u), GFP_KERNEL);

	if (!u)
		return -ENOMEM;
	if (entry)
		u->consumer.handler = num_online_cpus() > 1 ? count_hit_here : count_hit;
	if (returns)
		u->consumer.ret_handler = num_online_cpus() > 1 ? count_return_here : count_return;
	u->uprobe = uprobe_register(d_real_inode(path.dentry), offset, 0, &u->consumer);
	if (IS_ERR(u->uprobe)) {
		int ret = PTR_ERR(u->uprobe);

		kfree(u);
		return ret;
	}
	list_add_tail(&u->entry, &bench_uprobes);
	return 0;
}

static int add_all(loff_t offset, unsigned int step, unsigned int number, bool entry,
		   bool returns)
{
	int ret = path.dentry ? 0 : -ENOENT;

	for (; !ret && number; number--, offset += step)
		ret = add(offset, entry, returns);
	return ret;
}

static int drop(void)
{
	struct bench_uprobe *u, *next;

	list_for_each_entry(u, &bench_uprobes, entry)
		uprobe_unregister_nosync(u->uprobe, &u->consumer);
	uprobe_unregister_sync();
	list_for_each_entry_safe(u, next, &bench_uprobes, entry) {
		list_del(&u->entry);
		kfree(u);
	}
	return 0;
}

static int set_file(const char *name)
{
	path_put(&path);
	path = (struct path){};
	return kern_path(name, LOOKUP_FOLLOW, &path);
}

static int run(char *line)
{
	char *command = strsep(&line, " ");
	unsigned int step = 0, number = 1;
	unsigned long offset;

	if (!strcmp(command, "drop"))
		return drop();
	if (!line)
		return -EINVAL;
	if (!strcmp(command, "file"))
		return set_file(line);
	if (!strcmp(command, "many")) {
		if (sscanf(line, "%lu %u %u", &offset, &step, &number) != 3)
			return -EINVAL;
		return add_all(offset, step, number, true, false);
	}
	if (sscanf(line, "%lu %u", &offset, &number) < 1)
		return -EINVAL;
	if (!strcmp(command, "entry"))
		return add_all(offset, 0, number, true, false);
	if (!strcmp(command, "return"))
		return add_all(offset, 0, number, false, true);
	if (!strcmp(command, "session"))
		return add_all(offset, 0, number, true, true);
	return -EINVAL;
}

static ssize_t run_write(struct file *file, const char __user *text, size_t size,
			 loff_t *offset)
{
	int ret;

	if (size >= COMMAND_SIZE)
		return -E2BIG;

	char *line __free(kfree) = memdup_user_nul(text, size);

	if (IS_ERR(line))
		return PTR_ERR(no_free_ptr(line));
	guard(mutex)(&bench_mutex);
	ret = run(strim(line));
	return ret ?: size;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static int count_show(struct seq_file *m, void *v)
{
	unsigned long sum = counted;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counted_here, cpu);
	seq_printf(m, "%lu\n", sum);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(count);

static struct dentry *bench_dir;

static int __init uprobe_bench_init(void)
{
	bench_dir = debugfs_create_dir("uprobe_bench", NULL);
	debugfs_create_file("run", 0200, bench_dir, NULL, &run_fops);
	debugfs_create_file("count", 0400, bench_dir, NULL, &count_fops);
	return 0;
}

static void __exit uprobe_bench_exit(void)
{
	debugfs_remove(bench_dir);
	drop();
	path_put(&path);
}

module_init(uprobe_bench_init);
module_exit(uprobe_bench_exit);
MODULE_DESCRIPTION("Registers uprobes to be measured");
MODULE_LICENSE("GPL");
