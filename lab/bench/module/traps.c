// SPDX-License-Identifier: GPL-2.0
/*
 * Many hits of a probe, one word of a command at a time, so that their exceptions can be counted
 * from outside: user space marks the beginning and the end of the hits, and the emulator logs
 * exceptions (lab/bench/traps.awk).
 */
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "bench.h"

#define HITS	1000

static void count_post(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
	bench_counted++;
}

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	bench_counted++;
	return 0;
}

static struct kprobe probe;
static struct kretprobe return_probe;

static int add_probe(bool post, enum bench_text text)
{
	int ret = bench_await_bare(bench_plain, text);

	if (ret)
		return ret;
	probe = (struct kprobe) {
		.addr = (kprobe_opcode_t *)bench_plain,
		.pre_handler = post ? NULL : bench_count,
		.post_handler = post ? count_post : NULL,
	};
	ret = register_kprobe(&probe);
	if (ret)
		return ret;
	ret = bench_await(bench_plain, text);
	if (ret)
		unregister_kprobe(&probe);
	return ret;
}

static int add_pre(void)
{
	return add_probe(false, BENCH_AS_IT_IS);
}

static int add_post(void)
{
	return add_probe(true, BENCH_AS_IT_IS);
}

static int add_settled(void)
{
	return add_probe(false, BENCH_SETTLED);
}

static int add_return(void)
{
	return_probe = (struct kretprobe) {
		.kp.addr = (kprobe_opcode_t *)bench_plain,
		.handler = count_return,
	};
	return register_kretprobe(&return_probe);
}

static void remove_probe(void)
{
	unregister_kprobe(&probe);
}

static void remove_return(void)
{
	unregister_kretprobe(&return_probe);
}

static const struct kind {
	const char *name;
	int (*add)(void);
	void (*remove)(void);
	int (*hit)(void);
} kinds[] = {
	{ "pre", add_pre, remove_probe, bench_plain },
	{ "post", add_post, remove_probe, bench_plain },
	{ "settled", add_settled, remove_probe, bench_plain },
	{ "return", add_return, remove_return, bench_plain },
	{ "write", bench_watch_word, bench_unwatch_word, bench_write_word },
};

static const struct kind *present;

static int hit(void)
{
	unsigned long flags;
	int i;

	if (!present)
		return -ENOENT;
	bench_counted = 0;
	local_irq_save(flags);
	for (i = 0; i < HITS; i++)
		present->hit();
	local_irq_restore(flags);
	if (bench_counted == HITS)
		return 0;
	pr_err("bench: %lu handlers ran, not %u\n", bench_counted, HITS);
	return -EIO;
}

static int remove(void)
{
	if (present)
		present->remove();
	present = NULL;
	return 0;
}

/**
 * bench_traps() - register a probe, hit it many times, or unregister it
 * @word: a name of @kinds, "hit", or "remove"
 */
int bench_traps(const char *word)
{
	unsigned int i;
	int ret;

	if (!strcmp(word, "hit"))
		return hit();
	if (!strcmp(word, "remove"))
		return remove();
	for (i = 0; !present && i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(word, kinds[i].name))
			continue;
		ret = kinds[i].add();
		if (!ret)
			present = &kinds[i];
		return ret;
	}
	return -EINVAL;
}

void bench_traps_exit(void)
{
	remove();
}
