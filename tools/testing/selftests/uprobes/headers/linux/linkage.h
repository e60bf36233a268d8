/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_LINUX_LINKAGE_H
#define _UPROBES_FORMS_LINUX_LINKAGE_H
/* Beginning and end of functions and data in assembly. */
#define __FUNC_ALIGN		.balign 16
#define RET			ret
#define SYM_FUNC_START(name)	.globl name; .balign 16; .type name, %function; name:
#define SYM_FUNC_END(name)	.size name, . - name
#define SYM_CODE_START(name)	SYM_FUNC_START(name)
#define SYM_CODE_END(name)	SYM_FUNC_END(name)
#define SYM_DATA(name, ...)	.globl name; name: __VA_ARGS__
#endif
