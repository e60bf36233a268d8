#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes on data of a process: a program accesses its own data, and compares the calls of the
# handler with the accesses.  The refusals have their errno and reason.

. "$(dirname "$0")/functions.sh"

begin
load wp_test

# run_case PROGRAM CASE: the program is satisfied, or says why it skips the case; then the probes
# that it leaves are removed.
run_case()
{
	local answer

	answer=$("$HERE/$1" "$2" 2>&1)
	case $answer in
	skip:*)	skip "$2" "${answer#skip: }" ;;
	*)	is "$2" "$answer" ok ;;
	esac
	sed 's/ .*//' "$WP_TEST/probes" | while read -r name; do
		wp del "$name" >/dev/null
	done
}

for case in values reads changes halves overlap sleeps disabled system_calls \
	signalled all_threads short_threads created_meanwhile storm written_meanwhile \
	read_unseen registers; do
	run_case process "$case"
done
for case in ends_another pauses_another ends_itself pauses_itself both_pause_another \
	ends_while_disabled both_end_it ends_and_lingers ends_while_removed \
	ends_while_both_removed; do
	run_case handlers "$case"
done
for case in forked exits executes killed first_thread; do
	run_case lifetime "$case"
done
run_case traced continued
run_case traced executes
for case in stepped call_in_handler call_in_traced_handler; do
	[ "$(uname -m)" != aarch64 ] || run_case traced "$case"
done
# On x86, QEMU reports one of the registers that an access hits, the processor all of them.
for case in both_halves exclusive tagged; do
	[ "$(uname -m)" != aarch64 ] || run_case process "$case"
done

# The list of probes.
start_sleeper
# The last word of the stack is zero, and before it is the name of the program.
top=$((0x$end - long))
is "add" "$(wp add s "pid:$pid:$top" "$long" w)" ok
is "list" "$(sed 's/^[0-9a-f]* *//' "$LIST")" "w  pid:$pid  w:$long nmissed=0 "
if [ "$(uname -m)" = aarch64 ]; then
	is "add: an address with a tag" \
		"$(wp add t "pid:$pid:$((top | 0x5a << 56))" "$long" w)" ok
	wp del t >/dev/null
fi
# The module takes pids of the initial namespace, whoever writes the command.
if unshare -pf true 2>/dev/null; then
	unshare -pf sh -c "echo add n pid:$pid:$((top - long)) $long w >$WP_TEST/control"
	is "added in another pid namespace" "$?" 0
	wp del n >/dev/null
else
	skip "added in another pid namespace" "no pid namespaces here"
fi
kill "$pid"
wait
is "list: the process has ended" "$(sed 's/^[0-9a-f]* *//' "$LIST")" \
	"w  pid:$pid  w:$long nmissed=0 [GONE]"
wp del s >/dev/null

trace_event wprobe_refused

sleep 100 &
pid=$!
kernel=$(symbol_address wp_test_words)
refused "no process" ESRCH "no such process, or it has ended" \
	pid:999999:0x1000 "$long" w
refused "kernel thread" EINVAL "a kernel thread" pid:2:0x1000 "$long" w
refused "not mapped" EFAULT "not mapped in the process, or not readable" \
	"pid:$pid:0x1000" "$long" w
refused "address of the kernel" EINVAL "not an address of a process" \
	"pid:$pid:0x$kernel" "$long" w
refused "over the end of a word" EINVAL "not inside one aligned word" \
	"pid:$pid:0x1001" "$long" w
refused "a flag for the kernel" EINVAL \
	"a symbol or a flag that is for data of the kernel" "pid:$pid:0x1000" "$long" w percpu
kill "$pid"
wait
finish
