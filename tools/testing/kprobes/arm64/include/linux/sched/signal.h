/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TEST_SIGNAL_H
#define _KPROBES_TEST_SIGNAL_H

#include <signal.h>
#include <linux/sched.h>

#ifndef SEGV_CPERR
#define SEGV_CPERR 10
#endif

static inline void force_sig(int signal)
{
	current->signal = signal;
}

/* Tests compare the signal, and the code of a mismatch. */
static inline void force_sig_fault(int signal, int code, void *addr)
{
	force_sig(signal);
	current->code = code == SEGV_CPERR ? code : 0;
}

#endif /* _KPROBES_TEST_SIGNAL_H */
