/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LAB_CYCLES_MEASURE_H
#define _LAB_CYCLES_MEASURE_H
/*
 * Cycles of the code that a hit executes: main.c measures the functions that ARCH.c lists.
 */

/* Length of add_chain(). */
#define CHAIN 1000

#ifndef __ASSEMBLY__
#include <stdint.h>

/**
 * struct variant - a function that is measured
 * @call:	the function; it preserves the registers that any C function preserves
 * @bare:	the same function without the measured code; its cycles are subtracted
 * @hits:	number of calls of count_hit() during a call of @call
 */
struct variant {
	void (*call)(void);
	void (*bare)(void);
	unsigned int hits;
};

/**
 * struct pair - a row that compares the base with ours
 * @name:	name of the row
 * @base:	the code of the base; @base.call is NULL if there is none
 * @ours:	our code
 * @bound:	the most that the ratio should be, or 0
 */
struct pair {
	const char *name;
	struct variant base, ours;
	double bound;
};

/**
 * struct step - a row about a part of our detour
 * @name:	name of the row
 * @code:	our code up to this step, or another way to do it
 */
struct step {
	const char *name;
	struct variant code;
};

/* ARCH.c; each list ends with a row without a name. */
extern const struct pair pairs[];
extern const struct step steps[];
extern const char left_out[];
void prepare(void);

/*
 * ARCH.S.  call_deep() calls @function through three others.  So does call_alone(), with
 * barriers before and after the call that no instruction passes.  add_chain() adds CHAIN times
 * to one register.
 */
void call_deep(void (*function)(void));
void call_alone(void (*function)(void));
void add_chain(void);

extern uint64_t hit_count;

/* All that the handlers, and the C functions in their place, do. */
static inline void count_hit(void)
{
	hit_count++;
}
#endif

#endif /* _LAB_CYCLES_MEASURE_H */
