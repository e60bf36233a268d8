/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_SYSTEM_H
#define _UPROBES_SYSTEM_H
/*
 * System calls that nolibc does not have, random numbers, and threads.
 */
#include <linux/prctl.h>
#include <linux/sched.h>

#ifndef WIFSTOPPED
#define WIFSTOPPED(status)	(((status) & 0xff) == 0x7f)
#define WSTOPSIG(status)	(((status) >> 8) & 0xff)
#endif
#ifndef WCOREDUMP
#define WCOREDUMP(status)	((status) & 0x80)
#endif

static inline int change_protection(void *address, size_t size, int protection)
{
	return syscall(__NR_mprotect, address, size, protection);
}

static inline int advise(void *address, size_t size, int advice)
{
	return syscall(__NR_madvise, address, size, advice);
}

/* Lets the calling thread run on one processor only, or on any if NR is -1. */
static inline int use_processor(int nr)
{
	unsigned long processors[16] = { nr < 0 ? -1UL : 1UL << nr };

	return syscall(__NR_sched_setaffinity, 0, sizeof(processors), processors);
}

static inline unsigned int processors(void)
{
	unsigned long mask[16] = { 0 };
	unsigned int nr = 0;

	syscall(__NR_sched_getaffinity, 0, sizeof(mask), mask);
	for (; mask[0]; mask[0] &= mask[0] - 1)
		nr++;
	return nr;
}

/* Returns the status with which a child has exited, or -1. */
static inline int reap(pid_t pid)
{
	int status;

	if (pid <= 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The time after which a child that hangs is killed, in seconds. */
#define CHILD_SECONDS	60

/* Ends this process after that time, or when its parent has died. */
static inline void limit_child(void)
{
	long timer[4] = { 0, 0, CHILD_SECONDS, 0 };

	syscall(__NR_setitimer, 0 /* ITIMER_REAL */, timer, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

/* Calls a function in a child; returns its result, 0 to 255, or -1 if the child has died. */
static inline int in_child(int (*function)(void))
{
	pid_t pid = fork();

	if (!pid) {
		limit_child();
		_exit(function());
	}
	return reap(pid);
}

/* Moves all pages that can be moved. */
static inline void compact_memory(void)
{
	int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);

	if (fd >= 0)
		write(fd, "1", 1);
	close(fd);
}

/* Memory that children share. */
static inline void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* --- Random numbers ---------------------------------------------------------- */

static __attribute__((unused)) unsigned long seed;

static inline unsigned int next_random(unsigned int below)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % below;
}

/* --- Threads --------------------------------------------------------------- */

#define THREAD_STACK	16384

/* The kernel clears "running", and wakes those who wait, when the thread has ended. */
struct thread {
	volatile int running;
	char stack[THREAD_STACK] __attribute__((aligned(16)));
};

#define THREAD_FLAGS	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
			 CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)

/* Starts a thread that calls the function and ends; returns its number, or an error. */
static __attribute__((noinline, unused))
long thread_start(struct thread *thread, void (*function)(void *), void *argument)
{
	unsigned long *top = (unsigned long *)(thread->stack + THREAD_STACK);
	long result;

	thread->running = 1;
	/* The new thread takes both words from its stack. */
#if defined(__x86_64__)
	*--top = (unsigned long)argument;
	*--top = (unsigned long)function;
	register long tls asm("r8") = 0;
	register const volatile void *clear asm("r10") = &thread->running;

	asm volatile("syscall\n\t"
		     "test %%eax, %%eax\n\t"
		     "jnz 1f\n\t"
		     "xor %%ebp, %%ebp\n\t"
		     "pop %%rax\n\t"
		     "pop %%rdi\n\t"
		     "call *%%rax\n\t"
		     "xor %%edi, %%edi\n\t"
		     "mov %[exit], %%eax\n\t"
		     "syscall\n"
		     "1:"
		     : "=a" (result)
		     : "0" ((long)__NR_clone), "D" ((long)THREAD_FLAGS), "S" (top), "d" (0L),
		       "r" (clear), "r" (tls), [exit] "i" (__NR_exit)
		     : "rcx", "r11", "memory", "cc");
#elif defined(__i386__)
	/* At the call the argument has to be at the top of the stack. */
	top -= 3;
	*--top = (unsigned long)argument;
	*--top = (unsigned long)function;
	asm volatile("int $0x80\n\t"
		     "test %%eax, %%eax\n\t"
		     "jnz 1f\n\t"
		     "xor %%ebp, %%ebp\n\t"
		     "pop %%eax\n\t"
		     "call *%%eax\n\t"
		     "xor %%ebx, %%ebx\n\t"
		     "mov %[exit], %%eax\n\t"
		     "int $0x80\n"
		     "1:"
		     : "=a" (result)
		     : "0" ((long)__NR_clone), "b" ((long)THREAD_FLAGS), "c" (top), "d" (0L),
		       "S" (0L), "D" (&thread->running), [exit] "i" (__NR_exit)
		     : "memory", "cc");
#elif defined(__aarch64__)
	*--top = (unsigned long)argument;
	*--top = (unsigned long)function;
	register long number asm("x8") = __NR_clone;
	register long x0 asm("x0") = THREAD_FLAGS;
	register void *x1 asm("x1") = top;
	register long x2 asm("x2") = 0;
	register long x3 asm("x3") = 0;
	register const volatile void *x4 asm("x4") = &thread->running;

	asm volatile("svc #0\n\t"
		     "cbnz x0, 1f\n\t"
		     "mov x29, xzr\n\t"
		     "ldp x1, x0, [sp], #16\n\t"
		     "blr x1\n\t"
		     "mov x0, xzr\n\t"
		     "mov x8, %[exit]\n\t"
		     "svc #0\n"
		     "1:"
		     : "+r" (x0)
		     : "r" (number), "r" (x1), "r" (x2), "r" (x3), "r" (x4),
		       [exit] "i" (__NR_exit)
		     : "memory", "cc");
	result = x0;
#endif
	return result;
}

/* Waits until the thread has ended; false if that takes longer than the time. */
static inline bool thread_wait(struct thread *thread, unsigned int seconds)
{
	unsigned int tries = seconds * 100;

	while (thread->running && tries--)
		usleep(10000);
	return !thread->running;
}

#endif /* _UPROBES_SYSTEM_H */
