#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A task that dies in a handler of a probe of its process has left the handler when its exit is
# reported: a notifier that unregisters the probe does so at once.
#
# The oops taints the kernel, and switches lockdep off: run this script last.  The lines
# "kprobes-test: expect-..." in the kernel's log are for the judge of that log.

. "$(dirname "$0")/functions.sh"

begin
need_process_probes
[ "$(cat /proc/sys/kernel/panic_on_oops)" = 0 ] || skip_all "an oops would be a panic"
load up_process

start_twice plain 3
is "a probe" "$(process new p "pid=$waiting" "at=$(address plain)" dies leaves)" ok
is "it is registered" "$(process add p)" ok
is "its process is followed" "$(process follow p)" ok
echo "kprobes-test: expect-oops begin" >/dev/kmsg
: >"$FLAG"
wait "$waiting"
matches "a signal of the kernel has ended the process" "$?" "^1(37|39)\$"
echo "kprobes-test: expect-oops end" >/dev/kmsg
# An oops stops all tracers.
echo 1 >"$TRACING/tracing_on"
# Hits, the result of the unregistration, and whether it is registered.
is "its exit unregisters the probe" "$(seen 2) $(seen 6) $(seen 8)" "1 0 0"
no "no probe stays registered" grep -q "^pid:$waiting:" "$LIST"
process drop >/dev/null

start_twice plain 3
is "another process" "$(process new p "pid=$waiting" "at=$(address plain)")" ok
is "it is probed" "$(process add p)" ok
is "and goes on" "$(go)" 3
wait "$waiting"
is "its calls are hits" "$(seen 2)" 3
process drop >/dev/null
finish
