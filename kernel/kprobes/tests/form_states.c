// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * States for instruction forms: generated at random, loaded by a piece, and stored by it.
 *
 * There is one image, which also contains the memory operands, so pieces run one at a time.
 * The caller stays on one processor and calls from one place, so that the stack pointer and
 * the per-CPU variables are the same with and without a probe.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "forms.h"

struct form_state kprobes_form_image;

/* Edge cases of arithmetic, or of counts, in one of the widths. */
static const unsigned long edges[] = {
	0, 1, 2, -1UL, LONG_MAX, LONG_MIN, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x10000,
	0x10001, 0x7fffffff, 0x80000000, 0xffffffff, 1UL << (BITS_PER_LONG / 2),
	(1UL << (BITS_PER_LONG / 2)) + 1,
};

static void fill_start(struct form_state *start, struct rnd_state *rnd, unsigned int nr)
{
	unsigned int i;

	prandom_bytes_state(rnd, start, sizeof(*start));
	for (i = 0; i < FORM_REGS; i++) {
		if (prandom_u32_state(rnd) % 4 == 0)
			start->regs[i] = edges[prandom_u32_state(rnd) % ARRAY_SIZE(edges)];
	}
	/* In some states, repeated string instructions find equal operands and repeat. */
	if (nr % 4 == 0) {
		for (i = 0; i < FORM_MEMORY; i++)
			start->memory[i] &= 1;
		start->regs[0] &= 1;
	}
	start->flags &= FORM_FLAGS;
}

/**
 * kprobes_form_fill_starts() - generate states
 * @starts: array of %FORM_STATES states
 * @seed: the same seed generates the same states
 */
void kprobes_form_fill_starts(struct form_state *starts, u32 seed)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, seed);
	for (i = 0; i < FORM_STATES; i++)
		fill_start(&starts[i], &rnd, i);
}

/**
 * kprobes_form_prepare() - copy a state to the image and adapt it to a form
 * @form: states which registers point to memory, or are small
 * @start: from kprobes_form_fill_starts()
 */
void kprobes_form_prepare(const struct form *form, const struct form_state *start)
{
	struct form_state *image = &kprobes_form_image;
	unsigned int i;

	*image = *start;
	for (i = 0; i < FORM_REGS; i++) {
		if (form->pointers & BIT(i))
			image->regs[i] = (unsigned long)&image->memory[64] +
					 (image->regs[i] & 0x30);
		else if (form->indexes & BIT(i))
			image->regs[i] &= 7;
	}
}

/* Interrupts and traps overwrite the words below the stack pointer. */
static void forget_dead_stack(struct form_state *image)
{
	long dead = image->regs[FORM_SP] + FORM_STACK_BELOW * sizeof(long);

	memset(image->stack, 0, clamp(dead, 0L, (long)sizeof(image->stack)));
}

static noinline __noclone void run(const struct form *form, const struct form_piece *piece,
				   const struct form_state *start)
{
	struct form_state *image = &kprobes_form_image;

	kprobes_form_prepare(form, start);
	kprobes_form_run_image(piece);
	image->flags &= ~form->undefined;
	forget_dead_stack(image);
}

/**
 * kprobes_form_run_states() - run a piece from all states
 * @form: the form
 * @piece: one of its pieces
 * @starts: %FORM_STATES states
 * @results: the states afterwards; flags that the form leaves undefined are 0
 *
 * Context: task.
 */
void kprobes_form_run_states(const struct form *form, const struct form_piece *piece,
			     const struct form_state *starts, struct form_state *results)
{
	unsigned int i;

	kprobes_form_begin();
	for (i = 0; i < FORM_STATES; i++) {
		run(form, piece, &starts[i]);
		results[i] = kprobes_form_image;
	}
	kprobes_form_end();
}
