#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# BPF programs on kprobes: they count exactly, and get the address of their function.
# bpf_get_func_ip() is 0 for a probe that is not at a function's start.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

CALLS=100

begin
[ -x "$HERE/bpf_kprobe" ] || skip_all "bpf_kprobe has not been built"
[ -n "$(symbol_address bpf_get_func_ip_kprobe)" ] || skip_all "no BPF on kprobes in this kernel"
function=$(call_function getpgid)
[ -n "$function" ] || skip_all "the function of getpgid() is not found"
address=$(symbol_address "$function" | sed 's/^0*//')
offset=$(inside "$function")

# run KIND OFFSET: the output of bpf_kprobe.
run()
{
	"$HERE/bpf_kprobe" "$1" "$function" "$2" $CALLS 2>&1 | tr '\n' ' '
}

is "a probe: hits, address of the function" "$(run p 0)" \
	"hits $CALLS func_ip $address late 0 "
is "a return probe: hits, address of the function" "$(run r 0)" \
	"hits $CALLS func_ip $address late 0 "
if [ -n "$offset" ]; then
	is "a probe inside the function: hits, no address" "$(run p "$offset")" \
		"hits $CALLS func_ip 0 late 0 "
else
	skip "a probe inside the function" "ftrace does not list the function"
fi
matches "a function that is not there is refused" \
	"$("$HERE/bpf_kprobe" p kp_client_is_not_there 0 1 2>&1)" \
	'^bpf_kprobe: no probe: error (2|22)$'

# The end of one program does not affect another one at the same address.
run p 0 >/tmp/$TAG-1 &
run p 0 >/tmp/$TAG-2
wait
is "two at once: both count all of their own" \
	"$(cat /tmp/$TAG-1 /tmp/$TAG-2 | sed 's/late/\n&/g' |
		grep -c "^hits $CALLS func_ip $address \|^late 0 hits $CALLS")" 2
rm -f /tmp/$TAG-1 /tmp/$TAG-2

finish
