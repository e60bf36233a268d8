/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of kprobe_detour_enter(), with its own macros.
 */
#include "detour_64.S"

	.text
SYM_CODE_START(step_call)
	RET
SYM_CODE_END(step_call)

SYM_CODE_START(step_registers)
	PUSH_REGS unwind_hint=0
	POP_REGS
	RET
SYM_CODE_END(step_registers)

SYM_CODE_START(step_pushf)
	pushfq
	PUSH_REGS unwind_hint=0
	POP_REGS
	leaq	8(%rsp), %rsp
	RET
SYM_CODE_END(step_pushf)

/* Like kprobe_detour_enter(), leaves the flags to the detour, above the return address. */
SYM_CODE_START(step_popf)
	pushfq
	PUSH_REGS unwind_hint=0
	movq	(15 * 8)(%rsp), %rcx
	movq	(16 * 8)(%rsp), %rbx
	movq	%rbx, (15 * 8)(%rsp)
	movq	%rcx, (16 * 8)(%rsp)
	POP_REGS
	RET
SYM_CODE_END(step_popf)

SYM_CODE_START(step_unbalanced)
	leaq	8(%rsp), %rsp
	jmp	*-8(%rsp)
SYM_CODE_END(step_unbalanced)
