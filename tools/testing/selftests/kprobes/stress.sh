#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# All operations concurrently for STRESS_SECONDS (5): probes are registered, unregistered
# and switched, one by one and all together, and modules are loaded and unloaded, while
# system calls run through the probed functions on all CPUs.  At the end, the state must
# be that of the beginning.  The kernel's log is not judged here.

. "$(dirname "$0")/functions.sh"

SECONDS_TO_RUN=${STRESS_SECONDS:-5}

begin
load kp_test
set_knob "$KPROBES/enabled" 1
[ ! -w "$KNOB" ] || set_knob "$KNOB" 1
[ ! -w "$CPU" ] || set_knob "$CPU" 1
work=$(mktemp -d)
workers=
events_before=

stop_workers()
{
	local pid

	: >"$work/stop"
	for pid in $workers; do
		wait "$pid"
	done
	workers=
}
trap 'stop_workers; rm -rf "$work"; cleanup' EXIT

# worker NAME FUNCTION: run the function repeatedly until the end, and count the runs.
worker()
{
	(
		trap - EXIT
		rounds=0
		while [ ! -e "$work/stop" ]; do
			"$2"
			rounds=$((rounds + 1))
		done
		echo "$rounds" >"$work/$1"
	) 2>>"$work/errors" &
	workers="$workers $!"
}

rounds()
{
	cat "$work/$1" 2>/dev/null || echo none
}

# Two loops of system calls.  One opens and closes files with the shell's own redirections,
# without a new process; the other starts processes.
open_files()
{
	local i=0

	while [ "$i" -lt 200 ]; do
		i=$((i + 1))
		: </proc/self/stat
	done
	# No other loop makes this call.
	gains stays kp call plain >>"$work/gains"
	kp call traced >/dev/null
}

start_programs()
{
	sh -c ':' </dev/null
	cat /proc/uptime >/dev/null
}

# Probes on those system calls and on kp_test's own functions.
change_probes()
{
	kp add s1 symbol=do_sys_openat2 >>"$work/answers"
	kp add s2 symbol=do_sys_openat2 "offset=$INSIDE" post >>"$work/answers"
	kp add s3 symbol=kernel_clone return >>"$work/answers"
	kp add s4 symbol=kp_test_plain disabled >>"$work/answers"
	kp disable s1 >>"$work/answers"
	kp enable s4 >>"$work/answers"
	kp enable s1 >>"$work/answers"
	kp disable s4 >>"$work/answers"
	kp del s4 >>"$work/answers"
	kp del s2 >>"$work/answers"
	kp del s3 >>"$work/answers"
	kp del s1 >>"$work/answers"
}

change_events()
{
	echo 'p:kp_stress/open do_sys_openat2' >>"$TRACING/kprobe_events"
	echo 'r:kp_stress/close filp_close' >>"$TRACING/kprobe_events"
	echo 1 >"$TRACING/events/kp_stress/enable"
	echo 0 >"$TRACING/events/kp_stress/enable"
	echo '-:kp_stress/open' >>"$TRACING/kprobe_events"
	echo '-:kp_stress/close' >>"$TRACING/kprobe_events"
}

switch_all()
{
	echo 0 >"$KPROBES/enabled"
	cat "$KPROBES/list" >/dev/null
	echo 1 >"$KPROBES/enabled"
	cat "$KPROBES/list" >/dev/null
}

switch_jumps()
{
	echo 0 >"$KNOB"
	[ ! -e "$KPROBES/optimization" ] || cat "$KPROBES/optimization" >/dev/null
	echo 1 >"$KNOB"
	# Give the optimizer time for jumps.
	sleep 0.1
}

# Change the set of CPUs on which text is patched.
change_cpus()
{
	echo 0 >"$CPU"
	kp call traced >/dev/null
	echo 1 >"$CPU"
	sleep 0.1
}

# Load and unload a probed module, which makes its probes gone.
change_modules()
{
	kp add m0 symbol=kp_target_setup when=kp_target >>"$work/answers"
	insmod "$HERE/test_modules/kp_target.ko"
	kp add m1 symbol=kp_target_plain >>"$work/answers"
	kp add m2 symbol=kp_target_traced >>"$work/answers"
	call_target plain >>"$work/answers"
	call_target traced >>"$work/answers"
	rmmod kp_target
	kp del m0 >>"$work/answers"
	kp del m1 >>"$work/answers"
	kp del m2 >>"$work/answers"
}

[ ! -r "$TRACING/kprobe_events" ] || events_before=$(cat "$TRACING/kprobe_events")
is "a probe that stays, at a breakpoint" "$(kp add stays symbol=kp_test_plain)" ok
is "a probe that stays, at a system call" "$(kp add opens symbol=do_sys_openat2)" ok

# optional NAME FUNCTION FILE: a worker that needs the file.
optional()
{
	if [ -w "$3" ]; then
		worker "$1" "$2"
		names="$names $1"
	else
		skip "the loop '$1' has run to its end" "$3 cannot be written"
	fi
}

names='files programs probes switch modules'
worker files open_files
worker programs start_programs
worker probes change_probes
worker switch switch_all
worker modules change_modules
optional events change_events "$TRACING/kprobe_events"
optional jumps switch_jumps "$KNOB"
optional cpus change_cpus "$CPU"
sleep "$SECONDS_TO_RUN"
# On a slow machine, all probes may have been off in the few calls so far.
tries=0
until grep -qx 1 "$work/gains" 2>/dev/null || [ "$tries" -ge 60 ]; do
	tries=$((tries + 1))
	sleep 1
done
stop_workers
echo 1 >"$KPROBES/enabled"
[ ! -w "$KNOB" ] || echo 1 >"$KNOB"

note "rounds: files $(rounds files), programs $(rounds programs), probes $(rounds probes), \
events $(rounds events), switch $(rounds switch), jumps $(rounds jumps), \
cpus $(rounds cpus), modules $(rounds modules)"
for name in $names; do
	yes "the loop '$name' has run to its end" [ "$(rounds $name)" -ge 1 ]
done
is "no loop complained" "$(sort "$work/errors" | uniq -c)" ""
is "no command was refused" "$(grep -vx ok "$work/answers" | sort | uniq -c)" ""

same "the two that stay are all there is" "$(list | sed -E 's/\[(FTRACE|OPTIMIZED)\]//')" <<END
ADDR  k  do_sys_openat2+0x$ENTRY    |
ADDR  k  kp_test_plain+0x0  kp_test |
END
yes "the one at a system call has been hit" [ "$(hits opens)" -gt 0 ]
# All probes are off, at times.
matches "a call hits the one at a breakpoint once, or not at all" \
	"$(sort -u "$work/gains")" '^[01]$'
yes "some calls hit it" grep -qx 1 "$work/gains"
is "nothing else hits it" "$(hits stays)" "$(awk '{ sum += $1 } END { print sum }' "$work/gains")"
is "the probes that stay still fire" "$(gains stays kp call plain)" 1
[ ! -r "$TRACING/kprobe_events" ] ||
	is "the events are as they were" "$(cat "$TRACING/kprobe_events")" "$events_before"
is "the switch is on" "$(cat "$KPROBES/enabled")" 1

rm -rf "$work"
trap cleanup EXIT
finish
