// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine that runs A64 branches, address computations and literal loads. */
#include <string.h>
#include <linux/types.h>

#include "../random.h"
#include "../tap.h"
#include "machine.h"

static const unsigned char *memory_start;
static u64 memory_len;

void machine_memory(const unsigned char *start, u64 len)
{
	memory_start = start;
	memory_len = len;
}

static unsigned char load_byte(u64 address)
{
	u64 offset = address - (unsigned long)memory_start;

	if (offset < memory_len)
		return memory_start[offset];
	address *= 0x9e3779b97f4a7c15;
	return address >> 56;
}

/* Loads in the byte order of the host, because the emulator does, too. */
static u64 load(u64 address, unsigned int len)
{
	unsigned char bytes[8];
	unsigned int i;
	u32 word;
	u64 giant;

	for (i = 0; i < len; i++)
		bytes[i] = load_byte(address + i);
	if (len == 4) {
		memcpy(&word, bytes, 4);
		return word;
	}
	memcpy(&giant, bytes, 8);
	return giant;
}

/* Bits @high to @low, in the order of the manual. */
static u64 bits(u32 insn, unsigned int high, unsigned int low)
{
	return (insn >> low) & ((1ULL << (high - low + 1)) - 1);
}

static u64 sign_extended(u64 value, unsigned int width)
{
	u64 sign = 1ULL << (width - 1);

	return (value ^ sign) - sign;
}

static u64 offset26(u32 insn)
{
	return sign_extended(bits(insn, 25, 0) << 2, 28);
}

static u64 offset19(u32 insn)
{
	return sign_extended(bits(insn, 23, 5) << 2, 21);
}

static u64 offset14(u32 insn)
{
	return sign_extended(bits(insn, 18, 5) << 2, 16);
}

static u64 offset_adr(u32 insn)
{
	return sign_extended(bits(insn, 23, 5) << 2 | bits(insn, 30, 29), 21);
}

static u64 get(const struct machine *m, unsigned int reg)
{
	return reg == 31 ? 0 : m->x[reg];
}

static void set(struct machine *m, unsigned int reg, u64 value)
{
	if (reg != 31)
		m->x[reg] = value;
}

static bool holds(const struct machine *m, unsigned int cond)
{
	switch (cond) {
	case 0: return m->z;
	case 1: return !m->z;
	case 2: return m->c;
	case 3: return !m->c;
	case 4: return m->n;
	case 5: return !m->n;
	case 6: return m->v;
	case 7: return !m->v;
	case 8: return m->c && !m->z;
	case 9: return !m->c || m->z;
	case 10: return m->n == m->v;
	case 11: return m->n != m->v;
	case 12: return m->n == m->v && !m->z;
	case 13: return m->n != m->v || m->z;
	default: return true;
	}
}

static bool step_branch(struct machine *m, u32 insn)
{
	u64 value, next = m->pc + 4, pc = m->pc;
	bool taken;

	if (bits(insn, 30, 26) == 0x05) {			/* b, bl */
		if (bits(insn, 31, 31))
			m->x[30] = next;
		m->pc = pc + offset26(insn);
	} else if (bits(insn, 31, 24) == 0x54) {		/* b.cond */
		m->pc = holds(m, bits(insn, 3, 0)) ? pc + offset19(insn) : next;
	} else if (bits(insn, 30, 25) == 0x1a) {		/* cbz, cbnz */
		value = get(m, bits(insn, 4, 0));
		if (!bits(insn, 31, 31))
			value &= 0xffffffff;
		taken = bits(insn, 24, 24) ? value != 0 : value == 0;
		m->pc = taken ? pc + offset19(insn) : next;
	} else if (bits(insn, 30, 25) == 0x1b) {		/* tbz, tbnz */
		value = get(m, bits(insn, 4, 0));
		value &= 1ULL << (bits(insn, 31, 31) * 32 + bits(insn, 23, 19));
		taken = bits(insn, 24, 24) ? value != 0 : value == 0;
		m->pc = taken ? pc + offset14(insn) : next;
	} else if ((insn & 0xff9ffc1f) == 0xd61f0000 && bits(insn, 22, 21) != 3) {
		value = get(m, bits(insn, 9, 5));		/* br, blr, ret */
		if (bits(insn, 22, 21) == 1)
			m->x[30] = next;
		m->pc = value;
	} else {
		return false;
	}
	return true;
}

static bool step_address(struct machine *m, u32 insn)
{
	unsigned int reg = bits(insn, 4, 0);

	if (bits(insn, 28, 24) != 0x10)
		return false;
	if (bits(insn, 31, 31))					/* adrp */
		set(m, reg, (m->pc - m->pc % 4096) + (offset_adr(insn) << 12));
	else							/* adr */
		set(m, reg, m->pc + offset_adr(insn));
	return true;
}

static bool step_constant(struct machine *m, u32 insn)
{
	unsigned int reg = bits(insn, 4, 0), shift = bits(insn, 22, 21) * 16;
	u64 part = bits(insn, 20, 5) << shift;

	switch (bits(insn, 31, 23)) {
	case 0x125:						/* movn */
		set(m, reg, ~part);
		return true;
	case 0x1a5:						/* movz */
		set(m, reg, part);
		return true;
	case 0x1e5:						/* movk */
		set(m, reg, (get(m, reg) & ~(0xffffULL << shift)) | part);
		return true;
	}
	return false;
}

static bool step_load(struct machine *m, u32 insn)
{
	unsigned int reg = bits(insn, 4, 0), base = bits(insn, 9, 5);
	u64 literal = m->pc + offset19(insn);

	if (bits(insn, 29, 24) == 0x18) {			/* ..., literal */
		switch (bits(insn, 31, 30)) {
		case 0:
			set(m, reg, load(literal, 4));
			break;
		case 1:
			set(m, reg, load(literal, 8));
			break;
		case 2:
			set(m, reg, sign_extended(load(literal, 4), 32));
			break;
		}						/* 3: prfm */
		return true;
	}
	/* ldr and ldrsw, without an offset; base 31 would be sp. */
	if (base == 31)
		return false;
	switch (bits(insn, 31, 10)) {
	case 0xb9400000 >> 10:
		set(m, reg, load(get(m, base), 4));
		return true;
	case 0xf9400000 >> 10:
		set(m, reg, load(get(m, base), 8));
		return true;
	case 0xb9800000 >> 10:
		set(m, reg, sign_extended(load(get(m, base), 4), 32));
		return true;
	}
	return false;
}

bool machine_step(struct machine *m, u32 insn)
{
	if (step_branch(m, insn))
		return true;
	if (insn != 0xd503201f && !step_address(m, insn) && !step_constant(m, insn) &&
	    !step_load(m, insn))
		return false;
	m->pc += 4;
	return true;
}

u64 machine_target(u32 insn, u64 pc)
{
	if (bits(insn, 30, 26) == 0x05)
		return pc + offset26(insn);
	if (bits(insn, 31, 24) == 0x54 || bits(insn, 30, 25) == 0x1a || bits(insn, 29, 24) == 0x18)
		return pc + offset19(insn);
	if (bits(insn, 30, 25) == 0x1b)
		return pc + offset14(insn);
	return 0;
}

void machine_random(struct machine *m)
{
	u64 dice = random_next();
	unsigned int i;

	for (i = 0; i < 31; i++) {
		m->x[i] = random_next();
		switch (random_next() % 6) {
		case 0:
			m->x[i] = 0;
			break;
		case 1:				/* the W half is 0 */
			m->x[i] &= ~0xffffffffULL;
			break;
		case 2:				/* a single bit */
			m->x[i] = 1ULL << m->x[i] % 64;
			break;
		}
	}
	m->n = dice & 1;
	m->z = dice & 2;
	m->c = dice & 4;
	m->v = dice & 8;
}

bool machine_same(const struct machine *a, const struct machine *b)
{
	return !memcmp(a->x, b->x, sizeof(a->x)) && a->pc == b->pc && a->n == b->n &&
	       a->z == b->z && a->c == b->c && a->v == b->v;
}

void machine_show(const char *whose, const struct machine *m)
{
	unsigned int i;

	tap_note("%s: pc %llx, n%d z%d c%d v%d", whose, (unsigned long long)m->pc, m->n, m->z,
		 m->c, m->v);
	for (i = 0; i < 31; i++)
		tap_note("    x%u %llx", i, (unsigned long long)m->x[i]);
}
