#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# points.sh OUT: where probes can be put in the kernel that was built in OUT, in
# the order in which the addresses are to be used.  Lines of two words:
#
#	breakpoint ADDRESS	an instruction inside a function
#	entry ADDRESS		a function's entry
#
# Only functions of the folders COLD: what runs while probes are registered (the
# search for symbols, for patched text, memory) is elsewhere.  Hits there would
# be measured as if they were the registration's own cost; the base's loops over
# all jump labels make that ten times as much.
#
# Only functions that begin with ftrace's call or its nop: the others are what
# must not be traced.  Behind that, only instructions that neither fault nor jump
# nor are ever patched: no refusal then depends on whose kprobes they are.  First
# comes one of every function, the first there is, then the rest, both shuffled,
# always in the same way.

. "$(dirname "$0")/../lib.sh"

OUT=$1
COLD='drivers fs init security'
HOT='arch/x86 kernel mm lib block crypto io_uring ipc net'
# The guest takes some away that are on the blacklist.
ENOUGH=40000

# names FOLDER...: the functions that are defined there.
names()
{
	local folder archive

	for folder in "$@"; do
		for archive in "$OUT/$folder"/built-in.a "$OUT/$folder"/lib.a \
			       "$OUT/$folder"/lib/lib.a; do
			[[ ! -f $archive ]] || nm "$archive" 2>/dev/null
		done
	done | awk '$2 ~ /^[tTwW]$/ { print $3 }' | sort -u
}

# cold: names that mean a function of COLD, and no other function.
cold()
{
	# shellcheck disable=SC2086 # lists of words
	comm -23 <(names $COLD) <(names $HOT)
}

instructions()
{
	objdump -d --no-show-raw-insn -j .text "$OUT/vmlinux" |
		sed -nE 's/^([0-9a-f]+) <(.*)>:$/F \1 \2/p
			s/^ *([0-9a-f]+):\t([a-z0-9]+) *([^<#]*).*/I \1 \2 \3/p'
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
	function emit(rank, kind, address)
	{
		printf "%d %010d %s %s\n", rank, shuffle(), kind, address
	}
	BEGIN { seed = 20061 }
	$1 == "C" { cold[$2]; next }
	$1 == "F" { wanted = $3 in cold; insn = 0; used = 0; next }
	!wanted { next }
	{ insn++ }
	insn == 1 {
		wanted = $3 ~ /^(nop|call)/
		if (wanted)
			emit(0, "entry", $2)
		next
	}
	simple($3, $4) {
		emit(1 + (used > 0), "breakpoint", $2)
		used++
	}'
}

{
	cold | sed 's/^/C /'
	instructions
} | choose | sort | cut -d' ' -f3,4 | sed -n "1,${ENOUGH}p"
