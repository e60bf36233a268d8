/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86-64: probed functions, and our detours as write_detour() of the kernel writes them.
 */
#include "detour.h"
#include "measure.h"

#define COPY	nopl 0(%rax, %rax)

	.text

.macro CALLER name, barrier
	.globl	\name
\name:	call	1f
	ret
1:	call	2f
	ret
2:	call	3f
	ret
3:	\barrier
	call	*%rdi
	\barrier
	ret
.endm

	CALLER	call_deep
	CALLER	call_alone, lfence

	.globl add_chain
add_chain:
	xorl	%eax, %eax
	movl	$1, %ecx
	.rept	CHAIN
	addq	%rcx, %rax
	.endr
	ret

	.balign	64
	.globl unprobed
unprobed:
	COPY
	ret

/* A function whose first instruction is a jump to @to. */
.macro PROBED name, to
	.balign	64
	.globl	\name
\name:	jmp	\to
	.globl	\name\()_back
\name\()_back:
	ret
.endm

/* A function and its detour, which begins with the arguments in parentheses. */
.macro DETOUR name, point, entry, restore=popfq
	PROBED	\name, \name\()_detour + DETOUR_CALL
	.balign	DETOUR_SIZE
\name\()_detour:
	.quad	\point
	int3
	call	\entry
	.if . - \name\()_detour - DETOUR_RETURN
	.error	"the detour differs from detour.h"
	.endif
	\restore
	COPY
	jmp	\name\()_back
.endm

.macro drop_flags
	leaq	8(%rsp), %rsp
.endm

/* Restores the arithmetic flags only: adding 0x78 to 8 sets OF, to 0 clears it. */
.macro sahf_flags
	pushq	%rax
	movb	9(%rsp), %al
	movb	8(%rsp), %ah
	andb	$8, %al
	addb	$0x78, %al
	sahf
	popq	%rax
	leaq	8(%rsp), %rsp
.endm

.macro nothing
.endm

/* Likewise for a place where the arithmetic flags are dead. */
.macro DEAD_DETOUR name, point, entry
	PROBED	\name, \name\()_detour + DETOUR_DEAD
	.balign	DETOUR_SIZE
\name\()_detour:
	.quad	\point
	int3
	int3
	call	\entry
	.if . - \name\()_detour - DETOUR_COPY
	.error	"the detour differs from detour.h"
	.endif
	COPY
	jmp	\name\()_back
.endm

	DEAD_DETOUR	ours_dead_whole, ours_cycles_point, ours_kprobe_detour_enter_dead
	DEAD_DETOUR	ours_dead_bare, 0, bare_kprobe_detour_enter_dead

	DETOUR	ours_whole, ours_cycles_point, ours_kprobe_detour_enter
	DETOUR	ours_bare, 0, bare_kprobe_detour_enter
	DETOUR	ours_no_popf, 0, bare_kprobe_detour_enter, drop_flags
	DETOUR	ours_sahf, 0, bare_kprobe_detour_enter, sahf_flags
	DETOUR	ours_step_call, 0, bare_step_call, nothing
	DETOUR	ours_step_registers, 0, bare_step_registers, nothing
	DETOUR	ours_step_pushf, 0, bare_step_pushf, nothing
	DETOUR	ours_step_popf, 0, bare_step_popf, popfq
	DETOUR	ours_step_unbalanced, 0, bare_step_unbalanced, nothing

	/* The entry of a return probe. */
	PROBED	ours_entry, ours_entry_detour + DETOUR_CODE
	.balign	DETOUR_SIZE
ours_entry_detour:
	.quad	0
	pushfq
	call	bare_kprobe_detour_enter_return
	popfq
	COPY
	jmp	ours_entry_back

	PROBED	ours_jump, ours_jump_detour
	.balign	DETOUR_SIZE
ours_jump_detour:
	COPY
	jmp	ours_jump_back

	/* prepare() copies the base's detours to these. */
	PROBED	base_whole, base_whole_detour
	PROBED	base_bare, base_bare_detour

/* A function that returns to @to; the C function stores the real return address. */
.macro RETURNS name, to
	.balign	64
	.globl	\name
\name:	popq	real_return(%rip)
	pushq	\to
	ret
.endm

	RETURNS	plain_return, real_return(%rip)
	RETURNS	ours_return, $bare___kretprobe_trampoline
	RETURNS	base_return, $base_arch_rethook_trampoline

	.section .note.GNU-stack, "", @progbits
