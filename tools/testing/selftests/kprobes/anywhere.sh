#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probe random addresses of the kernel, all of them at the same time, while the system
# works.  Places where a probe would do harm must be refused; probes at the others must
# not change the behaviour of the kernel.  ANYWHERE_SEED repeats a run, ANYWHERE_ROUNDS (2)
# and ANYWHERE_PLACES (1500) make it longer.

. "$(dirname "$0")/functions.sh"

MANY=/sys/module/kp_many/parameters
# A seed from a random UUID, not from the time, because some machines boot in 1970.
UUID=$(cat /proc/sys/kernel/random/uuid)
FIRST_SEED=${ANYWHERE_SEED:-$((0x${UUID%%-*} % 65536))}
ROUNDS=${ANYWHERE_ROUNDS:-2}
PLACES=${ANYWHERE_PLACES:-1500}

begin
places=$(mktemp)
trap 'rm -f "$places"; cleanup' EXIT

# draw SEED: lines for kp_many.  Choose a symbol of the kernel itself, and one of its first
# 512 bytes, every second time the first byte, which matters for return probes and ftrace.
# awk's numbers only have room for the last digits of an address.
draw()
{
	awk -v seed="$1" -v places="$PLACES" -v step="$INSN_STEP" '
	function low(address,	i, value) {
		for (i = length(address) - 6; i <= length(address); i++)
			value = value * 16 + index("0123456789abcdef", substr(address, i, 1)) - 1
		return value
	}
	NF == 3 && $2 ~ /[tT]/ && $1 != before {
		address[nr] = before = $1
		start[nr++] = low($1)
	}
	END {
		srand(seed)
		while (places-- > 0) {
			i = int(rand() * (nr - 1))
			room = start[i + 1] - start[i]
			if (room <= 0)
				continue
			if (room > 512)
				room = 512
			if (rand() < 0.5)
				print address[i], 0, rand() < 0.5 ? "k" : "r"
			else
				print address[i], int(rand() * room / step) * step, \
					rand() < 0.7 ? "k" : "p"
		}
	}' /proc/kallsyms
}

# Functions that a hit may execute although they can be probed, because a nested hit in
# them ends by itself.  lab/hitpath.known has the same list.
NEAR_HITS='irq_work_queue preempt_latency_start in_lock_functions __schedule'

# Functions that every system call executes.
ALWAYS='do_el0_svc invoke_syscall el0_svc_common x64_sys_call ia32_sys_call'

# at_entries KINDS NAME...: lines for kp_many with the entries of those of these functions
# that this kernel has.
at_entries()
{
	local kinds="$1"

	shift
	awk -v kinds="$kinds" -v names="$*" '
	BEGIN {
		for (n = split(names, name, " "); n > 0; n--)
			wanted[name[n]]
	}
	NF == 3 && $3 in wanted {
		for (i = 1; i <= length(kinds); i++)
			print $1, 0, substr(kinds, i, 1)
	}' /proc/kallsyms
}

# unprobed NAME...: those of these functions that this kernel has, that it does not keep from
# probes, and that have no probe or no return probe.
unprobed()
{
	awk -v names="$*" '
	BEGIN {
		for (n = split(names, name, " "); n > 0; n--)
			wanted[name[n]]
	}
	FNR == 1 {
		part++
	}
	part == 1 && NF == 3 && $3 in wanted {
		exists[$3]
	}
	part == 2 {
		black[$2]
	}
	part == 3 {
		sub(/\+0x.*/, "", $3)
		probed[$2 " " $3]
	}
	END {
		for (n in exists)
			if (!(n in black) && !(("k " n) in probed && ("r " n) in probed))
				print n
	}' /proc/kallsyms "$KPROBES/blacklist" "$KPROBES/list"
}

# add_all: register all places, and count the accepted ones.
add_all()
{
	accepted=0
	while read -r place; do
		! echo "$place" 2>/dev/null >"$MANY/add" || accepted=$((accepted + 1))
	done <"$places"
}

# all_points: the number of probed addresses.
all_points()
{
	grep -c . "$KPROBES/optimization"
}

# in_text: the number of probed addresses at which the text is changed.
in_text()
{
	grep -cE '  (breakpoint|jump|ftrace)  ' "$KPROBES/optimization"
}

# disarmed: the number of probed addresses at which nothing is armed.
disarmed()
{
	grep -c '  disarmed  ' "$KPROBES/optimization"
}

nothing_waits()
{
	! grep -q '  breakpoint  waiting' "$KPROBES/optimization"
}

# work: use programs, files, pipes and timers.
work()
{
	local i=0

	while [ "$i" -lt 20 ]; do
		i=$((i + 1))
		cat /proc/self/maps /proc/self/stat | wc -l >/dev/null
		echo "$i" >"$places.work"
		sh -c ': | cat' &
		: </proc/uptime
	done
	wait
	rm -f "$places.work"
	sleep 0.1
}

round()
{
	local seed="$1" points jumps

	note "seed $seed"
	set_knob "$KPROBES/enabled" 0
	load kp_many
	draw "$seed" >"$places"
	# shellcheck disable=SC2086 # lists of words
	{
		at_entries kr $NEAR_HITS
		at_entries kpr $ALWAYS
	} >>"$places"
	add_all
	points=$(($(all_points) - points_before))
	note "$accepted probes of $(grep -c . "$places") accepted, at $points addresses"
	between "seed $seed: probes that are accepted" "$accepted" $((PLACES / 4)) \
		"$(grep -c . "$places")"
	# shellcheck disable=SC2086 # lists of words
	is "seed $seed: functions near hits, and of system calls, are probed" \
		"$(unprobed $NEAR_HITS $ALWAYS)" ""
	is "seed $seed: none of them is in the text" "$(in_text)" 0

	echo 1 >"$KPROBES/enabled"
	work
	is "seed $seed: all are in the text" "$(disarmed)" "$disarmed_before"
	[ ! -e "$KNOB" ] ||
		yes "seed $seed: none waits to be a jump" wait_until 60 nothing_waits
	work
	jumps=$(grep -c '  jump  ' "$KPROBES/optimization")
	note "$jumps jumps, $(cat "$MANY/hits") hits"
	[ ! -e "$KNOB" ] || between "seed $seed: jumps" "$jumps" $((points / 4)) "$points"
	between "seed $seed: hits" "$(cat "$MANY/hits")" 1000 1000000000000

	echo 0 >"$KPROBES/enabled"
	is "seed $seed: no probe is left in the text" "$(in_text)" 0
	echo 1 >"$KPROBES/enabled"
	work
	# Unregister while all of them are in the text.
	unload kp_many
	is "seed $seed: no point is left" "$(all_points)" "$points_before"
}

points_before=$(all_points)
disarmed_before=$(disarmed)
round=0
while [ "$round" -lt "$ROUNDS" ]; do
	round "$(((FIRST_SEED + round) % 65536))"
	round=$((round + 1))
done

rm -f "$places"
trap cleanup EXIT
finish
