/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _UPROBES_UP_IN_KPROBE_H
#define _UPROBES_UP_IN_KPROBE_H
/* Commands in the handler of a kprobe, which must not sleep. */
#include <linux/kprobes.h>

#include "up_control.h"

static char *line_in_kprobe;	/* under the lock of commands, like the result */
static int result_in_kprobe;

static noinline void up_process_probed(void)
{
	barrier();
}

static int kprobe_handler(struct kprobe *kp, struct pt_regs *regs)
{
	result_in_kprobe = run(line_in_kprobe);
	return 0;
}

static int run_in_kprobe(char *line)
{
	struct kprobe kp = {
		.addr = (kprobe_opcode_t *)up_process_probed, .pre_handler = kprobe_handler,
	};
	int ret;

	if (!line)
		return -EINVAL;
	line_in_kprobe = line;
	result_in_kprobe = 0;
	ret = register_kprobe(&kp);
	if (ret)
		return ret;
	up_process_probed();
	unregister_kprobe(&kp);
	return result_in_kprobe;
}

#endif /* _UPROBES_UP_IN_KPROBE_H */
