#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes on entries that ftrace serves: after each change, exactly the entries with users call
# ftrace.  ftrace changes the code of few functions without a look at all others, so it must
# find the right ones: for one probe and for many, with tracers on the same functions, in
# modules, for users that may change the instruction pointer, and while ftrace is off.

. "$(dirname "$0")/functions.sh"

ENABLED=$TRACING/enabled_functions
FTRACE=/proc/sys/kernel/ftrace_enabled
ADDRS=$TRACING/available_filter_functions_addrs
MANY=/sys/module/kp_many/parameters
# Functions whose entries ftrace owns, and that the kernel seldom calls.
FUNCTIONS='kp_test_traced kp_test_branch ksys_unshare do_adjtimex vfs_fallocate'

begin
[ -n "$ON_FTRACE" ] || skip_all "ftrace serves no entry here"
[ -r "$ENABLED" ] && [ -r "$ADDRS" ] || skip_all "no lists of ftrace"
no_jumps
load kp_test
mkdir "$INSTANCE" || skip_all "no instances in tracefs"

drop_tracer()
{
	[ ! -d "$INSTANCE" ] || {
		echo nop >"$INSTANCE/current_tracer"
		rmdir "$INSTANCE"
	}
}
trap 'drop_tracer; cleanup' EXIT

# users: "FUNCTION (number of users)", a line for each function whose code calls ftrace.
users()
{
	sed -nE 's/^([^ ]+)( \[[^]]*\])? (\([0-9]+\)).*/\1 \3/p' "$ENABLED" | sort
}

# expect NAME [LINE...]: these functions call ftrace, and no others.
expect()
{
	local name="$1"

	shift
	is "$name" "$(users)" "$([ $# -eq 0 ] || printf '%s\n' "$@" | sort)"
}

# add NAME FUNCTION WORD...
add()
{
	local name="$1" function="$2"

	shift 2
	kp add "$name" "symbol=$function" "$@" >/dev/null
}

del()
{
	local name

	for name in "$@"; do
		kp del "$name" >/dev/null
	done
}

# trace FUNCTION...: trace these with the function tracer, all functions without arguments.
trace()
{
	printf '%s\n' "$@" >"$INSTANCE/set_ftrace_filter" &&
		echo function >"$INSTANCE/current_tracer"
}

seen()
{
	grep -c "$1" "$INSTANCE/trace"
}

expect "no entry calls ftrace"

# --- One by one ---

for function in $FUNCTIONS; do
	add "one_$function" "$function"
	on="${on:-}$function (1)
"
	is "one by one: $function" "$(users)" "$(printf %s "$on" | sort)"
done
is "a probe there fires" "$(gains one_kp_test_traced kp call traced)" 1
add again kp_test_traced
is "a second probe at an entry changes nothing" "$(users)" "$(printf %s "$on" | sort)"
del again
for function in $FUNCTIONS; do
	del "one_$function"
	on=${on#*
}
	is "removed: $function" "$(users)" "$(printf %s "$on" | sort)"
done

# --- Users that may change the instruction pointer ---

add plain kp_test_traced
add post kp_test_branch post
expect "with a post handler" "kp_test_branch (1)" "kp_test_traced (1)"
add post2 do_adjtimex post
add plain2 vfs_fallocate
expect "and a second of each" "do_adjtimex (1)" "kp_test_branch (1)" "kp_test_traced (1)" \
	"vfs_fallocate (1)"
del post
expect "without the first" "do_adjtimex (1)" "kp_test_traced (1)" "vfs_fallocate (1)"
add post kp_test_branch post
is "its post handler is called again" "$(kp call branch) $(count post hits) $(count post after)" \
	"ok 1 1"
del plain post plain2 post2
expect "without all"

# --- The function tracer ---

add ours kp_test_traced
trace kp_test_traced do_adjtimex
expect "the tracer comes second" "do_adjtimex (1)" "kp_test_traced (2)"
kp call traced >/dev/null
is "both see a call" "$(hits ours) $(seen kp_test_traced)" "1 1"
echo '!do_adjtimex' >>"$INSTANCE/set_ftrace_filter"
expect "the tracer leaves a function" "kp_test_traced (2)"
echo kp_test_traced >"$INSTANCE/set_ftrace_notrace"
expect "the tracer must not trace ours" "kp_test_traced (1)"
kp call traced >/dev/null
is "only ours sees a call" "$(hits ours) $(seen kp_test_traced)" "2 1"
echo >"$INSTANCE/set_ftrace_notrace"
expect "the tracer may trace it again" "kp_test_traced (2)"
del ours
expect "the tracer alone" "kp_test_traced (1)"
kp call traced >/dev/null
is "it sees a call" "$(seen kp_test_traced)" 2
add ours kp_test_traced
expect "ours comes second" "kp_test_traced (2)"
echo nop >"$INSTANCE/current_tracer"
expect "ours alone" "kp_test_traced (1)"
is "it sees a call" "$(gains ours kp call traced)" 1
del ours
expect "nobody"

# --- All functions ---

all=$(grep -c . "$TRACING/available_filter_functions")
echo 0 >"$INSTANCE/tracing_on"
echo >"$INSTANCE/set_ftrace_filter"
add ours kp_test_traced
echo function >"$INSTANCE/current_tracer"
between "all functions are traced" "$(users | wc -l)" $((all * 9 / 10)) "$all"
is "ours is among them" "$(users | grep '^kp_test_traced ')" "kp_test_traced (2)"
add other do_adjtimex
is "a probe comes while all are traced" "$(users | grep -c '(2)')" 2
del ours
is "a probe goes while all are traced" "$(users | grep '(2)')" "do_adjtimex (2)"
echo ksys_unshare >"$INSTANCE/set_ftrace_filter"
expect "one is left" "do_adjtimex (1)" "ksys_unshare (1)"
echo nop >"$INSTANCE/current_tracer"
expect "the probe is left" "do_adjtimex (1)"
del other
expect "none is left"

# --- Many together ---

load kp_many
wanted=$(awk '$2 ~ /^proc_[a-z]/ { print $1, 0, "k" }' "$ADDRS" | head -n 100)
echo "$wanted" >"$MANY/add"
accepted=$(cat "$MANY/accepted")
between "there are enough functions" "$accepted" 65 100
is "each of many has a user" "$(users | grep -c '(1)')" "$accepted"
add ours kp_test_traced
is "one more" "$(users | wc -l)" $((accepted + 1))
unload kp_many
expect "the many have gone together" "kp_test_traced (1)"
del ours
expect "and the other"

# --- A module ---

load kp_target
add ours kp_test_traced
add target kp_target_traced
expect "a function of a module" "kp_target_traced (1)" "kp_test_traced (1)"
is "a probe there fires" "$(gains target call_target traced)" 1
trace kp_target_traced kp_test_traced
expect "with the tracer" "kp_target_traced (2)" "kp_test_traced (2)"
unload kp_target
expect "the module has gone" "kp_test_traced (2)"
load kp_target
expect "another copy of it is loaded" "kp_test_traced (2)"
del target
add target kp_target_traced
expect "it is probed" "kp_target_traced (1)" "kp_test_traced (2)"
is "the probe fires" "$(gains target call_target traced)" 1
del target
unload kp_target
echo nop >"$INSTANCE/current_tracer"
expect "only ours is left" "kp_test_traced (1)"

# --- While ftrace is off ---

# Newer kernels ignore the switch.
set_knob "$FTRACE" 1
if echo 0 2>/dev/null >"$FTRACE"; then
	expect "off: no entry calls ftrace"
	add other do_adjtimex
	add brief kp_test_branch
	expect "off: a new probe changes nothing"
	del ours brief
	echo 1 >"$FTRACE"
	expect "on again: the new probe, and not the old one" "do_adjtimex (1)"
else
	skip "while ftrace is off" "ftrace cannot be switched off"
	del ours
	add other do_adjtimex
fi
add ours kp_test_traced
expect "one more at the end" "do_adjtimex (1)" "kp_test_traced (1)"
is "and it fires" "$(gains ours kp call traced)" 1
del ours other
expect "no entry calls ftrace any more"

drop_tracer
finish
