// SPDX-License-Identifier: GPL-2.0-only
/*
 * Host tests of the x86 instruction classifier, the relocators, and the regions of jumps.
 *
 * Usage: x86-insn-test [-v vector-dir] [-s seed] [-n rounds] [-l listing]
 *
 * A listing is the output of "objdump -dw", "-" for standard input. With a
 * listing only that is tested, so that each run is one TAP stream.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

static unsigned int nr_tests, nr_failed;

void tap_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("# ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

void tap_bytes(const unsigned char *bytes, unsigned int len)
{
	printf("#    ");
	while (len--)
		printf(" %02x", *bytes++);
	printf("\n");
}

void tap_ok(bool ok, const char *fmt, ...)
{
	va_list args;

	nr_tests++;
	if (!ok)
		nr_failed++;
	va_start(args, fmt);
	printf("%sok %u - ", ok ? "" : "not ", nr_tests);
	vprintf(fmt, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
}

int tap_done(void)
{
	printf("1..%u\n", nr_tests);
	if (nr_failed)
		tap_note("%u of %u tests failed", nr_failed, nr_tests);
	return nr_failed || !nr_tests;
}

int main(int argc, char **argv)
{
	unsigned long long seed = (unsigned long long)time(NULL) << 16 ^ getpid();
	unsigned long rounds = 2000000;
	const char *listing = NULL;
	const char *vectors = ".";
	int opt;

	while ((opt = getopt(argc, argv, "v:s:n:l:")) != -1) {
		switch (opt) {
		case 'v':
			vectors = optarg;
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			rounds = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			listing = optarg;
			break;
		default:
			fprintf(stderr, "usage: %s [-v dir] [-s seed] [-n rounds] [-l listing]\n",
				argv[0]);
			return 2;
		}
	}

	printf("TAP version 13\n");
	if (listing) {
		test_listing(listing);
		return tap_done();
	}
	test_table();
	test_vectors(vectors);
	test_relocate(vectors);
	test_moves(vectors);
	test_regions(vectors);
	test_random(seed, rounds);
	test_random_regions(rounds);
	return tap_done();
}
