#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Refusals: the errno, and the reason in the tracepoint.

. "$(dirname "$0")/functions.sh"

begin
load wp_test
trace_refusals
long=$(word_size)

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

n=0
while [ "$(wp add "n$n" wp_test_words "$long" w $((16 * n)))" = ok ]; do
	n=$((n + 1))
done
refused "no register" "No space left on device" "no register is free" \
	wp_test_words "$long" w $((16 * n))
rmdir "$instance"
finish
