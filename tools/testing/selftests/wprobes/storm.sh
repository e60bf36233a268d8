#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Register and unregister many times while CPUs go offline and come back, and while debuggers
# take and release registers.  Each round writes on all CPUs and counts the hits: none is lost.
#
# STORM_ROUNDS sets the number of rounds.

. "$(dirname "$0")/functions.sh"

begin
load wp_test
rounds=${STORM_ROUNDS:-300}

[ ! -w "$CPU" ] || echo 0 >"$CPU" 2>/dev/null || CPU=/nonexistent
[ ! -w "$CPU" ] || echo 1 >"$CPU"

# toggle_cpu: let a CPU go offline and come back again and again, and note each time.
toggle_cpu()
{
	while [ -e /tmp/storm ]; do
		[ ! -w "$CPU" ] || { echo 0 >"$CPU" && echo 1 >"$CPU" && echo >>/tmp/cycles; }
		sleep 0.05
	done
}

# debug KIND NUMBER: take that many registers again and again, and note the results.
debug()
{
	while [ -e /tmp/storm ]; do
		"$HERE/debugger" "$1" "$2" 0 >>"/tmp/storm-$1"
	done
}

# Debuggers that leave a register for the probe, which then loses no hit.
: >/tmp/storm
: >/tmp/cycles
toggle_cpu &
debug perf 1 &
debug ptrace 1 &
is "$rounds rounds have a register and lose no hit" "$(wp rounds "$rounds")" ok
rm -f /tmp/storm
wait
if [ -w "$CPU" ]; then
	is "meanwhile a CPU goes offline and comes back" "$([ -s /tmp/cycles ] && echo yes)" yes
else
	skip "meanwhile a CPU goes offline and comes back" "no CPU can go offline"
fi
for kind in perf ptrace; do
	note "$kind: $(sort /tmp/storm-$kind | uniq -c | tr '\n' ';' | tr -s ' ')"
	is "$kind loses none" "$(sort -u /tmp/storm-$kind)" "registers=1 hits=1"
done
rm -f /tmp/storm-*

no_parked()
{
	! grep -q '\[PARKED\]' "$LIST"
}

# Debuggers that take the last register: probes are parked and come back.
fill
: >/tmp/storm
toggle_cpu &
debug perf "$n" &
debug ptrace "$n" &
i=0
parked=0
end=$(($(date +%s) + 120))
# On a slow machine, it takes more rounds until the list has a probe that is parked.
while [ "$i" -lt $((rounds / 10)) ] || { [ "$parked" = 0 ] && [ "$(date +%s)" -lt "$end" ]; }; do
	wp disable n0 >/dev/null
	wp enable n0 >/dev/null
	wp del n1 >/dev/null
	wp write 0 "$i" >/dev/null
	wp add n1 wp_test_words "$long" w 16 >/dev/null
	no_parked || parked=$((parked + 1))
	i=$((i + 1))
done
rm -f /tmp/storm
wait
for kind in perf ptrace; do
	is "$kind gets hits of all its registers, and has some" "$(
		awk -F'[= ]' '$2 != $4 { print } $2 > 0 { some = "some" } END { print some }' \
			/tmp/storm-$kind)" some
done
note "$parked of $i rounds saw a parked probe"
yes "a probe was parked meanwhile" [ "$parked" -gt 0 ]
yes "no probe stays parked" wait_until 10 no_parked
wp write 0 123 >/dev/null
is "the probe is hit" "$(probe n0 | sed 's/.*new=//')" 123
rm -f /tmp/storm-* /tmp/cycles
finish
