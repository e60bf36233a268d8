/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UPROBES_UP_CONTROL_H
#define _UPROBES_UP_CONTROL_H
/*
 * Shared by the modules that register probes on behalf of programs and scripts: a folder of
 * debugfs with the file "control", into which commands are written, the file "result" with the
 * result of the last one, and the file "log" with the names of probes whose handlers have run.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define NAME_SIZE	16
#define LINE_SIZE	512
#define LOG_SIZE	4096

/* --- The log ---------------------------------------------------------------------- */

static DEFINE_SPINLOCK(log_lock);	/* protects the log */
static char log_text[LOG_SIZE];
static size_t log_length;

/* Adds a name with a sign before it or after it, and the character that separates entries. */
static void log_add(const char *before, const char *name, const char *after)
{
	guard(spinlock)(&log_lock);
	if (log_length < LOG_SIZE - NAME_SIZE - 3)
		log_length += scnprintf(log_text + log_length, LOG_SIZE - log_length, "%s%s%s",
					before, name, after);
}

static void log_clear(void)
{
	guard(spinlock)(&log_lock);
	log_length = 0;
	log_text[0] = 0;
}

static int log_show(struct seq_file *m, void *v)
{
	guard(spinlock)(&log_lock);
	seq_puts(m, log_text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(log);

/* --- Commands --------------------------------------------------------------------- */

static DEFINE_MUTEX(lock);		/* one command at a time */

static int last_result;		/* under the lock */

/* The module's: runs a command, under the lock. Returns 0 or an errno. */
static int run(char *line);

/* Cuts "word=value" into two strings. Returns the value, or "" if there is none. */
static char *split_word(char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return word + strlen(word);
	*value = 0;
	return value + 1;
}

static ssize_t control_write(struct file *file, const char __user *text, size_t size,
			     loff_t *offset)
{
	if (size >= LINE_SIZE)
		return -E2BIG;

	char *line __free(kfree) = memdup_user_nul(text, size);

	if (IS_ERR(line))
		return PTR_ERR(no_free_ptr(line));
	guard(mutex)(&lock);
	last_result = run(strim(line));
	return last_result ?: size;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.write = control_write,
};

static int result_show(struct seq_file *m, void *v)
{
	guard(mutex)(&lock);
	seq_printf(m, "%d\n", last_result);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(result);

/* Makes the folder with the files; the module removes it with debugfs_remove(). */
static struct dentry *control_create(const char *name)
{
	struct dentry *directory = debugfs_create_dir(name, NULL);

	debugfs_create_file("control", 0200, directory, NULL, &control_fops);
	debugfs_create_file("result", 0400, directory, NULL, &result_fops);
	debugfs_create_file("log", 0400, directory, NULL, &log_fops);
	return directory;
}

/* --- Registers -------------------------------------------------------------------- */

/**
 * struct changes - changes that a handler makes in the registers
 * @ip: to be added to the instruction pointer
 * @sp: to be added to the stack pointer
 * @carry: the carry flag is to be set
 * @has_result: @result is valid
 * @result: value of the register of results
 */
struct changes {
	long ip;
	long sp;
	bool carry;
	bool has_result;
	unsigned long result;
};

#ifdef CONFIG_ARM64
static void set_carry(struct pt_regs *regs)
{
	regs->pstate |= PSR_C_BIT;
}
#else
static void set_carry(struct pt_regs *regs)
{
	regs->flags |= X86_EFLAGS_CF;
}
#endif

static void make_changes(const struct changes *changes, struct pt_regs *regs)
{
	if (changes->ip)
		instruction_pointer_set(regs, instruction_pointer(regs) + changes->ip);
	regs->sp += changes->sp;
	if (changes->carry)
		set_carry(regs);
	if (changes->has_result)
		regs_set_return_value(regs, changes->result);
}

/*
 * Takes the words "ip=N", "sp=N", "carry" and "result=N". Returns 0, an errno, or 1 if it is
 * another word.
 */
static int take_change(struct changes *changes, const char *word, const char *value)
{
	if (!strcmp(word, "ip"))
		return kstrtol(value, 0, &changes->ip);
	if (!strcmp(word, "sp"))
		return kstrtol(value, 0, &changes->sp);
	if (!strcmp(word, "carry")) {
		changes->carry = true;
		return 0;
	}
	if (strcmp(word, "result"))
		return 1;
	changes->has_result = true;
	return kstrtoul(value, 0, &changes->result);
}

#endif /* _UPROBES_UP_CONTROL_H */
