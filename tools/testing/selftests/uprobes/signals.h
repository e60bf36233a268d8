/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_SIGNALS_H
#define _UPROBES_SIGNALS_H
/*
 * Signals, and the registers that their handlers see.  Built with nolibc, which has no
 * sigaction().
 */
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/ucontext.h>

#ifndef SA_RESTORER
#define SA_RESTORER	0x04000000
#endif

/*
 * The instruction pointer and the stack pointer in a signal's context, and the number of the
 * words at its beginning that are other registers.
 */
#if defined(__x86_64__)
#define CONTEXT_IP(context)	((context)->uc_mcontext.rip)
#define CONTEXT_SP(context)	((context)->uc_mcontext.rsp)
#define CONTEXT_WORDS		16
asm(".globl return_from_signal; return_from_signal: mov $15, %eax; syscall");
#elif defined(__i386__)
#define CONTEXT_IP(context)	((context)->uc_mcontext.eip)
#define CONTEXT_SP(context)	((context)->uc_mcontext.esp)
#define CONTEXT_WORDS		12
asm(".globl return_from_signal; return_from_signal: mov $173, %eax; int $0x80");
#elif defined(__aarch64__)
#define CONTEXT_IP(context)	((context)->uc_mcontext.pc)
#define CONTEXT_SP(context)	((context)->uc_mcontext.sp)
#define CONTEXT_WORDS		32
asm(".globl return_from_signal; return_from_signal: mov x8, #139; svc #0");
#endif

extern char return_from_signal[];

typedef void signal_handler(int signal, siginfo_t *info, struct ucontext *context);

struct kernel_sigaction {
	signal_handler *handler;
	unsigned long flags;
	void *restorer;
	__u64 mask;
};

/* Installs a handler, which runs on the stack of signals if there is one. */
static inline int on_signal(int signal, signal_handler *handler, unsigned long flags)
{
	struct kernel_sigaction action = {
		.handler = handler,
		.flags = flags | SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
		.restorer = return_from_signal,
	};

	return syscall(__NR_rt_sigaction, signal, &action, NULL, sizeof(action.mask));
}

/* Ignores a signal, or restores its default action. */
static inline int set_signal(int signal, void *action)
{
	return on_signal(signal, (signal_handler *)action, 0);
}

/* Gives this thread a stack of its own for signals. */
static inline int signal_stack(void *stack, size_t size)
{
	stack_t given = { .ss_sp = stack, .ss_size = size };

	return syscall(__NR_sigaltstack, &given, NULL);
}

/* Blocks or unblocks one signal. */
static inline int mask_signal(int how, int signal)
{
	__u64 mask = 1ULL << (signal - 1);

	return syscall(__NR_rt_sigprocmask, how, &mask, NULL, sizeof(mask));
}

/* Sends SIGALRM every INTERVAL microseconds of real time; 0 ends that. */
static inline int alarm_every(long interval)
{
	long timer[4] = { 0, interval, 0, interval };

	return syscall(__NR_setitimer, 0 /* ITIMER_REAL */, timer, NULL);
}

#endif /* _UPROBES_SIGNALS_H */
