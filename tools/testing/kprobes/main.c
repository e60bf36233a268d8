// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host tests of the x86 instruction classifier, the relocators, and the regions of jumps.
 *
 * Usage: x86-insn-test [-v vector-dir] [-s seed] [-n rounds] [-l|-u file]
 *
 * A listing is the output of "objdump -dw", "-" for standard input: -l for a kernel, -u for a
 * program. With a listing only that is tested, so that each run is one TAP stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "classify.h"
#include "tap.h"
#include "tests.h"

int main(int argc, char **argv)
{
	unsigned long long seed = (unsigned long long)time(NULL) << 16 ^ getpid();
	unsigned long rounds = 2000000;
	void (*test)(const char *path) = NULL;
	const char *listing = NULL;
	const char *vectors = ".";
	int opt;

	while ((opt = getopt(argc, argv, "v:s:n:l:u:")) != -1) {
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
		case 'u':
			test = opt == 'l' ? test_listing : test_user_listing;
			listing = optarg;
			break;
		default:
			fprintf(stderr, "usage: %s [-v dir] [-s seed] [-n rounds] [-l|-u file]\n",
				argv[0]);
			return 2;
		}
	}

	probe_classify_init();
	printf("TAP version 13\n");
	if (test) {
		test(listing);
		return tap_done();
	}
	test_table();
	test_vectors(vectors);
	test_rebases(vectors);
	test_relocations(vectors);
	test_regions(vectors);
	test_dead_flags(vectors);
	test_random(seed, rounds);
	test_random_regions(rounds);
	test_user(vectors, rounds);
	test_user_emulation();
	test_user_returns();
	return tap_done();
}
