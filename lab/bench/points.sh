#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# points.sh ARCH VMLINUX: addresses for probes in that kernel, in the order of their use.
# Lines of three words, or four:
#
#	breakpoint ADDRESS FUNCTION	an instruction inside a function
#	entry ADDRESS FUNCTION FTRACE	a function's entry, and the address of the
#					instruction that ftrace changes: on arm64, the
#					next word
#
# The addresses are spread over the whole kernel, because the base's work for a probe
# depends on the distance of the probe from the first jump label.
#
# Use only functions that begin with ftrace's call or its nop; the others must not be
# traced.  After that instruction, use only instructions that neither fault nor jump nor
# are ever patched, so that base and ours refuse the same ones.  The first such instruction
# of every function comes first, then the rest, both in a random order that is always the
# same.

. "$(dirname "$0")/../lib.sh"

ARCH=$1
VMLINUX=$2
# The guest leaves some out, mostly in functions that run while probes are registered.
ENOUGH=70000

instructions()
{
	"$(binutil "$ARCH" objdump)" -d --no-show-raw-insn -j .text "$VMLINUX" |
		sed -nE 's/^([0-9a-f]+) <(.*)>:$/F \1 \2/p
			s/^ *([0-9a-f]+):\t([a-z0-9.]+)[ \t]*([^<]*).*/I \1 \2 \3/p'
}

# The generator of Park and Miller, whose numbers any awk can represent.
choose()
{
	awk -v arch="$ARCH" '
	function shuffle()
	{
		seed = (seed * 16807) % 2147483647
		return seed
	}
	function simple_arm64(mnemonic, operands)
	{
		return mnemonic ~ /^(mov|add|sub|and|orr|eor|cmp|tst|lsl|lsr)$/ &&
		       operands ~ /^[wx][0-9]+,([wx][0-9]+|#0x[0-9a-f]+)/
	}
	function simple(mnemonic, operands)
	{
		if (arch == "arm64")
			return simple_arm64(mnemonic, operands)
		sub(/#.*/, "", operands)
		if (mnemonic ~ /^(push|pop)[lq]?$/)
			return operands ~ /^%[a-z0-9]+ *$/
		if (mnemonic ~ /^lea[lq]?$/)
			return 1
		if (mnemonic ~ /^(mov|add|sub|and|or|xor|cmp|test)[lq]?$/)
			return operands ~ /^(%[a-z0-9]+|[$]0x[0-9a-f]+),%[a-z0-9]+ *$/ &&
			       operands !~ /%([c-g]s|cr|dr)/
		return 0
	}
	function emit(rank, kind, address, site)
	{
		printf "%d %010d %s %s %s %s\n", rank, shuffle(), kind, address, name, site
	}
	BEGIN { seed = 20061 }
	$1 == "F" { name = $3; insn = 0; used = 0; start = ""; next }
	# The padding in front of a function has a name, too.
	name ~ /^__(pfx|cfi)_/ { next }
	{ insn++ }
	# The probe of an entry is after the landing pad.
	insn == 1 && $3 ~ /^endbr/ { start = $2; insn = 0; next }
	insn == 1 {
		wanted = $3 ~ /^(nop|call)/
		if (wanted && arch != "arm64")
			emit(0, "entry", start ? start : $2, $2)
		entry = $2
		next
	}
	insn == 2 && wanted && arch == "arm64" {
		wanted = $3 == "nop"
		if (wanted)
			emit(0, "entry", entry, $2)
		next
	}
	# Some listings have blanks between operands.
	wanted && simple($3, $4 $5 $6) {
		emit(1 + (used > 0), "breakpoint", $2)
		used++
	}'
}

instructions | choose | sort | cut -d' ' -f3- | sed -n "1,${ENOUGH}p"
