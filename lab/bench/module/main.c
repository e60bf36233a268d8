// SPDX-License-Identifier: GPL-2.0
/*
 * Measures kprobes.  User space chooses the measurements and their order:
 *
 *	debugfs/kprobe_bench/run	takes one command a write
 *	debugfs/kprobe_bench/now	shows the time, for measurements by a script
 *
 * Results go to the kernel's log as "bench: key value".  Under QEMU's
 * -icount shift=0 a nanosecond of the guest is one instruction.
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bench.h"

#define COMMAND_SIZE	128

static struct dentry *bench_dir;
static DEFINE_MUTEX(bench_mutex);

void bench_report(const char *key, u64 value)
{
	pr_info("bench: %s %llu\n", key, value);
}

void bench_report_part(const char *key, const char *part, u64 value)
{
	pr_info("bench: %s_%s %llu\n", key, part, value);
}

static int nesting(void)
{
	return bench_nesting() ?: bench_return_nesting();
}

/* Runs all measurements of single probes that become jumps. */
static int optimized(void)
{
	return bench_optimized_hits() ?: bench_optimized_returns() ?:
	       bench_optimized_nesting();
}

static int unregister_returns(void)
{
	bench_returns_exit();
	return 0;
}

static int mark(void)
{
	bench_mark();
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} commands[] = {
	{ "hits", bench_hits },
	{ "optimized", optimized },
	{ "nesting", nesting },
	{ "returns", bench_returns },
	{ "unregister_returns", unregister_returns },
	{ "blocked", bench_blocked },
	{ "mark", mark },
	{ "coverage", bench_coverage },
	{ "parallel", bench_parallel },
	{ "quiet", bench_quiet },
	{ "rivals", bench_rivals },
	{ "watch", bench_watch },
};

static const struct {
	const char *name;
	int (*run)(const char *word);
} commands_with_word[] = {
	{ "oldest", bench_oldest },
	{ "load", bench_load },
	{ "unregister", bench_unregister },
	{ "release", bench_release },
	{ "settle", bench_settle },
	{ "unftraced", bench_unftraced },
	{ "lock", bench_lock },
	{ "traps", bench_traps },
	{ "traced", bench_traced },
	{ "watch_user", bench_watch_user },
	{ "unwatch_user", bench_unwatch_user },
};

static const struct {
	const char *name;
	int (*run)(unsigned int nr, const char *key);
} commands_with_number[] = {
	{ "register", bench_register },
	{ "single", bench_single },
	{ "register_returns", bench_register_returns },
};

/* Runs a command: "name", "name word", or "name number word". */
static int run(char *command)
{
	char *name = strsep(&command, " ");
	char *word = strsep(&command, " ");
	unsigned int nr, i;

	for (i = 0; !word && i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run();
	}
	if (!word)
		return -EINVAL;
	for (i = 0; !command && i < ARRAY_SIZE(commands_with_word); i++) {
		if (!strcmp(name, commands_with_word[i].name))
			return commands_with_word[i].run(word);
	}
	if (!command || kstrtouint(word, 0, &nr))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(commands_with_number); i++) {
		if (!strcmp(name, commands_with_number[i].name))
			return commands_with_number[i].run(nr, command);
	}
	return -EINVAL;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t count,
			 loff_t *pos)
{
	char command[COMMAND_SIZE];
	int ret;

	if (count >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, from, count))
		return -EFAULT;
	command[count] = '\0';
	mutex_lock(&bench_mutex);
	ret = run(strim(command));
	mutex_unlock(&bench_mutex);
	return ret ?: count;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static int now_get(void *data, u64 *value)
{
	*value = ktime_get_ns();
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(now_fops, now_get, NULL, "%llu\n");

static int __init bench_init(void)
{
	bench_dir = debugfs_create_dir("kprobe_bench", NULL);
	debugfs_create_file("run", 0200, bench_dir, NULL, &run_fops);
	debugfs_create_file("now", 0400, bench_dir, NULL, &now_fops);
	return 0;
}

static void __exit bench_exit(void)
{
	debugfs_remove(bench_dir);
	bench_traps_exit();
	bench_hits_exit();
	bench_returns_exit();
	bench_registration_exit();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Measures the cost of kprobes");
MODULE_LICENSE("GPL");
