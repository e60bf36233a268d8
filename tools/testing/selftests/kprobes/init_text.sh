#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The kernel's own init text.  A probe there can only be registered while the
# kernel boots.  If it was booted with the event
#
#	kprobe_event=p:boot/init_text,populate_rootfs
#
# check the state of that probe; otherwise skip that part, which the unit tests in the
# kernel cover as well.

. "$(dirname "$0")/functions.sh"

SYMBOL=populate_rootfs

begin
load kp_test

booted_with_probe()
{
	grep -q "kprobe_event=[^ ]*boot/init_text,$SYMBOL" /proc/cmdline
}

if booted_with_probe; then
	is "at boot: the probe has been hit once, and was not missed" \
		"$(awk '$1 == "init_text" { print $2, $3 }' "$TRACING/kprobe_profile")" "1 0"
	is "at boot: the event is on" "$(cat "$TRACING/events/boot/init_text/enable")" 1
	matches "at boot: gone since the init text has been freed" \
		"$(whole_list | grep "$SYMBOL")" "^ADDR  k  $SYMBOL\+0x0  \[GONE\](\[FTRACE\])?\|\$"
else
	skip "at boot: the probe has been hit once, and was not missed" "not booted with it"
	skip "at boot: the event is on" "not booted with it"
	skip "at boot: gone since the init text has been freed" "not booted with it"
fi

# After the boot kallsyms may or may not have the symbol, but the text is gone.
matches "after boot: refused by symbol" "$(kp add a symbol=$SYMBOL)" '^(EINVAL|ENOENT)$'
address=$(symbol_address $SYMBOL)
if [ -n "$address" ]; then
	is "after boot: refused by address" "$(kp add a "addr=0x$address")" EINVAL
else
	skip "after boot: refused by address" "the symbol is not in kallsyms"
fi
matches "after boot: refused for a return probe" "$(kp add a symbol=$SYMBOL return)" \
	'^(EINVAL|ENOENT)$'

finish
