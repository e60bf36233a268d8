#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Jump optimization as users see it: states, reasons, the mark in the list, the sysctl.
# A jump appears a moment after the registration; it is removed before the command that
# removes it returns.

. "$(dirname "$0")/functions.sh"

begin
[ -w "$KNOB" ] || skip_all "no probe becomes a jump in this kernel"
set_knob "$KNOB" 1
load kp_test
load kp_oops
trace_begin

# state SYMBOL: the state of the point there, and the reason.
state()
{
	optimization "$1" | sed 's/ *$//'
}

# becomes SYMBOL STATE
becomes()
{
	wait_until 20 sh -c "grep -q '  $1/.*  $2' '$KPROBES/optimization'"
}

# --- modules that are too far away ---

# Some kernels load modules further away than a jump reaches.  Probes in these modules stay
# breakpoints and show the reason.  All following checks are about probes in a module.
kp add a symbol=kp_test_plain >/dev/null
if [ "$(state kp_test_plain+0x0)" = "breakpoint  a branch does not reach that far" ]; then
	is "in a module that is too far: it fires" "$(gains a kp call plain)" 1
	kp add kernel symbol=do_sys_openat2 >/dev/null
	yes "in the kernel: a jump" becomes "do_sys_openat2+0x$ENTRY" jump
	matches "and it fires" "$(gains kernel cat /dev/null)" '^[1-9]'
	skip "jumps in modules" "modules are too far from the kernel's detours"
	kp del a >/dev/null
	kp del kernel >/dev/null
	trace_end
	finish
fi
kp del a >/dev/null
transcript >/dev/null

# --- a probe alone ---

kp add a symbol=kp_test_plain >/dev/null
yes "a probe becomes a jump" becomes kp_test_plain+0x0 jump
is "and shows no reason" "$(state kp_test_plain+0x0)" jump
same "and the list marks it" "$(list)" <<'END'
ADDR  k  kp_test_plain+0x0  kp_test [OPTIMIZED]|
END
is "the probe fires" "$(gains a kp call plain)" 1
kp disable a >/dev/null
is "disabled: the probe does not fire" "$(gains a kp call plain)" 0
same "disabled: no mark" "$(list)" <<'END'
ADDR  k  kp_test_plain+0x0  kp_test [DISABLED]|
END
kp enable a >/dev/null
yes "enabled: a jump again" becomes kp_test_plain+0x0 jump
is "the probe fires again" "$(gains a kp call plain)" 1
kp del a >/dev/null
same "through the breakpoint, both ways" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> jump
state kp_test_plain+0x0 [kp_test] jump -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> jump
state kp_test_plain+0x0 [kp_test] jump -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END

# --- post handlers, return probes and jprobes ---

kp add a symbol=kp_test_plain post >/dev/null
kp add b symbol=kp_test_plain return >/dev/null
yes "with a post_handler and a return probe it is a jump too" becomes kp_test_plain+0x0 jump
kp call plain >/dev/null
is "and all probes fire" "$(hits a) $(count a after) $(hits b) $(count b after)" "1 1 1 1"
kp del a >/dev/null
kp del b >/dev/null
transcript >/dev/null

# --- a function with two names ---

load kp_target
if grep -q ' kp_target_aliased' /proc/kallsyms; then
	kp add a symbol=kp_target_aliased >/dev/null
	yes "a branch from the cold part of another name is found" \
		becomes kp_target_aliased+0x0 "breakpoint  a branch into the region"
	kp del a >/dev/null
else
	skip "a branch from the cold part of another name is found" \
		"the module has no such function here"
fi
unload kp_target
transcript >/dev/null

# --- a neighbour ---

kp add a symbol=kp_oops_load >/dev/null
if [ "$JUMP_SIZE" -gt "$LOAD_AT" ]; then
	yes "two instructions are covered" becomes kp_oops_load+0x0 jump
	kp add b symbol=kp_oops_load offset=$LOAD_AT >/dev/null
	is "a probe on the second: the breakpoint is back" "$(state kp_oops_load+0x0)" \
		"breakpoint  another probe in the region"
	kp del b >/dev/null
	yes "it is unregistered: a jump again" becomes kp_oops_load+0x0 jump
else
	yes "one instruction is covered" becomes kp_oops_load+0x0 jump
	kp add b symbol=kp_oops_load offset=$LOAD_AT >/dev/null
	yes "a probe on the next is a jump, too" becomes kp_oops_load+0x$LOAD_AT jump
	is "and the first one still is a jump" "$(state kp_oops_load+0x0)" jump
	kp del b >/dev/null
fi
kp del a >/dev/null
transcript >/dev/null

# --- the sysctl ---

kp add a symbol=kp_test_plain >/dev/null
kp add b symbol=kp_oops_load >/dev/null
yes "on: a jump" becomes kp_test_plain+0x0 jump
yes "on: another jump" becomes kp_oops_load+0x0 jump
transcript >/dev/null
echo 0 >"$KNOB"
is "off: breakpoints, at once" "$(state kp_test_plain+0x0), $(state kp_oops_load+0x0)" \
	"breakpoint  switched off, breakpoint  switched off"
is "off: probes fire" "$(gains a kp call plain)" 1
kp add c symbol=kp_test_other >/dev/null
sleep 0.5
is "off: a new one stays a breakpoint" "$(state kp_test_other+0x0)" "breakpoint  switched off"
echo 1 >"$KNOB"
for symbol in kp_test_plain kp_oops_load kp_test_other; do
	yes "on: $symbol is a jump" becomes "$symbol+0x0" jump
done
is "on: probes fire" "$(gains a kp call plain)" 1

# --- all probes off and on ---

echo 0 >"$KPROBES/enabled"
is "enabled 0: no jump is left" "$(grep -c '  jump' "$KPROBES/optimization")" 0
is "enabled 0: probes do not fire" "$(gains a kp call plain)" 0
echo 1 >"$KPROBES/enabled"
yes "enabled 1: a jump again" becomes kp_test_plain+0x0 jump
is "enabled 1: probes fire" "$(gains a kp call plain)" 1

# --- symbols of detours, and visibility of addresses ---

matches "detours have a symbol" "$(grep kprobe_optinsn_page /proc/kallsyms)" \
	'^[0-9a-f]+ t kprobe_optinsn_page	\[__builtin__kprobes\]$'
set_knob /proc/sys/kernel/kptr_restrict 2
is "addresses can be hidden" \
	"$(cut -d' ' -f1 "$KPROBES/optimization" | sort -u | tr -d 0)" ""
restore_knobs

finish
