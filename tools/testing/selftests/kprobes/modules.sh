#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes in the text of a module that is loaded and unloaded.

. "$(dirname "$0")/functions.sh"

begin
no_jumps
load kp_test

# --- not loaded ---

is "by symbol, the module is not loaded" "$(kp add a symbol=kp_target_plain)" ENOENT
is "by module and symbol, the module is not loaded" \
	"$(kp add a symbol=kp_target:kp_target_plain)" ENOENT

# --- init text ---

kp add setup symbol=kp_target_setup when=kp_target >/dev/null
kp add traced symbol=kp_target_setup_traced when=kp_target >/dev/null
kp add return symbol=kp_target:kp_target_setup when=kp_target return >/dev/null
kp add core symbol=kp_target_plain when=kp_target >/dev/null
kp add never symbol=kp_target_nokprobe when=kp_target >/dev/null
kp add nor symbol=kp_target_section when=kp_target >/dev/null
kp add trampoline symbol=__SCT__kp_target_static when=kp_target >/dev/null
kp add first label when=kp_target >/dev/null
load kp_target
# Only architectures with static calls have trampolines.
if grep -q ' __SCT__kp_target_static' /proc/kallsyms; then
	trampoline="-22 EINVAL"
else
	trampoline="-2 ENOENT"
fi
is "init text: registered while the module was coming" \
	"$(count setup result) $(count traced result) $(count return result) $(count core result)" \
	"0 0 0 0"
is "text that must not be probed: refused while the module was coming" \
	"$(count never result) $(count nor result)" "-22 -22"
kp del never >/dev/null
kp del nor >/dev/null
if [ "$(count first result)" = -61 ]; then
	skip "a jump label: refused while the module was coming" "no jump labels"
else
	is "a jump label: refused while the module was coming" "$(count first result)" -22
fi
kp del first >/dev/null
is "and the function with the label works" "$(call_target branch)" ok
is "a static call's trampoline: refused while the module was coming, and afterwards" \
	"$(count trampoline result) $(kp add late symbol=__SCT__kp_target_static)" "$trampoline"
kp del trampoline >/dev/null
# A kernel that accepts this probe would find its breakpoint where it updates the call, and die.
kp del late >/dev/null
is "and the static call can be updated" "$(call_target static)" ok
is "init text: hit once, at a breakpoint and by ftrace" "$(hits setup) $(hits traced)" "1 1"
is "init text: a return probe, too" "$(hits return) $(count return after)" "1 1"
same "init text: gone when the module is live, its other text is not" "$(list)" <<END
ADDR  k  kp_target_plain+0x0  kp_target |
ADDR  k  kp_target_setup+0x0  [GONE]|
ADDR  k  kp_target_setup_traced+0x0  [GONE]$ON_FTRACE|
ADDR  r  kp_target:kp_target_setup+0x0  [GONE]|
END
is "init text: a gone probe cannot be enabled" "$(kp enable setup)" EINVAL
is "init text: registering afterwards, by symbol" "$(kp add late symbol=kp_target_setup)" \
	ENOENT
for name in setup traced return; do
	is "init text: $name can be unregistered" "$(kp del $name)" ok
done
is "and a probe in the other text, which came with them, fires" \
	"$(gains core call_target plain)" 1
is "that probe can be unregistered" "$(kp del core)" ok
is "the list is empty" "$(list)" ""

# --- the module's text ---

kp add plain symbol=kp_target_plain >/dev/null
kp add inside symbol=kp_target:kp_target_plain offset=$PLAIN_RETURN post >/dev/null
kp add traced symbol=kp_target_traced >/dev/null
kp add return symbol=kp_target_traced return >/dev/null
kp add off symbol=kp_target_plain disabled >/dev/null
same "text: listed with the module's name" "$(list)" <<END
ADDR  k  kp_target_plain+0x0  kp_target [DISABLED]|
ADDR  k  kp_target_plain+0x0  kp_target |
ADDR  k  kp_target_plain+0x$PLAIN_RETURN  kp_target |
ADDR  k  kp_target_traced+0x$ENTRY  kp_target $ON_FTRACE|
ADDR  r  kp_target_traced+0x$ENTRY  kp_target $ON_FTRACE|
END
is "text: the module is not pinned by its probes" "$(cat /sys/module/kp_target/refcnt)" 0
is "text: a call of a probed function" "$(call_target plain)" ok
is "text: a call of a function that ftrace owns" "$(call_target traced)" ok

# counters: hits, returns and misses of all five probes.
counters()
{
	local name

	for name in plain inside traced return off; do
		echo "$name $(hits $name) $(count $name after) $(count $name nmissed)"
	done
}
same "text: hits" "$(counters)" <<'END'
plain 1 0 0
inside 1 1 0
traced 1 0 0
return 1 1 0
off 0 0 0
END

is "a module's NOKPROBE_SYMBOL is refused" "$(kp add bad symbol=kp_target_nokprobe)" EINVAL
is "a module's .kprobes.text is refused" "$(kp add bad symbol=kp_target_section)" EINVAL
is "and both functions still work" "$(call_target nokprobe) $(call_target section)" "ok ok"

# --- it is unloaded while it is probed ---

old=0x$(symbol_address kp_target_plain)
unload kp_target
same "unloaded: gone" "$(list)" <<END
ADDR  k  kp_target:kp_target_plain+0x$PLAIN_RETURN  [GONE]|
ADDR  k  kp_target_plain+0x0  [GONE][DISABLED]|
ADDR  k  kp_target_plain+0x0  [GONE]|
ADDR  k  kp_target_traced+0x0  [GONE]$ON_FTRACE|
ADDR  r  kp_target_traced+0x0  [GONE]$ON_FTRACE|
END
is "unloaded: the address is no text any more" "$(kp add late "addr=$old")" EINVAL
is "unloaded: a gone probe cannot be enabled" "$(kp enable off)" EINVAL
is "unloaded: nor registered again" "$(kp again plain)" EINVAL

load kp_target
same_place=$([ "0x$(symbol_address kp_target_plain)" = "$old" ] && echo "the same address" ||
	echo "another address")
note "the module is back, at $same_place"
call_target plain >/dev/null
call_target traced >/dev/null
same "loaded again: gone probes do not fire" "$(counters)" <<'END'
plain 1 0 0
inside 1 1 0
traced 1 0 0
return 1 1 0
off 0 0 0
END
is "loaded again: new probes at the same places" \
	"$(kp add new symbol=kp_target_plain) $(kp add newtraced symbol=kp_target_traced)" "ok ok"
is "loaded again: and they fire" \
	"$(gains new call_target plain) $(gains newtraced call_target traced)" "1 1"
same "loaded again: both generations in the list" "$(list)" <<END
ADDR  k  kp_target:kp_target_plain+0x$PLAIN_RETURN  [GONE]|
ADDR  k  kp_target_plain+0x0  [GONE][DISABLED]|
ADDR  k  kp_target_plain+0x0  [GONE]|
ADDR  k  kp_target_plain+0x0  kp_target |
ADDR  k  kp_target_traced+0x0  [GONE]$ON_FTRACE|
ADDR  k  kp_target_traced+0x$ENTRY  kp_target $ON_FTRACE|
ADDR  r  kp_target_traced+0x0  [GONE]$ON_FTRACE|
END
set_knob "$KPROBES/enabled" 0
set_knob "$KPROBES/enabled" 1
is "the global switch does not change gone probes" \
	"$(gains new call_target plain) $(gains plain call_target plain)" "1 0"

for name in plain inside traced return off; do
	is "$name: a gone probe can be unregistered" "$(kp del $name)" ok
done
is "the new probes still fire" \
	"$(gains new call_target plain) $(gains newtraced call_target traced)" "1 1"
same "and are all that is left" "$(list)" <<END
ADDR  k  kp_target_plain+0x0  kp_target |
ADDR  k  kp_target_traced+0x$ENTRY  kp_target $ON_FTRACE|
END
kp del new >/dev/null
kp del newtraced >/dev/null
unload kp_target

# --- two modules in turn ---

# alternate: register a probe in one module, then in the other, three times.
alternate()
{
	local module

	for module in target test target test target test; do
		kp add turn "symbol=kp_${module}_plain"
		kp del turn
	done
}

# The addresses that must not be probed are collected under this lock, twice for a module, and
# again after any module has come or gone.
load kp_target
if [ -n "$(symbol_address jump_label_lock)" ]; then
	kp add lock symbol=jump_label_lock >/dev/null
	between "two modules in turn: their tables are read once" "$(gains lock alternate)" 2 8
	kp del lock >/dev/null
else
	skip "two modules in turn: their tables are read once" "no jump labels"
fi
is "two modules in turn: all probes are accepted" "$(alternate | uniq)" ok
unload kp_target

# --- it is going ---

load kp_target
kp add leaving symbol=kp_target_plain leaving=kp_target >/dev/null
kp add traced symbol=kp_target_traced leaving=kp_target >/dev/null
kp add return symbol=kp_target_plain return leaving=kp_target >/dev/null
unload kp_target
is "a module that is going: refused" \
	"$(count leaving result) $(count traced result) $(count return result)" "-2 -2 -2"
for name in leaving traced return; do
	kp del $name >/dev/null
done

# --- its load fails ---

kp add early symbol=kp_target_plain when=kp_target >/dev/null
kp add late symbol=kp_target_traced leaving=kp_target >/dev/null
printf kp_target >/sys/module/kp_test/parameters/veto
is "a load fails after the module was probed" \
	"$(insmod "$HERE/test_modules/kp_target.ko" 2>/dev/null; echo $?)" 1
echo >/sys/module/kp_test/parameters/veto
is "a load fails: the probe was registered, and is gone" "$(count early result) $(list | tr -s " ")" \
	"0 ADDR k kp_target_plain+0x0 [GONE]|"
is "a load fails: no registration after our last notification" "$(count late result)" -2
kp del early >/dev/null
kp del late >/dev/null

# --- many times, probed all the time ---

# generations N: load, probe, call and unload N times; the probes stay until the end.
generations()
{
	local i=0

	while [ "$i" -lt "$1" ]; do
		i=$((i + 1))
		insmod "$HERE/test_modules/kp_target.ko" || return
		kp add "g$i" symbol=kp_target_plain >/dev/null
		call_target plain >/dev/null
		rmmod kp_target || return
	done
}
generations 20
is "20 generations: each probe has fired once" \
	"$(awk '/^g/ { print $2 }' "$KP_TEST/probes" | sort | uniq -c | tr -s ' ')" " 20 1"
is "20 generations: all are gone" "$(list | uniq -c | tr -s ' ')" \
	" 20 ADDR k kp_target_plain+0x0 [GONE]|"

# --- the module with the handlers is unloaded ---

kp add plain symbol=kp_test_plain >/dev/null
kp add kernel symbol=do_sys_openat2 >/dev/null
unload kp_test
is "the handlers' module is unloaded: all of its probes are unregistered, gone ones, too" \
	"$(list)" ""

finish
