#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# points.sh VMLINUX: addresses of that kernel's own functions where a breakpoint
# can be put, in the order in which they are to be used: hexadecimal, one a line.
#
# Only functions that begin with ftrace's call or its nop: the others are what
# must not be traced.  Behind that, only instructions that neither fault nor jump
# nor are ever patched: no refusal then depends on whose kprobes they are.  First
# comes one of every function, the first there is, then the rest, both shuffled,
# always in the same way.

. "$(dirname "$0")/../lib.sh"

VMLINUX=$1
# The guest takes some away that are on the blacklist.
ENOUGH=40000

instructions()
{
	objdump -d --no-show-raw-insn -j .text "$VMLINUX" |
		sed -nE 's/^([0-9a-f]+) <(.*)>:$/F \1 \2/p
			s/^([0-9a-f]+):\t([a-z0-9]+) *([^<#]*).*/I \1 \2 \3/p'
}

# The generator of Park and Miller: no number of it is beyond an awk's.
choose()
{
	awk '
	function shuffle()
	{
		seed = (seed * 16807) % 2147483647
		return seed
	}
	function simple(name, operands)
	{
		if (name ~ /^(push|pop)[lq]?$/)
			return operands ~ /^%[a-z0-9]+ *$/
		if (name ~ /^lea[lq]?$/)
			return 1
		if (name ~ /^(mov|add|sub|and|or|xor|cmp|test)[lq]?$/)
			return operands ~ /^(%[a-z0-9]+|[$]0x[0-9a-f]+),%[a-z0-9]+ *$/ &&
			       operands !~ /%([c-g]s|cr|dr)/
		return 0
	}
	BEGIN { seed = 20061 }
	$1 == "F" { insn = 0; used = 0; next }
	{ insn++ }
	insn == 1 { traced = $3 ~ /^(nop|call)/ }
	insn > 1 && traced && simple($3, $4) {
		printf "%d %010d %s\n", (used > 0), shuffle(), $2
		used++
	}'
}

instructions | choose | LC_ALL=C sort | cut -d' ' -f3 | sed -n "1,${ENOUGH}p"
