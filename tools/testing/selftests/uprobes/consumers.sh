#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Consumers of uprobes: many at one instruction, their order, filters, session cookies,
# counters of users, registers that handlers change, handlers that sleep, removal at a hit.

. "$(dirname "$0")/functions.sh"

begin
load up_test

# --- One consumer ------------------------------------------------------------------

is "a consumer is registered" "$(up "add a $(at plain)")" ok
is "a call has its result" "$(call plain 5)" 5
is "each call is a hit" "$(counts a)" "5 0 0"
is "the name is taken" "$(up "add a $(at plain)")" EEXIST
is "it is unregistered" "$(up del a)" ok
is "a call has its result afterwards" "$(call plain 5)" 5

is "a return consumer is registered" "$(up "add r $(at plain) return")" ok
is "the result of a function whose return is probed" "$(call plain 5)" 5
is "each return is a hit" "$(counts r)" "0 5 0"
is "a return consumer is unregistered" "$(up del r)" ok

# --- Many at one instruction --------------------------------------------------------

names='a b c d e'
for name in $names; do
	up "add $name $(at plain) session" >/dev/null
done
up_log >/dev/null
call plain 1 >/dev/null
log=$(up_log)
is "handlers run in the order of registration" "${log% -*-*-*-*-*}" "$names"
is "each handler has run once" "$(echo "$log" | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"-a -b -c -d -e a b c d e "
is "each return handler has its own cookie" \
	"$(for name in $names; do counts "$name"; done | sort -u)" \
	"1 1 0"
up del c >/dev/null
up "add f $(at plain)" >/dev/null
up_log >/dev/null
call plain 1 >/dev/null
is "one is removed, and one is added at the end" \
	"$(up_log | tr ' ' '\n' | grep -v - | tr '\n' ' ')" "a b d e f "
for name in a b d e f; do
	up del "$name" >/dev/null
done
up_log >/dev/null
is "nothing is called when all are removed" "$(call plain 3) $(up_log)" "3 "

i=0
while [ $i -lt 32 ]; do
	up "add n$i $(at plain)" >/dev/null
	i=$((i + 1))
done
call plain 20 >/dev/null
counts=$(awk '{ print $2, $3, $4 }' "$UP_TEST/probes" | sort | uniq -c | sed 's/^ *//')
is "32 consumers have 20 hits each" "$counts" "32 20 0 0"
while [ $i -gt 0 ]; do
	i=$((i - 1))
	up del "n$i" >/dev/null
done

# --- Sessions -----------------------------------------------------------------------

up "add s $(at plain) session" >/dev/null
up "add i $(at plain) session odd" >/dev/null
is "sessions: the result" "$(call plain 10)" 10
is "a session has its cookies" "$(counts s)" "10 10 0"
is "a session ignores every second return" "$(counts i)" "10 5 0"
up del s >/dev/null
up del i >/dev/null

# --- Filters ------------------------------------------------------------------------

start_waiting plain 7
up "add p $(at plain) pid=$waiting" >/dev/null
is "another process is not counted" "$(call plain 5) $(counts p)" "5 0 0 0"
is "the process of the filter has its result" "$(go)" 7
is "it is counted" "$(counts p)" "7 0 0"
up del p >/dev/null
up "add none $(at plain) none" >/dev/null
is "a filter that accepts nothing" "$(call plain 3) $(counts none)" "3 0 0 0"
up del none >/dev/null

is "a consumer removes itself at the first hit" \
	"$(up "add once $(at plain) once") $(call plain 9) $(counts once)" "ok 9 1 0 0"
up del once >/dev/null
up "add once $(at plain) once" >/dev/null
up "add stays $(at plain)" >/dev/null
is "if one of two removes itself, the other has all hits" \
	"$(call plain 9) $(counts stays)" "9 9 0 0"
is "also in the next process" "$(call plain 9) $(counts stays)" "9 18 0 0"
up del once >/dev/null
up del stays >/dev/null

# --- The counter of users ----------------------------------------------------------------

ref=$(offset counter)
start_twice counter 1
is "the counter is 0" "$(tail -n 1 "$OUTPUT")" 0
up "add u $(at counted) ref=$ref" >/dev/null
is "a running process sees 1" "$(go)" 1
is "a new process sees 1" "$(call counter 1)" 1
is "a second user needs the same offset" "$(up "add v $(at counted) ref=$((ref + 2))")" EINVAL
up "add v $(at counted) ref=$ref" >/dev/null
start_twice counter 1
is "the counter is one for an instruction, not for a consumer" "$(tail -n 1 "$OUTPUT")" 1
up del u >/dev/null
up del v >/dev/null
is "the counter is 0 again" "$(go)" 0
call counted 3 >/dev/null
is "a new process sees 0" "$(call counter 1)" 0

# --- Registers --------------------------------------------------------------------------

is "the instruction adds 0x100" "$(call skipped 1)" 259
length=7
case $(uname -m) in
aarch64) length=4 ;;
esac
[ "$(od -An -tx1 -j $(($(offset skipped))) -N 1 "$TARGET" | tr -d ' ')" != 8d ] || length=6
up "add skip $(at skipped) ip=$length" >/dev/null
is "a handler skips it" "$(call skipped 1)" 3
up del skip >/dev/null
is "the instructions beside the nop add 1 and 2" "$(call usdt 3)" 5
up "add set $(at usdt) result=100" >/dev/null
is "a handler at the nop sets a register, at each hit" "$(call usdt 3)" 102
is "each execution of the nop is a hit" "$(counts set)" "3 0 0"
up del set >/dev/null
up "add set $(at plain) return result=4711" >/dev/null
is "a return handler sets the result" "$(call plain 3)" 4711
up del set >/dev/null
is "the result is the function's again" "$(call plain 3)" 3

# --- Handlers that sleep ------------------------------------------------------------------

is_hit()
{
	[ "$(up_column "$1" 2)" -gt 0 ]
}

up "add sleep $(at plain) session sleep" >/dev/null
start_waiting plain 20
: >"$FLAG"
yes "a handler sleeps" wait_until 10 is_hit sleep
is "a consumer is unregistered while its handler sleeps" "$(up del sleep)" ok
is "the process has the result" "$(go)" 20

up "add n1 $(at plain) nosync" >/dev/null
up "add n2 $(at plain) nosync" >/dev/null
call plain 2 >/dev/null
is "two have run" "$(counts n1), $(counts n2)" "2 0 0, 2 0 0"
is "two are unregistered with one wait" "$(up del n1) $(up del n2) $(up free)" "ok ok ok"

# --- Files ----------------------------------------------------------------------------------

is "no such file" "$(up "add x path=/nonexistent offset=0x10")" ENOENT
is "a directory" "$(up "add x path=/tmp offset=0x10")" EIO
is "an offset after the end" "$(up "add x path=$TARGET offset=0x10000000")" EINVAL
is "a counter at an odd address" "$(up "add x $(at counted) ref=$((ref + 1))")" EINVAL
is "a file without pages" "$(up "add x path=/proc/version offset=0")" EIO

finish
