// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The emulator of uprobes on a simulated task, which has a shadow stack if a test wants it: no
 * guest of the lab has one.  Each test also checks that an instruction that faults changes nothing.
 */
#include <string.h>
#include <linux/uprobes.h>

#include "decide.h"
#include "tap.h"
#include "tests.h"
#include "usertask.h"

#define CODE		0x401000UL	/* address of the instruction */
#define TARGET		0x402000UL
#define UNMAPPED	0x600000UL
#define NON_CANONICAL	0x800000000000UL

#define regs	test_user_regs

static struct uprobe_task utask;

/* A task with a word on the stack and, if it is @guarded, the same on the shadow stack. */
static void reset(bool guarded, u64 top)
{
	memset(&task, 0, sizeof(task));
	memset(&test_user_task, 0, sizeof(test_user_task));
	memset(&utask, 0, sizeof(utask));
	current->utask = &utask;
	memset(&regs, 0, sizeof(regs));
	regs.sp = SP;
	regs.ip = CODE;
	regs.cx = 1;
	if (guarded)
		guard();
	task.ssp = 2;
	task.shadow[2] = top;
	set_user_word(SP, top, 8);
}

/* No page can be brought in. */
static void page_fault(const struct uprobe_fault *fault)
{
	arch_uprobe_set_fault(fault);
	force_sig_fault(SIGSEGV, SEGV_MAPERR, (void *)fault->addr);
}

static void run(const u8 *bytes, unsigned int len, enum insn_mode mode)
{
	struct arch_uprobe arch = { .len = len, .mode = mode };
	struct user_insn *user = (struct user_insn *)arch.desc;

	memcpy(arch.insn, bytes, len);
	if (uprobe_decide(bytes, len, mode, user) || user->insn.action != PROBE_EMULATE) {
		tap_ok(false, "the instruction is emulated");
		return;
	}
	arch.emulator = uprobe_emulator(mode, user->insn.emul);
	current->in_code32 ^= mode == INSN_MODE_32;
	if (arch_uprobe_emulate(&arch, &regs))
		page_fault(&current->utask->fault);
}

#define RUN(mode, ...)							\
({									\
	static const u8 __bytes[] = { __VA_ARGS__ };			\
									\
	run(__bytes, sizeof(__bytes), mode);				\
	sizeof(__bytes);						\
})

#define RUN64(...)	RUN(INSN_MODE_64, __VA_ARGS__)
#define RUN32(...)	RUN(INSN_MODE_32, __VA_ARGS__)

/* Runs an instruction that must fault. Returns whether registers and shadow stack stay. */
#define FAULTS64(...)							\
({									\
	struct pt_regs __before = regs;					\
	unsigned int __ssp = task.ssp;					\
									\
	RUN64(__VA_ARGS__);						\
	!memcmp(&regs, &__before, sizeof(regs)) && task.ssp == __ssp &&	\
		!current->stepped;					\
})

static bool signaled(int signal, int code, unsigned long trap)
{
	return current->signal == signal && current->code == code &&
	       current->thread.trap_nr == trap;
}

static void test_calls(void)
{
	unsigned int len;

	reset(true, 0);
	len = RUN64(0xe8, 0xfb, 0x0f, 0x00, 0x00);
	tap_ok(regs.ip == CODE + 0x1000 && regs.sp == SP - 8 &&
	       user_word_at(SP - 8, 8) == CODE + len && task.ssp == 1 &&
	       task.shadow[1] == CODE + len,
	       "a call pushes its return address to both stacks");

	reset(true, 0);
	len = RUN64(0xe8, 0x00, 0x00, 0x00, 0x00);
	tap_ok(regs.ip == CODE + len && user_word_at(SP - 8, 8) == CODE + len && task.ssp == 2,
	       "a call of the next instruction does not use the shadow stack");

	reset(true, TARGET);
	len = RUN64(0xff, 0x14, 0x24);
	tap_ok(regs.ip == TARGET && user_word_at(SP - 8, 8) == CODE + len &&
	       task.shadow[1] == CODE + len,
	       "call *(%%rsp) reads its target before the push");

	reset(false, 0);
	regs.ax = TARGET;
	len = RUN64(0xff, 0xd0);
	tap_ok(regs.ip == TARGET && user_word_at(SP - 8, 8) == CODE + len && task.ssp == 2,
	       "without a shadow stack a call uses one stack");

	reset(true, 0);
	task.shadow_fails = true;
	tap_ok(FAULTS64(0xe8, 0xfb, 0x0f, 0x00, 0x00) &&
	       signaled(SIGSEGV, SEGV_CPERR, X86_TRAP_CP),
	       "a call that cannot push to the shadow stack changes no register");

	reset(true, 0);
	regs.sp = UNMAPPED;
	tap_ok(FAULTS64(0xe8, 0xfb, 0x0f, 0x00, 0x00) &&
	       signaled(SIGSEGV, SEGV_MAPERR, X86_TRAP_PF) && current->addr == UNMAPPED - 8 &&
	       current->thread.cr2 == UNMAPPED - 8 &&
	       current->thread.error_code == (X86_PF_USER | X86_PF_WRITE),
	       "a call without a stack is a page fault");

	reset(false, 0);
	regs.sp = NON_CANONICAL + 64;
	tap_ok(FAULTS64(0xff, 0xd0) && signaled(SIGBUS, 0, X86_TRAP_SS),
	       "a call with a stack pointer that is no address is a stack fault");

	reset(false, 0);
	regs.ax = NON_CANONICAL;
	tap_ok(FAULTS64(0xff, 0xd0) && signaled(SIGSEGV, 0, X86_TRAP_GP) &&
	       !user_word_at(SP - 8, 8),
	       "a call of a non-canonical address pushes nothing");

	reset(false, 0);
	regs.ax = UNMAPPED;
	tap_ok(FAULTS64(0xff, 0x10) && signaled(SIGSEGV, SEGV_MAPERR, X86_TRAP_PF) &&
	       current->addr == UNMAPPED && current->thread.error_code == X86_PF_USER,
	       "a call whose target cannot be read is a page fault");

	reset(false, TARGET);
	task.segment = SP - 0x10;
	len = RUN64(0x64, 0xff, 0x14, 0x25, 0x10, 0x00, 0x00, 0x00);
	tap_ok(regs.ip == TARGET, "call *%%fs:0x10 reads its target in the segment");

	reset(false, 0);
	task.segment = -1UL;
	tap_ok(FAULTS64(0x64, 0xff, 0x14, 0x25, 0x10, 0x00, 0x00, 0x00) &&
	       signaled(SIGSEGV, 0, X86_TRAP_GP), "a call through no segment is refused");

	reset(false, TARGET);
	regs.ax = 0xdead00000000 | SP;
	RUN64(0x67, 0xff, 0x10);
	tap_ok(regs.ip == TARGET, "call *(%%eax) uses 32 bits of the register");
}

static void test_returns(void)
{
	reset(true, TARGET);
	RUN64(0xc3);
	tap_ok(regs.ip == TARGET && regs.sp == SP + 8 && task.ssp == 3,
	       "a return pops both stacks");

	reset(true, TARGET);
	RUN64(0xc2, 0x10, 0x00);
	tap_ok(regs.ip == TARGET && regs.sp == SP + 0x18 && task.ssp == 3,
	       "a return drops bytes of one stack only");

	reset(false, TARGET);
	RUN64(0xc3);
	tap_ok(regs.ip == TARGET && regs.sp == SP + 8 && task.ssp == 2,
	       "without a shadow stack a return uses one stack");

	reset(true, TARGET);
	task.shadow[2] = CODE;
	tap_ok(FAULTS64(0xc3) && signaled(SIGSEGV, SEGV_CPERR, X86_TRAP_CP) &&
	       task.shadow[2] == CODE && current->thread.error_code == 1,
	       "a return to another address than that on the shadow stack is refused");

	reset(true, TARGET);
	task.shadow_fails = true;
	tap_ok(FAULTS64(0xc3) && signaled(SIGSEGV, SEGV_CPERR, X86_TRAP_CP),
	       "a return without a readable shadow stack is refused");

	reset(true, NON_CANONICAL);
	tap_ok(FAULTS64(0xc3) && signaled(SIGSEGV, 0, X86_TRAP_GP),
	       "a return to a non-canonical address is refused");
}

static void test_jumps(void)
{
	unsigned int len;

	reset(true, TARGET);
	RUN64(0xff, 0x24, 0x24);
	tap_ok(regs.ip == TARGET && regs.sp == SP && task.ssp == 2, "a jump uses no stack");

	reset(false, 0);
	regs.flags = X86_EFLAGS_ZF;
	len = RUN64(0x74, 0x10);
	tap_ok(regs.ip == CODE + len + 0x10 && !current->signal, "je is taken");

	reset(false, 0);
	regs.flags = X86_EFLAGS_ZF | X86_EFLAGS_RF;
	RUN64(0x74, 0x10);
	tap_ok(regs.flags == X86_EFLAGS_ZF && !current->stepped,
	       "the resume flag ends with the instruction");

	reset(false, 0);
	regs.flags = X86_EFLAGS_TF;
	len = RUN64(0x74, 0x10);
	tap_ok(regs.ip == CODE + len && current->stepped && current->signal == SIGTRAP &&
	       current->thread.virtual_dr6 == DR_STEP, "a step over je that is not taken ends");

	reset(false, 0);
	regs.cx = 0;
	len = RUN64(0xe2, 0x10);
	tap_ok(regs.cx == -1UL && regs.ip == CODE + len + 0x10, "loop counts through 0");

	reset(false, 0);
	regs.cx = 0xdead00000001;
	len = RUN64(0x67, 0xe2, 0x10);
	tap_ok(!regs.cx && regs.ip == CODE + len, "loopl counts 32 bits");

	reset(false, 0);
	regs.cx = 0x10000;
	len = RUN32(0x67, 0xe3, 0x10);
	tap_ok(regs.ip == CODE + len + 0x10, "jcxz looks at 16 bits");
}

static void test_narrow(void)
{
	unsigned int len;

	reset(false, 0);
	len = RUN32(0xe8, 0xfb, 0x0f, 0x00, 0x00);
	tap_ok(regs.ip == CODE + 0x1000 && regs.sp == SP - 4 &&
	       user_word_at(SP - 4, 4) == CODE + len &&
	       !user_word_at(SP, 8), "a call in 32-bit mode pushes four bytes");

	reset(false, 0);
	set_user_word(SP, TARGET, 4);
	set_user_word(SP + 4, 0x12345678, 4);
	RUN32(0xc3);
	tap_ok(regs.ip == TARGET && regs.sp == SP + 4, "a return in 32-bit mode pops four bytes");

	reset(false, 0);
	regs.ip = 0xfffffff0;
	RUN32(0xe9, 0x0b, 0x10, 0x00, 0x00);
	tap_ok(regs.ip == 0x1000, "a jump in 32-bit mode wraps");

	reset(false, TARGET);
	task.segment = SP - 0x10;
	RUN32(0x65, 0xff, 0x15, 0x10, 0x00, 0x00, 0x00);
	tap_ok(regs.ip == TARGET, "call *%%gs:0x10 in 32-bit mode");
}

static void test_popf(void)
{
	unsigned int len;

	reset(false, X86_EFLAGS_CF | X86_EFLAGS_IF | X86_EFLAGS_IOPL | X86_EFLAGS_TF);
	len = RUN64(0x9d);
	tap_ok(regs.flags == (X86_EFLAGS_CF | X86_EFLAGS_TF) && regs.sp == SP + 8 &&
	       regs.ip == CODE + len && !current->stepped,
	       "popf changes no privileged flag, and is not itself stepped");

	reset(false, 0);
	regs.flags = X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_ZF;
	RUN64(0x9d);
	tap_ok(regs.flags == X86_EFLAGS_IF && current->stepped,
	       "a step over popf ends, although it clears the trap flag");

	reset(false, 0);
	regs.sp = UNMAPPED;
	tap_ok(FAULTS64(0x9d) && signaled(SIGSEGV, SEGV_MAPERR, X86_TRAP_PF),
	       "popf without a stack is a page fault");
}

void test_user_emulation(void)
{
	test_calls();
	test_returns();
	test_jumps();
	test_narrow();
	test_popf();
}
