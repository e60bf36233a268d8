/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_ASM_IBT_H
#define _UPROBES_FORMS_ASM_IBT_H
/* Programs have no landing pads. */
#define ENDBR
#define ENDBR_INSN_SIZE		0
#endif
