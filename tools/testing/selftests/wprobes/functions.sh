# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC3043,SC2034
#
# Functions shared by the selftests of watchpoint probes.  Sourced by POSIX shells, including
# busybox's.  The only extension of POSIX is "local".
#
# A test begins with begin, and ends with finish.  Every check prints one line, "ok" or "not
# ok".  Modules that load has loaded are unloaded at the end.

set -u
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
LIST=/sys/kernel/debug/wprobes/list
WP_TEST=/sys/kernel/debug/wp_test
TRACING=/sys/kernel/tracing
SKIP_STATUS=4

# The processor that goes offline and comes back.  With CPU_HOTPLUG=no, all stay online.
CPU=/sys/devices/system/cpu/cpu1/online
[ "${CPU_HOTPLUG:-}" != no ] || CPU=/nonexistent

checks=0
failures=0
loaded=

# result STATUS NAME: print the result of one check.
result()
{
	checks=$((checks + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $checks $2"
	else
		failures=$((failures + 1))
		echo "not ok $checks $2"
	fi
}

# is NAME GOT WANTED: GOT and WANTED are the same text.
is()
{
	if [ "$2" = "$3" ]; then
		result 0 "$1"
		return
	fi
	result 1 "$1"
	printf 'got:\n%s\nwanted:\n%s\n' "$2" "$3" | sed 's/^/# /'
}

# skip NAME REASON: print a check that cannot be made here.
skip()
{
	checks=$((checks + 1))
	echo "ok $checks $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit "$SKIP_STATUS"
}

cleanup()
{
	local module

	for module in $loaded; do
		rmmod "$module"
	done
	loaded=
}

begin()
{
	echo "TAP version 14"
	[ "$(id -u)" -eq 0 ] || skip_all "must be run as root"
	[ -e "$LIST" ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	[ -e "$LIST" ] || skip_all "no watchpoint probes in debugfs"
	[ -e "$TRACING/trace" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	list_before=$(cat "$LIST")
}

finish()
{
	cleanup
	is "nothing stays registered" "$(cat "$LIST")" "$list_before"
	echo "1..$checks"
	[ "$failures" -eq 0 ]
	exit
}

# load MODULE [PARAMETER...]: load a module of test_modules.
load()
{
	local module="$1"

	shift
	[ -f "$HERE/test_modules/$module.ko" ] ||
		skip_all "test_modules/$module.ko has not been built"
	insmod "$HERE/test_modules/$module.ko" "$@" || { result 1 "insmod $module"; finish; }
	loaded="$module $loaded"
}

unload()
{
	rmmod "$1" || result 1 "rmmod $1"
	loaded=$(printf %s "$loaded" | sed -E "s/(^| )$1 /\1/")
}

# wp COMMAND...: write a command to wp_test; prints ok, or the text of the error.
wp()
{
	local text

	if text=$({ echo "$*" >"$WP_TEST/control"; } 2>&1); then
		echo ok
	else
		printf '%s\n' "${text##*: }"
	fi
}

# probe NAME: the line of a probe without its name.
probe()
{
	sed -n "s/^$1 //p" "$WP_TEST/probes"
}

# list: the probes of wp_test, without addresses, sizes, and the module.
list()
{
	sed -E 's/^[0-9a-f]+ +//; s/\/0x[0-9a-f]+//; s/ \[wp_[a-z]+\]//' "$LIST"
}

# word_size: bytes of a long of the kernel.
word_size()
{
	case $(uname -m) in
	i?86)	echo 4 ;;
	*)	echo 8 ;;
	esac
}

# start_sleeper: start a program that sleeps, and set "pid", and "end" to the digits of the end of
# its stack.  Before the new process executes the program, its stack is that of the shell.
start_sleeper()
{
	local tries=0

	sleep 100 &
	pid=$!
	while [ "$(cat "/proc/$pid/comm")" != sleep ] && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	end=
	while [ -z "$end" ]; do
		end=$(sed -n 's/^[0-9a-f]*-\([0-9a-f]*\) .*\[stack\]$/\1/p' "/proc/$pid/maps")
	done
}

# trace_event EVENT: trace an event of the core in an instance.
trace_event()
{
	instance=$TRACING/instances/wprobes-test
	mkdir "$instance" || skip_all "no instances in tracefs"
	echo 1 >"$instance/events/wprobe_core/$1/enable"
}

# trace_refusals: trace the reasons of refusals, for refused.
trace_refusals()
{
	trace_event wprobe_refused
}

# paths: the states of each watch whose state has changed since the last call, in the order of
# the last changes: "SYMBOL+OFFSET STATE STATE...".  Needs trace_event wprobe_state.  A change
# that does not begin in the state before is marked.  While a register is taken, a watch may get it
# back for a moment: such rounds are left out.
paths()
{
	sed -nE 's,.*wprobe_state: ([^ /]*)[^ ]* (.* )?([a-z]+) -> ([a-z]+)$,\1 \3 \4,p' \
		"$instance/trace" | awk '
	{
		if (!($1 in path))
			path[$1] = $1 " " $2
		else if (last[$1] != $2)
			path[$1] = path[$1] " (" $2 "!)"
		path[$1] = path[$1] " " $3
		last[$1] = $3
		when[$1] = NR
		name[NR] = $1
		while (sub(/parked off armed parked/, "parked", path[$1]))
			;
	}
	END {
		for (i = 1; i <= NR; i++)
			if (when[name[i]] == i)
				print path[name[i]]
	}'
	echo >"$instance/trace"
}

# reasons: the reasons of the refusals since the last call.
reasons()
{
	sed -nE 's/.*wprobe_refused: [^:]*: (.*) \(.*/\1/p' "$instance/trace"
	echo >"$instance/trace"
}

# command_refused NAME ERROR REASON COMMAND...: a command of wp is refused for that reason.
command_refused()
{
	local name="$1" error="$2" reason="$3"

	shift 3
	echo >"$instance/trace"
	is "$name: error" "$(wp "$@")" "$error"
	is "$name: reason" "$(reasons)" "$reason"
}

# refused NAME ERROR REASON ARG...: the probe is refused for that reason.
refused()
{
	local name="$1" error="$2" reason="$3"

	shift 3
	command_refused "$name" "$error" "$reason" add x "$@"
}
