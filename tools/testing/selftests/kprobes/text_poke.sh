#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Profilers that decode instructions follow the kernel's text by perf's records of
# its changes: a breakpoint that is written and removed, and a copy in a slot.

. "$(dirname "$0")/functions.sh"

begin
[ "$(uname -m)" != aarch64 ] || skip_all "on arm64 perf has no records of text"
[ -x "$HERE/text_poke" ] || skip_all "text_poke has not been built"
no_jumps
load kp_test

records=$("$HERE/text_poke" "$KP_TEST/control" \
	"add p symbol=kp_test_plain" "disable p" "enable p" "del p" 2>&1)
status=$?
[ "$status" -ne 4 ] || skip_all "this kernel's perf has no records of text"
is "the helper has run to its end" "$status" 0
note "$records"

address=$(symbol_address kp_test_plain | sed 's/^0*//')

# at_site: the records about the probed address, and the commands.
at_site()
{
	printf '%s\n' "$records" | grep -E "^(wrote|text_poke $address )" |
		sed "s/ $address / SITE /"
}

# The instruction is "mov \$42, %eax", b8 2a 00 00 00.
same "the breakpoint, each time it is written and removed" "$(at_site)" <<'END'
wrote add p symbol=kp_test_plain
text_poke SITE old b8 new cc
wrote disable p
text_poke SITE old cc new b8
wrote enable p
text_poke SITE old b8 new cc
wrote del p
text_poke SITE old cc new b8
END

slot=$(printf '%s\n' "$records" | sed -nE 's/^text_poke ([0-9a-f]+) old - new b82a000000e9.*/\1/p')
matches "the copy: the instruction, and a jump after it" "$slot" '^[0-9a-f]+$'
matches "the copy: traps fill the rest" \
	"$(printf '%s\n' "$records" | grep 'new b82a000000e9')" \
	'^text_poke [0-9a-f]+ old - new b82a000000e9[0-9a-f]{8}(cc)+$'
page=$(printf '%s' "$slot" | sed 's/...$//')
yes "the copy: its page is in /proc/kallsyms" \
	grep -qE "^0*${page}000 t kprobe_insn_page	\[__builtin__kprobes\]\$" /proc/kallsyms

# The optimizer writes the jump a moment later.
if [ ! -w "$KNOB" ]; then
	skip "a jump is written and removed" "this architecture has no jumps"
else
	echo 1 >"$KNOB"
	records=$("$HERE/text_poke" "$KP_TEST/control" \
		"add p symbol=kp_test_plain" "wait kp_test_plain+0x0  kp_test [OPTIMIZED]" \
		"del p" 2>&1)
	same "a jump is written and removed" \
		"$(at_site | sed -E 's/e9[0-9a-f]{8}/e9 TO/')" <<'END'
wrote add p symbol=kp_test_plain
text_poke SITE old b8 new cc
text_poke SITE old cc2a000000 new e9 TO
wrote del p
text_poke SITE old e9 TO new cc2a000000
text_poke SITE old cc new b8
END
	# At its end: no other instruction, the end of the copy, and lengths of the region.
	matches "the detour: its representative, a call, the flags, and the instruction" \
		"$(printf '%s\n' "$records" |
			grep -E 'old - new [0-9a-f]+e8[0-9a-f]{8}(9d)?b82a000000e9')" \
		'(cc)+0{16}0525$'
	echo 0 >"$KNOB"
fi

# A new page of slots is announced.  Register more probes than one page has room for,
# after the entry's instructions; if no instruction begins at an offset, the probe is
# refused, which does not matter.
set --
for symbol in $(awk '$2 ~ /[tT]/ && $3 ~ /^(do|sys|vfs|ksys|fs)_/ && NF == 3 { print $3 }' \
		/proc/kallsyms | sort | uniq -u | head -n 500); do
	set -- "$@" "add p$# symbol=$symbol offset=$((ENTRY + 5)) disabled"
done
records=$("$HERE/text_poke" "$KP_TEST/control" "$@")
is "many more: the helper has run to its end" $? 0
note "$(printf '%s\n' "$records" | grep -c '^wrote') more probes"
matches "a new page of slots is announced" \
	"$(printf '%s\n' "$records" | grep '^ksymbol')" \
	'^ksymbol [1-9a-f][0-9a-f]*000 4096 register ool kprobe_insn_page$'
is "and /proc/kallsyms has it" \
	"$(printf '%s\n' "$records" | awk '/^ksymbol/ { print $2 }' | while read -r page; do
		grep -E "^0*$page t kprobe_insn_page	" /proc/kallsyms
	done | wc -l)" "$(printf '%s\n' "$records" | grep -c '^ksymbol')"

finish
