/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KPROBES_TEST_SIGNAL_H
#define _KPROBES_TEST_SIGNAL_H

#include <signal.h>
#include <linux/sched.h>

static inline void force_sig(int signal)
{
	current->signal = signal;
}

#define force_sig_fault(signal, code, addr)	force_sig(signal)

#endif /* _KPROBES_TEST_SIGNAL_H */
