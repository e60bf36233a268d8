// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Kernel probes: entry points for users, and boot.
 *
 * One probe is handled as a batch of one.  kprobes/batch.c registers and unregisters a batch.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kdebug.h>

#include "kprobes/internal.h"

/* Guards all probes.  kprobes/internal.h has the order of locks. */
DEFINE_MUTEX(kprobe_mutex);

/* False until kprobes are initialised: probes cannot be registered. */
bool kprobes_ready __ro_after_init;

/* False until the first probe is registered: see kprobes_in_use(). */
DEFINE_STATIC_KEY_FALSE(kprobes_used);

/**
 * register_kprobes() - register several probes, all or none
 * @kps: array of pointers to the probes
 * @num: number of the probes, > 0
 *
 * All breakpoints are written together, which is cheaper than one by one.  After a
 * failure, all can be registered again without a change: addr and flags are as before.
 *
 * See Documentation/trace/kprobes.rst, Errors.
 *
 * Context: task, may sleep.
 * Return: 0, or for the first probe that cannot be registered: -EINVAL for bad
 * arguments, both or neither of symbol and address, an address outside the
 * text, blacklisted, reserved, already registered, or an instruction that
 * cannot be probed; -ENOENT if the symbol does not exist, an offset from it leads
 * out of the text, or the module is coming or going; -EILSEQ if no instruction
 * starts there; -ENOMEM; -EAGAIN before kprobes are initialised; an errno of
 * ftrace if ftrace owns the instruction.
 */
int register_kprobes(struct kprobe **kps, int num)
{
	return kprobe_register_batch(kps, num, 0, NULL);
}
EXPORT_SYMBOL_GPL(register_kprobes);

/**
 * register_kprobe() - register one probe
 * @p: the probe
 *
 * See Documentation/trace/kprobes.rst, Handlers.  Context, errnos: see register_kprobes().
 */
int register_kprobe(struct kprobe *p)
{
	return kprobe_register_batch(&p, 1, 0, NULL);
}
EXPORT_SYMBOL_GPL(register_kprobe);

/**
 * register_kprobe_why() - register one probe, and get the reason of a refusal
 * @p: the probe
 * @why: set to the reason if the probe is refused, otherwise to NULL pointers
 *
 * For users that report errors to other users.  Context, errnos: see register_kprobes().
 */
int register_kprobe_why(struct kprobe *p, struct kprobe_why *why)
{
	*why = (struct kprobe_why) {};
	return kprobe_register_batch(&p, 1, 0, why);
}

/**
 * unregister_kprobes() - unregister several probes
 * @kps: array of pointers to the probes; NULL entries are skipped
 * @num: number of the probes
 *
 * When this returns, no handler of the probes is running or will run again.  If a
 * probe is not registered, its addr is set to NULL; the others are unregistered.
 *
 * Takes one text synchronisation (arm64: one for each 256 probes) and one expedited grace
 * period for all.
 *
 * See Documentation/trace/kprobes.rst, API.
 *
 * Context: task, may sleep.
 */
void unregister_kprobes(struct kprobe **kps, int num)
{
	kprobe_unregister_batch(kps, num);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

/**
 * unregister_kprobe() - unregister one probe
 * @p: the probe
 *
 * Spec: kprobes.txt section 4.4.  See unregister_kprobes().
 */
void unregister_kprobe(struct kprobe *p)
{
	kprobe_unregister_batch(&p, 1);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);

/* --- Disable and enable ---------------------------------------------------- */

/* A disabled probe stays on its point; the point is armed while it has an enabled probe. */

/**
 * disable_kprobe() - stop calling a probe's handlers
 * @kp: a registered probe
 *
 * If no other probe at the address is enabled, the text is restored.  Does not wait
 * for handlers that are already running.
 *
 * Spec: kprobes.txt section 4.7.
 *
 * Context: task, may sleep.
 * Return: 0, or -EINVAL if @kp is not registered.
 */
int disable_kprobe(struct kprobe *kp)
{
	struct kprobe_point *point;
	LIST_HEAD(points);

	guard(mutex)(&kprobe_mutex);

	point = kprobe_point_of(kp, (unsigned long)kp->addr);
	if (!point)
		return -EINVAL;
	kp->flags |= KPROBE_FLAG_DISABLED;
	kprobe_point_update_handlers(point);
	if (kprobe_point_armed(point) && !kprobe_point_wants_arming(point)) {
		kprobe_collect(point, &points);
		kprobe_disarm_points(&points);
		kprobe_uncollect_all(&points);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(disable_kprobe);

/**
 * enable_kprobe() - call a disabled probe's handlers again
 * @kp: a registered probe
 *
 * Spec: kprobes.txt section 4.8.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if @kp is not registered or its text has been freed; an errno
 * of ftrace if ftrace owns the instruction.
 */
int enable_kprobe(struct kprobe *kp)
{
	struct kprobe_point *point;
	LIST_HEAD(points);
	u32 flags;
	int ret;

	guard(mutex)(&kprobe_mutex);

	point = kprobe_point_of(kp, (unsigned long)kp->addr);
	if (!point || point->state == KPROBE_GONE)
		return -EINVAL;
	flags = kp->flags;
	/* The detour calls post_handlers, if there are any: also that of a disabled probe. */
	if (kprobe_disabled(kp) &&
	    kprobe_detour_lacks(kprobe_text_point(point), KPROBE_DETOUR_CALLS_PRE)) {
		kprobe_collect(kprobe_text_point(point), &points);
		kprobe_detour_renew(&points);
		kprobe_uncollect_all(&points);
	}
	kp->flags &= ~KPROBE_FLAG_DISABLED;
	kprobe_point_update_handlers(point);
	if (point->state != KPROBE_DISARMED || !kprobe_point_wants_arming(point))
		return 0;
	kprobe_collect(point, &points);
	ret = kprobe_arm_points(&points);
	kprobe_uncollect_all(&points);
	if (ret) {
		kp->flags = flags;
		kprobe_point_update_handlers(point);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/* --- Boot ------------------------------------------------------------------ */

int __weak kprobe_exceptions_notify(struct notifier_block *self,
				    unsigned long val, void *data)
{
	return NOTIFY_DONE;
}

int __weak __init arch_init_kprobes(void)
{
	return 0;
}

/* Called before all debuggers, which must not see the traps of probes.  OLS paper, section 3. */
static struct notifier_block exceptions_notifier = {
	.notifier_call = kprobe_exceptions_notify,
	.priority = INT_MAX,
};

static int __init kprobes_init(void)
{
	int ret;

	ret = kprobe_points_init() ?: kprobe_optimizer_init();
	if (ret)
		return ret;
	scoped_guard(mutex, &kprobe_mutex)
		ret = kprobe_blacklist_init();
	if (ret)
		pr_err("cannot collect the blacklist (%d): kprobes are off\n", ret);
	/* Some architectures register a probe on their trampoline in arch_init_kprobes(). */
	kprobes_ready = !ret;
	if (!ret)
		ret = arch_init_kprobes();
	if (!ret)
		ret = register_die_notifier(&exceptions_notifier);
	if (!ret)
		ret = kprobe_module_init();
	if (!ret)
		ret = kretprobe_init();
	kprobes_ready = !ret;
	return ret;
}
early_initcall(kprobes_init);
