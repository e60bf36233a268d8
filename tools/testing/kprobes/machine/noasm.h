/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For sources with assembler code at file scope, which is not assembled on the build host. */
#ifndef _KPROBES_TEST_NOASM_H
#define _KPROBES_TEST_NOASM_H

#define asm(...)	struct no_assembler

#endif /* _KPROBES_TEST_NOASM_H */
