// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers. The seed is printed with the results and reproduces them. */
#include <linux/types.h>

#include "random.h"

static u64 random_state;

void random_seed(u64 seed)
{
	random_state = seed;
}

/* splitmix64, because it works with every seed. */
u64 random_next(void)
{
	u64 z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}
