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

/* A function and its detour. The call returns to the offset @ret. */
.macro DETOUR name, point, entry, ret=DETOUR_POPF, restore=popfq
	PROBED	\name, (\name\()_detour + \ret - 5)
	.balign	DETOUR_SIZE
\name\()_detour:
	.quad	\point
	.fill	\ret - 5 - 8, 1, 0xcc
	call	\entry
	.if . - \name\()_detour - \ret
	.error	"the detour differs from detour.h"
	.endif
	\restore
	COPY
	jmp	\name\()_back
.endm

.macro drop_flags
	leaq	8(%rsp), %rsp
.endm

.macro nothing
.endm

	/* Entries of detour.h, with our C functions and without. */
	DETOUR	ours_whole, ours_cycles_point, ours_kprobe_detour_enter_sahf, DETOUR_COPY, nothing
	DETOUR	ours_bare, 0, bare_kprobe_detour_enter_sahf, DETOUR_COPY, nothing
	DETOUR	ours_dead_whole, ours_cycles_point, ours_kprobe_detour_enter_dead, DETOUR_COPY, nothing
	DETOUR	ours_dead_bare, 0, bare_kprobe_detour_enter_dead, DETOUR_COPY, nothing
	DETOUR	ours_popf, 0, bare_kprobe_detour_enter
	DETOUR	ours_no_popf, 0, bare_kprobe_detour_enter, restore=drop_flags
	DETOUR	ours_step_call, 0, bare_step_call, restore=nothing
	DETOUR	ours_step_registers, 0, bare_step_registers, restore=nothing
	DETOUR	ours_step_pushf, 0, bare_step_pushf, restore=nothing
	DETOUR	ours_step_popf, 0, bare_step_popf
	DETOUR	ours_step_unbalanced, 0, bare_step_unbalanced, restore=nothing

	/* The entries of a return probe. */
	DETOUR	ours_entry_dead, 0, bare_kprobe_detour_enter_return_dead, DETOUR_COPY, nothing
	PROBED	ours_entry, (ours_entry_detour + DETOUR_POPF - 6)
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
