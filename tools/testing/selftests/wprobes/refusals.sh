#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Refusals: the errno, and the reason in the tracepoint.

. "$(dirname "$0")/functions.sh"

begin
load wp_test
trace_refusals
long=$(word_size)

command_refused "no probes" "Invalid argument" "no probes given" nothing
refused "no handler" "Invalid argument" "no handler given" wp_test_words 4 w nohandler
refused "symbol and address" "Invalid argument" "both symbol and address given" \
	wp_test_words 4 w address
refused "no place" "Invalid argument" "neither symbol nor address given" nowhere 4 w
refused "no type" "Invalid argument" "neither read nor write" wp_test_words 4 x
refused "address of a process" "Invalid argument" "not an address of the kernel" user 4 w
refused "fixed map" "Invalid argument" "memory of a device" fixmap 4 w
refused "not mapped" "Bad address" "not mapped" hole 4 w
refused "no symbol" "No such file or directory" "symbol not found" wp_no_such_word 4 w
refused "no bytes" "Invalid argument" "no bytes, or more than a register can watch" \
	wp_test_words 0 w
refused "too many bytes" "Invalid argument" "no bytes, or more than a register can watch" \
	wp_test_words 9 w
refused "over the end of a word" "Invalid argument" "not inside one aligned word" \
	wp_test_words 4 w $((long - 1))
case $(uname -m) in
x86_64|i?86)
	refused "reads" "Operation not supported" \
		"the processor cannot watch for reads only" wp_test_words 4 r
	refused "not aligned" "Invalid argument" \
		"not aligned to its length, and not for changes only" wp_test_words 2 w 1
	refused "entry code" "Invalid argument" \
		"used by the entry of exceptions" cpu_dr7 "$long" w
	;;
esac

is "add" "$(wp add first wp_test_words "$long" w)" ok
command_refused "registered" "Invalid argument" "already registered" again first
is "the registered probe stays" "$(wp write 0 3) $(probe first)" \
	"ok hits=1 nmissed=0 old=0 new=3"
wp del first >/dev/null

# The data of a module, while it is unloaded.
load wp_target
echo 1 >/sys/module/wp_target/parameters/late
echo >"$instance/trace"
unload wp_target
is "module that goes: reason" "$(reasons)" "its module frees it now"

n=0
while [ "$(wp add "n$n" wp_test_words "$long" w $((16 * n)))" = ok ]; do
	n=$((n + 1))
done
refused "no register" "No space left on device" "no register is free" \
	wp_test_words "$long" w $((16 * n))
rmdir "$instance"
finish
