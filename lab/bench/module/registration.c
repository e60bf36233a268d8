// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of registering and unregistering many probes.
 *
 * Their addresses are read from a file, one hexadecimal number a line.
 * Each "register" uses the next addresses of the file; "unregister" unregisters
 * all probes together.
 */
#include <linux/delay.h>
#include <linux/kernel_read_file.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "bench.h"
#include "targets.h"

#define FILE_SIZE_MAX	(4 << 20)
/* Addresses that are tried together if some of them are refused. */
#define SIFT_CHUNK	512U
#define SETTLE_MS	300

/**
 * struct bench_probe - a probe that counts its hits
 * @kp:		the probe
 * @hits:	number of hits
 * @jump:	the program's own jump at the address, see bench_jump()
 * @after:	another place for the jump of the probe, see bench_after_entry()
 * @jump_after:	the program's own jump there
 */
struct bench_probe {
	struct kprobe kp;
	unsigned long hits;
	u64 jump;
	unsigned long after;
	u64 jump_after;
};

/* The addresses, a probe for each, and the number of registered probes. */
static unsigned long *points;
static struct bench_probe *probes;
static struct kprobe **pointers;
static unsigned int nr_points, nr_registered;

/* Number of probes in the last batches, also unregistered ones: jumps may remain. */
static unsigned int nr_probed;

static int count_hit(struct kprobe *kp, struct pt_regs *regs)
{
	container_of(kp, struct bench_probe, kp)->hits++;
	return 0;
}

static struct kprobe **fill(unsigned int first, unsigned int nr, u32 flags)
{
	unsigned long after;
	unsigned int i;

	for (i = first; i < first + nr; i++) {
		after = bench_after_entry(points[i]);
		probes[i] = (struct bench_probe) {
			.kp.addr = (kprobe_opcode_t *)points[i],
			.kp.pre_handler = count_hit,
			.kp.flags = flags,
			.jump = bench_jump(points[i]),
			.after = after,
			.jump_after = after ? bench_jump(after) : 0,
		};
		pointers[i] = &probes[i].kp;
	}
	return pointers + first;
}

/*
 * Delayed work of an implementation must not count in the next measurement.  It starts
 * after a moment, and holds the lock that the second registration here has to take.
 */
static void settle(void)
{
	u64 unused;
	int i;

	for (i = 0; i < 3; i++) {
		msleep(SETTLE_MS);
		bench_register_other(&unused);
	}
}

static void drop_points(void)
{
	vfree(points);
	vfree(probes);
	vfree(pointers);
	points = NULL;
	probes = NULL;
	pointers = NULL;
	nr_points = 0;
	nr_probed = 0;
}

static void parse(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!kstrtoul(line, 16, &points[nr_points]))
			nr_points++;
	}
}

static unsigned int count_lines(const char *text)
{
	unsigned int nr = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		nr++;
	}
	return nr;
}

/**
 * bench_load() - read the addresses for the following commands
 * @path: the file
 */
int bench_load(const char *path)
{
	void *buffer = NULL;
	ssize_t size;
	char *text;
	unsigned int lines;

	if (nr_registered)
		return -EBUSY;
	drop_points();
	size = kernel_read_file_from_path(path, 0, &buffer, FILE_SIZE_MAX, NULL,
					  READING_UNKNOWN);
	if (size < 0)
		return size;
	text = vzalloc(size + 1);
	if (text) {
		memcpy(text, buffer, size);
		lines = count_lines(text);
		points = vcalloc(lines, sizeof(*points));
		probes = vcalloc(lines, sizeof(*probes));
		pointers = vcalloc(lines, sizeof(*pointers));
		if (points && probes && pointers)
			parse(text);
	}
	vfree(text);
	vfree(buffer);
	if (nr_points)
		return 0;
	drop_points();
	return -EINVAL;
}

unsigned long bench_point(unsigned int i)
{
	return i < nr_points ? points[i] : 0;
}

static bool is_new_jump(unsigned long addr, u64 own)
{
	u64 jump = addr ? bench_jump(addr) : 0;

	return jump && jump != own;
}

unsigned int bench_point_jumps(void)
{
	unsigned int i, jumps = 0;

	for (i = 0; i < nr_probed; i++)
		jumps += is_new_jump(points[i], probes[i].jump) ||
			 is_new_jump(probes[i].after, probes[i].jump_after);
	return jumps;
}

/* Sets addresses that cannot be probed to 0. */
static void sift(unsigned int first, unsigned int nr)
{
	if (!register_kprobes(fill(first, nr, KPROBE_FLAG_DISABLED), nr)) {
		unregister_kprobes(pointers + first, nr);
	} else if (nr == 1) {
		points[first] = 0;
	} else {
		sift(first, nr / 2);
		sift(first + nr / 2, nr - nr / 2);
	}
}

/*
 * A refused probe fails the whole batch, and the error does not identify the probe.
 * Drop all refused addresses.  Returns true if any was dropped.
 */
static bool sift_all(unsigned int first, unsigned int nr)
{
	unsigned int i, kept = first, end = first + nr, before = nr_points;

	for (i = first; i < end; i += SIFT_CHUNK)
		sift(i, min(SIFT_CHUNK, end - i));
	for (i = first; i < nr_points; i++) {
		if (points[i])
			points[kept++] = points[i];
	}
	pr_info("bench: note: %u addresses are refused and were left out\n",
		nr_points - kept);
	nr_points = kept;
	settle();
	return kept < before;
}

static int register_timed(unsigned int nr, u64 *time)
{
	struct kprobe **kps = fill(nr_registered, nr, 0);
	u64 start;
	int ret;

	bench_mark();
	start = ktime_get_ns();
	ret = register_kprobes(kps, nr);
	*time = ktime_get_ns() - start;
	return ret;
}

static void add_registered(unsigned int nr)
{
	nr_registered += nr;
	nr_probed = nr_registered;
}

/* With many hits, the measured time would be that of the hits. */
static void report_hits(unsigned int first, unsigned int nr)
{
	unsigned int i, most = first;
	unsigned long sum = 0;

	for (i = first; i < first + nr; i++) {
		sum += probes[i].hits;
		if (probes[i].hits > probes[most].hits)
			most = i;
	}
	pr_info("bench: note: %lu hits meanwhile, most of them, %lu, at %pS\n",
		sum, probes[most].hits, (void *)points[most]);
}

/**
 * bench_register() - register a batch at the next addresses
 * @nr: number of probes
 * @key: key of the time
 */
int bench_register(unsigned int nr, const char *key)
{
	u64 time;
	int ret;

	if (!key || !nr)
		return -EINVAL;
	do {
		if (nr > nr_points - nr_registered)
			return -ENOSPC;
		ret = register_timed(nr, &time);
		if (ret && !sift_all(nr_registered, nr))
			return ret;
	} while (ret);
	report_hits(nr_registered, nr);
	add_registered(nr);
	bench_report(key, time);
	return 0;
}

/**
 * bench_unftraced() - count registered probes that ftrace does not call
 * @key: key of the number
 */
int bench_unftraced(const char *key)
{
	unsigned int i, nr = 0;

	for (i = 0; i < nr_registered; i++)
		nr += !kprobe_ftrace(pointers[i]);
	bench_report(key, nr);
	return 0;
}

int bench_register_next(unsigned long *address)
{
	int ret;

	if (nr_registered == nr_points)
		return -ENOENT;
	*address = points[nr_registered];
	fill(nr_registered, 1, 0);
	ret = register_kprobe(pointers[nr_registered]);
	if (!ret) {
		add_registered(1);
		return 0;
	}
	nr_points--;
	memmove(points + nr_registered, points + nr_registered + 1,
		(nr_points - nr_registered) * sizeof(*points));
	return ret;
}

static u64 unregister_all(void)
{
	u64 start = ktime_get_ns();

	unregister_kprobes(pointers, nr_registered);
	nr_registered = 0;
	return ktime_get_ns() - start;
}

/**
 * bench_unregister() - unregister all probes of bench_register()
 * @key: key of the time
 */
int bench_unregister(const char *key)
{
	u64 time;

	if (!nr_registered)
		return -EINVAL;
	time = unregister_all();
	bench_report(key, time);
	settle();
	return 0;
}

/**
 * bench_release() - unregister all probes, then measure how long that delays registrations
 * @key: key of the longest time of another registration
 */
int bench_release(const char *key)
{
	if (!nr_registered)
		return -EINVAL;
	bench_mark();
	unregister_all();
	return bench_lock(key);
}

/**
 * bench_single() - register, then unregister probes one after the other
 * @nr: number of probes
 * @key: key of the times, with "_register" and "_unregister"
 */
int bench_single(unsigned int nr, const char *key)
{
	unsigned int i = 0;
	u64 start, time;
	int ret = 0;

	if (!key || nr_registered || !nr || nr > nr_points)
		return -EINVAL;
	fill(0, nr, 0);
	start = ktime_get_ns();
	while (i < nr && !ret)
		ret = register_kprobe(pointers[i++]);
	time = ktime_get_ns() - start;
	if (ret) {
		unregister_kprobes(pointers, i - 1);
		return ret;
	}
	bench_report_part(key, "register", time);

	start = ktime_get_ns();
	for (i = 0; i < nr; i++)
		unregister_kprobe(pointers[i]);
	bench_report_part(key, "unregister", ktime_get_ns() - start);
	settle();
	return 0;
}

void bench_registration_exit(void)
{
	if (nr_registered)
		unregister_all();
	drop_points();
}
