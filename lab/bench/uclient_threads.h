/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LAB_BENCH_UCLIENT_THREADS_H
#define _LAB_BENCH_UCLIENT_THREADS_H
/*
 * Measure hits on several processors at once.
 */
#define MOST_THREADS		4
#define PARALLEL_SECONDS	3
/* Calls between two reads of the clock. */
#define CALLS_AT_A_TIME		5000

static struct thread threads[MOST_THREADS];
static unsigned long rates[MOST_THREADS];
static volatile bool go;

static unsigned long host_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

/* Calls a function for some seconds, on a processor of its own. */
static void call_in_thread(void *argument)
{
	unsigned long nr = (unsigned long)argument, calls = 0, start, time;
	int i;

	use_processor(nr);
	while (!go)
		;
	start = host_time();
	do {
		for (i = 0; i < CALLS_AT_A_TIME; i++)
			CALL(bench_push);
		calls += CALLS_AT_A_TIME;
		time = host_time() - start;
	} while (time < PARALLEL_SECONDS * 1000000000UL);
	rates[nr] = calls * 1000 / (time / 1000000);
}

static void measure_threads(const char *key, unsigned int number)
{
	unsigned long i, sum = 0;
	char name[32];

	go = false;
	for (i = 0; i < number; i++)
		thread_start(&threads[i], call_in_thread, (void *)i);
	usleep(100000);
	go = true;
	for (i = 0; i < number; i++) {
		if (!thread_wait(&threads[i], 600))
			die("a thread does not end");
		sum += rates[i];
	}
	snprintf(name, sizeof(name), "%s_%u", key, number);
	report(name, sum);
}

static int parallel(void)
{
	unsigned int number;

	for (number = 1; number <= MOST_THREADS; number *= 2)
		measure_threads("user_bare_parallel", number);
	use_file(SELF);
	command("entry %lu", file_offset(bench_push), 0, 0);
	for (number = 1; number <= MOST_THREADS; number *= 2)
		measure_threads("user_parallel", number);
	command("drop", 0, 0, 0);
	return 0;
}

#endif /* _LAB_BENCH_UCLIENT_THREADS_H */
