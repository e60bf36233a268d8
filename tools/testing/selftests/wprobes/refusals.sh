#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Refusals: the errno, and the reason in the tracepoint.

. "$(dirname "$0")/functions.sh"

begin
load wp_test
trace_event wprobe_refused

command_refused "no probes" EINVAL "no probes, or a NULL in the array" nothing
refused "no handler" EINVAL "no handler given" wp_test_words 4 w nohandler
refused "symbol and address" EINVAL "both symbol and address given" \
	wp_test_words 4 w address
refused "no place" EINVAL "neither symbol nor address given" nowhere 4 w
refused "no type" EINVAL "neither read nor write" wp_test_words 4 x
refused "address of a process" EINVAL "not an address of the kernel" user 4 w
refused "fixed map" EINVAL "memory of a device" fixmap 4 w
refused "not mapped" EFAULT "not mapped" hole 4 w
refused "no symbol" ENOENT "symbol not found" wp_no_such_word 4 w
refused "no bytes" EINVAL "no bytes, or more than a register can watch" \
	wp_test_words 0 w
refused "too many bytes" EINVAL "no bytes, or more than a register can watch" \
	wp_test_words 9 w
refused "over the end of a word" EINVAL "not inside one aligned word" \
	wp_test_words 4 w $((long - 1))
case $(uname -m) in
x86_64|i?86)
	refused "reads" EOPNOTSUPP "the processor cannot watch for reads only" wp_test_words 4 r
	refused "not aligned" EINVAL \
		"not aligned to its length, and not for changes only" wp_test_words 2 w 1
	refused "entry code" EINVAL "used by the entry of exceptions" cpu_dr7 "$long" w
	;;
esac

is "add" "$(wp add first wp_test_words "$long" w)" ok
command_refused "registered" EINVAL "already registered" again first
is "the registered probe stays" "$(wp write 0 3) $(probe first)" \
	"ok hits=1 nmissed=0 old=0 new=3"
wp del first >/dev/null

# The data of a module, while it is unloaded.
load wp_target
echo 1 >/sys/module/wp_target/parameters/late
echo >"$INSTANCE/trace"
unload wp_target
is "module that goes: reason" "$(reasons)" "its module frees it now"

fill
refused "no register" ENOSPC "no register is free" \
	wp_test_words "$long" w $((16 * n))
finish
