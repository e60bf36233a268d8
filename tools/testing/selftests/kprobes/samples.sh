#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The samples of samples/kprobes load, log the calls of a real function, and
# unregister their probes.  SAMPLES_DIR may name the folder with the modules.

. "$(dirname "$0")/functions.sh"

begin

# said TEXT: lines of the kernel's log with that text, without time stamps.
said()
{
	dmesg | sed 's/^\[[^]]*\] *//' | grep -F -e "$1"
}

# a_child: call kernel_clone.
a_child()
{
	sh -c 'exit 0'
}

kprobe=$(sample kprobe_example)
kretprobe=$(sample kretprobe_example)
jprobe=$(sample jprobe_example)
batch=$(sample batch_example)
fault=$(sample fault_handler_example)
[ -n "$kprobe$kretprobe$jprobe$batch$fault" ] || skip_all "the samples have not been built"

if [ -z "$kprobe" ]; then
	skip "kprobe_example" "it has not been built"
else
	dmesg -c >/dev/null
	yes "kprobe_example: loads" insmod "$kprobe" symbol=kernel_clone show=3
	matches "kprobe_example: is in the list" "$(list | grep kernel_clone)" \
		'^ADDR  k  kernel_clone\+0x[04]    (\[(FTRACE|OPTIMIZED)\])?\|$'
	for i in 1 2 3 4 5; do
		a_child
	done
	yes "kprobe_example: unloads" rmmod kprobe_example
	matches "kprobe_example: the handlers' lines name the function" \
		"$(said 'kprobe_example: p' | grep -E 'pre:|post:')" '(pre|post): kernel_clone'
	is "kprobe_example: as many as the parameter allows" \
		"$(said 'kprobe_example: pre:' | wc -l)" 3
	matches "kprobe_example: all hits are counted, none is missed" \
		"$(said 'kprobe_example: kernel_clone: ')" \
		'kernel_clone: ([5-9]|[1-9][0-9]+) hits, 0 missed$'
	is "kprobe_example: is not in the list any more" "$(list | grep kernel_clone)" ""

	dmesg -c >/dev/null
	no "kprobe_example: does not load for a missing symbol" \
		insmod "$kprobe" symbol=kp_sample_is_not_there
	is "kprobe_example: and reports that" \
		"$(said 'kp_sample_is_not_there: -2' | sort -u | wc -l)" 1
fi

if [ -z "$kretprobe" ]; then
	skip "kretprobe_example" "it has not been built"
else
	dmesg -c >/dev/null
	yes "kretprobe_example: loads" insmod "$kretprobe" func=kernel_clone
	matches "kretprobe_example: is in the list" "$(list | grep kernel_clone)" \
		'^ADDR  r  kernel_clone\+0x[04]    (\[(FTRACE|OPTIMIZED)\])?\|$'
	a_child
	a_child
	yes "kretprobe_example: unloads" rmmod kretprobe_example
	matches "kretprobe_example: lines with the value and the time" \
		"$(said 'kretprobe_example: kernel_clone returned')" \
		'returned [1-9][0-9]* to .*after [0-9]+ ns$'
	is "kretprobe_example: nothing was missed" \
		"$(said 'kretprobe_example: kernel_clone: ')" \
		"kretprobe_example: kernel_clone: 0 calls missed"
	is "kretprobe_example: is not in the list any more" "$(list | grep kernel_clone)" ""
fi

if [ -z "$jprobe" ]; then
	skip "jprobe_example" "it has not been built"
else
	dmesg -c >/dev/null
	yes "jprobe_example: loads" insmod "$jprobe" show=2
	matches "jprobe_example: is in the list" "$(list | grep kernel_clone)" \
		'^ADDR  j  kernel_clone\+0x[04]    (\[(FTRACE|OPTIMIZED)\])?\|$'
	a_child
	a_child
	a_child
	yes "jprobe_example: unloads" rmmod jprobe_example
	# 17 is SIGCHLD.
	matches "jprobe_example: the handler sees the arguments" \
		"$(said 'calls kernel_clone: ')" \
		'/[0-9]+ calls kernel_clone: flags 0x[0-9a-f]+, exit signal 17$'
	is "jprobe_example: as many as the parameter allows" \
		"$(said 'calls kernel_clone: ' | wc -l)" 2
	matches "jprobe_example: all calls are counted, none is missed" \
		"$(said 'jprobe_example: kernel_clone: ')" \
		'kernel_clone: ([3-9]|[1-9][0-9]+) calls, 0 missed$'
	is "jprobe_example: is not in the list any more" "$(list | grep kernel_clone)" ""
fi

if [ -z "$batch" ]; then
	skip "batch_example" "it has not been built"
else
	dmesg -c >/dev/null
	yes "batch_example: loads" insmod "$batch" pattern='vfs_*'
	said 'batch_example: ' |
		sed -nE 's/.*: ([0-9]+) of ([0-9]+) functions like .vfs_\*. are probed$/\1 \2/p' \
			>"${TMPDIR:-/tmp}/batch.$$"
	read -r probed found <"${TMPDIR:-/tmp}/batch.$$"
	rm -f "${TMPDIR:-/tmp}/batch.$$"
	between "batch_example: has found functions" "$found" 20 4000
	is "batch_example: the list has as many probes as it reports" \
		"$(list | grep -c ' k  vfs_')" "$probed"
	for i in 1 2 3 4 5; do
		cat /proc/version >/dev/null
	done
	yes "batch_example: unloads" rmmod batch_example
	is "batch_example: prints ten" \
		"$(said 'batch_example: ' | grep -cE 'batch_example: +[0-9]+ vfs_[a-z_0-9]+$')" 10
	yes "batch_example: vfs_read is among them, and has been called" \
		sh -c "dmesg | grep -qE 'batch_example: +([5-9]|[1-9][0-9]+) vfs_read\$'"
	is "batch_example: the most are first" \
		"$(said 'batch_example: ' | grep -oE ' [0-9]+ vfs' | sort -rn)" \
		"$(said 'batch_example: ' | grep -oE ' [0-9]+ vfs')"
	is "batch_example: none is in the list any more" "$(list | grep -c ' k  vfs_')" 0

	dmesg -c >/dev/null
	yes "batch_example: leaves out functions that cannot be probed" \
		insmod "$batch" pattern='*notif*'
	matches "batch_example: and reports their number" \
		"$(said 'batch_example: ' | awk '{ print ($2 < $4 ? "fewer" : "all") }')" '^fewer$'
	yes "batch_example: unloads again" rmmod batch_example
	no "batch_example: does not load for a missing symbol" \
		insmod "$batch" pattern='kp_sample_is_not_*'
fi

if [ -z "$fault" ]; then
	skip "fault_handler_example" "it has not been built"
else
	dmesg -c >/dev/null
	yes "fault_handler_example: loads" insmod "$fault"
	a_child
	a_child
	a_child
	yes "fault_handler_example: unloads" rmmod fault_handler_example
	matches "fault_handler_example: each read has failed, after a call of the fault handler" \
		"$(said 'words read' | awk '{
			print ($2 == 0 && $5 >= 3 && $5 == $8 && $10 == 0 ? "so" : $0) }')" '^so$'
	matches "fault_handler_example: and reports the trap" \
		"$(said 'the last fault was')" 'trap 0x[0-9a-f]+$'

	dmesg -c >/dev/null
	yes "fault_handler_example: loads for a word that is there" \
		insmod "$fault" "address=0x$(symbol_address vfs_read)"
	a_child
	yes "fault_handler_example: unloads again" rmmod fault_handler_example
	matches "fault_handler_example: the word was read, without a fault" \
		"$(said 'words read' | awk '{
			print ($2 >= 1 && $5 == 0 && $8 == 0 ? "so" : $0) }')" '^so$'
	is "fault_handler_example: is not in the list any more" "$(list | grep kernel_clone)" ""
fi

# often N MODULE NAME: load and unload N times, with calls in between.
often()
{
	local i=0

	while [ "$i" -lt "$1" ]; do
		i=$((i + 1))
		insmod "$2" || return
		a_child
		rmmod "$3" || return
	done
}
[ -z "$kprobe" ] || yes "kprobe_example: in and out 20 times" often 20 "$kprobe" kprobe_example
[ -z "$kretprobe" ] ||
	yes "kretprobe_example: in and out 20 times" often 20 "$kretprobe" kretprobe_example

[ -z "$jprobe" ] || yes "jprobe_example: in and out 20 times" often 20 "$jprobe" jprobe_example

finish
