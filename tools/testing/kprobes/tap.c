// SPDX-License-Identifier: GPL-2.0-or-later
/* Test Anything Protocol: output and counters. */
#include <stdarg.h>
#include <stdio.h>

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
