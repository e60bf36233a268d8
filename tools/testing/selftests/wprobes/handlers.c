// SPDX-License-Identifier: GPL-2.0
/*
 * handlers CASE: the handlers of probes on data of this process unregister and disable probes,
 * their own or others, also while other threads do. Prints "ok", or the wrong number.
 */
#include "../uprobes/system.h"
#include "../uprobes/signals.h"
#include "control.h"
#include "words.h"

/*
 * A system call hits two probes, and the first handler ends or disables the other.  Returns the
 * name of the probe whose handler has run.
 */
static const char *hit_both(const char *of_a, const char *of_b)
{
	unsigned long values[2] = { 1, 2 };
	struct { word_t *at; size_t length; } parts[2] = {
		{ &data[0].word, sizeof(long) }, { &data[1].word, sizeof(long) },
	};
	bool a_ran;
	int pipes[2];

	same("pipe", pipe(pipes), 0);
	same("add a", add_at("a", getpid(), &data[0].word, of_a), 0);
	same("add b", add_at("b", getpid(), &data[1].word, of_b), 0);
	write(pipes[1], values, sizeof(values));
	same("readv", syscall(__NR_readv, pipes[0], parts, 2), sizeof(values));
	same("word", data[1].word, 2);
	a_ran = look("a").hits;
	same("hits", a_ran + look("b").hits, 1);
	same("missed", look("a").missed + look("b").missed, 1);
	return a_ran ? "a" : "b";
}

static void ends_another(void)
{
	const char *ran = hit_both("w ends:b", "w ends:a");

	data[0].word = 3;
	data[1].word = 4;
	same("hits of the other", look("a").hits + look("b").hits, 2);
	same("the handler that ran is called again", look(ran).hits, 2);
}

static void pauses_another(void)
{
	const char *ran = hit_both("w pauses:b", "w pauses:a");
	const char *paused = *ran == 'a' ? "b" : "a";

	data[*paused - 'a'].word = 3;
	same("hits of the disabled one", look(paused).hits, 0);
	command("enable", paused);
	data[*paused - 'a'].word = 5;
	same("it is hit again", look(paused).hits, 1);
}

/* The second write is no hit. */
static void change_itself(const char *type)
{
	add("p", type);
	WORD = 1;
	WORD = 2;
	same("hits", look("p").hits, 1);
}

static void ends_itself(void)
{
	change_itself("w ends:p");
	add("q", "w");
	WORD = 3;
	same("hits of the next probe", look("q").hits, 1);
}

static void pauses_itself(void)
{
	change_itself("w pauses:p");
	command("enable", "p");
	WORD = 3;
	same("it is hit again", look("p").hits, 2);
}

/* A handler disables a probe that another thread has hit as well, and is disabling. */
static void write_both(void *pipe)
{
	unsigned long values[2] = { 1, 2 };
	struct { word_t *at; size_t length; } parts[2] = {
		{ &data[0].word, sizeof(long) }, { &data[1].word, sizeof(long) },
	};
	int *ends = pipe;

	write(ends[1], values, sizeof(values));
	syscall(__NR_readv, ends[0], parts, 2);
}

static void both_pause_another(void)
{
	int ends[2], round;

	same("pipe", pipe(ends), 0);
	same("add a", add_at("a", getpid(), &data[0].word, "w pauses:b"), 0);
	same("add b", add_at("b", getpid(), &data[1].word, "w"), 0);
	for (round = 0; round < 50; round++) {
		command("enable", "b");
		if (thread_start(&threads[0], write_both, ends) < 0)
			fail("clone", errno, 0);
		write_both(ends);
		wait_for(0, 1);
	}
	same("hits of the first", look("a").hits, 2 * round);
}

static void write_word(void *at)
{
	*(word_t *)at = 0;
}

/* Returns when another thread has entered the handler of the probe on data[@n]. */
static void enter_handler_of(const char *name, int n)
{
	if (thread_start(&threads[n], write_word, (void *)&data[n].word) < 0)
		fail("clone", errno, 0);
	while (!look(name).hits)
		;
}

static void enter_handler(const char *type)
{
	add("p", type);
	enter_handler_of("p", 0);
}

/* Another thread waits for the handler, which unregisters its own probe. */
static void ends_while_disabled(void)
{
	int round;

	for (round = 0; round < 20; round++) {
		enter_handler("w sleep:2 ends:p");
		/* An error, if the probe has ended. */
		control("disable p");
		wait_for(0, 1);
		command("del", "p");
	}
}

/* Two threads run the handler, and both unregister its probe. */
static void both_end_it(void)
{
	int round, hits, both = 0;

	for (round = 0; round < 20; round++) {
		add("p", "w sleep:20 ends:p");
		if (thread_start(&threads[0], write_word, (void *)&WORD) < 0)
			fail("clone", errno, 0);
		WORD = 0;
		wait_for(0, 1);
		WORD = 1;
		hits = look("p").hits;
		same("hits", hits == 1 || hits == 2, 1);
		both += hits == 2;
		command("del", "p");
	}
	same("both ran together", both > 0, 1);
}

/* The probe is freed after its handler has returned. */
static void ends_and_lingers(void)
{
	enter_handler("w ends:p lingers");
	usleep(10000);
	command("del", "p");
	wait_for(0, 1);
}

/* The handler unregisters a probe that another task is unregistering. */
static void ends_while_removed(void)
{
	int round;

	for (round = 0; round < 10; round++) {
		enter_handler("w sleep:2 ends:p lingers");
		command("del", "p");
		wait_for(0, 1);
	}
}

static void add_on(const char *name, int n, const char *type)
{
	same("add", add_at(name, getpid(), &data[n].word, type), 0);
}

/*
 * Another task unregisters two probes, and waits for the handler of the first. That waits for the
 * handler of the second, which unregisters its own probe.
 */
static void ends_while_both_removed(void)
{
	int round;

	for (round = 0; round < 5; round++) {
		add_on("a", 0, "w sleep:100 ends:a lingers");
		add_on("b", 1, "w sleep:120 ends:a");
		enter_handler_of("a", 0);
		enter_handler_of("b", 1);
		command("end", "b a");
		wait_for(0, 2);
		command("del", "a");
		command("del", "b");
	}
}

static const struct test_case cases[] = {
	{ "ends_another", ends_another },
	{ "pauses_another", pauses_another },
	{ "ends_itself", ends_itself },
	{ "pauses_itself", pauses_itself },
	{ "both_pause_another", both_pause_another },
	{ "ends_while_disabled", ends_while_disabled },
	{ "both_end_it", both_end_it },
	{ "ends_and_lingers", ends_and_lingers },
	{ "ends_while_removed", ends_while_removed },
	{ "ends_while_both_removed", ends_while_both_removed },
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
