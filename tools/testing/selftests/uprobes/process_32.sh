#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of 32-bit processes by pid and address, on x86-64: the programs of the other scripts.

. "$(dirname "$0")/functions.sh"

RESULTS=/tmp/uprobes-process-32

begin
need_process_probes
[ -x "$HERE/process_probes_32" ] || skip_all "no programs for 32 bits"
names="probes changed children cost errors exits limits modules debug storm threads"
[ ! -d /sys/kernel/debug/failslab ] || names="$names starved"
load up_process

for name in $names; do
	[ "$name" != starved ] || starve
	"$HERE/process_${name}_32" >"$RESULTS"
	is "process_$name" "$?" 0
	# A case that the program skips has not passed.
	sed -n 's/^ok [0-9]* # SKIP //p' "$RESULTS" | sort -u >"$RESULTS.skipped"
	while read -r reason; do
		skip "process_$name, a case" "$reason"
	done <"$RESULTS.skipped"
	# Neither results nor a plan, which would count as those of this script.
	grep -v '^ok\|^TAP\|^1\.\.' "$RESULTS" | sed 's/^#* */# /'
done
rm -f "$RESULTS" "$RESULTS.skipped"

finish
