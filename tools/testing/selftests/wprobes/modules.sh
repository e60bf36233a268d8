#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Data of a module: the watch ends when the module is unloaded.

. "$(dirname "$0")/functions.sh"

# empty: remove the n probes.
empty()
{
	while [ "$n" -gt 0 ]; do
		n=$((n - 1))
		wp del "n$n" >/dev/null
	done
}

begin
load wp_test
load wp_target
word=/sys/module/wp_target/parameters/word

is "add" "$(wp add t wp_target_word "$long" w)" ok
echo 5 >"$word"
is "hit" "$(probe t)" "hits=1 nmissed=0 old=0 new=5"
unload wp_target
is "gone" "$(probe t)" "hits=1 nmissed=0 old=0 new=5 gone"
is "list: gone" "$(list)" "w  wp_target_word  w:$long nmissed=0 [GONE]"
is "a gone probe cannot be enabled" "$(wp enable t)" EINVAL

# Its register is free.
fill
wp del t >/dev/null
is "the register was free" "$(wp add more wp_test_words "$long" w $((16 * n)))" ENOSPC
empty

load wp_target
is "add again" "$(wp add t wp_target_word "$long" w)" ok
echo 6 >"$word"
is "hit again" "$(probe t)" "hits=1 nmissed=0 old=0 new=6"
wp del t >/dev/null

# Each CPU watches its copy of a per-CPU variable of the module.
copies=/sys/module/wp_target/parameters/copies
cpus=$(grep -c ^processor /proc/cpuinfo)
is "add: per-CPU" "$(wp add c wp_target_copies "$long" w percpu)" ok
echo 8 >"$copies"
echo 9 >"$copies"
is "hits: per-CPU" "$(probe c)" "hits=$((2 * cpus)) nmissed=0 old=8 new=9"
unload wp_target
is "gone: per-CPU" "$(probe c)" "hits=$((2 * cpus)) nmissed=0 old=8 new=9 gone"
load wp_target
echo 1 >"$copies"
is "no hit: per-CPU" "$(probe c)" "hits=$((2 * cpus)) nmissed=0 old=8 new=9 gone"
wp del c >/dev/null
is "add again: per-CPU" "$(wp add c wp_target_copies "$long" w percpu)" ok
echo 2 >"$copies"
is "hits again: per-CPU" "$(probe c)" "hits=$cpus nmissed=0 old=1 new=2"
wp del c >/dev/null

# A register does not watch per-CPU variables of two modules, one of which may be unloaded.
load wp_half
load wp_other_half
first=0x$(symbol_address wp_half)
second=0x$(symbol_address wp_other_half)
matches "both halves have an address" "$first $second" '^0x[0-9a-f]+ 0x[0-9a-f]+$'
if [ "$long" = 8 ] && [ $((second)) -eq $((first + 4)) ]; then
	fill
	n=$((n - 1))
	wp del "n$n" >/dev/null
	is "add: a half" "$(wp add h wp_half 4 w changed percpu)" ok
	is "add: a half of another module" "$(wp add o wp_other_half 4 w changed percpu)" ENOSPC
	wp del h >/dev/null
	empty
else
	skip "add: a half of another module" "the halves are not in one word"
fi
finish
