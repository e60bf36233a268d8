// SPDX-License-Identifier: GPL-2.0
/*
 * A profiler and probes: samples of a program whose instructions are all probed have the
 * addresses of the program, never those of copies, and so do the call chains.  With a return
 * probe, the chain does not have the trampoline, either.
 */
#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "work.h"
#include "areas.h"

#define ROUNDS		50
#define PERIOD		200000		/* nanoseconds of processor time */
#define PAGES		16		/* of the ring, besides its header */
#define RING_SIZE	(PAGES * 4096UL)
#define MOST_CHAIN	128

/* A sample: its ip, and the chain. */
struct sample {
	struct perf_event_header header;
	__u64 ip;
	__u64 nr;
	__u64 chain[MOST_CHAIN];
};

static struct perf_event_mmap_page *ring;
static unsigned int seconds = 1;

/* Counts of the samples. */
static struct {
	unsigned long samples, in_work, in_area, chain_in_area;
	unsigned long address;
} seen;

static int profiler(void)
{
	struct perf_event_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.exclude_kernel = 1;
	attr.exclude_callchain_kernel = 1;
	fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	ring = mmap(NULL, 4096 + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return ring == MAP_FAILED ? -1 : fd;
}

static void take_sample(const struct sample *sample)
{
	unsigned long i;

	seen.samples++;
	seen.in_work += sample->ip >= (unsigned long)work && sample->ip < (unsigned long)work_end;
	if (in_area(sample->ip)) {
		seen.in_area++;
		seen.address = sample->ip;
	}
	for (i = 0; i < sample->nr && i < MOST_CHAIN; i++) {
		if (sample->chain[i] >= PERF_CONTEXT_MAX)
			continue;
		if (in_area(sample->chain[i])) {
			seen.chain_in_area++;
			seen.address = sample->chain[i];
		}
	}
}

/* Reads all samples that are in the ring. */
static void take_samples(void)
{
	static union {
		struct sample sample;
		char bytes[sizeof(struct sample)];
	} copy;
	/* Less than 4 GB: no tearing on 32 bits, where an atomic read would need alignment. */
	__u64 head = *(volatile __u64 *)&ring->data_head, tail = ring->data_tail;
	const char *data = (const char *)ring + 4096;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	while (tail < head) {
		struct perf_event_header header;
		unsigned int i;

		for (i = 0; i < sizeof(header); i++)
			((char *)&header)[i] = data[(tail + i) % RING_SIZE];
		for (i = 0; i < header.size && i < sizeof(copy); i++)
			copy.bytes[i] = data[(tail + i) % RING_SIZE];
		if (header.type == PERF_RECORD_SAMPLE)
			take_sample(&copy.sample);
		if (!header.size)
			break;
		tail += header.size;
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	*(volatile __u64 *)&ring->data_tail = tail;
}

static void profile(void)
{
	struct timespec time, end;

	/* The first hit may make an area. */
	work_once(ROUNDS);
	find_areas("/proc/self/maps");
	take_samples();
	memset(&seen, 0, sizeof(seen));
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		work_once(ROUNDS);
		take_samples();
		clock_gettime(CLOCK_MONOTONIC, &time);
	} while (time.tv_sec < end.tv_sec ||
		 (time.tv_sec == end.tv_sec && time.tv_nsec < end.tv_nsec));
}

static void check(const char *name)
{
	ksft_test_result(seen.samples && seen.in_work, "%s: %lu samples, %lu in the function\n",
			 name, seen.samples, seen.in_work);
	ksft_test_result(!seen.in_area, "%s: none has a copy as its ip (%lu have, %lx)\n", name,
			 seen.in_area, seen.address);
	ksft_test_result(!seen.chain_in_area, "%s: none in its call chain (%lu have, %lx)\n", name,
			 seen.chain_in_area, seen.address);
}

static void check_hits(const struct probes *probes, const char *name)
{
	ksft_test_result(probe_count(probes) && nr_areas, "%s: %lu hits, %u areas\n", name,
			 probe_count(probes), nr_areas);
}

int main(void)
{
	struct probes probes;

	ksft_print_header();
	if (profiler() < 0)
		ksft_exit_skip("no profiler: error %d\n", errno);
	ksft_set_plan(11);
	profile();
	check("bare");
	probe_all(&probes, work_probes, WORK_PROBES, false);
	profile();
	check("probed");
	check_hits(&probes, "probed");
	probe_remove(&probes);
	probe_return(&probes, work);
	profile();
	check("return probe");
	check_hits(&probes, "return probe");
	probe_remove(&probes);
	ksft_finished();
}
