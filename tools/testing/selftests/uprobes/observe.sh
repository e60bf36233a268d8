#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes as the kernel shows them: the files in debugfs uprobes/, and the tracepoints
# uprobe_core for changes of text, of sites, and for refusals.

. "$(dirname "$0")/functions.sh"

UPROBES=/sys/kernel/debug/uprobes
INSTANCE=$TRACING/instances/uprobes-test
REFUSED=/tmp/uprobes-refused

begin
[ -d "$TRACING/events/uprobe_core" ] || skip_all "no tracepoints uprobe_core"
load up_test
mkdir "$INSTANCE" || skip_all "no instances in tracefs"

clean_up()
{
	[ ! -d "$INSTANCE" ] || rmdir "$INSTANCE"
	rm -f "$REFUSED"
	cleanup
}
trap clean_up EXIT
echo 1 >"$INSTANCE/events/uprobe_core/enable"

# transcript: the events since the last transcript, one a line, with ADDR for the address of
# the function plain, SLOT for one of a copy, and without the number of the inode.
transcript()
{
	sed -nE 's/^[^#].*: uprobe_(text|site_state|refused): /\1 /p' "$INSTANCE/trace" |
		sed -E -e "s/ $plain / ADDR /;" \
		    -e "s/slot [1-9a-f][0-9a-f]*/slot SLOT/; s/inode [0-9]+/inode/"
	echo >"$INSTANCE/trace"
}

# listed FILE FUNCTION: the line of the list for that function, without device, inode, and the
# path, which begins at the root of the file system.
listed()
{
	sed -nE "s,^[0-9]+:[0-9]+:[0-9]+ [^ ]*/${1##*/}\\+0x$(printf %x "$(offset "$2")") ,,p" \
		"$UPROBES/list"
}

# slots: slots in use, in all areas; empty without an area.
slots()
{
	awk '$3 == "slots" && $5 == "of" { n += $4; sum = n } END { print sum }' "$UPROBES/areas"
}

plain=$(address plain)
plain=${plain#0x}

# --- From the registration to the removal -------------------------------------------

no_slots=$(slots)
transcript >/dev/null
is "a consumer is registered" "$(up "add a $(at plain)")" ok
is "the list has its handler" "$(listed "$TARGET" plain)" "handlers 1 returns 0"
up "add r $(at plain) return" >/dev/null
is "the list counts return handlers" "$(listed "$TARGET" plain)" "handlers 1 returns 1"
up "del r" >/dev/null
is "no text has changed" "$(transcript)" ""
start_twice plain 1
is "text is armed, and a site made at the hit" "$(transcript)" "text ADDR armed
site_state ADDR slot SLOT new -> boosted"
is "the list has the kind of the instruction" \
	"$(listed "$TARGET" plain)" "handlers 1 returns 0 [0: copied]"
is "an area has a slot for it" "$(slots)" "$((no_slots + 1))"
up "del a" >/dev/null
is "text is disarmed, and the site has gone" "$(transcript)" "text ADDR disarmed
site_state ADDR slot SLOT boosted -> gone"
is "the list has no line" "$(listed "$TARGET" plain)" ""
is "the process goes on" "$(go)" 1
wait "$waiting"

up "add u $(at counted) ref=$(offset counter)" >/dev/null
is "the list has the counter of users" "$(listed "$TARGET" counted)" \
	"handlers 1 returns 0 counter 0x$(printf %x "$(offset counter)")"

# --- Refusals ---------------------------------------------------------------------------

transcript >/dev/null
is "another counter: error" "$(up "add v $(at counted) ref=$(($(offset counter) + 2))")" EINVAL
is "another counter: reason" "$(transcript | sed 's/offset 0x[0-9a-f]*/offset/')" \
	"refused inode offset at 0: registered with another reference counter (-22)"
is "an odd counter: error" "$(up "add v $(at counted) ref=$(($(offset counter) + 1))")" EINVAL
is "an odd counter: reason" "$(transcript | sed 's/offset 0x[0-9a-f]*/offset/')" \
	"refused inode offset at 0: the reference counter is not aligned (-22)"
up "del u" >/dev/null

# Text is mapped in a way that would take the breakpoint into the file.
cp "$TARGET" "$REFUSED"
up "add x path=$REFUSED offset=$(offset plain)" >/dev/null
transcript >/dev/null
yes "text of a probe is mapped shared" "$TARGET" share "$REFUSED" "$(offset plain)"
is "shared: reason" "$(transcript | sed -E 's/0x[0-9a-f]+ at [0-9a-f]+/OFFSET at ADDR/')" \
	"refused inode offset OFFSET at ADDR: the mapping is shared (-1)"
up "del x" >/dev/null

# A program whose function begins with a breakpoint; the instruction is looked at when the
# program is mapped.
cp "$TARGET" "$REFUSED"
case $(uname -m) in
aarch64)	printf '\240\0\40\324' ;;
*)		printf '\314' ;;
esac | dd of="$REFUSED" bs=1 seek=$(($(offset plain))) conv=notrunc 2>/dev/null
up "add x path=$REFUSED offset=$(offset plain)" >/dev/null
"$REFUSED" offsets >/dev/null
reason=$(transcript | sed -nE 's/^refused inode offset 0x[0-9a-f]+ at 0: (.*) \(-[0-9]+\)$/\1/p')
matches "a breakpoint: reason" "$reason" breakpoint
is "a breakpoint: the reason is in the list" "$(listed "$REFUSED" plain)" \
	"handlers 1 returns 0 [0: $reason]"
up "add y path=$REFUSED offset=$(offset plain)" >/dev/null
is "a breakpoint: the next consumer gets the reason, too" "$(transcript |
	sed -nE 's/^refused inode offset 0x[0-9a-f]+ at 0: (.*) \(-[0-9]+\)$/\1/p')" "$reason"
up "del y" >/dev/null
up "del x" >/dev/null

# --- Permissions --------------------------------------------------------------------------

for name in list areas missed; do
	is "$name: only its owner reads it" "$(stat -c %a "$UPROBES/$name")" 400
done

# --- Missed returns -----------------------------------------------------------------------

missed=$(cat "$UPROBES/missed")
matches "the number of missed returns" "$missed" '^[0-9]+$'
up "add r $(at plain) return" >/dev/null
call plain 3 >/dev/null
is "returns that are seen are not missed" "$(counts r) $(cat "$UPROBES/missed")" "0 3 0 $missed"
up "del r" >/dev/null

finish
