// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch of probes: show the most frequently called functions that match a pattern.
 *
 *	insmod batch_example.ko pattern='vfs_*'
 *	rmmod batch_example
 *
 * All probes are registered together and unregistered together, with one synchronisation
 * of all CPUs.  A batch is registered completely or not at all, and some functions
 * cannot be probed.  So split a refused batch in two, down to the functions to leave out.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define TOP	10

static char *pattern = "vfs_*";
module_param(pattern, charp, 0444);
MODULE_PARM_DESC(pattern, "functions to probe, with * and ? as in a shell");

static unsigned int max_functions = 4000;
module_param(max_functions, uint, 0444);
MODULE_PARM_DESC(max_functions, "largest number of functions to probe");

struct site {
	struct kprobe kp;
	atomic_long_t hits;
};

static struct site *sites;
static struct kprobe **kps;	/* the first nr_sites are registered */
static unsigned int nr_sites;

static int count(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(kp, struct site, kp)->hits);
	return 0;
}
NOKPROBE_SYMBOL(count);

/* --- Names ---------------------------------------------------------------------- */

/* Finds the symbol of @addr, its start, and its end. */
static bool symbol_at(unsigned long addr, char *name, unsigned long *from, unsigned long *to)
{
	static char text[KSYM_SYMBOL_LEN];	/* too large for the stack; used by init only */
	unsigned long offset, size;
	char *plus;

	sprint_symbol(text, addr);
	plus = strrchr(text, '+');
	if (!plus || strchr(plus, '[') ||
	    sscanf(plus, "+0x%lx/0x%lx", &offset, &size) != 2 || !size)
		return false;
	*plus = '\0';
	strscpy(name, text, KSYM_NAME_LEN);
	*from = addr - offset;
	*to = *from + size;
	return true;
}

/* Registers a disabled probe to get an address in the kernel's text. */
static unsigned long some_function(void)
{
	struct kprobe kp = { .symbol_name = "kernel_clone", .flags = KPROBE_FLAG_DISABLED };
	unsigned long addr = 0;

	if (!register_kprobe(&kp)) {
		addr = (unsigned long)kp.addr;
		unregister_kprobe(&kp);
	}
	return addr;
}

static void consider(const char *name, unsigned long addr)
{
	struct site *site;

	if (nr_sites == max_functions || !glob_match(pattern, name))
		return;
	site = &sites[nr_sites];
	site->kp.addr = (kprobe_opcode_t *)addr;
	site->kp.pre_handler = count;
	kps[nr_sites++] = &site->kp;
}

/* Walks over the symbols of the text in both directions, from one function on. */
static int find_sites(void)
{
	unsigned long start = some_function(), at, from, to;
	static char name[KSYM_NAME_LEN];

	if (!start)
		return -ENOENT;
	for (at = start; symbol_at(at, name, &from, &to) && strcmp(name, "_etext"); at = to)
		consider(name, from);
	symbol_at(start, name, &from, &to);
	for (at = from - 1; symbol_at(at, name, &from, &to); at = from - 1) {
		consider(name, from);
		if (!strcmp(name, "_stext") || !strcmp(name, "_text"))
			break;
	}
	return nr_sites ? 0 : -ENOENT;
}

/* --- Probes --------------------------------------------------------------------- */

/* Registers the probes of @batch that are allowed, moves them to its front, counts them. */
static unsigned int register_some(struct kprobe **batch, unsigned int n)
{
	unsigned int first, second;

	if (!register_kprobes(batch, n))
		return n;
	if (n == 1)
		return 0;
	first = register_some(batch, n / 2);
	second = register_some(batch + n / 2, n - n / 2);
	memmove(batch + first, batch + n / 2, second * sizeof(*batch));
	return first + second;
}

static int more_hits(const void *a, const void *b)
{
	long x = atomic_long_read(&container_of(*(struct kprobe **)a, struct site, kp)->hits);
	long y = atomic_long_read(&container_of(*(struct kprobe **)b, struct site, kp)->hits);

	return x < y ? 1 : x > y ? -1 : 0;
}

static void print_top(void)
{
	unsigned int i;

	sort(kps, nr_sites, sizeof(*kps), more_hits, NULL);
	for (i = 0; i < min_t(unsigned int, nr_sites, TOP); i++) {
		struct site *site = container_of(kps[i], struct site, kp);

		pr_info("%8ld %ps\n", atomic_long_read(&site->hits), site->kp.addr);
	}
}

static void free_sites(void)
{
	vfree(kps);
	vfree(sites);
}

static int __init example_init(void)
{
	unsigned int found;
	int ret = -ENOMEM;

	/* vzalloc() warns of a size of 0. */
	if (!max_functions)
		return -EINVAL;
	sites = vzalloc(array_size(max_functions, sizeof(*sites)));
	kps = vzalloc(array_size(max_functions, sizeof(*kps)));
	if (sites && kps)
		ret = find_sites();
	if (ret) {
		pr_err("no functions like '%s': %d\n", pattern, ret);
		free_sites();
		return ret;
	}
	found = nr_sites;
	nr_sites = register_some(kps, found);
	if (!nr_sites) {
		pr_err("none of %u functions like '%s' can be probed\n", found, pattern);
		free_sites();
		return -EINVAL;
	}
	pr_info("%u of %u functions like '%s' are probed\n", nr_sites, found, pattern);
	return 0;
}

static void __exit example_exit(void)
{
	unregister_kprobes(kps, nr_sites);
	print_top();
	free_sites();
}

module_init(example_init);
module_exit(example_exit);
MODULE_DESCRIPTION("Example of a batch of kprobes");
MODULE_LICENSE("GPL");
