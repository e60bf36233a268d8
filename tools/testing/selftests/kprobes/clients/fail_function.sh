#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# fail_function makes a function return an error without executing it, by a kprobe
# whose handler changes the instruction pointer.

. "$(dirname "$0")/../functions.sh"

FAIL=/sys/kernel/debug/fail_function
name=$(hostname)

begin
[ -d "$FAIL" ] || skip_all "no fail_function in debugfs"
function=$(awk -v name="$(call_function sethostname)" '$1 == name { print name }' \
	"$FAIL/injectable" 2>/dev/null)
[ -n "$function" ] || skip_all "sethostname() cannot be made to fail"
case $(uname -m) in
*64)	eio=0xfffffffffffffffb ;;
*)	eio=0xfffffffb ;;
esac
trap 'echo >$FAIL/inject; hostname "$name"; cleanup' EXIT

# try NAME: set the host's name; prints ok or the error.
try()
{
	local message

	if message=$(hostname "$1" 2>&1); then
		echo ok
	else
		errno_of "$message"
	fi
}

is "sethostname() works" "$(try kp-first) $(hostname)" "ok kp-first"
is "a function that may not fail is refused" \
	"$(put "$FAIL/inject" schedule)" 'echo: write error: Numerical result out of range'
is "sethostname() is to fail" "$(put "$FAIL/inject" "$function")" ok
is "with EIO" "$(put "$FAIL/$function/retval" $eio)" ok
matches "there is a probe on it" "$(list)" "^ADDR  k  $function\\+0x[04] "
is "with the default probability it never fails" "$(try kp-second) $(hostname)" "ok kp-second"

# By default each failure writes a back trace to the kernel's log.
set_knob "$FAIL/verbose" 0
set_knob "$FAIL/probability" 100
set_knob "$FAIL/times" -1
is "it fails" "$(try kp-third) $(hostname)" "EIO kp-second"
is "each time" "$(for i in 1 2 3 4 5; do try kp-third; done | sort | uniq -c | tr -s ' ')" " 5 EIO"
set_knob "$FAIL/times" 2
is "twice, and then no more" \
	"$(for i in 1 2 3 4; do try kp-third; done | tr '\n' ' ')" "EIO EIO ok ok "
set_knob "$FAIL/times" -1
is "it fails again" "$(try kp-fourth) $(hostname)" "EIO kp-third"
is "it need not fail any more" "$(put "$FAIL/inject" "!$function")" ok
is "and works" "$(try kp-fourth) $(hostname)" "ok kp-fourth"

restore_knobs
hostname "$name"
finish
