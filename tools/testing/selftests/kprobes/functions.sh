# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC3043,SC2034
#
# Functions shared by all kprobes selftests.  Sourced by POSIX shells, including busybox's.
# The only extension of POSIX is "local", which all of these shells have.
#
# A test is a script like this:
#
#	. "$(dirname "$0")/functions.sh"
#	begin
#	load kp_test
#	is "a name for the check" "$(kp add a symbol=kp_test_plain)" ok
#	finish
#
# Every check prints one line "ok" or "not ok"; a failing check also prints the actual and
# the expected text.  finish prints the plan and ends the script: with status 0 if all
# checks passed, 1 if one failed.  A script that cannot run its checks ends with skip_all:
# a plan of no checks, and status 4, as kselftests do.
#
# However a script ends, the settings that it has changed with set_knob are restored, and
# the modules that it has loaded are unloaded.
#
# In the kernel, the module kp_test registers the probes: see test_modules/kp_test.c for
# the commands of kp, and kp_target.c for a module to be probed.

set -u
export LC_ALL=C

HERE=$(cd "$(dirname "$0")" && pwd)
KPROBES=/sys/kernel/debug/kprobes
LIST=$KPROBES/list
KP_TEST=/sys/kernel/debug/kp_test
TRACING=/sys/kernel/tracing
EVENTS=$TRACING/kprobe_events
INSTANCE=$TRACING/instances/kprobes-test
TARGET=/sys/module/kp_target/parameters/call
KNOB=/proc/sys/debug/kprobes-optimization
SKIP_STATUS=4

# The processor that goes offline and comes back.  With CPU_HOTPLUG=no, all stay online.
CPU=/sys/devices/system/cpu/cpu1/online
[ "${CPU_HOTPLUG:-}" != no ] || CPU=/nonexistent

# Differences between architectures:
#   PLAIN_RETURN	the offset of the second instruction of sites.h's plain functions
#   LOAD_AT	the offset of the load in its load functions
#   INSIDE	the offset of an instruction in a function of C, after those of ftrace
#   PLACES	several such offsets, enough to fill pages with copies
#   ON_FTRACE	the mark in the list for a probe on an entry that ftrace owns, and
#   BY_FTRACE	its state: not every architecture lets ftrace call such probes
#   INSN_STEP	addresses of instructions are multiples of this
#   JUMP_SIZE	size in bytes of the jump that replaces a breakpoint
#   JUMPS	"always" if every kernel has jumps
case $(uname -m) in
aarch64)
	PLAIN_RETURN=4 LOAD_AT=4 INSIDE=8 PLACES='8 12 16 20 24'
	ON_FTRACE='' BY_FTRACE=breakpoint
	INSN_STEP=4 JUMP_SIZE=4 JUMPS=always
	;;
*)
	PLAIN_RETURN=5 LOAD_AT=2 INSIDE=5 PLACES=5
	ON_FTRACE='[FTRACE]' BY_FTRACE=ftrace
	INSN_STEP=1 JUMP_SIZE=5 JUMPS=always
	;;
esac

checks=0
failures=0
loaded=
knobs=
ENTRY=

# --- Results ------------------------------------------------------------------

# note TEXT: print lines for the reader.
note()
{
	printf '%s\n' "$1" | sed 's/^/# /'
}

# result STATUS NAME: print the result of one check; returns STATUS.
result()
{
	checks=$((checks + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$checks" "$2"
	else
		failures=$((failures + 1))
		printf 'not ok %d - %s\n' "$checks" "$2"
	fi
	return "$1"
}

# skip NAME REASON: print a check that cannot be made here.
skip()
{
	checks=$((checks + 1))
	printf 'ok %d - %s # SKIP %s\n' "$checks" "$1" "$2"
}

# yes NAME COMMAND...: the command succeeds.
yes()
{
	local name="$1" output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	result "$status" "$name" && return
	note "'$*' ended with status $status"
	[ -z "$output" ] || note "$output"
}

# no NAME COMMAND...: the command fails.
no()
{
	local name="$1"

	shift
	if "$@" >/dev/null 2>&1; then
		result 1 "$name" || note "'$*' succeeded"
	else
		result 0 "$name"
	fi
}

# Functions of assembly, as sites.h makes them, which have no landing pad.
NO_PAD='kp_[a-z]+_(plain|other|load|setup|named|aliased|refused)'

# entries TEXT: replace the offset of entries by 0, except in lines with NO_PAD.  In
# kernels with landing pads, functions that are not called through a pointer have none; a probe on
# either kind is on the entry.
entries()
{
	case $ENTRY in
	''|0)	printf '%s\n' "$1" ;;
	*)	printf '%s\n' "$1" | sed -E -e "/$NO_PAD\+0x/b" \
			-e "s/\+0x$ENTRY([^0-9a-f])/+0x0\1/g" -e "s/\+0x$ENTRY\$/+0x0/" ;;
	esac
}

# is NAME GOT WANTED: both texts are the same.
is()
{
	if [ "$2" = "$3" ] || [ "$(entries "$2")" = "$(entries "$3")" ]; then
		result 0 "$1"
		return
	fi
	result 1 "$1" || true
	note "got:"
	note "$2"
	note "wanted:"
	note "$3"
}

# same NAME GOT: GOT equals the standard input.
same()
{
	is "$1" "$2" "$(cat)"
}

# matches NAME GOT EXPRESSION: every line of GOT matches, and GOT is not empty.
matches()
{
	if [ -n "$2" ] && ! printf '%s\n' "$2" | grep -qvE -e "$3"; then
		result 0 "$1"
		return
	fi
	result 1 "$1" || true
	note "not every line matches '$3':"
	note "$2"
}

# between NAME NUMBER LOW HIGH
between()
{
	if [ "$2" -ge "$3" ] 2>/dev/null && [ "$2" -le "$4" ]; then
		result 0 "$1"
	else
		result 1 "$1" || note "got $2, wanted $3 to $4"
	fi
}

# --- Begin and end ---------------------------------------------------------------

# begin: check the prerequisites of all tests.
begin()
{
	echo "TAP version 14"
	[ "$(id -u)" -eq 0 ] || skip_all "must be run as root"
	[ -d /sys/kernel/debug ] || skip_all "no debugfs in this kernel"
	[ -d "$KPROBES" ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	[ -d "$KPROBES" ] || skip_all "no kprobes in debugfs"
	[ -e "$TRACING/trace" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null
	trap cleanup EXIT
	# A second signal must not end the cleanup: kselftest's runner nests two timeouts.
	trap 'trap "" INT TERM HUP; exit 1' INT TERM HUP
	list_before=$(cat "$LIST")
	lines_before=$(whole_list)
}

# skip_all REASON: end the script, because nothing can be tested.
skip_all()
{
	echo "1..0 # SKIP $1"
	exit "$SKIP_STATUS"
}

# finish: check that no probe stays registered, and end the script.
finish()
{
	put_back
	is "nothing stays registered" "$(cat "$LIST")" "$list_before"
	echo "1..$checks"
	[ "$failures" -eq 0 ]
	exit
}

put_back()
{
	trace_end
	restore_knobs
	while [ -n "$loaded" ]; do
		unload "${loaded%% *}"
	done
}

cleanup()
{
	trap - EXIT
	put_back
}

# --- Waiting, settings, modules -----------------------------------------------------

# wait_until SECONDS COMMAND...: wait until the command succeeds; fails after that time.
wait_until()
{
	local tries=$(($1 * 10))

	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# errno_of TEXT: the name of the error that a program has reported.
errno_of()
{
	case ${1##*: } in
	'Invalid argument')			echo EINVAL ;;
	'No such file or directory')		echo ENOENT ;;
	'Invalid or incomplete multibyte or wide character') echo EILSEQ ;;
	'Illegal byte sequence')		echo EILSEQ ;;
	'Argument list too long')		echo E2BIG ;;
	'File exists')				echo EEXIST ;;
	'No such process')			echo ESRCH ;;
	'No such device')			echo ENODEV ;;
	'No such device or address')		echo ENXIO ;;
	'Device or resource busy')		echo EBUSY ;;
	'Cannot allocate memory')		echo ENOMEM ;;
	'Input/output error')			echo EIO ;;
	'Operation not permitted')		echo EPERM ;;
	'Permission denied')			echo EACCES ;;
	'Bad address')				echo EFAULT ;;
	'Is a directory')			echo EISDIR ;;
	'No space left on device')		echo ENOSPC ;;
	'Operation not supported')		echo EOPNOTSUPP ;;
	'Cannot assign requested address')	echo EADDRNOTAVAIL ;;
	'Unknown error 524')			echo ENOTSUPP ;;
	*)					printf '%s\n' "$1" ;;
	esac
}

# put FILE TEXT: write a line, and print ok or the name of the error.  The echo of some
# shells does not report which error it was, so use the program.
put()
{
	local message

	if message=$(env echo "$2" 2>&1 >"$1"); then
		echo ok
	else
		errno_of "$message"
	fi
}

# append FILE TEXT: put, without the removal of the lines that the file has.
append()
{
	local message

	if message=$(env echo "$2" 2>&1 >>"$1"); then
		echo ok
	else
		errno_of "$message"
	fi
}

# set_knob FILE VALUE: change a setting; restore_knobs restores it.
set_knob()
{
	case " $knobs " in
	*" $1="*)	;;
	*)		knobs="$1=$(cat "$1") $knobs" ;;
	esac
	echo "$2" >"$1"
}

restore_knobs()
{
	local knob

	for knob in $knobs; do
		echo "${knob#*=}" >"${knob%%=*}"
	done
	knobs=
}

# no_jumps: switch optimization off, for transcripts that are not about jumps.
no_jumps()
{
	[ ! -e "$KNOB" ] || set_knob "$KNOB" 0
}

# optimization SYMBOL+0xOFFSET: the line of debugfs for that point, without its address.
optimization()
{
	awk -F '  ' -v at="$1/" 'index($2, at) == 1 { print $3 "  " $4 }' "$KPROBES/optimization"
}

# load MODULE [PARAMETER...]: load a module of test_modules.
load()
{
	local module="$1"

	shift
	[ -f "$HERE/test_modules/$module.ko" ] ||
		skip_all "test_modules/$module.ko has not been built"
	if ! insmod "$HERE/test_modules/$module.ko" "$@"; then
		result 1 "insmod $module"
		finish
	fi
	loaded="$module $loaded"
	[ "$module" != kp_test ] || [ -n "$ENTRY" ] || find_entry
}

# entry_of SYMBOL: the offset at which a probe on that function of C is.
entry_of()
{
	kp add entry "symbol=$1" disabled >/dev/null
	sed -nE "s/.*  $1\+0x([0-9a-f]+)  .*/\1/p" "$KPROBES/list" | head -n 1
	kp del entry >/dev/null
}

# find_entry: set ENTRY, the offset at which a probe on a function of C is.  That is 4 if
# functions begin with a landing pad; on x86, only those that are called through a pointer
# do.  The offsets of the instructions after the entry grow by as much.  INSIDE is an offset
# in do_sys_openat2().  The functions of sites.h have no such pad.
find_entry()
{
	local place places

	ENTRY=$(entry_of kp_test_traced)
	INSIDE=$((INSIDE + $(entry_of do_sys_openat2)))
	[ "$ENTRY" != 0 ] || return 0
	places=$PLACES PLACES=
	for place in $places; do
		PLACES="$PLACES $((place + ENTRY))"
	done
}

# unload MODULE: unload a module that load has loaded.
unload()
{
	rmmod "$1" || result 1 "rmmod $1" || true
	loaded=$(printf %s "$loaded" | sed -E "s/(^| )$1 /\1/")
}

# sample NAME: the path of the module of a sample; empty if it has not been built.
sample()
{
	local place

	for place in ${SAMPLES_DIR:-} "$HERE" "$HERE/samples" \
		"/lib/modules/$(uname -r)" /samples; do
		[ -d "$place" ] || continue
		find "$place" -name "$1.ko*" | grep . && return
	done | head -n 1
}

# stack PID: the functions on its stack, innermost first.
stack()
{
	sed -E 's/^\[<[^>]*>\] ([^+]*).*/\1/' "/proc/$1/stack"
}

# sleeps PID: the task sleeps in nanosleep().
sleeps()
{
	stack "$1" | grep -q nanosleep
}

# --- Probes ----------------------------------------------------------------------

# kp COMMAND...: write a command to kp_test; prints ok or the name of the error.
kp()
{
	put "$KP_TEST/control" "$*"
}

# count NAME COLUMN: one of the numbers of a probe: hits, after, nmissed or result.
count()
{
	local column

	case $2 in
	hits)		column=2 ;;
	after)		column=3 ;;
	nmissed)	column=4 ;;
	result)		column=5 ;;
	esac
	awk -v name="$1" -v column="$column" '$1 == name { print $column }' "$KP_TEST/probes"
}

hits()
{
	count "$1" hits
}

# gains NAME COMMAND...: the number of hits of a probe during the command.
gains()
{
	local name="$1" before

	shift
	before=$(hits "$name")
	"$@" >/dev/null
	echo $(($(hits "$name") - before))
}

# call_target FUNCTION: call that function of kp_target.
call_target()
{
	put "$TARGET" "$1"
}

site()
{
	awk -v name="$1" '$1 == name { print $2 }' "$KP_TEST/sites"
}

# event TEXT: add a kprobe event; prints ok or the name of the error.
event()
{
	append "$EVENTS" "$1"
}

# reason: print the error of the last command for an event, from the log of errors.
reason()
{
	sed -n 's/.*error: //p' "$TRACING/error_log" | tail -n 1 | sed 's/ *$//'
}

# call_function NAME: the function of a system call, as programs of the kernel's own kind make it.
call_function()
{
	local prefix

	case $(uname -m) in
	x86_64)		prefix=__x64_sys_ ;;
	aarch64)	prefix=__arm64_sys_ ;;
	*)		prefix=__ia32_sys_ ;;
	esac
	awk -v name="$prefix$1" '$3 == name { print name; exit }' /proc/kallsyms
}

# symbol_address NAME: the digits of its address in kallsyms.
symbol_address()
{
	awk -v name="$1" '$3 == name { print $1; exit }' /proc/kallsyms
}

# whole_list: debugfs list as a transcript: sorted, with ADDR for each address, and with a
# bar at the end of each line, because some lines end with a blank.
whole_list()
{
	sed -E 's/(^|  )[0-9a-f]{8,16}  /\1ADDR  /g; s/$/|/' "$KPROBES/list" | sort
}

# list: the same without the lines that were there when the script began.
list()
{
	if [ -z "$lines_before" ]; then
		whole_list
	else
		whole_list | grep -vxF -e "$lines_before"
	fi
}

# --- Transitions and refusals -------------------------------------------------------

# trace_begin: collect the core's events, in a buffer of this script.
trace_begin()
{
	[ -d "$TRACING/events/kprobe_core" ] ||
		skip_all "no tracepoints kprobe_core"
	mkdir "$INSTANCE" || skip_all "no instances in tracefs"
	echo 1 >"$INSTANCE/events/kprobe_core/enable"
}

# transcript: the events since the last transcript, one a line, without sizes, and with
# ADDR for an address without a symbol.
transcript()
{
	sed -nE 's/^[^#].*: kprobe_(state|refused): /\1 /p' "$INSTANCE/trace" |
		sed -E 's,/0x[0-9a-f]+,,g; s/^([a-z]+) 0x[0-9a-f]{5,16}/\1 ADDR/'
	echo >"$INSTANCE/trace"
}

trace_end()
{
	[ -d "$INSTANCE" ] || return 0
	rmdir "$INSTANCE"
}

ENOMEM=12

# fail_allocations: let the helper fail_nth choose allocations that fail, of all kinds.  Skips the
# test if this kernel cannot do that.  The kernel's message about each of them is expected until
# the test ends.
fail_allocations()
{
	local slab=/sys/kernel/debug/failslab pages=/sys/kernel/debug/fail_page_alloc

	[ -x "$HERE/fail_nth" ] || skip_all "fail_nth has not been built"
	[ -d "$slab" ] && [ -d "$pages" ] ||
		skip_all "allocations do not fail in this kernel (FAILSLAB, FAIL_PAGE_ALLOC)"
	trap 'echo "kprobes-test: out-of-memory end" >/dev/kmsg; cleanup' EXIT
	echo "kprobes-test: out-of-memory begin" >/dev/kmsg
	set_knob "$slab/ignore-gfp-wait" N
	set_knob "$pages/ignore-gfp-wait" N
	set_knob "$pages/min-order" 0
	set_knob "$slab/verbose" 0
	set_knob "$pages/verbose" 0
}

# fail_each NAME FEWEST FILE TEXT UNDO: write TEXT to FILE again and again, with each allocation
# failing; at least FEWEST are needed.
fail_each()
{
	local name="$1" fewest="$2" results

	results=$("$HERE/fail_nth" "$3" "$4" "$5" 2>&1)
	is "$name: the helper has run to its end" $? 0
	note "$(printf '%s\n' "$results" | tail -n 1) allocations," \
		"$(printf '%s\n' "$results" | grep -c " $ENOMEM\$") of them needed"
	matches "$name: each answer is success or ENOMEM" \
		"$(printf '%s\n' "$results" | grep -v ^through)" "^[0-9]+ (0|$ENOMEM)\$"
	between "$name: allocations that are needed" \
		"$(printf '%s\n' "$results" | grep -c " $ENOMEM\$")" "$fewest" 100
}
