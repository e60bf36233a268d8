/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_ASM_PERCPU_H
#define _UPROBES_FORMS_ASM_PERCPU_H
/* Variables of a processor are plain variables in a program. */
#define PER_CPU_VAR(var)	var
#define __percpu
#endif
