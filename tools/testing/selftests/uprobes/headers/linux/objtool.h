/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_LINUX_OBJTOOL_H
#define _UPROBES_FORMS_LINUX_OBJTOOL_H
/* Annotations for objtool, which does not see these programs. */
#define ANNOTATE_NOENDBR
#define ANNOTATE_RETPOLINE_SAFE
#define STACK_FRAME_NON_STANDARD	#
#endif
