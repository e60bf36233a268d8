#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The states of a probepoint, from its first registration to its end, in the
# tracepoint kprobe_core:kprobe_state.  Complete transcripts are compared, so an
# additional transition is as wrong as a missing one.

. "$(dirname "$0")/functions.sh"

begin
no_jumps
load kp_test
trace_begin

# --- one probe ---

kp add a symbol=kp_test_plain >/dev/null
kp call plain >/dev/null
kp disable a >/dev/null
kp enable a >/dev/null
kp del a >/dev/null
same "breakpoint: register, hit, disable, enable, unregister" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END

kp add a symbol=kp_test_traced >/dev/null
kp call traced >/dev/null
kp disable a >/dev/null
kp enable a >/dev/null
kp del a >/dev/null
same "ftrace: register, hit, disable, enable, unregister" "$(transcript)" <<END
state kp_test_traced+0x$ENTRY [kp_test] disarmed -> $BY_FTRACE
state kp_test_traced+0x$ENTRY [kp_test] $BY_FTRACE -> disarmed
state kp_test_traced+0x$ENTRY [kp_test] disarmed -> $BY_FTRACE
state kp_test_traced+0x$ENTRY [kp_test] $BY_FTRACE -> disarmed
END

kp add a symbol=kp_test_plain offset=$PLAIN_RETURN >/dev/null
kp call plain >/dev/null
kp del a >/dev/null
same "an instruction inside a function" "$(transcript)" <<END
state kp_test_plain+0x$PLAIN_RETURN [kp_test] disarmed -> breakpoint
state kp_test_plain+0x$PLAIN_RETURN [kp_test] breakpoint -> disarmed
END

kp add a symbol=kp_test_plain post >/dev/null
kp add b symbol=kp_test_plain return >/dev/null
kp call plain >/dev/null
is "both kinds and the post_handler have fired" \
	"$(hits a) $(count a after) $(hits b) $(count b after)" "1 1 1 1"
kp del a >/dev/null
kp del b >/dev/null
same "a return probe and a post_handler are no transitions of their own" \
	"$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END

# --- registered disabled ---

kp add a symbol=kp_test_plain disabled >/dev/null
is "registered disabled: no transition" "$(transcript)" ""
is "registered disabled: no hit" "$(gains a kp call plain)" 0
kp enable a >/dev/null
kp enable a >/dev/null
same "enabling twice is one transition" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
END
is "enabled: a hit" "$(gains a kp call plain)" 1
kp disable a >/dev/null
kp disable a >/dev/null
same "disabling twice is one transition" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END
kp del a >/dev/null
is "unregistering a disabled probe: no transition" "$(transcript)" ""

# --- several probes at one address ---

kp add a symbol=kp_test_plain >/dev/null
transcript >/dev/null
kp add b symbol=kp_test_plain >/dev/null
kp add c symbol=kp_test_plain disabled >/dev/null
is "more probes at the address: no transition" "$(transcript)" ""
kp call plain >/dev/null
is "those that are enabled have fired" "$(hits a) $(hits b) $(hits c)" "1 1 0"
kp disable a >/dev/null
kp del a >/dev/null
is "one is unregistered, another needs the breakpoint: no transition" "$(transcript)" ""
kp call plain >/dev/null
is "and that one still fires" "$(hits b) $(hits c)" "2 0"
kp disable b >/dev/null
same "the last that was enabled is disabled" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END
kp enable c >/dev/null
same "another one is enabled" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
END
kp del c >/dev/null
same "the last enabled one is unregistered, a disabled one stays" "$(transcript)" <<'END'
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
END
kp del b >/dev/null
is "the disabled one is unregistered" "$(transcript)" ""

# --- the global switch ---

kp add a symbol=kp_test_plain >/dev/null
kp add b symbol=kp_test_traced >/dev/null
kp add c symbol=kp_test_other disabled >/dev/null
transcript >/dev/null
set_knob "$KPROBES/enabled" 0
same "off: all that are armed" "$(transcript | sort)" <<END
state kp_test_plain+0x0 [kp_test] breakpoint -> disarmed
state kp_test_traced+0x$ENTRY [kp_test] $BY_FTRACE -> disarmed
END
set_knob "$KPROBES/enabled" 0
is "off twice: nothing more" "$(transcript)" ""
kp add d symbol=kp_test_plain offset=$PLAIN_RETURN >/dev/null
kp enable c >/dev/null
kp disable b >/dev/null
is "off: register, enable, disable are no transitions" "$(transcript)" ""
set_knob "$KPROBES/enabled" 1
same "on: all that are wanted by now" "$(transcript | sort)" <<END
state kp_test_other+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x0 [kp_test] disarmed -> breakpoint
state kp_test_plain+0x$PLAIN_RETURN [kp_test] disarmed -> breakpoint
END
set_knob "$KPROBES/enabled" 0
transcript >/dev/null
for name in a b c d; do
	kp del $name >/dev/null
done
set_knob "$KPROBES/enabled" 1
is "off: unregistering is no transition, and on finds nothing" "$(transcript)" ""

# --- a module is unloaded ---

load kp_target
kp add a symbol=kp_target_plain >/dev/null
kp add b symbol=kp_target_traced >/dev/null
kp add c symbol=kp_target_plain offset=$PLAIN_RETURN disabled >/dev/null
same "probes in a module" "$(transcript)" <<END
state kp_target_plain+0x0 [kp_target] disarmed -> breakpoint
state kp_target_traced+0x$ENTRY [kp_target] disarmed -> $BY_FTRACE
END
unload kp_target
is "the module is unloaded: addresses without a symbol, and through disarmed" \
	"$(transcript | sort)" "$(sort <<END
state ADDR breakpoint -> disarmed
state ADDR $BY_FTRACE -> disarmed
state ADDR disarmed -> gone
state ADDR disarmed -> gone
state ADDR disarmed -> gone
END
)"
kp disable a >/dev/null
kp enable a >/dev/null
for name in a b c; do
	kp del $name >/dev/null
done
is "gone points have no transitions any more" "$(transcript)" ""

finish
