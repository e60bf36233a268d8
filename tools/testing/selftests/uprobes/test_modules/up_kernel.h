/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UPROBES_UP_KERNEL_H
#define _UPROBES_UP_KERNEL_H
/*
 * A function of the kernel that handlers of probes of processes call, and the probes of it: a
 * kprobe, a return probe and, where there are jprobes, a jprobe.
 *
 * up_process/kernel has the number of calls that each of them has seen, -1 without jprobes, and the
 * number of errors: wrong arguments or results, and calls that were missed.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>

#define KERNEL_ARGUMENT	0x1234
#define KERNEL_RESULT	(3 * KERNEL_ARGUMENT + 1)

static atomic_long_t kernel_hits, kernel_returns, kernel_jumps, kernel_errors;

static DEFINE_MUTEX(kernel_mutex);	/* protects the probes of the function */

/* Compilers know neither its argument nor its result. */
static noinline __noclone unsigned long up_kernel_function(unsigned long value)
{
	OPTIMIZER_HIDE_VAR(value);
	value = 3 * value + 1;
	OPTIMIZER_HIDE_VAR(value);
	return value;
}

static int on_kernel_hit(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&kernel_hits);
	return 0;
}

static int on_kernel_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(&kernel_returns);
	if (regs_return_value(regs) != KERNEL_RESULT)
		atomic_long_inc(&kernel_errors);
	return 0;
}

static struct kprobe kernel_kprobe;
static struct kretprobe kernel_kretprobe;

/* --- Jprobes ---------------------------------------------------------------------- */

#ifdef CONFIG_JPROBES
#define HAS_JPROBES	1

static struct jprobe kernel_jprobe;

static unsigned long on_kernel_jump(unsigned long value)
{
	atomic_long_inc(&kernel_jumps);
	if (value != KERNEL_ARGUMENT)
		atomic_long_inc(&kernel_errors);
	jprobe_return();
	return 0;
}

static int add_jprobe(void)
{
	kernel_jprobe = (struct jprobe) {
		.kp.addr = (kprobe_opcode_t *)up_kernel_function, .entry = on_kernel_jump,
	};
	return register_jprobe(&kernel_jprobe);
}

static void del_jprobe(void)
{
	unregister_jprobe(&kernel_jprobe);
	atomic_long_add(kernel_jprobe.kp.nmissed, &kernel_errors);
}
#else
#define HAS_JPROBES	0

static int add_jprobe(void)
{
	return 0;
}

static void del_jprobe(void)
{
}
#endif

/* --- All of them ------------------------------------------------------------------ */

static bool kernel_probed;	/* under kernel_mutex */

static int add_kernel_probes(void)
{
	int err;

	if (kernel_probed)
		return -EBUSY;
	kernel_kprobe = (struct kprobe) {
		.addr = (kprobe_opcode_t *)up_kernel_function, .pre_handler = on_kernel_hit,
	};
	kernel_kretprobe = (struct kretprobe) {
		.kp.addr = (kprobe_opcode_t *)up_kernel_function, .handler = on_kernel_return,
		.maxactive = 128,	/* more than there are threads in handlers */
	};
	err = register_kprobe(&kernel_kprobe);
	if (err)
		return err;
	err = register_kretprobe(&kernel_kretprobe);
	if (err)
		goto no_kretprobe;
	err = add_jprobe();
	if (err)
		goto no_jprobe;
	kernel_probed = true;
	return 0;

no_jprobe:
	unregister_kretprobe(&kernel_kretprobe);
no_kretprobe:
	unregister_kprobe(&kernel_kprobe);
	return err;
}

/* Missed calls count as errors. */
static void del_kernel_probes(void)
{
	if (!kernel_probed)
		return;
	kernel_probed = false;
	del_jprobe();
	unregister_kretprobe(&kernel_kretprobe);
	unregister_kprobe(&kernel_kprobe);
	atomic_long_add(kernel_kprobe.nmissed + kernel_kretprobe.kp.nmissed +
			kernel_kretprobe.nmissed, &kernel_errors);
}

static void clear_kernel_calls(void)
{
	atomic_long_set(&kernel_hits, 0);
	atomic_long_set(&kernel_returns, 0);
	atomic_long_set(&kernel_jumps, 0);
	atomic_long_set(&kernel_errors, 0);
}

/* "on": the function has its probes from now on; "off": it has none; "clear": no calls yet. */
static int command_kernel(const char *what)
{
	guard(mutex)(&kernel_mutex);
	if (!strcmp(what, "on"))
		return add_kernel_probes();
	if (!strcmp(what, "off"))
		del_kernel_probes();
	else if (!strcmp(what, "clear"))
		clear_kernel_calls();
	else
		return -EINVAL;
	return 0;
}

/* In a handler. */
static void call_kernel_function(void)
{
	if (up_kernel_function(KERNEL_ARGUMENT) != KERNEL_RESULT)
		atomic_long_inc(&kernel_errors);
}

/* In a handler: the function has its probes for one call, and not for the next one. */
static int use_kernel_probes(void)
{
	int err;

	guard(mutex)(&kernel_mutex);
	err = add_kernel_probes();
	if (err)
		return err;
	call_kernel_function();
	del_kernel_probes();
	call_kernel_function();
	return 0;
}

static int kernel_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%ld %ld %ld %ld\n", atomic_long_read(&kernel_hits),
		   atomic_long_read(&kernel_returns),
		   HAS_JPROBES ? atomic_long_read(&kernel_jumps) : -1L,
		   atomic_long_read(&kernel_errors));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(kernel);

#endif /* _UPROBES_UP_KERNEL_H */
