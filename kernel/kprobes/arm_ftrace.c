// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Points on instructions that ftrace owns: a callback of ftrace, no breakpoint.
 *
 * There are two ftrace_ops.  A point with a post_handler belongs to the one with
 * FTRACE_OPS_FL_IPMODIFY: ftrace then refuses other users of the function that may
 * change the instruction pointer (live patches).  All other points belong to the
 * plain one, which shares functions with every user.  The choice is made when a
 * point is armed, and is recorded in the point.
 *
 * An ops is registered while it has points.  It must never be registered with an
 * empty filter, which would select every function.
 */
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

/* Number of addresses in one update of ftrace if there is no memory for an array. */
#define FEW_IPS		16

struct ftrace_client {
	struct ftrace_ops ops;
	unsigned int points;
};

static struct ftrace_client plain_client = {
	.ops = {
		.func = kprobe_ftrace_handler,
		.flags = FTRACE_OPS_FL_SAVE_REGS,
	},
};

static struct ftrace_client ip_modify_client = {
	.ops = {
		.func = kprobe_ftrace_handler,
		.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	},
};

bool kprobe_ftrace_disabled __read_mostly;

/**
 * kprobe_ftrace_kill() - record that ftrace has shut itself down
 *
 * Context: any; called once, by ftrace.
 */
void kprobe_ftrace_kill(void)
{
	kprobe_ftrace_disabled = true;
}

static bool of_client(struct kprobe_point *point, struct ftrace_client *client)
{
	return point->ftrace_ip_modify == (client == &ip_modify_client);
}

/* Adds or removes the filter entries of up to @nr addresses. */
static int filter(struct ftrace_client *client, unsigned long *ips,
		  unsigned int nr, bool remove)
{
	return nr ? ftrace_set_filter_ips(&client->ops, ips, nr, remove, 0) : 0;
}

/*
 * Adds or removes the filter entries of the first @limit points of @points that
 * belong to @client, in one update of ftrace; in several updates without memory for
 * an array.  Sets @nr to the number of points that are done, also on failure.
 */
static int filter_points(struct ftrace_client *client, struct list_head *points,
			 bool remove, unsigned int limit, unsigned int *nr)
{
	unsigned int room = limit, n = 0;
	unsigned long few[FEW_IPS], *ips;
	struct kprobe_point *point;
	int ret = 0;

	*nr = 0;
	ips = kvmalloc_array(room, sizeof(*ips), GFP_KERNEL | __GFP_NOWARN);
	if (!ips) {
		ips = few;
		room = FEW_IPS;
	}
	for_each_collected(point, points) {
		if (*nr + n == limit)
			break;
		if (!of_client(point, client))
			continue;
		ips[n++] = kprobe_point_addr(point);
		if (n < room)
			continue;
		ret = filter(client, ips, n, remove);
		if (ret)
			break;
		*nr += n;
		n = 0;
	}
	if (!ret) {
		ret = filter(client, ips, n, remove);
		*nr += ret ? 0 : n;
	}
	if (ips != few)
		kvfree(ips);
	return ret;
}

static unsigned int count_points(struct ftrace_client *client, struct list_head *points)
{
	struct kprobe_point *point;
	unsigned int nr = 0;

	for_each_collected(point, points)
		nr += of_client(point, client);
	return nr;
}

static int arm_client(struct ftrace_client *client, struct list_head *points)
{
	unsigned int nr = count_points(client, points), done, undone;
	int ret;

	if (!nr)
		return 0;
	ret = filter_points(client, points, false, nr, &done);
	if (!ret && !client->points)
		ret = register_ftrace_function(&client->ops);
	if (ret) {
		/* A failed update has no effect: remove the entries of the updates before it. */
		filter_points(client, points, true, done, &undone);
		return ret;
	}
	client->points += nr;
	return 0;
}

static void disarm_client(struct ftrace_client *client, struct list_head *points)
{
	unsigned int nr = count_points(client, points), done;

	if (!nr)
		return;
	client->points -= nr;
	if (!client->points)
		WARN_ON_ONCE(unregister_ftrace_function(&client->ops));
	WARN_ON_ONCE(filter_points(client, points, true, nr, &done));
}

static bool has_post_handler(struct kprobe_point *point)
{
	struct kprobe *probe;

	for_each_probe(probe, point) {
		if (probe->post_handler)
			return true;
	}
	return false;
}

/*
 * ftrace does not tell which function has another user that may change the instruction pointer.
 * Moves the first point whose function has one, or has a direct caller, to the front.
 */
static void put_refused_first(struct list_head *points)
{
	struct kprobe_point *point;

	for_each_collected(point, points) {
		if (point->ftrace_ip_modify && ftrace_ip_is_modified(kprobe_point_addr(point))) {
			list_move(&point->kp.list, points);
			return;
		}
	}
}

/**
 * kprobe_arm_ftrace() - make ftrace call points, all or none
 * @points: work list of points on instructions that ftrace owns
 *
 * Context: task, may sleep, kprobe_mutex held, text_mutex not.
 * Return: 0; -ENODEV if ftrace has shut down; -EBUSY if another user of a function
 * may change its instruction pointer, then the first point in the list probably has that function;
 * -ENOMEM.
 */
int kprobe_arm_ftrace(struct list_head *points)
{
	struct kprobe_point *point;
	int ret;

	lockdep_assert_held(&kprobe_mutex);

	if (list_empty(points))
		return 0;
	if (kprobe_ftrace_disabled)
		return -ENODEV;
	for_each_collected(point, points)
		point->ftrace_ip_modify = has_post_handler(point);

	ret = arm_client(&plain_client, points);
	if (ret)
		return ret;
	ret = arm_client(&ip_modify_client, points);
	if (ret)
		disarm_client(&plain_client, points);
	if (ret == -EBUSY)
		put_refused_first(points);
	return ret;
}

/**
 * kprobe_disarm_ftrace() - make ftrace stop calling points
 * @points: work list of points that kprobe_arm_ftrace() has armed
 *
 * Context: task, may sleep, kprobe_mutex held, text_mutex not.
 */
void kprobe_disarm_ftrace(struct list_head *points)
{
	lockdep_assert_held(&kprobe_mutex);

	if (kprobe_ftrace_disabled)
		return;
	disarm_client(&plain_client, points);
	disarm_client(&ip_modify_client, points);
}
