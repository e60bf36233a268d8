/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _KPROBES_TESTS_NMI_H
#define _KPROBES_TESTS_NMI_H
/*
 * NMIs: declarations shared by the suite, which is for all architectures, and the file that
 * raises NMIs on an architecture.
 */
#include <linux/types.h>

struct kunit;

/* nmi_kunit.c: the body of an NMI.  Returns whether the NMI was raised by the suite. */
bool kprobes_nmi_body(void);

/* <architecture>_nmi.c */
int kprobes_nmi_init(struct kunit *test);
void kprobes_nmi_exit(struct kunit *test);
void kprobes_nmi_raise(void);
bool kprobes_nmi_comes_now(void);
extern const bool kprobes_nmi_in_traps;

#endif /* _KPROBES_TESTS_NMI_H */
