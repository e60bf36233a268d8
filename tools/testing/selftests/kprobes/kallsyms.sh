#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# /proc/kallsyms names the pages in which copied instructions are executed.

. "$(dirname "$0")/functions.sh"

begin
no_jumps
load kp_test

pages()
{
	grep '\[__builtin__kprobes\]' /proc/kallsyms
}

# copies: the number of pages with copies of instructions; the others have detours.
copies()
{
	pages | grep -c ' kprobe_insn_page	'
}

zeros=$(symbol_address kp_test_plain | tr '0-9a-f' '0')

kp add plain symbol=kp_test_plain >/dev/null
matches "a line for each page while a copied instruction is in use" "$(pages)" \
	'^[0-9a-f]+ t kprobe_(opt)?insn_page	\[__builtin__kprobes\]$'
is "the address is that of a page, and is not hidden from root" \
	"$(pages | sed 's/ .*//' | grep -cv '[1-9a-f].*000$')" 0

# More copies than one page has room for, and not at the entries of functions, which ftrace
# may own.  If no instruction begins at an offset, the command is refused, which does not
# matter.  The shell's own echo is fast, and the error is not needed.
before=$(copies)
between "pages of copies while a copied instruction is in use" "$before" 1 1000
n=0
for symbol in $(awk '$2 ~ /[tT]/ && $3 ~ /^(do|sys|vfs|ksys|fs)_/ && NF == 3 { print $3 }' \
		/proc/kallsyms | sort | uniq -u | head -n 500); do
	for offset in $PLACES; do
		n=$((n + 1))
		echo "add m$n symbol=$symbol offset=$offset disabled" >"$KP_TEST/control"
	done
done 2>/dev/null
registered=$(list | grep -c 'DISABLED')
many=$(copies)
note "$registered probes in addition, $before pages of copies before, $many with them"
page_kb=$(awk '/^KernelPageSize/ { print $2; exit }' /proc/self/smaps 2>/dev/null)
if [ "${page_kb:-4}" -gt 4 ]; then
	skip "more pages for more copies" "one page of $page_kb KiB has room for all of them"
else
	yes "more pages for more copies" [ "$many" -gt "$before" ]
fi
is "no page twice" "$(pages | sort | uniq -d)" ""

set_knob /proc/sys/kernel/kptr_restrict 2
is "addresses can be hidden" "$(pages | sed 's/ .*//' | sort -u)" "$zeros"
restore_knobs

unload kp_test
# Pages are freed asynchronously after a grace period; one page of each kind may be kept.
name="the pages are freed when they are not needed any more"
if [ "$many" -gt 1 ]; then
	yes "$name" wait_until 20 awk '$3 == "kprobe_insn_page" { copies++ }
		$3 == "kprobe_optinsn_page" { detours++ }
		END { exit copies > 1 || detours > 1 }' /proc/kallsyms
else
	skip "$name" "there was one"
fi

finish
