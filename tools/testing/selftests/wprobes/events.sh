#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dynamic events on watchpoint probes.

. "$(dirname "$0")/functions.sh"

events=$TRACING/dynamic_events
instance=$TRACING/instances/wprobes-test

begin
grep -q . "$events" 2>/dev/null || [ -e "$events" ] || skip_all "no dynamic events"
load wp_test
long=$(word_size)

# define TEXT: define an event; prints ok, or the text of the error.
define()
{
	local text

	if text=$({ echo "$1" >>"$events"; } 2>&1); then
		echo ok
	else
		printf '%s\n' "${text##*: }"
	fi
}

is "define" "$(define "w:wp/first w@wp_test_words:$long addr=\$addr value=\$value old=\$old:u8")" ok
is "define without a name" "$(define "w w@wp_test_words+16:2")" ok
is "show" "$(grep ^w: "$events")" \
	"w:wp/first w@wp_test_words:$long addr=\$addr value=\$value old=\$old:u8
w:wprobes/w_wp_test_words_16_2 w@wp_test_words+16:2"
is "a second event of that name" "$(define "w:wp/first w@wp_test_words:$long")" "File exists"
is "no symbol" "$(define "w:wp/none w@wp_no_such_word:4")" "No such file or directory"
is "no such type" "$(define "w:wp/none x@wp_test_words:4")" "Invalid argument"
is "disabled events reserve a register" \
	"$(list | grep -c DISABLED)" 2

mkdir "$instance" || skip_all "no instances in tracefs"
wp write 0 1 >/dev/null
is "a disabled event records nothing" "$(grep -c first: "$instance/trace")" 0
echo 1 >"$instance/events/wp/first/enable"
wp write 0 258 >/dev/null
wp write 0 259 >/dev/null
echo 0 >"$instance/events/wp/first/enable"
wp write 0 3 >/dev/null
address=$(awk '$3 == "wp_test_words" { print $1 }' /proc/kallsyms)
is "values" "$(sed -n 's/.*first: (write_word+[^)]*) //p' "$instance/trace" |
	sed "s/0x$address/ADDR/; s/0x0*$address/ADDR/")" "addr=ADDR value=0x102 old=1
addr=ADDR value=0x103 old=2"
rmdir "$instance"

echo '-:wp/first' >>"$events"
echo '-:wprobes/w_wp_test_words_16_2' >>"$events"
is "removed" "$(grep ^w: "$events")" ""
is "the list is empty" "$(list)" ""
finish
