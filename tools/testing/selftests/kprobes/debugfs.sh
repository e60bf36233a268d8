#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# debugfs kprobes/: list, enabled, blacklist.

. "$(dirname "$0")/functions.sh"

begin
no_jumps
load kp_test

# --- list ---

kp add plain symbol=kp_test_plain >/dev/null
kp add second symbol=kp_test_plain disabled >/dev/null
kp add return symbol=kp_test_plain offset=$PLAIN_RETURN post >/dev/null
kp add traced symbol=kp_test_traced >/dev/null
kp add kernel symbol=do_sys_openat2 return >/dev/null

same "list: kind, symbol and offset, module, state" "$(list)" <<END
ADDR  k  kp_test_plain+0x0  kp_test [DISABLED]|
ADDR  k  kp_test_plain+0x0  kp_test |
ADDR  k  kp_test_plain+0x$PLAIN_RETURN  kp_test |
ADDR  k  kp_test_traced+0x$ENTRY  kp_test $ON_FTRACE|
ADDR  r  do_sys_openat2+0x$ENTRY    $ON_FTRACE|
END

is "list: the address is the symbol's" \
	"$(awk '$3 == "kp_test_plain+0x0" { print $1 }' "$KPROBES/list" | sort -u)" \
	"$(symbol_address kp_test_plain)"
is "list: cannot be written" "$(stat -c %a "$KPROBES/list")" 400

kp disable plain >/dev/null
kp disable traced >/dev/null
kp disable kernel >/dev/null
kp del second >/dev/null
kp del return >/dev/null
same "list: disabled probes stay" "$(list)" <<END
ADDR  k  kp_test_plain+0x0  kp_test [DISABLED]|
ADDR  k  kp_test_traced+0x$ENTRY  kp_test [DISABLED]$ON_FTRACE|
ADDR  r  do_sys_openat2+0x$ENTRY    [DISABLED]$ON_FTRACE|
END

kp enable plain >/dev/null
kp enable traced >/dev/null
kp del kernel >/dev/null
same "list: enabled again" "$(list)" <<END
ADDR  k  kp_test_plain+0x0  kp_test |
ADDR  k  kp_test_traced+0x$ENTRY  kp_test $ON_FTRACE|
END

# --- enabled ---

kp add off symbol=kp_test_other disabled >/dev/null
is "enabled: on by default" "$(cat "$KPROBES/enabled")" 1
is "enabled: only for its owner" "$(stat -c %a "$KPROBES/enabled")" 600
before=$(list)

set_knob "$KPROBES/enabled" 0
is "enabled: reads 0 when off" "$(cat "$KPROBES/enabled")" 0
is "enabled: off leaves the list as it was" "$(list)" "$before"
is "enabled: off, a breakpoint does not hit" "$(gains plain kp call plain)" 0
is "enabled: off, ftrace does not hit" "$(gains traced kp call traced)" 0
is "enabled: off, a probe can be registered" "$(kp add late symbol=kp_test_other)" ok
is "enabled: off, and does not hit" "$(gains late kp call other)" 0
is "enabled: off, a probe can be enabled" "$(kp disable plain) $(kp enable plain)" "ok ok"
is "enabled: off, and still does not hit" "$(gains plain kp call plain)" 0

set_knob "$KPROBES/enabled" 1
is "enabled: reads 1 when on" "$(cat "$KPROBES/enabled")" 1
is "enabled: on, a breakpoint hits" "$(gains plain kp call plain)" 1
is "enabled: on, ftrace hits" "$(gains traced kp call traced)" 1
is "enabled: on, a probe registered while off hits" "$(gains late kp call other)" 1
is "enabled: on, a disabled probe stays disabled" "$(gains off kp call other)" 0
is "enabled: nothing was missed" \
	"$(count plain nmissed) $(count traced nmissed) $(count late nmissed)" "0 0 0"

spellings()
{
	local text

	for text in 0 1 n y N Y off on 0 1; do
		echo "$text $(put "$KPROBES/enabled" "$text") $(cat "$KPROBES/enabled")"
	done
}
same "enabled: all spellings of yes and no" "$(spellings)" <<'END'
0 ok 0
1 ok 1
n ok 0
y ok 1
N ok 0
Y ok 1
off ok 0
on ok 1
0 ok 0
1 ok 1
END

refused_spellings()
{
	local text

	for text in 2 -1 maybe ''; do
		echo "'$text' $(put "$KPROBES/enabled" "$text") $(cat "$KPROBES/enabled")"
	done
}
same "enabled: anything else is refused and changes nothing" "$(refused_spellings)" <<'END'
'2' EINVAL 1
'-1' EINVAL 1
'maybe' EINVAL 1
'' EINVAL 1
END
is "enabled: on again after all that" "$(gains plain kp call plain)" 1

# --- blacklist ---

# range NAME: the end of the range that begins at that symbol.
range()
{
	sed -n "s/^0x$(symbol_address "$1")-0x\([0-9a-f]*\)	.*/\1/p" "$KPROBES/blacklist" |
		tail -n 1
}

# covers FROM TO: the blacklist has lines for all from one address to another, without a gap.
covers()
{
	awk -F '[-\t]' -v at="$1" -v to="$2" '
	$1 "" == at "" && at "" != to "" { at = $2 }
	END				 { exit at "" != to "" }' "$KPROBES/blacklist"
}

# area NAME FROM TO: the blacklist has the section between two markers, if that is not empty.
area()
{
	local from to

	from=$(symbol_address "$2")
	to=$(symbol_address "$3")
	if [ -z "$from" ] || [ "$from" = "$to" ]; then
		skip "blacklist: $1" "it is empty in this kernel"
	else
		yes "blacklist: $1" covers "0x$from" "0x$to"
	fi
}

# module_ranges: names of the ranges in kp_test.
module_ranges()
{
	sed -n 's|.*	\(.*\) \[kp_test\]$|\1|p' "$KPROBES/blacklist" | sed -E 's,^__(pfx|cfi)_,,' | sort -u
}

matches "blacklist: two addresses, a tab and a symbol a line" \
	"$(cat "$KPROBES/blacklist")" \
	'^0x[0-9a-f]{8,16}-0x[0-9a-f]{8,16}	[A-Za-z0-9_.]+( \[[a-z0-9_]+\])?$'
is "blacklist: cannot be written" "$(stat -c %a "$KPROBES/blacklist")" 400
yes "blacklist: sorted by address" \
	sh -c "cut -d- -f1 $KPROBES/blacklist | LC_ALL=C sort -c"
is "blacklist: no range is empty" \
	"$(tr '\t-' '  ' <"$KPROBES/blacklist" | awk '$1 "" >= $2 ""')" ""
area "the entry text" __entry_text_start __entry_text_end
area "the noinstr text" __noinstr_text_start __noinstr_text_end
area "the section .kprobes.text" __kprobes_text_start __kprobes_text_end
yes "blacklist: each function of the noinstr text" [ -n "$(range sched_clock_noinstr)" ]
yes "blacklist: a function marked with NOKPROBE_SYMBOL" \
	[ -n "$(range notify_die)" ]
same "blacklist: the ranges of a module" "$(module_ranges)" <<'END'
kp_test_noinstr
kp_test_nokprobe
kp_test_section
END
is "blacklist: functions that may be probed are not there" \
	"$(grep -cE '	(kp_test_plain|do_sys_openat2)' "$KPROBES/blacklist")" 0

# --- visibility of addresses ---

zeros=$(symbol_address kp_test_plain | tr '0-9a-f' '0')
set_knob /proc/sys/kernel/kptr_restrict 2
is "list: addresses are hidden where kallsyms hides them" \
	"$(awk '{ print $1 }' "$KPROBES/list" | sort -u)" "$zeros"
same "list: and nothing else is" "$(list)" <<END
ADDR  k  kp_test_other+0x0  kp_test [DISABLED]|
ADDR  k  kp_test_other+0x0  kp_test |
ADDR  k  kp_test_plain+0x0  kp_test |
ADDR  k  kp_test_traced+0x$ENTRY  kp_test $ON_FTRACE|
END
is "blacklist: addresses are hidden where kallsyms hides them" \
	"$(cut -f1 "$KPROBES/blacklist" | sort -u)" "0x$zeros-0x$zeros"
same "blacklist: and the symbols are not" "$(module_ranges)" <<'END'
kp_test_noinstr
kp_test_nokprobe
kp_test_section
END
restore_knobs

# --- without the module ---

unload kp_test
is "list: a module's probes go with it" "$(list | grep kp_test)" ""
is "blacklist: a module's ranges go with it" "$(module_ranges)" ""

finish
