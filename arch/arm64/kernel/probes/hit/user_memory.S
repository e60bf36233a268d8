/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: the rare parts of disabling and enabling access to user space's memory, and checks of
 * tags, where there was no exception.  See close_user_memory, start_tag_checks and their
 * opposites in registers.h.
 *
 * These functions change no registers except x4 to x7.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>
#include <asm/asm-uaccess.h>
#include <asm/mmu.h>

#include "registers.h"

	.text
#ifdef CONFIG_ARM64_SW_TTBR0_PAN
/*
 * For processors without PAN: access is enabled while TTBR0 has the page tables of user space;
 * then its ASID is not 0.  An interrupt between the test and the change restores the state
 * that it has found.
 */
SYM_CODE_START(kprobe_close_user_ttbr)
	mrs	x5, ttbr0_el1
	tst	x5, #TTBRx_EL1_ASID_MASK
	b.eq	1f
	uaccess_ttbr0_disable x5, x6
	ret
1:	orr	x4, x4, #PSR_PAN_BIT
	ret
SYM_CODE_END(kprobe_close_user_ttbr)
NOKPROBE(kprobe_close_user_ttbr)
#endif

SYM_CODE_START(kprobe_open_user_memory)
alternative_if ARM64_HAS_PAN
	SET_PSTATE_PAN(0)
alternative_else_nop_endif
	uaccess_ttbr0_enable x5, x6, x7
	ret
SYM_CODE_END(kprobe_open_user_memory)
NOKPROBE(kprobe_open_user_memory)

#ifdef CONFIG_ARM64_MTE
/* x5 is PSTATE.TCO. */
SYM_CODE_START(kprobe_start_tag_checks)
	orr	x4, x4, x5
	SET_PSTATE_TCO(0)
	ret
SYM_CODE_END(kprobe_start_tag_checks)
NOKPROBE(kprobe_start_tag_checks)

/* Tests for MTE, because a handler may have set PSR_TCO_BIT in the registers without it. */
SYM_CODE_START(kprobe_stop_tag_checks)
alternative_if ARM64_MTE
	SET_PSTATE_TCO(1)
alternative_else_nop_endif
	ret
SYM_CODE_END(kprobe_stop_tag_checks)
NOKPROBE(kprobe_stop_tag_checks)
#endif
