/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms with vector registers, as the kernel's checksums, RAID and ciphers have them.
 */
#define FORM_TABLE	kprobes_forms_vector
#include "x86_form_macros.S"

forms_begin

/* --- SSE ---------------------------------------------------------------------- */

needs X86_FEATURE_XMM
.irp op, movups, movaps
	form	I(\op %xmm1, %xmm0)
	form	I(\op (%SI), %xmm2)
	form	I(\op %xmm3, 16(%DI))
	form	I(\op MEM(64), %xmm1)
	form	I(\op %xmm2, MEM(80))
.endr
.irp op, andps, andnps, orps, xorps, addps, subps, mulps, minps, unpcklps
	form	I(\op %xmm1, %xmm0)
	form	I(\op MEM(96), %xmm3)
.endr
form I(movss 4(%SI), %xmm0)
form I(movss %xmm1, 8(%DI))
form I(movlps %xmm0, (%DI))
form I(movhps (%SI), %xmm1)
form I(movntps %xmm2, 32(%DI))
form I(shufps $0x4e, %xmm1, %xmm0)
form I(ucomiss %xmm1, %xmm0)
form I(sfence)
form I(prefetchnta (%SI))
form I(prefetcht0 64(%SI))
form I(prefetcht1 MEM(0))

needs X86_FEATURE_XMM2
.irp op, movdqu, movdqa
	form	I(\op %xmm1, %xmm0)
	form	I(\op (%SI), %xmm2)
	form	I(\op %xmm3, 16(%DI))
	form	I(\op MEM(64), %xmm1)
	form	I(\op %xmm2, MEM(80))
	form	I(\op 16(%SI, %CX, 8), %xmm0), B(and $6, %ecx)
.endr
.irp op, pxor, por, pand, pandn, paddb, paddd, paddq, psubd, pcmpeqb, pcmpgtd, pmuludq, \
	 punpckldq, punpcklqdq, packuswb
	form	I(\op %xmm1, %xmm0)
	form	I(\op 32(%SI), %xmm2)
.endr
.irp op, pslld, psrld, psrad, psllq, psrlq
	form	I(\op $7, %xmm1)
.endr
form I(pslldq $4, %xmm0)
form I(psrldq $8, %xmm3)
form I(pshufd $0x1b, %xmm1, %xmm0)
form I(pshufd $0x93, MEM(16), %xmm1)
form I(pshuflw $0xb1, %xmm2, %xmm3)
form I(pmovmskb %xmm1, %eax)
form I(movd %ecx, %xmm0)
form I(movd %xmm1, %edx)
form I(movd %xmm1, 4(%DI))
form I(movq %xmm2, 8(%DI))
form I(movq (%SI), %xmm3)
form I(movsd (%SI), %xmm3)
form I(movntdq %xmm0, (%DI))
form I(movnti %ecx, (%DI))
form I(movnti %eax, MEM(4))
form I(addsd %xmm1, %xmm0)
form I(cvtsi2sd %ecx, %xmm0)
form I(lfence)
form I(mfence)
form I(pause)
#ifdef CONFIG_X86_64
form I(movnti %rcx, 8(%DI))
form I(movq %rcx, %xmm1)
form I(movq %xmm0, %r9)
pointers r13
form I(movdqu %xmm0, (%r13))
pointers SI, DI
#endif

needs X86_FEATURE_SSSE3
form I(pshufb %xmm1, %xmm0)
form I(pshufb MEM(16), %xmm0)
form I(palignr $8, %xmm2, %xmm1)

needs X86_FEATURE_XMM4_1
form I(ptest %xmm1, %xmm0)
form I(pinsrd $2, %ecx, %xmm1)
form I(pextrd $1, %xmm1, %eax)
form I(pblendw $0xf0, %xmm1, %xmm0)

needs X86_FEATURE_PCLMULQDQ
form I(pclmulqdq $0x10, %xmm1, %xmm0)

needs X86_FEATURE_AES
form I(aesenc %xmm1, %xmm0)
form I(aesdec MEM(32), %xmm0)
form I(aeskeygenassist $1, %xmm1, %xmm2)

/* --- AVX ------------------------------------------------------------------------ */

needs X86_FEATURE_AVX
.irp r, xmm, ymm
	form	I(vmovdqu (%SI), %\r\()1)
	form	I(vmovdqu %\r\()2, 32(%DI))
	form	I(vmovdqu MEM(33), %\r\()0)
	form	I(vmovdqu %\r\()3, MEM(65))
	form	I(vmovdqa %\r\()3, %\r\()0)
	form	I(vmovups %\r\()1, 8(%DI, %CX, 4)), B(and $3, %ecx)
	form	I(vxorps %\r\()1, %\r\()2, %\r\()3)
	form	I(vandps MEM(64), %\r\()2, %\r\()3)
.endr
form I(vpxor %xmm1, %xmm2, %xmm0)
form I(vpaddd 16(%SI), %xmm1, %xmm2)
form I(vpshufb %xmm1, %xmm2, %xmm3)
form I(vpslld $3, %xmm1, %xmm0)
form I(vpsrldq $4, %xmm1, %xmm0)
form I(vmovd %ecx, %xmm1)
form I(vinsertf128 $1, %xmm1, %ymm2, %ymm3)
form I(vextractf128 $1, %ymm1, 16(%DI))
form I(vbroadcastss 4(%SI), %ymm0)
form I(vzeroupper)

needs X86_FEATURE_AVX2
form I(vpxor %ymm1, %ymm2, %ymm0)
form I(vpaddd 32(%SI), %ymm1, %ymm2)
form I(vpaddq MEM(32), %ymm1, %ymm2)
form I(vpshufb %ymm1, %ymm2, %ymm3)
form I(vpsrlq $9, %ymm1, %ymm0)
form I(vpermq $0x4e, %ymm1, %ymm0)
form I(vinserti128 $1, (%SI), %ymm1, %ymm0)
form I(vextracti128 $1, %ymm2, %xmm3)
form I(vpbroadcastd %xmm1, %ymm0)
form I(vpcmpeqb %ymm1, %ymm2, %ymm3)
form I(vpmovmskb %ymm1, %ecx)

forms_end
