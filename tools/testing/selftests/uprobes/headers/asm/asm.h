/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_ASM_ASM_H
#define _UPROBES_FORMS_ASM_ASM_H
#ifdef __x86_64__
#define _ASM_PTR	.quad
#else
#define _ASM_PTR	.long
#endif
#endif
