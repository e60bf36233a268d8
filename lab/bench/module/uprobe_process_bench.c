// SPDX-License-Identifier: GPL-2.0
/*
 * Registers probes of one process, by pid and address, for the program that measures them
 * (lab/bench/uclient.c). The base has no such interface.
 *
 *	debugfs/uprobe_process_bench/run	takes one command a write, about the writing process
 *	debugfs/uprobe_process_bench/count	shows how often handlers have run
 *
 *	hit ADDRESS			register a probe
 *	return ADDRESS			register a return probe
 *	session ADDRESS			the same, with an entry_handler
 *	exit ADDRESS SIZE		the same without a changed return address
 *	many FIRST STEP NUMBER		register an array of probes
 *	drop				unregister the array, or the probe
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#define COMMAND_SIZE	64
#define MOST		10000

/* There is one processor, so plain numbers count right. */
static unsigned long counted;

static DEFINE_MUTEX(bench_mutex);	/* protects the probes */
static struct uprobe *probes;
static struct uprobe **pointers;
static unsigned int nr_probes;
static struct uretprobe return_probe;

static void count_hit(struct uprobe *u, struct pt_regs *regs)
{
	counted++;
}

static int count_return(struct uretprobe_instance *ri, struct pt_regs *regs)
{
	counted++;
	return 0;
}

static int add(unsigned long address, unsigned long step, unsigned int number)
{
	pid_t pid = task_tgid_vnr(current);
	unsigned int i;
	int ret;

	if (nr_probes || number > MOST)
		return -EINVAL;
	for (i = 0; i < number; i++) {
		probes[i] = (struct uprobe) {
			.pid = pid, .vaddr = address + i * step, .handler = count_hit,
		};
	}
	ret = register_uprobes(pointers, number);
	if (!ret)
		nr_probes = number;
	return ret;
}

static int add_return(unsigned long address, unsigned long size, bool entry)
{
	if (return_probe.up.registration)
		return -EINVAL;
	return_probe = (struct uretprobe) {
		.up = { .pid = task_tgid_vnr(current), .vaddr = address },
		.handler = count_return, .entry_handler = entry ? count_return : NULL,
		.size = size,
	};
	return register_uretprobe(&return_probe);
}

static int drop(void)
{
	if (return_probe.up.registration)
		unregister_uretprobe(&return_probe);
	if (nr_probes)
		unregister_uprobes(pointers, nr_probes);
	nr_probes = 0;
	return 0;
}

static int run(const char *line)
{
	unsigned long address, step, number;

	if (!strcmp(line, "drop"))
		return drop();
	if (sscanf(line, "hit %lx", &address) == 1)
		return add(address, 0, 1);
	if (sscanf(line, "return %lx", &address) == 1)
		return add_return(address, 0, false);
	if (sscanf(line, "session %lx", &address) == 1)
		return add_return(address, 0, true);
	if (sscanf(line, "exit %lx %lu", &address, &number) == 2)
		return add_return(address, number, false);
	if (sscanf(line, "many %lx %lu %lu", &address, &step, &number) == 3)
		return add(address, step, number);
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
	seq_printf(m, "%lu\n", counted);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(count);

static struct dentry *bench_dir;

static void free_probes(void)
{
	kvfree(pointers);
	kvfree(probes);
}

static int __init uprobe_process_bench_init(void)
{
	unsigned int i;

	probes = kvcalloc(MOST, sizeof(*probes), GFP_KERNEL);
	pointers = kvcalloc(MOST, sizeof(*pointers), GFP_KERNEL);
	if (!probes || !pointers) {
		free_probes();
		return -ENOMEM;
	}
	for (i = 0; i < MOST; i++)
		pointers[i] = &probes[i];
	bench_dir = debugfs_create_dir("uprobe_process_bench", NULL);
	debugfs_create_file("run", 0200, bench_dir, NULL, &run_fops);
	debugfs_create_file("count", 0400, bench_dir, NULL, &count_fops);
	return 0;
}

static void __exit uprobe_process_bench_exit(void)
{
	debugfs_remove(bench_dir);
	drop();
	free_probes();
}

module_init(uprobe_process_bench_init);
module_exit(uprobe_process_bench_exit);
MODULE_DESCRIPTION("Registers probes of a process to be measured");
MODULE_LICENSE("GPL");
