// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host tests of the A64 instruction classifier, the emulator and the relocator.
 *
 * Usage: a64-insn-test [-v vector-dir] [-s seed] [-n rounds] [-l|-u file]
 *
 * A listing is the output of "objdump -dw", "-" for standard input: -l for a kernel, -u for a
 * program. With a listing only that is tested, so that each run is one TAP stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../tap.h"
#include "tests.h"

int main(int argc, char **argv)
{
	unsigned long long seed = (unsigned long long)time(NULL) << 16 ^ getpid();
	unsigned long rounds = 2000000;
	void (*test)(const char *path) = NULL;
	const char *listing = NULL, *vectors = ".";
	int opt;

	while ((opt = getopt(argc, argv, "v:s:n:l:u:")) != -1) {
		if (opt == 'v') {
			vectors = optarg;
		} else if (opt == 's') {
			seed = strtoull(optarg, NULL, 0);
		} else if (opt == 'n') {
			rounds = strtoul(optarg, NULL, 0);
		} else if (opt == 'l' || opt == 'u') {
			test = opt == 'l' ? test_listing : test_user_listing;
			listing = optarg;
		} else {
			fprintf(stderr, "usage: %s [-v dir] [-s seed] [-n rounds] [-l|-u file]\n",
				argv[0]);
			return 2;
		}
	}

	printf("TAP version 13\n");
	if (test) {
		test(listing);
		return tap_done();
	}
	test_table();
	test_predicates();
	test_vectors(vectors);
	test_relocations(vectors);
	test_uprobes();
	test_random(seed, rounds);
	return tap_done();
}
