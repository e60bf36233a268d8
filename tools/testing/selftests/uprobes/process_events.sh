#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Events of one process by pid and address, and the samples of probes of a process.

. "$(dirname "$0")/functions.sh"

begin
need_process_probes

# start NAME COUNT: start a target that has called a function, and calls it again after go.
start()
{
	start_twice "$1" "$2"
	at=pid:$waiting:$(address "$1")
}

# parameter MODULE NAME: the permissions of a parameter.
parameter()
{
	stat -c %a "/sys/module/$1/parameters/$2"
}

is "only root and a group read addresses in events" "$(stat -c %a "$UPROBE_EVENTS")" 640

echo >"$TRACING/trace"
start plain 3
is "an event of a process" "$(put "$UPROBE_EVENTS" "p:one $at")" ok
yes "an event of its returns" eval 'echo "r:back $at result=\$retval:u64" >>"$UPROBE_EVENTS"'
matches "the list" "$(tr '\n' ' ' <"$UPROBE_EVENTS")" \
	"^p:uprobes/one pid:$waiting:0x[0-9a-f]* r:uprobes/back pid:$waiting:0x[0-9a-f]* result="
echo 1 >"$TRACING/events/uprobes/enable"
call plain 4 >/dev/null
is "another process has no hits" "$(hits one)" 0
is "the process goes on" "$(go)" 3
is "its calls are hits" "$(hits one)" 3
is "its calls and returns are counted" \
	"$(awk '{ print $2 "=" $3 }' "$TRACING/uprobe_profile" | tr '\n' ' ')" "one=3 back=3 "
is "its results" "$(sed -nE 's/.* back: .* result=//p' "$TRACING/trace" | tr '\n' ' ')" "1 2 3 "
wait "$waiting"
echo 0 >"$TRACING/events/uprobes/enable"
is "the process has ended" "$(put "$TRACING/events/uprobes/one/enable" 1)" ESRCH
echo >"$UPROBE_EVENTS"
is "the events are removed" "$(cat "$UPROBE_EVENTS")" ""
is "no process" "$(put "$UPROBE_EVENTS" "p:one pid:99999:0x1000")" ESRCH
is "the reason is that there is none" "$(reason)" "Failed to find the given process"
is "no number of a process" "$(put "$UPROBE_EVENTS" "p:one pid:x:0x1000")" EINVAL
is "the reason is that it is none" "$(reason)" "The process is not a number"
is "a limit of calls" "$(put "$UPROBE_EVENTS" "r10:one pid:$$:0x1000")" EINVAL
is "the reason is that there is no limit" \
	"$(reason)" "Only a colon and a name may follow p or r"
yes "the README has the syntax" grep -q 'pid:<pid>:<address>\[%return\]' "$TRACING/README"
is "no address" "$(put "$UPROBE_EVENTS" "p:one pid:$$")" EINVAL
is "a file offset in an argument" "$(define "p:one pid:$$:0x1000 x=@+0x10")" EINVAL
is "the reason is that it is none of a file" \
	"$(reason)" "Invalid file offset value"

# Arguments; one of three events is removed, and the others stay.
echo >"$TRACING/trace"
start plain 3
is "an event with arguments" "$(define "p:one $at value=$(first_argument) name=\$comm")" ok
is "a second event" "$(define "p:two $at")" ok
is "a third one" "$(define "r:back $at result=\$retval:u64")" ok
echo 1 >"$TRACING/events/uprobes/enable"
is "an enabled event cannot be removed" "$(define "-:two")" EBUSY
echo 0 >"$TRACING/events/uprobes/two/enable"
is "one event is removed" "$(define "-:two")" ok
is "the others are listed" "$(cut -d' ' -f1 "$UPROBE_EVENTS" | tr '\n' ' ')" \
	"p:uprobes/one r:uprobes/back "
is "the process has its results" "$(go)" 3
wait "$waiting"
echo 0 >"$TRACING/events/uprobes/enable"
is "the arguments are recorded" \
	"$(sed -nE 's/.*: one: \([^)]*\) //p' "$TRACING/trace" | tr '\n' ' ')" \
	'value=0 name="target" value=1 name="target" value=2 name="target" '
is "the hits of the others" "$(hits one) $(hits two) $(hits back)" "3 0 3"
echo >"$UPROBE_EVENTS"

# Two processes with the same address, and no names.
echo >"$TRACING/trace"
start plain 3
first=$waiting first_event=p_pid_${waiting}_$(address plain)
"$TARGET" twice "$FLAG" plain 4 >"$OUTPUT.second" &
second=$! second_event=p_pid_${second}_$(address plain)
wait_until 5 test -s "$OUTPUT.second"
is "an event without a name" "$(define "p $at")" ok
is "its name has the pid" "$(put "$TRACING/events/uprobes/$first_event/enable" 1)" ok
is "one of another process" "$(define "p pid:$second:$(address plain)")" ok
is "it is another event" "$(put "$TRACING/events/uprobes/$second_event/enable" 1)" ok
is "an enabled event takes no other probe" \
	"$(define "p:$first_event pid:$second:$(address plain)")" EBUSY
is "the reason" "$(reason)" "Probes cannot be added to an enabled event"
is "the first process goes on" "$(go)" 3
wait "$first" "$second"
is "each event has its hits" "$(hits "$first_event") $(hits "$second_event")" "3 4"
echo 0 >"$TRACING/events/uprobes/enable"
echo >"$UPROBE_EVENTS"
rm -f "$OUTPUT.second"

# The number of a thread that ends before the event is enabled.
echo >"$TRACING/trace"
: >"$OUTPUT"
"$TARGET" thread "$FLAG-thread" plain 3 >"$OUTPUT" &
waiting=$!
lines=1
wait_until 5 all_lines
thread=$(cat "$OUTPUT")
is "an event with the number of a thread" "$(define "p:one pid:$thread:$(address plain)")" ok
matches "the list has the number of its process" "$(cat "$UPROBE_EVENTS")" \
	"^p:uprobes/one pid:$waiting:0x"
: >"$FLAG-thread"
wait_until 5 test ! -e "/proc/$waiting/task/$thread"
is "the thread has ended" "$(ls "/proc/$waiting/task")" "$waiting"
is "the event can be enabled" "$(put "$TRACING/events/uprobes/one/enable" 1)" ok
rm "$FLAG-thread"
wait "$waiting"
is "calls of the other thread are hits" "$(hits one)" 3
echo 0 >"$TRACING/events/uprobes/enable"
echo >"$UPROBE_EVENTS"

# One event of two processes, of which one has ended.
start plain 3
is "an event of a process that ends" "$(define "p:both $at")" ok
go >/dev/null
wait "$waiting"
start plain 4
is "the event gets a living process" "$(define "p:both $at")" ok
echo >"$TRACING/trace"
is "it can be enabled" "$(put "$TRACING/events/uprobes/both/enable" 1)" ok
is "the living process goes on" "$(go)" 4
wait "$waiting"
is "its calls are hits of the event" "$(hits both)" 4
echo 0 >"$TRACING/events/uprobes/both/enable"
is "without a living process" "$(put "$TRACING/events/uprobes/both/enable" 1)" ESRCH
echo >"$UPROBE_EVENTS"

# An event that cannot be enabled for a trigger stays as it was.
is "an event of an address without text" "$(define "p:one pid:$$:0x1000")" ok
is "a trigger is refused" "$(put "$TRACING/events/uprobes/one/trigger" traceoff)" EFAULT
is "the event is not enabled" "$(cat "$TRACING/events/uprobes/one/enable")" 0
is "an event that shall enable it" "$(define "p:two $TARGET:$(offset plain)")" ok
is "it is refused, too" \
	"$(put "$TRACING/events/uprobes/two/trigger" enable_event:uprobes:one)" EFAULT
is "the event is still not enabled" "$(cat "$TRACING/events/uprobes/one/enable")" 0
is "and can be removed with the other one" "$(define "-:two")" ok
is "the event can be removed" "$(define "-:one")" ok

# A user without privileges opens events for a process of his own.
start plain 3
define "p:file $TARGET:$(offset plain)" >/dev/null
define "p:one $at" >/dev/null
is "perf: everybody may count hits of a file" \
	"$("$TARGET" perf "$(cat "$TRACING/events/uprobes/file/id")")" 0
is "perf: not everybody may change another process" \
	"$("$TARGET" perf "$(cat "$TRACING/events/uprobes/one/id")")" 1
go >/dev/null
wait "$waiting"
echo >"$UPROBE_EVENTS"

# One of three returns is recorded, and ends the recording.
start plain 3
event=$TRACING/events/uprobes/back
echo "r:back $at result=\$retval:u64" >>"$UPROBE_EVENTS"
echo "result == 2" >"$event/filter"
echo "traceoff if result == 2" >"$event/trigger"
echo >"$TRACING/trace"
echo 1 >"$event/enable"
is "the process with a filter goes on" "$(go)" 3
wait "$waiting"
is "a filter" "$(sed -nE 's/.* back: .* result=//p' "$TRACING/trace")" 2
is "a trigger" "$(cat "$TRACING/tracing_on")" 0
echo 1 >"$TRACING/tracing_on"
echo '!traceoff' >"$event/trigger"
echo 0 >"$event/enable"
echo >"$UPROBE_EVENTS"

# An event of returns by its place, and one of entries with a filter.
start plain 3
is "an event with %return" "$(define "p:back $at%return result=\$retval:u64")" ok
matches "it is one of returns" "$(cat "$UPROBE_EVENTS")" "^r:uprobes/back pid:$waiting:0x"
is "an event that will have a filter" "$(define "p:one $at value=$(first_argument)")" ok
echo "value == 1" >"$TRACING/events/uprobes/one/filter"
echo >"$TRACING/trace"
echo 1 >"$TRACING/events/uprobes/enable"
is "the process with both goes on" "$(go)" 3
wait "$waiting"
is "each return is a hit" \
	"$(sed -nE 's/.* back: .* result=//p' "$TRACING/trace" | tr '\n' ' ')" "1 2 3 "
is "one entry passes the filter" "$(sed -nE 's/.* one: .* value=//p' "$TRACING/trace")" 1
echo 0 >"$TRACING/events/uprobes/enable"
echo >"$UPROBE_EVENTS"

start plain 5
is "an event of a process is no kprobe event" \
	"$(errno_of "$(env echo "p:one $at" 2>&1 >>"$TRACING/kprobe_events")")" EINVAL
if [ -e "$TRACING/dynamic_events" ]; then
	echo "p:one $at" >>"$TRACING/dynamic_events"
else
	echo "p:one $at" >>"$UPROBE_EVENTS"
fi
is "the list of events" "$(cut -d: -f1,2 "$UPROBE_EVENTS")" "p:uprobes/one pid"
echo 1 >"$TRACING/events/uprobes/one/enable"
echo 0 >"$TRACING/events/uprobes/one/enable"
echo >"$TRACING/trace"
is "a disabled event" "$(go) $(hits one)" "5 0"
wait "$waiting"

counting=$(sample uprobe_example)
returns=$(sample uretprobe_example)
written=$(sample uprobe_jit_example)
if [ -z "$counting" ] || [ -z "$returns" ] || [ -z "$written" ]; then
	skip "the samples" "they have not been built"
else
	no "the sample reports that there is no process" \
		insmod "$counting" pid=99999 vaddr=0x1000
	matches "and the error in the log" "$(dmesg | grep 'register_uprobe() failed')" \
		"register_uprobe\(\) failed, returned -3\$"
	start plain 6
	insmod "$counting" pid="$waiting" vaddr="$(address plain)"
	is "only root reads the sample's address" "$(parameter uprobe_example vaddr)" 400
	is "the sample: the process goes on" "$(go)" 6
	wait "$waiting"
	rmmod uprobe_example
	where="uprobe on pid $waiting, vaddr $(address plain)"
	is "the sample's first message" "$(dmesg | grep -c "Registering $where\$")" 1
	is "the sample shows each hit" \
		"$(dmesg | grep -c "Hit #[1-6] on probepoint at $(address plain)")" 6
	is "the message at its end" "$(dmesg | grep -c "Unregistering $where\$")" 1
	is "the sample's last message" "$(dmesg | grep -c "Probepoint was hit 6 times")" 1
	start plain 4
	insmod "$counting" pid="$waiting" vaddr="$(address plain)" verbose=0
	go >/dev/null
	wait "$waiting"
	rmmod uprobe_example
	is "it does not show them with verbose=0" \
		"$(dmesg | grep -c "Hit #.* on probepoint at $(address plain)")" 6
	is "but counts them" "$(dmesg | grep -c "Probepoint was hit 4 times")" 1
	start plain 2
	insmod "$returns" pid="$waiting" vaddr="$(address plain)"
	is "only root reads that of the second sample" "$(parameter uretprobe_example vaddr)" 400
	go >/dev/null
	wait "$waiting"
	rmmod uretprobe_example
	results=$(dmesg | sed -nE 's/.*uretprobe_example: .* returned ([0-9]+) after.*/\1/p' |
		tr '\n' ' ')
	is "the sample of returns shows the results" "$results" "1 2 "
	start jit 3
	insmod "$written" pid="$waiting" code="$(address jit)"
	is "only root reads those of the third one" "$(parameter uprobe_jit_example code)" 400
	is "written code: the process goes on" "$(go)" 3
	wait "$waiting"
	rmmod uprobe_jit_example
	is "the sample has counted, and says that the code is gone" \
		"$(dmesg | grep -c "$(address jit) was executed 3 times, its text is gone")" 1
fi

finish
