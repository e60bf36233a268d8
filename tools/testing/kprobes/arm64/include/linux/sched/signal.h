/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_SIGNAL_H
#define _KPROBES_TEST_SIGNAL_H

#include <signal.h>
#include <linux/sched.h>

static inline void force_sig(int signal)
{
	current->signal = signal;
}

/* Tests compare the signal only. */
static inline void force_sig_fault(int signal, int code, void *addr)
{
	force_sig(signal);
}

#endif /* _KPROBES_TEST_SIGNAL_H */
