#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Registrations that must be refused: check the errno that the caller gets, and the
# text of the reason in the tracepoint kprobe_core:kprobe_refused.

. "$(dirname "$0")/functions.sh"

# Functions of the entry text and of the noinstr text, a function in which return probes
# cannot work, the offset of ftrace's instruction, if that cannot be probed, and the reason
# for the instruction of kp_test_refused.
case $(uname -m) in
aarch64)
	ENTRY_SYMBOL=el1h_64_sync NOINSTR_SYMBOL=el1h_64_sync_handler
	NO_RETURN_SYMBOL='' FTRACE_CALL=4
	INSN='returns from an exception'
	;;
*)
	ENTRY_SYMBOL=asm_exc_int3 NOINSTR_SYMBOL=exc_int3
	NO_RETURN_SYMBOL=__switch_to FTRACE_CALL=''
	INSN='holds back the trap that follows it'
	;;
esac

begin
no_jumps
load kp_test
trace_begin
before=$(list)

# refused NAME ERRNO TEXT WORD...: adding that probe fails with that errno and text.  Offsets
# that depend on the compiler are +OFF in TEXT.
refused()
{
	local name="$1" errno="$2" text="$3" got

	shift 3
	got="$(kp add bad "$@")
$(transcript)"
	case $text in
	*+OFF*)	got=$(printf '%s' "$got" | sed -E 's/\+0x[0-9a-f]+/+OFF/') ;;
	esac
	is "$name" "$got" "$errno
refused $text"
}

refused "neither symbol nor address" EINVAL \
	"0x0: neither symbol nor address given (-22)" offset=4
refused "symbol and address" EINVAL \
	"kp_test_plain+0x0 [kp_test]: both symbol and address given (-22)" \
	symbol=kp_test_plain "addr=0x$(symbol_address kp_test_plain)"
refused "no such symbol" ENOENT \
	"0x0: symbol not found (-2)" symbol=kp_test_is_not_there
refused "no such symbol in a module" ENOENT \
	"0x0: symbol not found (-2)" symbol=kp_test:do_sys_openat2
refused "no such module" ENOENT \
	"0x0: symbol not found (-2)" symbol=kp_target:kp_target_plain
refused "an address that is not mapped" EINVAL \
	"ADDR: not in kernel or module text (-22)" addr=0x12345678
refused "the kernel's data" EINVAL \
	"panic_timeout+0x0: not in kernel or module text (-22)" \
	"addr=0x$(symbol_address panic_timeout)"
refused "a module's data" EINVAL \
	"test_data+0x0 [kp_test]: not in kernel or module text (-22)" \
	"addr=$(site data)"

refused "the entry text" EINVAL \
	"$ENTRY_SYMBOL+0x0: blacklisted (-22)" symbol=$ENTRY_SYMBOL
refused "the noinstr text" EINVAL \
	"$NOINSTR_SYMBOL+0x$ENTRY: blacklisted (-22)" symbol=$NOINSTR_SYMBOL
refused "the kernel's NOKPROBE_SYMBOL" EINVAL \
	"notify_die+0x$ENTRY: blacklisted (-22)" symbol=notify_die
refused "a module's NOKPROBE_SYMBOL" EINVAL \
	"kp_test_nokprobe+0x$ENTRY [kp_test]: blacklisted (-22)" symbol=kp_test_nokprobe
refused "a module's .kprobes.text" EINVAL \
	"kp_test_section+0x$ENTRY [kp_test]: blacklisted (-22)" symbol=kp_test_section
refused "a module's noinstr text" EINVAL \
	"kp_test_noinstr+0x$ENTRY [kp_test]: blacklisted (-22)" symbol=kp_test_noinstr

for offset in $(seq $((PLAIN_RETURN - 1))); do
	refused "inside an instruction, byte $offset" EILSEQ \
		"kp_test_plain+0x$offset [kp_test]: not on an instruction boundary (-84)" \
		symbol=kp_test_plain "offset=$offset"
done
refused "inside ftrace's instruction" EILSEQ \
	"kp_test_traced+0x1 [kp_test]: not on an instruction boundary (-84)" \
	symbol=kp_test_traced offset=1
if [ -n "$FTRACE_CALL" ]; then
	refused "ftrace's instruction, where no probe is left to ftrace" EINVAL \
		"kp_test_traced+0x$((ENTRY + FTRACE_CALL)) [kp_test]: reserved for ftrace (-22)" \
		symbol=kp_test_traced "offset=$((ENTRY + FTRACE_CALL))"
fi
refused "an instruction that cannot be probed" EINVAL \
	"kp_test_refused+0x0 [kp_test]: the instruction cannot be probed: $INSN (-22)" \
	symbol=kp_test_refused

if [ "$(site jump_label)" = 0x0 ]; then
	skip "a jump label" "this kernel has none"
else
	refused "a jump label" EINVAL \
		"kp_test_branch+OFF [kp_test]: reserved for a jump label (-22)" \
		"addr=$(site jump_label)"
fi
# oops.sh tests probes on WARN(), if they are allowed.
if [ "$(site warn)" != 0x0 ]; then
	got="$(kp add bad "addr=$(site warn)") $(transcript)"
	matches "a WARN" "$got" \
		'^EINVAL refused [a-z_.]+\+0x[0-9a-f]+ \[kp_test\]: reserved for the bug table \(-22\)$'
fi

refused "a return probe not on an entry" EINVAL \
	"kp_test_plain+0x$PLAIN_RETURN [kp_test]: not a function's entry (-22)" \
	symbol=kp_test_plain offset=$PLAIN_RETURN return
if [ -z "$NO_RETURN_SYMBOL" ]; then
	skip "a return probe where none can work" "return probes work everywhere"
else
	refused "a return probe where none can work" EINVAL \
		"$NO_RETURN_SYMBOL+0x0: return probes cannot work there (-22)" \
		symbol=$NO_RETURN_SYMBOL return
fi
refused "too much data for a return probe" E2BIG \
	"kp_test_plain+0x0 [kp_test]: data_size too large (-7)" \
	symbol=kp_test_plain return data_size=4097

is "no refused probe is in the list" "$(list)" "$before"

# --- the same struct twice ---

is "a good one" "$(kp add good symbol=kp_test_plain)" ok
transcript >/dev/null
is "the same struct again" "$(kp again good)
$(transcript)" "EINVAL
refused kp_test_plain+0x0 [kp_test]: already registered (-22)"
is "it is registered once, and fires" "$(list | grep -c kp_test) $(gains good kp call plain)" \
	"1 1"
kp del good >/dev/null
transcript >/dev/null

is "a good return probe" "$(kp add good symbol=kp_test_plain return data_size=4096)" ok
transcript >/dev/null
is "the same return probe again" "$(kp again good)
$(transcript)" "EINVAL
refused kp_test_plain+0x0 [kp_test]: already registered (-22)"
is "it is registered once, and fires at entry and return" \
	"$(list | grep -c kp_test) $(gains good kp call plain) $(count good after)" "1 1 1"
kp del good >/dev/null

is "the list is as before" "$(list)" "$before"

finish
