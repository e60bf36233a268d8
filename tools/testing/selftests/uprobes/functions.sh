# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC3043,SC2034
#
# Functions shared by the scripts of the uprobes selftests, over those of the kprobes
# selftests: results, modules, settings, waiting.
#
# The module up_test registers consumers: see test_modules/up_test.c for the commands of up.
# The program target has the functions that are probed: see target.c.

. "$(dirname "$0")/../kprobes/functions.sh"

UP_TEST=/sys/kernel/debug/up_test
UPROBE_EVENTS=$TRACING/uprobe_events
UP_PROCESS=/sys/kernel/debug/up_process
LIST=/sys/kernel/debug/uprobes/list
TARGET=$HERE/target
FLAG=/tmp/uprobes-flag
OUTPUT=/tmp/uprobes-output

# begin: check the prerequisites of all tests.
begin()
{
	echo "TAP version 14"
	[ "$(id -u)" -eq 0 ] || skip_all "must be run as root"
	[ -e "$TRACING/trace" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null
	[ -e "$UPROBE_EVENTS" ] || skip_all "no uprobes in this kernel"
	# An oops, which other tests cause, has stopped all tracing.
	echo 1 >"$TRACING/tracing_on"
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	"$TARGET" offsets >/tmp/uprobes-offsets
	rm -f "$FLAG"
	list_before=$(registered)
}

# registered: all probes of the kernel; empty if it does not list them.
registered()
{
	cat "$LIST" 2>/dev/null
}

# as_before: the same probes are registered as at the beginning.
as_before()
{
	[ "$(registered)" = "$list_before" ]
}

# finish: check that no event stays defined and no probe registered, and end the script.
finish()
{
	put_back
	is "no event stays defined" "$(cat "$UPROBE_EVENTS")" ""
	wait_until 15 as_before
	is "nothing stays registered" "$(registered)" "$list_before"
	echo "1..$checks"
	[ "$failures" -eq 0 ]
	exit
}

# define TEXT: add an event; prints ok or the name of the error.
define()
{
	append "$UPROBE_EVENTS" "$1"
}

need_process_probes()
{
	grep -q ' register_uprobe_process_notifier$' /proc/kallsyms ||
		skip_all "no probes of processes in this kernel"
}

# starve: let programs choose allocations that fail, also those of their pages.
starve()
{
	fail_allocations
	set_knob /sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem N
}

# run_process_program NAME [COMMAND]: the checks of a program that has up_process register its
# probes, after a command.
run_process_program()
{
	local status

	begin
	need_process_probes
	[ $# -lt 2 ] || "$2"
	load up_process
	"$HERE/$1"
	status=$?
	put_back
	# Of a module that cannot be unloaded.
	[ "$failures" -eq 0 ] || status=1
	if ! wait_until 15 as_before; then
		note "probes stay registered:"
		note "$(registered)"
		status=1
	fi
	exit $status
}

put_back()
{
	restore_knobs
	while [ -n "$loaded" ]; do
		unload "${loaded%% *}"
	done
	[ ! -d "$TRACING/events/uprobes" ] || echo 0 >"$TRACING/events/uprobes/enable"
	echo >"$UPROBE_EVENTS"
	rm -f "$FLAG" "$OUTPUT"
}

cleanup()
{
	trap - EXIT
	put_back
}

# offset NAME: the offset of a function of the target.
offset()
{
	awk -v name="$1" '$1 == name { print $2 }' /tmp/uprobes-offsets
}

# address NAME: the address of a function of the target.
address()
{
	"$TARGET" addresses | awk -v name="$1" '$1 == name { print $2 }'
}

# instruction NAME: the address of an instruction of the target's function "plain", or its size.
instruction()
{
	"$TARGET" instructions | awk -v name="$1" '$1 == name { print $2 }'
}

# at NAME: the words of "up add" for a function of the target.
at()
{
	echo "path=$TARGET offset=$(offset "$1")"
}

# first_argument: where a function of the target has its argument, and the type, for events.
# The words of programs are those of the kernel: on i386 the argument is on the stack.
first_argument()
{
	if [ "$(od -An -tx1 -j 4 -N 1 "$TARGET" | tr -d ' ')" = 01 ]; then
		echo '+4(%sp):u32'
	elif [ "$(uname -m)" = aarch64 ]; then
		echo '%x0:u64'
	else
		echo '%di:u64'
	fi
}

# up COMMAND...: write a command to up_test; prints ok or the name of the error.
up()
{
	put "$UP_TEST/control" "$*"
}

# process COMMAND...: write a command to up_process; prints ok or the name of the error.
process()
{
	put "$UP_PROCESS/control" "$*"
}

# seen COLUMN: a number of the probe p of up_process.
seen()
{
	awk -v column="$1" '$1 == "p" { print $column }' "$UP_PROCESS/probes"
}

# hits EVENT: the number of its lines in the trace.
hits()
{
	grep -c " $1: " "$TRACING/trace"
}

# up_column NAME NUMBER
up_column()
{
	awk -v name="$1" -v column="$2" '$1 == name { print $column }' "$UP_TEST/probes"
}

# counts NAME: hits, returns and errors of a consumer.
counts()
{
	awk -v name="$1" '$1 == name { print $2, $3, $4 }' "$UP_TEST/probes"
}

# up_log: the names in the log, in one line; the log is empty then.
up_log()
{
	tr '\n' ' ' <"$UP_TEST/log" | sed 's/ $//'
	echo clear >"$UP_TEST/control"
}

# call NAME COUNT: call a function of the target in a new process; prints the last result.
call()
{
	"$TARGET" call "$1" "$2"
}

# start_waiting NAME COUNT: start a target that calls a function after go.
start_waiting()
{
	rm -f "$FLAG"
	lines=1
	"$TARGET" wait "$FLAG" "$1" "$2" >"$OUTPUT" &
	waiting=$!
}

# start_twice NAME COUNT: start a target that has called a function, and calls it again after
# go.
start_twice()
{
	rm -f "$FLAG"
	lines=2
	: >"$OUTPUT"
	"$TARGET" twice "$FLAG" "$1" "$2" >"$OUTPUT" &
	waiting=$!
	wait_until 5 test -s "$OUTPUT"
}

all_lines()
{
	[ "$(wc -l <"$OUTPUT")" -ge "$lines" ]
}

# go: let it call; prints the last result.
go()
{
	: >"$FLAG"
	wait_until 10 all_lines
	tail -n 1 "$OUTPUT"
}
