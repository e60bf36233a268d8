// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instruction forms, bare and probed.
 *
 * Each form is run from random registers, flags, stack and memory, first without a probe, then
 * in every way in which a probed instruction can be carried out.  The resulting states must be
 * equal.  The processor is the oracle: no expected result is written down.
 *
 * In the first piece of a form, the form itself is probed.  If a jump replaces more than one
 * instruction, there is a second piece, in which the form follows a probed filler: the
 * instructions after the probe are copied with it.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "counted.h"
#include "forms.h"
#include "jumps.h"

#define BATCH		256	/* number of pieces that are probed at a time */
#define TELL		5	/* number of forms of a mode whose states are printed */

/* --- Ways to carry out a probed instruction ------------------------------------ */

enum mode_name {
	BOOSTED,
	STEPPED,
	DETOUR,
	DETOUR_POST,
};

/**
 * struct mode - a way to carry out a probed instruction
 * @name: for messages
 * @post: probes have a post handler
 * @detour: jumps are allowed; breakpoints become jumps before the run
 */
struct mode {
	const char *name;
	bool post;
	bool detour;
};

static const struct mode modes[] = {
	[BOOSTED] = { .name = "boosted" },
	[STEPPED] = { .name = "stepped", .post = true },
	[DETOUR] = { .name = "detour", .detour = true },
	[DETOUR_POST] = { .name = "detour with post handler", .detour = true, .post = true },
};

/* --- Pieces to run ------------------------------------------------------------- */

struct probed {
	struct counted counted;
	const struct form *form;
	const struct form_piece *piece;
	struct form_class class;
};

static struct {
	unsigned int forms;		/* forms that this processor has */
	unsigned int lacking;
	unsigned int nr;		/* number of pieces */
	struct probed *probed;
	struct kprobe **kps;
	u32 seed;
	struct form_state *starts;	/* array of FORM_STATES states */
	struct form_state *bare;	/* results, FORM_STATES for each piece of a batch */
	struct form_state *now;		/* results of one piece */
	unsigned int told;
	unsigned int jumps;		/* number of pieces that had a jump */
} all;

static unsigned int count_rows(void)
{
	const struct form_table *table;
	unsigned int rows = 0;

	for (table = kprobes_form_tables; table->begin; table++)
		rows += table->end - table->begin;
	return rows;
}

static void add_form(const struct form *form)
{
	unsigned int i;

	if (!kprobes_form_there(form)) {
		all.lacking++;
		return;
	}
	all.forms++;
	for (i = 0; i < FORM_PIECES; i++, all.nr++) {
		all.probed[all.nr].form = form;
		all.probed[all.nr].piece = &form->pieces[i];
		kprobes_form_classify(&form->pieces[i], &all.probed[all.nr].class);
		all.kps[all.nr] = &all.probed[all.nr].counted.kp;
	}
}

static void add_forms(void)
{
	const struct form_table *table;
	const struct form *form;

	all.forms = 0;
	all.lacking = 0;
	all.nr = 0;
	for (table = kprobes_form_tables; table->begin; table++) {
		for (form = table->begin; form < table->end; form++)
			add_form(form);
	}
}

/* A form after which nothing can be called is probed without a post handler. */
static bool wants_post(const struct mode *mode, const struct probed *p)
{
	return mode->post && !p->class.no_post;
}

static void set_probe(struct probed *p, bool post)
{
	p->counted = counted_at(p->piece->probe, true, post);
}

/* --- Results -------------------------------------------------------------------- */

static void tell_word(struct kunit *test, const char *name, unsigned long start,
		      unsigned long bare, unsigned long now)
{
	kunit_err(test, "%-7s from %0*lx, bare %0*lx, probed %0*lx%s", name,
		  BITS_PER_LONG / 4, start, BITS_PER_LONG / 4, bare,
		  BITS_PER_LONG / 4, now, bare == now ? "" : "  <--");
}

static void tell_bytes(struct kunit *test, const char *name, const void *bare,
		       const void *now, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += 16)
		kunit_err(test, "%s+%02zx bare %16ph, probed %16ph%s", name, i,
			  bare + i, now + i, memcmp(bare + i, now + i, 16) ? "  <--" : "");
}

static void tell(struct kunit *test, const struct mode *mode, const struct probed *p,
		 unsigned int nr, const struct form_state *bare, const struct form_state *now)
{
	const struct form_state *start = &kprobes_form_image;
	unsigned int i;

	KUNIT_FAIL(test, "%s, %s, %s: state %u of seed %u differs", p->form->name, mode->name,
		   p->piece->probe == p->piece->insn ? "alone" : "second", nr, all.seed);
	if (all.told++ >= TELL)
		return;
	kprobes_form_prepare(p->form, &all.starts[nr]);
	for (i = 0; i < FORM_REGS; i++)
		tell_word(test, kprobes_form_reg_names[i], start->regs[i], bare->regs[i],
			  now->regs[i]);
	tell_word(test, "flags", start->flags, bare->flags, now->flags);
	tell_word(test, "special", start->special, bare->special, now->special);
	tell_bytes(test, "memory", bare->memory, now->memory, sizeof(now->memory));
	tell_bytes(test, "stack", bare->stack, now->stack, sizeof(now->stack));
	tell_bytes(test, "vectors", bare->vectors, now->vectors, sizeof(now->vectors));
}

/* Reports the first difference of a piece only. */
static void compare(struct kunit *test, const struct mode *mode, const struct probed *p,
		    const struct form_state *bare)
{
	unsigned int i;

	for (i = 0; i < FORM_STATES; i++) {
		if (mode->detour && !mode->post)
			all.now[i].flags ^= (all.now[i].flags ^ bare[i].flags) & p->form->dead;
		if (memcmp(&bare[i], &all.now[i], offsetofend(struct form_state, vectors))) {
			tell(test, mode, p, i, &bare[i], &all.now[i]);
			return;
		}
	}
}

static void check_counts(struct kunit *test, const struct mode *mode, const struct probed *p)
{
	const struct counted *c = &p->counted;

	KUNIT_EXPECT_EQ_MSG(test, c->pre, FORM_STATES, "%s, %s", p->form->name, mode->name);
	KUNIT_EXPECT_EQ_MSG(test, c->post, wants_post(mode, p) ? FORM_STATES : 0, "%s, %s",
			    p->form->name, mode->name);
	KUNIT_EXPECT_EQ_MSG(test, c->kp.nmissed, 0, "%s, %s", p->form->name, mode->name);
}

/* --- Batches --------------------------------------------------------------------- */

/* Bare and probed runs use the same loop, so that their stack pointers are equal. */
static void run_pieces(struct kunit *test, const struct mode *mode, unsigned int first,
		       unsigned int nr, bool probed)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct probed *p = &all.probed[first + i];
		struct form_state *bare = &all.bare[i * FORM_STATES];

		kprobes_form_run_states(p->form, p->piece, all.starts, probed ? all.now : bare);
		if (probed)
			compare(test, mode, p, bare);
		cond_resched();
	}
}

/* Returns how many pieces of a batch have a jump, after the optimizer has finished. */
static unsigned int count_jumps(unsigned int first, unsigned int nr)
{
	unsigned int i, jumps = 0;

	wait_for_kprobe_optimizer();
	for (i = first; i < first + nr; i++)
		jumps += kprobe_optimized(all.kps[i]);
	return jumps;
}

/* Finds the pieces because of which a batch has been refused. */
static void tell_refused(struct kunit *test, unsigned int first, unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = first; i < first + nr; i++) {
		ret = register_kprobe(all.kps[i]);
		if (ret)
			KUNIT_FAIL(test, "%s: refused, %d", all.probed[i].form->name, ret);
		else
			unregister_kprobe(all.kps[i]);
	}
}

static void run_batch(struct kunit *test, const struct mode *mode, unsigned int first,
		      unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = first; i < first + nr; i++)
		set_probe(&all.probed[i], wants_post(mode, &all.probed[i]));
	run_pieces(test, mode, first, nr, false);
	ret = register_kprobes(&all.kps[first], nr);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (ret) {
		tell_refused(test, first, nr);
		return;
	}
	all.jumps += count_jumps(first, nr);
	run_pieces(test, mode, first, nr, true);
	unregister_kprobes(&all.kps[first], nr);
	for (i = first; i < first + nr; i++)
		check_counts(test, mode, &all.probed[i]);
}

/* Most regions can be moved, but not all.  A low number would leave too little to compare. */
static void check_jumps(struct kunit *test, const struct mode *mode)
{
	kunit_info(test, "%u of %u pieces had a jump", all.jumps, all.nr);
	if (mode->detour)
		KUNIT_EXPECT_GE(test, all.jumps, all.nr / 5 * 4);
	else
		KUNIT_EXPECT_EQ(test, all.jumps, 0);
}

static void every_form(struct kunit *test, const struct mode *mode)
{
	unsigned int first;
	bool jumps;

	if (mode->detour && !DETOURS)
		kunit_skip(test, "no jump optimization in this kernel");

	kunit_info(test, "%u forms, %u more that this processor lacks; seed %u",
		   all.forms, all.lacking, all.seed);
	/* The states include registers of the processor and its per-CPU variables. */
	KUNIT_ASSERT_EQ(test, 0, set_cpus_allowed_ptr(current,
						      cpumask_of(raw_smp_processor_id())));
	jumps = allow_jumps(mode->detour);
	for (first = 0; first < all.nr; first += BATCH)
		run_batch(test, mode, first, min(BATCH, all.nr - first));
	allow_jumps(jumps);
	check_jumps(test, mode);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

/* --- Cases ------------------------------------------------------------------------- */

static bool same_bytes(const struct probed *a, const struct probed *b)
{
	return a->class.len == b->class.len &&
	       !memcmp(a->piece->insn, b->piece->insn, a->class.len);
}

/* All forms can be probed, no two have the same bytes, and there are enough of them. */
static void enough_forms(struct kunit *test)
{
	bool visited[FORM_KINDS] = {};
	unsigned int i, j;

	for (i = 0; i < all.nr; i++) {
		struct probed *p = &all.probed[i];

		if (p->class.refusal)
			KUNIT_FAIL(test, "%s: %s", p->form->name, p->class.refusal);
		visited[p->class.kind] = true;
		if (p->class.no_post) {
			set_probe(p, true);
			KUNIT_EXPECT_EQ_MSG(test, -EINVAL, register_kprobe(&p->counted.kp), "%s",
					    p->form->name);
		}
	}
	for (i = 0; i < FORM_KINDS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, visited[i], "kind %u", i);
	for (i = 0; i < all.nr; i += FORM_PIECES) {
		for (j = 0; j < i; j += FORM_PIECES) {
			if (same_bytes(&all.probed[i], &all.probed[j]))
				KUNIT_FAIL(test, "%s is %s", all.probed[i].form->name,
					   all.probed[j].form->name);
		}
		cond_resched();
	}
	KUNIT_EXPECT_GE(test, all.forms, FORMS_WANTED);
}

static void boosted(struct kunit *test)
{
	every_form(test, &modes[BOOSTED]);
}

static void stepped(struct kunit *test)
{
	every_form(test, &modes[STEPPED]);
}

static void detour(struct kunit *test)
{
	every_form(test, &modes[DETOUR]);
}

static void detour_with_post_handler(struct kunit *test)
{
	every_form(test, &modes[DETOUR_POST]);
}

static int forms_init(struct kunit *test)
{
	unsigned int pieces = count_rows() * FORM_PIECES;

	all.probed = kvcalloc(pieces, sizeof(*all.probed), GFP_KERNEL);
	all.kps = kvcalloc(pieces, sizeof(*all.kps), GFP_KERNEL);
	all.starts = kvcalloc(FORM_STATES, sizeof(*all.starts), GFP_KERNEL);
	all.now = kvcalloc(FORM_STATES, sizeof(*all.now), GFP_KERNEL);
	all.bare = kvcalloc(BATCH * FORM_STATES, sizeof(*all.bare), GFP_KERNEL);
	if (!all.probed || !all.kps || !all.starts || !all.now || !all.bare)
		return -ENOMEM;
	all.seed = get_random_u32();
	all.told = 0;
	all.jumps = 0;
	add_forms();
	kprobes_form_fill_starts(all.starts, all.seed);
	return 0;
}

static void forms_exit(struct kunit *test)
{
	kvfree(all.probed);
	kvfree(all.kps);
	kvfree(all.starts);
	kvfree(all.now);
	kvfree(all.bare);
}

static struct kunit_case forms_cases[] = {
	KUNIT_CASE(enough_forms),
	KUNIT_CASE_SLOW(boosted),
	KUNIT_CASE_SLOW(stepped),
	KUNIT_CASE_SLOW(detour),
	KUNIT_CASE_SLOW(detour_with_post_handler),
	{}
};

static struct kunit_suite forms_suite = {
	.name = FORM_SUITE,
	.init = forms_init,
	.exit = forms_exit,
	.test_cases = forms_cases,
};

kunit_test_suite(forms_suite);
