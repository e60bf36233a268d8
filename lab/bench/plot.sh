#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# plot.sh RESULTS PREFIX: draw the results of the benchmark as PREFIX-*.svg.
# RESULTS is the input of table.awk.

. "$(dirname "$0")/../lib.sh"

RESULTS=$1
PREFIX=$2
DATA=$PREFIX-plot

# series SED-expression: "x base ours" for the keys that the expression maps to an x.
series()
{
	local kernel

	for kernel in base ours; do
		sed -nE "s/^$kernel instructions //p" "$RESULTS" |
			sed -nE "$1" | LC_ALL=C sort >"$DATA.$kernel"
		[[ -s $DATA.$kernel ]] || die "$RESULTS has nothing to plot for $1"
	done
	join "$DATA.base" "$DATA.ours" | sort -n
	rm -f "$DATA.base" "$DATA.ours"
}

# Draw two lines: base and ours.
plot_lines()
{
	local name=$1 title=$2 x=$3 y=$4

	gnuplot <<-END
		set terminal svg size 720,480
		set output '$PREFIX-$name.svg'
		set title '$title'
		set xlabel '$x'
		set ylabel '$y'
		set logscale x
		set key left top
		set grid
		set yrange [0:*]
		plot '$DATA-$name.dat' using 1:2 with linespoints title 'base', \
		     '' using 1:3 with linespoints title 'ours'
	END
}

plot_bars()
{
	local name=$1 title=$2 y=$3

	gnuplot <<-END
		set terminal svg size 720,480
		set output '$PREFIX-$name.svg'
		set title '$title'
		set ylabel '$y'
		set style data histogram
		set style fill solid 0.6
		set key left top
		set grid y
		set yrange [0:*]
		set xtics rotate by -30 noenhanced
		plot '$DATA-$name.dat' using 2:xtic(1) title 'base', '' using 3 title 'ours'
	END
}

main()
{
	series 's/^others_([0-9]+) ([0-9]+)$/\1 \2/p' >"$DATA-others.dat"
	plot_lines others 'Hit of the oldest probe' 'other probes' 'instructions'
	series 's/^register_([0-9]+) ([0-9]+)$/\1 \2/p' |
		awk '{ print $1, $2 / $1, $3 / $1 }' >"$DATA-registration.dat"
	plot_lines registration 'Registering a batch' 'probes in the batch' \
		'instructions a probe'
	series 's/^(hit_[a-z0-9]+) ([0-9]+)$/\1 \2/p' >"$DATA-hits.dat"
	plot_bars hits 'A hit' 'instructions'
}

main
