// SPDX-License-Identifier: GPL-2.0
/*
 * Registers watchpoint probes for the selftests.
 *
 * Commands, written to debugfs wp_test/control:
 *
 *	add NAME SYMBOL LEN TYPE [OPTION...]	TYPE is r, w or rw, or x, which is none;
 *				pid:PID:ADDRESS instead of SYMBOL watches data of a process, and
 *				heap a word that has been allocated for the probe.  Places that are
 *				refused: nowhere, user (not of the kernel), fixmap, hole (not
 *				mapped).  Options: a number: offset
 *				from the symbol; disabled, changed, percpu: flags; sleep:N: the
 *				handler sleeps N ms; ends:NAME: the handler unregisters that
 *				probe; pauses:NAME: it disables that probe; lingers: then it
 *				sleeps; address: an address besides the symbol; nohandler
 *	again NAME		register the probe again
 *	nothing			register an empty array
 *	del NAME		fails with -EBUSY if the handler runs afterwards
 *	end NAME NAME		unregister both as an array, and keep them in the list; fails as del
 *	enable NAME, disable NAME
 *	write INDEX VALUE	write a word of wp_test_words
 *	read INDEX		read one
 *	everywhere		write words 29 and 31 of wp_test_words 20 times on each online CPU
 *	rounds N		register, write on all CPUs, unregister, N times; fails if a round
 *				has no register, and with -EIO if hits are lost
 *
 * debugfs wp_test/probes has a line for each probe: NAME hits=N nmissed=N old=N new=N FLAGS,
 * and those on data of a process wrong=N: calls of the handler in which the registers were not
 * those of user mode, or the memory could not be read.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wprobes.h>
#include <asm/fixmap.h>

#define COMMAND_SIZE	128
#define WRITES		20

unsigned long wp_test_words[32];

struct probe {
	struct list_head list;
	struct wprobe wp;
	atomic_long_t hits;
	atomic_long_t wrong;
	unsigned int sleep;
	bool lingers;
	atomic_t running;
	char ends[16];
	char pauses[16];
	unsigned long old;
	unsigned long new;
	unsigned long word;
	char name[16];
	char symbol[32];
};

static LIST_HEAD(probes);
static DEFINE_MUTEX(lock);
static struct dentry *dir;

/* A page, and one after it that is not mapped. */
static void *page;

static void hit(struct wprobe *wp, struct pt_regs *regs, unsigned long old, unsigned long new)
{
	struct probe *p = container_of(wp, struct probe, wp);

	atomic_long_inc(&p->hits);
	p->old = old;
	p->new = new;
}

static struct probe *find(const char *name)
{
	struct probe *p;

	list_for_each_entry(p, &probes, list) {
		if (name && !strcmp(p->name, name))
			return p;
	}
	return NULL;
}

/*
 * Ends or disables a probe, which stays in the list. Without the lock, because a command may wait
 * for the handler: programs do not change the list while such a handler may run.
 */
static void change_other(const char *name, void (*change)(struct wprobe *wp))
{
	struct probe *p = find(name);

	if (p)
		change(&p->wp);
}

static void pause_probe(struct wprobe *wp)
{
	disable_wprobe(wp);
}

/* The memory of the process can be read, and the handler may sleep. */
static void user_hit(struct wprobe *wp, struct pt_regs *regs, unsigned long old,
		     unsigned long new)
{
	struct probe *p = container_of(wp, struct probe, wp);
	unsigned long now = 0;

	atomic_inc(&p->running);
	hit(wp, regs, old, new);
	might_sleep();
	if (!user_mode(regs))
		atomic_long_inc(&p->wrong);
	/* An access of a handler is missed. */
	if (!(wp->type & WPROBE_READ) &&
	    copy_from_user(&now, (void __user *)wp->addr, wp->len))
		atomic_long_inc(&p->wrong);
	if (p->sleep)
		msleep(p->sleep);
	if (p->ends[0])
		change_other(p->ends, unregister_wprobe);
	if (p->pauses[0])
		change_other(p->pauses, pause_probe);
	if (p->lingers) {
		/* The probe may be freed now, whoever else unregisters it. */
		if (READ_ONCE(wp->watch))
			atomic_long_inc(&p->wrong);
		msleep(50);
	}
	atomic_dec(&p->running);
}

/* The address of a place that has no symbol; NULL if @place is a symbol. */
static void *address_of(const char *place, struct probe *p)
{
	if (!strcmp(place, "heap"))
		return &p->word;
	if (!strcmp(place, "user"))
		return (void *)(TASK_SIZE_MAX / 2);
	if (!strcmp(place, "fixmap"))
		return (void *)FIXADDR_START;
	if (!strcmp(place, "hole"))
		return page + PAGE_SIZE;
	return NULL;
}

static int parse(struct probe *p, char **args)
{
	char *symbol = strsep(args, " "), *len = strsep(args, " ");
	char *type = strsep(args, " "), *word;

	if (!type || kstrtouint(len, 0, &p->wp.len))
		return -EPROTO;
	if (sscanf(symbol, "pid:%d:%li", &p->wp.pid, (long *)&p->wp.addr) == 2) {
		p->wp.handler = user_hit;
	} else if (strcmp(symbol, "nowhere")) {
		p->wp.addr = address_of(symbol, p);
		strscpy(p->symbol, symbol);
		if (!p->wp.addr)
			p->wp.symbol_name = p->symbol;
	}
	if (strchr(type, 'r'))
		p->wp.type |= WPROBE_READ;
	if (strchr(type, 'w'))
		p->wp.type |= WPROBE_WRITE;
	if (strchr(type, 'x'))
		p->wp.type |= WPROBE_RW + 1;
	while ((word = strsep(args, " "))) {
		if (!strcmp(word, "disabled"))
			p->wp.flags |= WPROBE_FLAG_DISABLED;
		else if (!strcmp(word, "changed"))
			p->wp.flags |= WPROBE_FLAG_CHANGED;
		else if (!strcmp(word, "percpu"))
			p->wp.flags |= WPROBE_FLAG_PERCPU;
		else if (!strcmp(word, "address"))
			p->wp.addr = &p->word;
		else if (!strcmp(word, "nohandler"))
			p->wp.handler = NULL;
		else if (sscanf(word, "sleep:%u", &p->sleep) == 1)
			continue;
		else if (!strcmp(word, "lingers"))
			p->lingers = true;
		else if (!strncmp(word, "ends:", 5))
			strscpy(p->ends, word + 5);
		else if (!strncmp(word, "pauses:", 7))
			strscpy(p->pauses, word + 7);
		else if (kstrtoul(word, 0, &p->wp.offset))
			return -EPROTO;
	}
	return 0;
}

static int add(char *name, char **args)
{
	struct probe *p;
	int ret;

	if (!name || find(name))
		return -EPROTO;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	strscpy(p->name, name);
	p->wp.handler = hit;
	ret = parse(p, args);
	if (!ret)
		ret = register_wprobe(&p->wp);
	if (ret)
		kfree(p);
	else
		list_add_tail(&p->list, &probes);
	return ret;
}

static int del(char *name, char **args)
{
	struct probe *p = find(name);
	bool wrong;

	if (!p)
		return -EPROTO;
	unregister_wprobe(&p->wp);
	if (atomic_read(&p->running))
		return -EBUSY;
	wrong = p->lingers && atomic_long_read(&p->wrong);
	list_del(&p->list);
	kfree(p);
	return wrong ? -EILSEQ : 0;
}

static int end_both(char *name, char **args)
{
	struct probe *a = find(name), *b = find(strsep(args, " "));
	struct wprobe *both[2];

	if (!a || !b)
		return -EPROTO;
	both[0] = &a->wp;
	both[1] = &b->wp;
	unregister_wprobes(both, 2);
	return atomic_read(&a->running) || atomic_read(&b->running) ? -EBUSY : 0;
}

static int again(char *name, char **args)
{
	struct probe *p = find(name);

	return p ? register_wprobe(&p->wp) : -EPROTO;
}

static int nothing(char *unused, char **args)
{
	return register_wprobes(NULL, 0);
}

static int enable(char *name, char **args)
{
	struct probe *p = find(name);

	return p ? enable_wprobe(&p->wp) : -EPROTO;
}

static int disable(char *name, char **args)
{
	struct probe *p = find(name);

	return p ? disable_wprobe(&p->wp) : -EPROTO;
}

/* Returns a word of wp_test_words; NULL if there is none with that number. */
static unsigned long *word_at(const char *index)
{
	unsigned int i;

	if (!index || kstrtouint(index, 0, &i) || i >= ARRAY_SIZE(wp_test_words))
		return NULL;
	return &wp_test_words[i];
}

static int write_word(char *index, char **args)
{
	unsigned long *word = word_at(index), number;
	char *value = strsep(args, " ");

	if (!word || !value || kstrtoul(value, 0, &number))
		return -EPROTO;
	WRITE_ONCE(*word, number);
	return 0;
}

static int read_word(char *index, char **args)
{
	unsigned long *word = word_at(index);

	if (!word)
		return -EPROTO;
	READ_ONCE(*word);
	return 0;
}

static void write_often(void *unused)
{
	int i;

	for (i = 0; i < WRITES; i++) {
		WRITE_ONCE(wp_test_words[29], i);
		WRITE_ONCE(wp_test_words[31], i);
	}
}

/* Returns the number of writes on all CPUs that are online, in their interrupts. */
static unsigned int write_everywhere(void)
{
	unsigned int cpus;

	cpus_read_lock();
	on_each_cpu(write_often, NULL, true);
	cpus = num_online_cpus();
	cpus_read_unlock();
	return cpus * WRITES;
}

static int everywhere(char *unused, char **args)
{
	write_everywhere();
	return 0;
}

static int one_round(struct probe *p)
{
	unsigned int writes;
	long hits;
	int ret;

	atomic_long_set(&p->hits, 0);
	ret = register_wprobe(&p->wp);
	if (ret)
		return ret;
	writes = write_everywhere();
	unregister_wprobe(&p->wp);
	hits = atomic_long_read(&p->hits);
	if (hits != writes) {
		pr_err("wp_test: %u writes, %ld hits, %lu missed\n", writes, hits, p->wp.nmissed);
		return -EIO;
	}
	write_everywhere();
	return atomic_long_read(&p->hits) == hits ? 0 : -EIO;
}

static int run_rounds(char *number, char **args)
{
	struct probe *p;
	unsigned int n, i;
	int ret = 0;

	if (!number || kstrtouint(number, 0, &n))
		return -EPROTO;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->wp.addr = &wp_test_words[31];
	p->wp.len = sizeof(long);
	p->wp.handler = hit;
	for (i = 0; i < n && !ret; i++)
		ret = one_round(p);
	kfree(p);
	if (ret)
		pr_err("wp_test: round %u of %u: error %d\n", i, n, ret);
	return ret;
}

static const struct {
	const char *name;
	int (*run)(char *arg, char **args);
} commands[] = {
	{ "add", add },
	{ "del", del },
	{ "end", end_both },
	{ "again", again },
	{ "nothing", nothing },
	{ "enable", enable },
	{ "disable", disable },
	{ "write", write_word },
	{ "read", read_word },
	{ "everywhere", everywhere },
	{ "rounds", run_rounds },
};

static int run(char *command)
{
	char *name = strsep(&command, " "), *arg = strsep(&command, " ");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(arg, &command);
	}
	return -EPROTO;
}

static ssize_t control_write(struct file *file, const char __user *from, size_t count,
			     loff_t *pos)
{
	char command[COMMAND_SIZE];
	int ret;

	if (count >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, from, count))
		return -EFAULT;
	command[count] = '\0';
	mutex_lock(&lock);
	ret = run(strim(command));
	mutex_unlock(&lock);
	return ret ?: count;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.write = control_write,
};

static int probes_show(struct seq_file *m, void *unused)
{
	struct probe *p;

	mutex_lock(&lock);
	list_for_each_entry(p, &probes, list) {
		seq_printf(m, "%s hits=%ld nmissed=%lu old=%lu new=%lu", p->name,
			   atomic_long_read(&p->hits), p->wp.nmissed, p->old, p->new);
		if (p->wp.pid)
			seq_printf(m, " wrong=%ld", atomic_long_read(&p->wrong));
		seq_printf(m, "%s%s\n",
			   p->wp.flags & WPROBE_FLAG_PARKED ? " parked" : "",
			   p->wp.flags & WPROBE_FLAG_GONE ? " gone" : "");
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(probes);

static int __init wp_test_init(void)
{
	page = vmalloc(PAGE_SIZE);
	if (!page)
		return -ENOMEM;
	dir = debugfs_create_dir("wp_test", NULL);
	debugfs_create_file("control", 0200, dir, NULL, &control_fops);
	debugfs_create_file("probes", 0400, dir, NULL, &probes_fops);
	return 0;
}

static void __exit wp_test_exit(void)
{
	struct probe *p, *next;

	debugfs_remove(dir);
	list_for_each_entry_safe(p, next, &probes, list) {
		unregister_wprobe(&p->wp);
		kfree(p);
	}
	vfree(page);
}

module_init(wp_test_init);
module_exit(wp_test_exit);
MODULE_DESCRIPTION("Registers watchpoint probes for selftests");
MODULE_LICENSE("GPL");
