#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Kprobe events on paths that every program takes: opening a file, starting a
# process.  The kernel's own code in tracefs uses the interface of kprobes, so these
# events test that interface.

. "$(dirname "$0")/functions.sh"

PROFILE=$TRACING/kprobe_profile
TAG=kprobes-selftest-$$

begin
[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
load kp_test	# for ENTRY only
events_before=$(cat "$EVENTS")
mkdir "$INSTANCE" || skip_all "no instances in tracefs"

# drop_events: remove all events of this script, also if it ends early.
drop_events()
{
	local event

	for event in "$INSTANCE"/events/kp_st/*/enable; do
		[ ! -w "$event" ] || echo 0 >"$event"
	done
	[ ! -d "$INSTANCE" ] || rmdir "$INSTANCE"
	sed -n 's,^[pr][0-9]*:\(kp_st/[^ ]*\) .*,-:\1,p' "$EVENTS" |
		while read -r event; do
			echo "$event" >>"$EVENTS"
		done
}
trap 'drop_events; cleanup' EXIT

turn()
{
	echo "$2" >"$INSTANCE/events/kp_st/$1/enable"
}

# seen EVENT TEXT: the number of records of that event with the text.
seen()
{
	grep -F " $1: " "$INSTANCE/trace" | grep -cF -e "$2"
}

# profile EVENT: "hits missed", without blanks.
profile()
{
	awk -v name="$1" '$1 == name { print $2, $3 }' "$PROFILE"
}

forget()
{
	echo >"$INSTANCE/trace"
}

# open_tagged NAME: a program opens a file of that name.
open_tagged()
{
	cat "/tmp/$TAG-$1" >/dev/null 2>&1
}

# children N: start so many processes from this shell.
children()
{
	local i=0

	while [ "$i" -lt "$1" ]; do
		i=$((i + 1))
		(:)
	done
}

is "p: an event on a function, with arguments" \
	"$(event 'p:kp_st/open do_sys_openat2 dfd=$arg1:s32 name=+0($arg2):ustring')" ok
is "p: an event inside a function" \
	"$(event "p:kp_st/inside do_sys_openat2+$INSIDE")" ok
is "r: an event on a return, with the value" \
	"$(event 'r:kp_st/opened do_sys_openat2 fd=$retval:s32')" ok
is "r: an event on the return of kernel_clone" \
	"$(event 'r:kp_st/clone kernel_clone pid=$retval:s32')" ok
same "they are listed" "$(grep ':kp_st/' "$EVENTS" | sed 's/^r[0-9]*/r/')" <<END
p:kp_st/open do_sys_openat2 dfd=\$arg1:s32 name=+0(\$arg2):ustring
p:kp_st/inside do_sys_openat2+$INSIDE
r:kp_st/opened do_sys_openat2 fd=\$retval:s32
r:kp_st/clone kernel_clone pid=\$retval:s32
END

same "in debugfs they are disabled until they are turned on" \
	"$(list | grep -E 'do_sys_openat2|kernel_clone' |
		sed -E 's/\[(FTRACE|OPTIMIZED)\]//')" <<END
ADDR  k  do_sys_openat2+0x$ENTRY    [DISABLED]|
ADDR  k  do_sys_openat2+0x$(printf %x "$INSIDE")    [DISABLED]|
ADDR  r  do_sys_openat2+0x$ENTRY    [DISABLED]|
ADDR  r  kernel_clone+0x$ENTRY    [DISABLED]|
END
open_tagged off
is "nothing is recorded until they are turned on" "$(grep -c "$TAG" "$INSTANCE/trace")" 0

for name in open inside opened clone; do
	turn $name 1
done
same "in debugfs they are enabled now" \
	"$(list | grep -E 'do_sys_openat2|kernel_clone' |
		sed -E 's/\[(FTRACE|OPTIMIZED)\]//')" <<END
ADDR  k  do_sys_openat2+0x$ENTRY    |
ADDR  k  do_sys_openat2+0x$(printf %x "$INSIDE")    |
ADDR  r  do_sys_openat2+0x$ENTRY    |
ADDR  r  kernel_clone+0x$ENTRY    |
END

: >"/tmp/$TAG-there"
forget
open_tagged there
open_tagged missing
is "p: the file that is there is named once" "$(seen open "/tmp/$TAG-there\"")" 1
is "p: so is the one that is missing" "$(seen open "/tmp/$TAG-missing\"")" 1
is "p: the directory argument is AT_FDCWD" \
	"$(grep -F "$TAG" "$INSTANCE/trace" | grep -c 'dfd=-100 ')" 2
yes "p: inside, it fires as well" [ "$(seen inside do_sys_openat2)" -ge 2 ]
yes "r: a file descriptor was returned" \
	sh -c "grep -q ' opened: .* fd=[0-9]' $INSTANCE/trace"
is "r: the missing file returned ENOENT" \
	"$(grep -F -A3 "$TAG-missing" "$INSTANCE/trace" | grep -c 'opened: .* fd=-2$')" 1

forget
children 5
between "r: the children of this shell have been seen" \
	"$(grep -c ' clone: .* pid=[1-9]' "$INSTANCE/trace")" 5 50
forget
sh -c 'echo $$' >"/tmp/$TAG-pid"
is "r: the process id is the right one" "$(seen clone "pid=$(cat "/tmp/$TAG-pid")")" 1

# --- counters ---

turn clone 0
turn opened 0
turn inside 0
turn open 0
hits_before=$(profile inside)
open_tagged there
is "turned off: nothing counts" "$(profile inside)" "$hits_before"
turn inside 1
for i in 1 2 3 4 5 6 7; do
	open_tagged there
done
turn inside 0
between "turned on again: the profile has counted" \
	"$(($(profile inside | cut -d' ' -f1) - ${hits_before% *}))" 7 200
is "nothing was missed" "$(profile inside | cut -d' ' -f2)" 0

# --- refused ---

echo >"$TRACING/error_log"
# No instruction begins there, because that of ftrace at the entry is longer.
is "inside an instruction: refused" "$(event 'p:kp_st/bad do_sys_openat2+1')" EILSEQ
is "inside an instruction: the reason" "$(reason)" \
	"Probe point is not an instruction boundary"
is "a symbol that is not there: refused" "$(event 'p:kp_st/bad kp_st_is_not_there')" EINVAL
is "a symbol that is not there: the reason" "$(reason)" \
	"Invalid probed address or symbol"
# Kprobe events refuse functions that ftrace does not trace, before kprobes are asked.
why=blacklisted
if [ -r "$TRACING/available_filter_functions" ] &&
   ! grep -qx notify_die "$TRACING/available_filter_functions"; then
	why="a notrace function"
fi
is "a function that is blacklisted: refused" "$(event 'p:kp_st/bad notify_die')" EINVAL
same "a function that is blacklisted: the reason and the command" \
	"$(tail -n 3 "$TRACING/error_log" | sed 's/^\[[^]]*\] //')" <<END
trace_kprobe: error: Probe refused: $why
  Command: p:kp_st/bad notify_die
                       ^
END
is "not an entry, for a return: refused" "$(event "r:kp_st/bad do_sys_openat2+$INSIDE")" EINVAL
is "no event of those is there" "$(grep -c ':kp_st/bad' "$EVENTS")" 0

# --- removed with and without records ---

# records: the number of records of all events.
records()
{
	grep -vc '^#' "$INSTANCE/trace"
}

# Another event may get the type of a removed one.
for name in open inside opened clone; do
	turn "$name" 0
done
forget
is "an event to be removed" "$(event 'p:kp_st/brief kp_test_traced')" ok
turn brief 1
turn brief 0
is "it can be removed without records" "$(event '-:kp_st/brief') $(records)" "ok 0"
is "and defined again" "$(event 'p:kp_st/brief kp_test_traced')" ok
turn brief 1
kp call traced >/dev/null
turn brief 0
is "it has recorded a call" "$(seen brief kp_test_traced)" 1
is "its record goes with it" "$(event '-:kp_st/brief') $(records)" "ok 0"

# --- a module that is not loaded yet ---

is "an event that waits for a module" "$(event 'p:kp_st/waiting kp_target:kp_target_traced')" ok
is "one on a function that must not be probed" \
	"$(event 'p:kp_st/early kp_target:kp_target_nokprobe')" ok
turn waiting 1
turn early 1
load kp_target
is "the module is there: both functions work" \
	"$(call_target traced) $(call_target nokprobe)" "ok ok"
is "the first event has a hit, the other none" \
	"$(profile waiting), $(profile early)" "1 0, 0 0"
is "and only the first has a probe" "$(list | grep -o 'kp_target_[a-z]*')" kp_target_traced
turn waiting 0
turn early 0
unload kp_target
is "both can be removed" "$(event '-:kp_st/waiting') $(event '-:kp_st/early')" "ok ok"

# --- perf ---

# perf SYMBOL OFFSET CALLS: the output of perf_kprobe, or its status if it prints nothing.
perf()
{
	local output

	output=$("$HERE/perf_kprobe" "$@")
	printf '%s\n' "${output:-status $?}"
}

if [ ! -x "$HERE/perf_kprobe" ]; then
	skip "kprobes of perf" "perf_kprobe has not been built"
elif [ "$(perf do_sys_openat2 0 0)" = "status 4" ]; then
	skip "kprobes of perf" "this kernel has none"
else
	before_perf=$(list)
	getpgid=$(call_function getpgid)
	is "perf: an event counts" "$(perf "$getpgid" 0 7)" "hits 7"
	is "perf: a closed event leaves no probe" "$(list)" "$before_perf"
	is "perf: a function that is blacklisted: refused" "$(perf notify_die 0 0)" "refused 22"
	same "perf: the reason and the place" \
		"$(tail -n 3 "$TRACING/error_log" | sed 's/^\[[^]]*\] //')" <<END
trace_kprobe: error: Probe refused: $why
  Command: p notify_die+0
           ^
END
fi

# --- removed ---

for name in open inside opened clone; do
	is "removed: $name" "$(event "-:kp_st/$name")" ok
done
is "the events are as they were" "$(cat "$EVENTS")" "$events_before"
rm -f "/tmp/$TAG-there" "/tmp/$TAG-pid"

drop_events
finish
