/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hints, barriers, system registers, and the fields of PSTATE other than the flags.
 */
#define FORM_TABLE	kprobes_forms_system
#include "arm64_form_macros.S"

forms_begin

/* --- Hints --------------------------------------------------------------------- */

form I(nop)
form I(yield)
form I(sev)
form I(sevl), A(wfe)
form I(wfe), B(sevl)
form I(hint #6)		/* dgh */
form I(xpaclri), B(paciasp)
form I(esb)
form I(hint #17)	/* psb csync */
form I(tsb csync)
form I(csdb)
form I(hint #22)	/* clearbhb */
form I(bti)
form I(bti c)
form I(bti j)
form I(bti jc)
form I(hint #33)
form I(hint #35)
form I(hint #37)
form I(hint #40), B(mov x16, #0)	/* chkfeat */
form I(hint #48)
form I(hint #63)
form I(hint #64)
form I(hint #127)

/* Sign a value and, if it could be an address, authenticate it with the same modifier. */
#define ADDRESS(reg)	sbfx reg, reg, #0, #48

form I(paciaz)
form I(pacibz)
form I(paciasp)
form I(pacibsp)
form I(pacia1716)
form I(pacib1716)
form I(autiaz), B(ADDRESS(x30); paciaz)
form I(autibz), B(ADDRESS(x30); pacibz)
form I(autiasp), B(ADDRESS(x30); paciasp)
form I(autibsp), B(ADDRESS(x30); pacibsp)
form I(autia1716), B(ADDRESS(x17); pacia1716)
form I(autib1716), B(ADDRESS(x17); pacib1716)

needs FORM_NEEDS_WFXT
form I(.inst 0xd5031003), B(mov x3, #0)		/* wfet x3 */
form I(.inst 0xd5031023), B(mov x3, #0)		/* wfit x3 */
defaults

/* --- Barriers ------------------------------------------------------------------ */

form I(isb)
form I(dsb sy)
form I(dsb ish)
form I(dsb ishst)
form I(dsb nshld)
form I(dsb oshld)
form I(dmb sy)
form I(dmb ish)
form I(dmb ishld)
form I(dmb ishst)
form I(dmb osh)
form I(dmb oshst)
form I(ssbb)
form I(pssbb)
form I(clrex)

needs FORM_NEEDS_SB
form I(sb)

needs FORM_NEEDS_XS
form I(.inst 0xd503323f)	/* dsb oshnxs */
form I(.inst 0xd5033e3f)	/* dsb synxs */
defaults

/* --- System registers that can be read ----------------------------------------- */

.irp n, NUMBERS
	form	I(mrs x\n, nzcv)
	form	I(msr nzcv, x\n)
.endr
.irp reg, tpidr_el0, tpidrro_el0, tpidr_el1, sp_el0, currentel, midr_el1, mpidr_el1, \
	  revidr_el1, ctr_el0, dczid_el0, cntfrq_el0, id_aa64pfr0_el1, id_aa64mmfr0_el1, \
	  id_aa64isar0_el1, id_aa64dfr0_el1, sctlr_el1, tcr_el1, ttbr1_el1, mair_el1, vbar_el1, \
	  clidr_el1, csselr_el1, mdscr_el1, dbgbvr0_el1, oslsr_el1, fpcr
	form	I(mrs x3, \reg)
.endr
form I(mrs xzr, nzcv)

/* --- System registers that can be written -------------------------------------- */

form I(msr nzcv, xzr)
form I(msr tpidr_el0, x3)
form I(msr tpidr_el0, xzr)
form I(msr tpidrro_el0, x3), B(mrs x4, tpidrro_el0), A(mrs x5, tpidrro_el0; msr tpidrro_el0, x4)
form I(msr csselr_el1, x3), B(mov x3, #2), A(mrs x4, csselr_el1; msr csselr_el1, xzr)
form I(msr par_el1, x3), B(mov x3, #1), A(mrs x4, par_el1)
form I(msr contextidr_el1, x3), B(mrs x3, contextidr_el1)
form I(msr mair_el1, x3), B(mrs x3, mair_el1)
form I(msr tpidr_el1, x3), B(mrs x3, tpidr_el1)

needs FORM_NEEDS_EL2
form I(msr tpidr_el2, x3), B(mrs x3, tpidr_el2)
defaults

/* --- Caches, TLBs, translation ------------------------------------------------- */

form I(dc cvac, x6)
form I(dc cvau, x6)
form I(dc civac, x6)
form I(ic ivau, x6)
form I(ic ialluis)
form I(tlbi vae1is, x3), B(mov x3, #0)
form I(tlbi aside1is, x3), B(mov x3, #0)
form I(at s1e1r, x6), A(isb; mrs x3, par_el1)
form I(at s1e1w, x6), A(isb; mrs x3, par_el1)
form I(at s1e0r, x6), A(isb; mrs x3, par_el1)

needs FORM_NEEDS_DCPOP
form I(dc cvap, x6)

needs FORM_NEEDS_DCPODP
form I(dc cvadp, x6)

needs FORM_NEEDS_PAN
form I(at s1e1rp, x6), A(isb; mrs x3, par_el1)

needs FORM_NEEDS_TLB_RANGE
form I(.inst 0xd5088123), B(mov x3, #0)		/* tlbi vae1os, x3 */
form I(.inst 0xd5088223), B(mov x3, #0)		/* tlbi rvae1is, x3 */

needs FORM_NEEDS_SPECRES
form I(cfp rctx, x3), B(mov x3, #0)
form I(dvp rctx, x3), B(mov x3, #0)

/* Random numbers: the flags are compared, the number is not. */
needs FORM_NEEDS_RNG
form I(.inst 0xd53b2403), A(mov x3, #0)		/* mrs x3, rndr */
defaults

/* --- Interrupt masks ----------------------------------------------------------- */

form I(mrs x3, daif)
form I(mrs x30, daif)
form I(msr daif, x3), B(and x3, x3, #0x3c0)
form I(msr daif, xzr)
.irp mask, 0, 1, 2, 3, 4, 8, 15
	form	I(msr daifset, #\mask)
	form	I(msr daifclr, #\mask)
.endr

/* --- Other fields of PSTATE, which are saved and restored ------------------- */

needs FORM_NEEDS_PAN
form I(msr pan, #0), B(mrs x4, pan), A(mrs x3, pan; msr pan, x4)
form I(msr pan, #1), B(mrs x4, pan), A(mrs x3, pan; msr pan, x4)
form I(msr pan, x3), B(mrs x4, pan; mvn x3, x4), A(mrs x3, pan; msr pan, x4)
form I(mrs x3, pan)
form I(mrs x5, pan), B(mrs x4, pan; msr pan, #0), A(msr pan, x4)

/* allint, by a constant and by a register. */
needs FORM_NEEDS_NMI
form I(.inst 0xd501411f), A(.inst 0xd5384303; .inst 0xd501401f)
form I(.inst 0xd5184303), B(mov x3, #0)
form I(.inst 0xd5384303)

needs FORM_NEEDS_UAO
form I(msr uao, #1), A(mrs x3, uao; msr uao, #0)
form I(msr uao, #0), B(msr uao, #1), A(mrs x3, uao)

needs FORM_NEEDS_DIT
form I(msr dit, #1), A(mrs x3, dit; msr dit, #0)
form I(msr dit, #0), B(msr dit, #1), A(mrs x3, dit)
form I(mrs x3, dit), B(msr dit, #1), A(msr dit, #0)

needs FORM_NEEDS_SSBS
form I(msr ssbs, #1), B(mrs x4, ssbs), A(mrs x3, ssbs; msr ssbs, x4)
form I(msr ssbs, #0), B(mrs x4, ssbs), A(mrs x3, ssbs; msr ssbs, x4)
form I(mrs x3, ssbs)

needs FORM_NEEDS_MTE
form I(msr tco, #1), A(mrs x3, tco; msr tco, #0)
form I(msr tco, #0), B(msr tco, #1), A(mrs x3, tco)
defaults

/* --- Registers that exceptions use ------------------------------------------ */

/* No exception may be taken between writing and reading: all are masked. */
#define MASKED(...)	B(msr daifset, #15; __VA_ARGS__)

form I(msr sp_el0, x3), B(mrs x3, sp_el0)
form I(msr elr_el1, x3), MASKED(nop), A(mrs x4, elr_el1)
form I(msr spsr_el1, x3), MASKED(mov x3, #0x3c5), A(mrs x4, spsr_el1)
form I(msr esr_el1, x3), MASKED(mov x3, #0), A(mrs x4, esr_el1)
form I(msr far_el1, x3), MASKED(nop), A(mrs x4, far_el1)

needs FORM_NEEDS_EL2
form I(msr elr_el2, x3), MASKED(nop), A(mrs x4, elr_el2)
form I(msr spsr_el2, x3), MASKED(mov x3, #0x3c9), A(mrs x4, spsr_el2)
form I(msr esr_el2, x3), MASKED(mov x3, #0), A(mrs x4, esr_el2)
form I(msr far_el2, x3), MASKED(nop), A(mrs x4, far_el2)
defaults

forms_end
