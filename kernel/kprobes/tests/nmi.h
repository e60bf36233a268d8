/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_NMI_H
#define _KPROBES_TESTS_NMI_H
/*
 * NMIs: declarations shared by the suites that need them, also that of watchpoint probes, and the
 * file that raises NMIs on an architecture.
 */
#include <linux/types.h>

struct kunit;

/* <architecture>_nmi.c */
int kprobes_nmi_init(struct kunit *test, bool (*body)(void));
void kprobes_nmi_exit(struct kunit *test);
void kprobes_nmi_raise(void);
bool kprobes_nmi_comes_now(void);
extern const bool kprobes_nmi_in_traps;

#endif /* _KPROBES_TESTS_NMI_H */
