// SPDX-License-Identifier: GPL-2.0
/*
 * called: prints its pid and the address of a function, waits for input or its end, and calls the
 * function.
 */

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("nop");
}

int main(void)
{
	char c;

	printf("%d 0x%lx\n", (int)getpid(), (unsigned long)called);
	fflush(stdout);
	read(0, &c, 1);
	called();
	return 0;
}
