#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gdb, attached to a process that has a probe by pid and address: a breakpoint before the probed
# instruction stops there, a step over the probed instruction ends at the next one, and the
# process goes on.

. "$(dirname "$0")/functions.sh"

begin
need_process_probes
command -v gdb >/dev/null || skip_all "no gdb"
load up_process

start_twice plain 3
first=$(instruction first)
second=$(instruction second)
third=$(instruction third)
is "a probe" "$(process new p "pid=$waiting" "at=$second")" ok
is "it is registered" "$(process add p)" ok
output=$(gdb -nx -batch -p "$waiting" -ex "break *$first" -ex "shell : >$FLAG" \
	-ex continue -ex 'print/x $pc' -ex stepi -ex 'print/x $pc' \
	-ex stepi -ex 'print/x $pc' -ex continue -ex 'print/x $pc' \
	-ex delete -ex continue 2>&1)
note "$output"
is "breakpoints, and steps over the probed instruction" \
	"$(printf '%s\n' "$output" | sed -nE 's/^\$[0-9]+ = //p' | tr '\n' ' ')" \
	"$first $second $third $first "
matches "the process ends" "$(printf '%s\n' "$output" | grep 'Inferior.*exited')" "exited normally"
is "each call is a hit" "$(seen 2)" 3
wait "$waiting"
process drop >/dev/null

finish
