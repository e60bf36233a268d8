#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Debuggers and perf get the registers that they need, and the probes come back.

. "$(dirname "$0")/functions.sh"

begin
load wp_test
fill
[ "$n" -ge 2 ] || skip_all "only $n registers"

# parked NUMBER: so many probes are parked.
parked()
{
	[ "$(grep -c '\[PARKED\]' "$LIST")" = "$1" ]
}

# path INDEX STATE...: the line of paths for that probe.
path()
{
	printf 'wp_test_words+0x%x ' $((16 * $1))
	shift
	echo "$*"
}

trace_event wprobe_state
# Debuggers keep their registers until this file exists, or for a minute.
over=/tmp/debugger-over
for kind in perf ptrace; do
	rm -f "$over"
	"$HERE/debugger" "$kind" 2 60 "$over" >/tmp/debugger &
	yes "$kind: two probes are parked" wait_until 10 parked 2
	is "$kind: the youngest are parked" \
		"$(sed -n 's/ .* parked$//p' "$WP_TEST/probes")" "n$((n - 2))
n$((n - 1))"
	is "$kind: that is traced, the youngest first" "$(paths)" \
		"$(path $((n - 1)) armed parked; path $((n - 2)) armed parked)"
	i=0
	while [ "$i" -lt "$n" ]; do
		wp write $((16 * i / long)) 1 >/dev/null
		i=$((i + 1))
	done
	: >"$over"
	wait
	is "$kind: gets registers and hits" "$(cat /tmp/debugger)" "registers=2 hits=2"
	yes "$kind: the probes come back" wait_until 10 parked 0
	is "$kind: that is traced, the oldest first" "$(paths)" \
		"$(path $((n - 2)) parked off armed; path $((n - 1)) parked off armed)"
	rm -f "$over"
	"$HERE/debugger" "$kind" "$n" 60 "$over" >/tmp/debugger &
	yes "$kind: gets all registers" wait_until 10 parked "$n"
	: >"$over"
	wait
	is "$kind: gets hits of all" "$(cat /tmp/debugger)" "registers=$n hits=$n"
	yes "$kind: all come back" wait_until 10 parked 0
	is "$kind: all are traced, there and back" "$(paths)" \
		"$(i=0
		while [ "$i" -lt "$n" ]; do
			path "$i" armed parked off armed
			i=$((i + 1))
		done)"
done
rm -f /tmp/debugger "$over"

wp write 0 99 >/dev/null
is "a probe that was parked is hit" "$(probe n0 | sed 's/.*new=//')" 99
wp write $((16 * (n - 1) / long)) 77 >/dev/null
is "the youngest, too" "$(probe "n$((n - 1))" | sed 's/.*new=//')" 77
finish
