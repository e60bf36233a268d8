#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The list in debugfs, and the values that handlers get.

. "$(dirname "$0")/functions.sh"

begin
load wp_test

is "add" "$(wp add first wp_test_words "$long" w)" ok
is "add for changes" "$(wp add change wp_test_words "$long" w changed)" ok
is "add, disabled" "$(wp add off wp_test_words 2 rw disabled 32)" ok
is "list" "$(list)" "w  wp_test_words+0x0  w:$long nmissed=0 [SHARED]
w  wp_test_words+0x0  w:$long nmissed=0 [CHANGED][SHARED]
w  wp_test_words+0x20  rw:2 nmissed=0 [DISABLED]"
is "list: cannot be written" "$(stat -c %a "$LIST")" 400

wp write 0 7 >/dev/null
wp write 0 7 >/dev/null
wp write 0 8 >/dev/null
is "each write is a hit" "$(probe first)" "hits=3 nmissed=0 old=7 new=8"
is "each change is a hit" "$(probe change)" "hits=2 nmissed=0 old=7 new=8"

wp disable first >/dev/null
wp write 0 9 >/dev/null
is "disabled" "$(probe first)" "hits=3 nmissed=0 old=7 new=8"
is "the other probe" "$(probe change)" "hits=3 nmissed=0 old=8 new=9"
wp enable first >/dev/null
wp write 0 10 >/dev/null
is "enabled again" "$(probe first)" "hits=4 nmissed=0 old=9 new=10"
wp enable off >/dev/null
wp write $((32 / long)) 258 >/dev/null
is "two bytes" "$(probe off)" "hits=1 nmissed=0 old=0 new=258"
for name in first change off; do
	wp del "$name" >/dev/null
done
is "list: empty" "$(list)" ""

# The address of data without a symbol is only in the first column, for those who may see it.
is "add, allocated memory" "$(wp add heap heap "$long" w)" ok
is "list: allocated memory" "$(list)" "w  -  w:$long nmissed=0 "
restricted=$(cat /proc/sys/kernel/kptr_restrict)
echo 2 >/proc/sys/kernel/kptr_restrict
is "list: no address" "$(cat "$LIST")" "$(printf "%0$((2 * long))d" 0)  w  -  w:$long nmissed=0 "
echo "$restricted" >/proc/sys/kernel/kptr_restrict
wp del heap >/dev/null
finish
