#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Dynamic events on watchpoint probes.

. "$(dirname "$0")/functions.sh"

events=$TRACING/dynamic_events

begin
grep -q . "$events" 2>/dev/null || [ -e "$events" ] || skip_all "no dynamic events"
load wp_test

# define TEXT: define an event; prints ok or the name of the error.
define()
{
	append "$events" "$1"
}

# marked: print the last command in the log of errors, from the column of the error on.
marked()
{
	tail -n 2 "$TRACING/error_log" |
		awk 'NR == 1 { command = $0 } END { print substr(command, index($0, "^")) }'
}

nothing_listed()
{
	[ -z "$(list)" ]
}

is "define" "$(define "w:wp/first w@wp_test_words:$long addr=\$addr value=\$value old=\$old:u8")" ok
is "define without a name" "$(define "w w@wp_test_words+16:2")" ok
is "show" "$(grep ^w: "$events")" \
	"w:wp/first w@wp_test_words:$long addr=\$addr value=\$value old=\$old:u8
w:wprobes/w_wp_test_words_16_2 w@wp_test_words+16:2"
is "a second event of that name" "$(define "w:wp/first w@wp_test_words:$long")" EEXIST
is "the reason: the name" "$(reason)" "Given group/event name is already used by another event"
is "no symbol" "$(define "w:wp/none w@wp_no_such_word:4")" ENOENT
is "the reason: the symbol" "$(reason)" "Probe refused: symbol not found"
is "no such length" "$(define "w:wp/none w@wp_test_words:x")" EINVAL
is "the reason: the length" "$(reason)" "The length is not a number"
twice=$(awk '$2 ~ /^[bBdD]$/ && NF == 3 { print $3 }' /proc/kallsyms | sort | uniq -d | head -n 1)
if [ -z "$twice" ]; then
	skip "a symbol that is there twice" "each name of data is unique"
else
	is "a symbol that is there twice" "$(define "w:wp/none w@$twice:1")" EADDRNOTAVAIL
	is "the reason" "$(reason)" "The symbol is not unique"
fi
is "the README has the syntax" "$(grep -c ' w\[:.*\[<access>\]@<data>' "$TRACING/README")" 1
is "no such type" "$(define "w:wp/none x@wp_test_words:4")" EINVAL
is "the reason: the type" "$(reason)" "The access is not r, w or rw"
is "without a type" "$(define "w:wp/any @wp_test_words+32:2")" ok
is "without a type: show" "$(grep ^w:wp/any "$events")" "w:wp/any @wp_test_words+32:2"
is "without a type: reads and writes" "$(list | grep -c ' rw:2 ')" 1
is "without a type: remove" "$(define "-:wp/any")" ok
for variable in addr value old; do
	is "\$$variable in a string" \
		"$(define "w:wp/none w@wp_test_words:4 x=\\\"\$$variable\"")" EINVAL
done
is "no such symbol in an argument" \
	"$(define "w:wp/none w@wp_test_words:4 x=@wp_no_such_word")" ENOENT
is "the reason: the argument" "$(reason)" "Invalid probed address or symbol"
is "a type after a value that is no type" \
	"$(define "w:wp/none w@wp_test_words:4 x=+0(\$value):foo")" EINVAL
is "the column is that of the type" "$(marked)" foo
is "a length that crosses a word" "$(define "w:wp/none w@wp_test_words+2:$long")" EINVAL
is "the reason: the length crosses" "$(reason)" "Probe refused: not inside one aligned word"
is "disabled events reserve a register" "$(list | grep -c DISABLED)" 2

# An event probe refers to the fields of the event.
is "an event probe" "$(define "e:wp/probe wp/first x=\$value")" ok
is "an event with an event probe stays" "$(define "-:wp/first")" EBUSY
is "the event probe goes" "$(define "-:wp/probe")" ok

mkdir "$INSTANCE" || skip_all "no instances in tracefs"
wp write 0 1 >/dev/null
is "a disabled event records nothing" "$(grep -c first: "$INSTANCE/trace")" 0
echo 1 >"$INSTANCE/events/wp/first/enable"
wp write 0 258 >/dev/null
wp write 0 259 >/dev/null
echo 0 >"$INSTANCE/events/wp/first/enable"
wp write 0 3 >/dev/null
address=$(symbol_address wp_test_words)
is "values" "$(sed -n 's/.*first: (write_word+[^)]*) //p' "$INSTANCE/trace" |
	sed "s/0x$address/ADDR/; s/0x0*$address/ADDR/")" "addr=ADDR value=0x102 old=1
addr=ADDR value=0x103 old=2"
rmdir "$INSTANCE"

echo '-:wp/first' >>"$events"
echo '-:wprobes/w_wp_test_words_16_2' >>"$events"

# record ARGUMENTS COMMAND...: define and enable the event, run the command, and print the values
# that the event has recorded.
record()
{
	echo "w:wp/one $1" >>"$events"
	shift
	mkdir "$INSTANCE"
	echo 1 >"$INSTANCE/events/wp/one/enable"
	"$@" >/dev/null
	sed -n 's/.* one: ([^)]*) //p' "$INSTANCE/trace"
	rmdir "$INSTANCE"
	echo '-:wp/one' >>"$events"
}

read_and_write()
{
	wp read 0
	wp write 0 5
	wp read 0
}

wp write 0 4 >/dev/null
is "reads and writes" "$(record "rw@wp_test_words:$long value=\$value old=\$old" read_and_write)" \
	"value=0x4 old=0x4
value=0x5 old=0x4
value=0x5 old=0x5"
case $(uname -m) in
x86_64|i?86)
	is "reads only" "$(define "w:wp/none r@wp_test_words:$long")" EOPNOTSUPP
	is "the reason: reads only" "$(reason)" \
		"Probe refused: the processor cannot watch for reads only"
	;;
*)
	wp write 0 4 >/dev/null
	is "reads only" "$(record "r@wp_test_words:$long value=\$value" read_and_write)" \
		"value=0x4
value=0x5"
	;;
esac
is "an address" "$(record "w@0x$address:$long value=\$value" wp write 0 6)" "value=0x6"

is "no length" "$(define "w:wp/four w@wp_test_words")" ok
is "four bytes are watched" "$(list)" "w  wp_test_words+0x0  w:4 nmissed=0 [DISABLED]"
echo '-:wp/four' >>"$events"

is_disabled()
{
	list | grep -q DISABLED
}

# Events that perf opens, alone and together with tracefs.
is "an event for perf" "$(define "w:wp/perf w@wp_test_words:$long value=\$value")" ok
id=$(cat "$TRACING/events/wp/perf/id")
is "perf records the writes" "$("$HERE/recorded" "$id" 3)" "count=3 values=1,2,3"
yes "perf disables the event" wait_until 10 is_disabled
mkdir "$INSTANCE"
echo 1 >"$INSTANCE/events/wp/perf/enable"
is "perf and tracefs: perf" "$("$HERE/recorded" "$id" 2)" "count=2 values=1,2"
wp write 0 9 >/dev/null
is "perf and tracefs: tracefs" "$(sed -n 's/.* perf: ([^)]*) //p' "$INSTANCE/trace")" \
	"value=0x1
value=0x2
value=0x9"
rmdir "$INSTANCE"
echo '-:wp/perf' >>"$events"

# The variable of each CPU has an address of its own, where the value is.
fork_often()
{
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 0.1 &
	done
	wait
}

# Prefixes the records with the number of the CPU.
record_cpus()
{
	echo "w:wp/forks w@process_counts:$long addr=\$addr value=\$value at=+0(\$addr)" >>"$events"
	mkdir "$INSTANCE"
	echo 1 >"$INSTANCE/events/wp/forks/enable"
	fork_often
	sed -n 's/.*\[\([0-9]*\)\].* forks: ([^)]*) addr=\(.*\) value=\(.*\) at=/\1 \2 \3 /p' \
		"$INSTANCE/trace"
	rmdir "$INSTANCE"
	echo '-:wp/forks' >>"$events"
}

is "a variable of each CPU" "$(record_cpus | awk '
	$3 != $4 || ($1 in at && at[$1] != $2) || ($2 in of && of[$2] != $1) { print }
	{ at[$1] = $2; of[$2] = $1 }
	END { print (NR > 0 ? "some" : "none") }')" some

# Data of a process: a program that writes a word of its own twice.  The first instruction has a
# probe, so that a copy of it makes the access.
: >/tmp/process
"$HERE/process" writes_of_event >/tmp/process &
pid=$!
# The line arrives in parts; read fails before its end.
until read -r address store after </tmp/process; do
	sleep 0.1
done
mkdir "$INSTANCE"
filtered=$INSTANCE-filtered
is "define for a process" \
	"$(define "w:wp/user w@pid:$pid:$address:$long value=\$value old=\$old")" ok
is "show for a process" "$(grep ^w: "$events")" \
	"w:wp/user w@pid:$pid:$address:$long value=\$value old=\$old"
is "a pid that is not decimal" "$(define "w:wp/none w@pid:0x$pid:$address:$long")" EINVAL
is "no such process" "$(define "w:wp/none w@pid:999999:$address")" ESRCH
is "the reason: the process" "$(reason)" "No process has this pid"
is "no pid" "$(define "w:wp/none w@pid:x:$address")" EINVAL
is "no address" "$(define "w:wp/none w@pid:$pid")" EINVAL
echo 1 >"$INSTANCE/events/wp/user/enable"
echo 0 >"$INSTANCE/events/wp/user/enable"
is "remove" "$(define "-:wp/user")" ok
is "the register is free again" \
	"$(define "w:wp/user w@pid:$pid:$address:$long value=\$value old=\$old")" ok
echo 1 >"$INSTANCE/events/wp/user/enable"
# Another buffer, with one of the two records.
mkdir "$filtered"
echo "value == 0x103" >"$filtered/events/wp/user/filter"
echo "traceoff if value == 0x103" >"$filtered/events/wp/user/trigger"
echo 1 >"$filtered/events/wp/user/enable"
is "probe the instruction" "$(append "$TRACING/uprobe_events" "p:wp/store pid:$pid:$store")" ok
echo 1 >"$INSTANCE/events/wp/store/enable"
kill -USR1 "$pid"
wait
# The trace may not know the name of the process.
is "values of a process" "$(sed -n 's/^ *[^ ]*-\([0-9]*\) .*user: ([^)]*) /\1 /p' \
	"$INSTANCE/trace")" "$pid value=0x102 old=0x7
$pid value=0x103 old=0x102"
is "the address after the instruction" "$(sed -n 's/.*user: (\(.*\)) .*/\1/p' "$INSTANCE/trace" |
	head -n 1)" "$after"
is "a filter" "$(sed -n 's/.* user: ([^)]*) //p' "$filtered/trace")" "value=0x103 old=0x102"
is "a trigger" "$(cat "$filtered/tracing_on")" 0
echo '!traceoff' >"$filtered/events/wp/user/trigger"
echo 0 >"$filtered/events/wp/user/enable"
rmdir "$filtered"
is "the probe is hit" "$(grep -c ' store: ' "$INSTANCE/trace")" 1
echo 0 >"$INSTANCE/events/wp/store/enable"
echo '-:wp/store' >>"$TRACING/uprobe_events"
is "the process has ended" "$(list | grep -c "pid:$pid .*GONE")" 1
echo 0 >"$INSTANCE/events/wp/user/enable"
is "enable it again" "$(put "$INSTANCE/events/wp/user/enable" 1)" ESRCH
rmdir "$INSTANCE"
echo '-:wp/user' >>"$events"

is "removed" "$(grep ^w: "$events")" ""
# An event of a process is freed a moment later.
yes "the list is empty" wait_until 10 nothing_listed
finish
