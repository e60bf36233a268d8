// SPDX-License-Identifier: GPL-2.0
/*
 * x86-64: the code of the base and of ours, linked from the objects of both kernels.
 *
 * cycles.sh gives all symbols of the kernels a prefix:
 *	base_	the base
 *	ours_	ours, with the C functions that a hit calls
 *	bare_	our assembly, which calls the functions in this file instead
 *
 * The per-CPU variables are ordinary variables, because the base of GS is 0 in user space.
 */
#include <err.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "measure.h"

#define PAGE		4096UL
#define JUMP_LEN	5

/* x86_64.S */
void unprobed(void), plain_return(void);
void base_whole(void), base_bare(void), base_return(void);
void ours_whole(void), ours_bare(void), ours_entry(void), ours_entry_dead(void);
void ours_return(void);
void ours_dead_whole(void), ours_dead_bare(void);
void ours_jump(void), ours_step_call(void), ours_step_registers(void), ours_step_pushf(void);
void ours_step_popf(void), ours_step_unbalanced(void), ours_no_popf(void), ours_popf(void);
extern const uint8_t base_whole_back[], base_bare_back[];

/* The template of a detour of the base, its C function, and a point of each kernel. */
extern const uint8_t base_optprobe_template_entry[], base_optprobe_template_end[];
extern const uint8_t base_optprobe_template_val[], base_optprobe_template_call[];
extern const uint8_t base_optimized_callback[];
extern uint8_t base_cycles_point[];
void base_cycles_prepare(uint64_t *hits);
void ours_cycles_prepare(uint64_t *hits);

/* The addresses of the calls of __fentry__(); the linker defines these symbols. */
extern uint8_t *const __start___mcount_loc[], *const __stop___mcount_loc[];

uint8_t base_whole_detour[2 * PAGE] __attribute__((aligned(PAGE)));
uint8_t base_bare_detour[2 * PAGE] __attribute__((aligned(PAGE)));
uint64_t real_return;
static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0, 0 };

/* --- Functions that the kernels' code calls ----------------------------------------- */

int bare_kprobe_detour_pre(void *kp, void *regs);
void bare_kprobe_detour_return(void *kp, uint64_t *place);
void bare_kretprobe_return(void *regs, uint64_t *place);
uint64_t base_rethook_trampoline_handler(void *regs, uint64_t *place);
void ours_arch_kprobe_handlers_changed(void *kp);

int bare_kprobe_detour_pre(void *kp, void *regs)
{
	count_hit();
	return 0;
}

void bare_kprobe_detour_return(void *kp, uint64_t *place)
{
	count_hit();
}

void bare_kretprobe_return(void *regs, uint64_t *place)
{
	count_hit();
	*place = real_return;
}

/* Concerns hits of breakpoints only. */
void ours_arch_kprobe_handlers_changed(void *kp)
{
}

uint64_t base_rethook_trampoline_handler(void *regs, uint64_t *place)
{
	count_hit();
	*place = real_return;
	return real_return;
}

/* --- Text that is written at run time ----------------------------------------------- */

/* Writes a call (0xe8) or a jump (0xe9). */
static uint8_t *put_branch(uint8_t *at, uint8_t opcode, const void *to)
{
	int32_t distance = (intptr_t)to - (intptr_t)(at + JUMP_LEN);

	at[0] = opcode;
	memcpy(at + 1, &distance, sizeof(distance));
	return at + JUMP_LEN;
}

static void protect(const uint8_t *page, int flags)
{
	if (mprotect((void *)((uintptr_t)page & -PAGE), 2 * PAGE, flags))
		err(1, "mprotect");
}

/* Overwrites calls of __fentry__() by nops, as a kernel does when it boots. */
static void patch_fentry(void)
{
	uint8_t *const *call;

	for (call = __start___mcount_loc; call < __stop___mcount_loc; call++) {
		protect(*call, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(*call, nop, sizeof(nop));
	}
}

static void make_base_detour(uint8_t *detour, const void *point, const void *function,
			     const void *back)
{
	static const uint8_t load_rdi[] = { 0x48, 0xbf };
	size_t size = base_optprobe_template_end - base_optprobe_template_entry;
	uint8_t *val = detour + (base_optprobe_template_val - base_optprobe_template_entry);
	uint8_t *call = detour + (base_optprobe_template_call - base_optprobe_template_entry);

	if (size > PAGE)
		errx(1, "the base's detour has %zu bytes", size);
	memcpy(detour, base_optprobe_template_entry, size);
	memcpy(val, load_rdi, sizeof(load_rdi));
	memcpy(val + sizeof(load_rdi), &point, sizeof(point));
	put_branch(call, 0xe8, function);
	memcpy(detour + size, nop, sizeof(nop));
	put_branch(detour + size + sizeof(nop), 0xe9, back);
	protect(detour, PROT_READ | PROT_EXEC);
}

void prepare(void)
{
	patch_fentry();
	base_cycles_prepare(&hit_count);
	ours_cycles_prepare(&hit_count);
	make_base_detour(base_whole_detour, base_cycles_point, base_optimized_callback,
			 base_whole_back);
	make_base_detour(base_bare_detour, base_cycles_point, bare_kprobe_detour_pre,
			 base_bare_back);
}

const struct pair pairs[] = {
	{ "detour, pre_handler that counts",
	  { base_whole, unprobed, 1 }, { ours_whole, unprobed, 1 }, 0.65 },
	{ "detour, assembly",
	  { base_bare, unprobed, 1 }, { ours_bare, unprobed, 1 }, 0.65 },
	{ "dead flags, pre_handler that counts",
	  { base_whole, unprobed, 1 }, { ours_dead_whole, unprobed, 1 }, 0.65 },
	{ "dead flags, assembly",
	  { base_bare, unprobed, 1 }, { ours_dead_bare, unprobed, 1 }, 0.65 },
	{ "entry of a return probe, assembly",
	  { base_bare, unprobed, 1 }, { ours_entry, unprobed, 1 }, 0 },
	{ "the same, dead flags",
	  { base_bare, unprobed, 1 }, { ours_entry_dead, unprobed, 1 }, 0 },
	{ "return trampoline, assembly, 4 callers",
	  { base_return, plain_return, 1 }, { ours_return, plain_return, 1 }, 0 },
	{ }
};

/*
 * The steps are about:
 *	flags		the cost of popf, and of its replacement
 *	return stack	the call and the return that ends it cost next to nothing, because the
 *			processor predicts the return; the last row has the opposite
 *	store forwarding  each load from the stack is of one word that was stored as such, or of
 *			a part of one, so no load waits until stores have left the processor
 *	partial registers  the detour with sahf writes %ah and %al, which sahf and add read; a
 *			pop then overwrites all of %rax
 */
const struct step steps[] = {
	{ "the jump to the detour, and that back",	{ ours_jump, unprobed, 0 } },
	{ "and the call, and the return",		{ ours_step_call, unprobed, 0 } },
	{ "and the general registers",			{ ours_step_registers, unprobed, 0 } },
	{ "and pushf",					{ ours_step_pushf, unprobed, 0 } },
	{ "and popf",					{ ours_step_popf, unprobed, 0 } },
	{ "the whole detour, with popf",		{ ours_popf, unprobed, 1 } },
	{ "the same without popf",			{ ours_no_popf, unprobed, 1 } },
	{ "the detour with sahf",			{ ours_bare, unprobed, 1 } },
	{ "only the jumps, the call, and a jump instead of the return",
							{ ours_step_unbalanced, unprobed, 0 } },
	{ }
};

const char left_out[] = "the clac of the base, which only kernels execute";
