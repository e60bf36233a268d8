#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# picture.sh [TERMINAL FILE]: draw the picture of the README, lab/bench/hits.svg, from the
# tables in lab/series/figures-ARCH.

. "$(dirname "$0")/../lib.sh"

TERMINAL=${1:-svg}
FILE=${2:-$LAB/bench/hits.svg}

# cost ARCH ROW: the figures of the base and of ours in that row.
cost()
{
	sed -nE "s/^$2 +insn +([0-9]+) +([0-9]+) .*/\1 \2/p" "$LAB/series/figures-$1" | grep .
}

# bars ARCH: the most frequent kinds of probes.
bars()
{
	echo "\"breakpoint\" $(cost "$1" 'hit, pre_handler, optimization off')"
	echo "\"jump\" $(cost "$1" 'optimized hit, pre_handler')"
	echo "\"jump, post handler\" $(cost "$1" 'optimized hit, pre and post_handler')"
	echo "\"return probe\" $(cost "$1" 'return probe, entry optimized')"
}

DATA=$(mktemp -d)
trap 'rm -rf "$DATA"' EXIT
for arch in x86_64 arm64; do
	bars "$arch" >"$DATA/$arch"
done
gnuplot <<-END
	set terminal $TERMINAL size 900,400
	set output '$FILE'
	set multiplot layout 1,2 margins 0.11,0.93,0.25,0.9 spacing 0.14,0
	set style data histogram
	set style fill solid 0.6
	set key left top
	set grid y
	set yrange [0:1200]
	set ylabel 'instructions a hit'
	set xtics rotate by -20
	set title 'x86-64'
	plot '$DATA/x86_64' using 2:xtic(1) title 'base', '' using 3 title 'ours'
	set title 'arm64'
	plot '$DATA/arm64' using 2:xtic(1) title 'base', '' using 3 title 'ours'
END
