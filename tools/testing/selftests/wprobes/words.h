/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WPROBES_WORDS_H
#define _WPROBES_WORDS_H
/*
 * Words that the programs have the module watch, and threads that access them.
 *
 * Include ../uprobes/system.h and control.h before.
 */

#define THREADS		4

/* No two are in one aligned word that a register can watch. */
static struct {
	word_t word;
	char pad[64 - sizeof(word_t)];
} data[16] __attribute__((aligned(64)));

#define WORD		(data[0].word)

static __attribute__((unused)) void add(const char *name, const char *type)
{
	same("add", add_at(name, getpid(), &WORD, type), 0);
}

static struct thread threads[THREADS];

static __attribute__((unused)) void start(int from, int to, void (*function)(void *))
{
	int i;

	for (i = from; i < to; i++) {
		if (thread_start(&threads[i], function, (void *)(unsigned long)i) < 0)
			fail("clone", errno, 0);
	}
}

static void wait_for(int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		if (!thread_wait(&threads[i], 60))
			fail("a thread hangs", i, 0);
	}
}

#endif /* _WPROBES_WORDS_H */
