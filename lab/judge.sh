#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# judge.sh CONSOLE [OUTPUT]: fail if the kernel's log reports a failure.
#
# Prints every offending line and fails if there is one.  Failed cases of KUnit are failures,
# too, unless KUNIT_COUNTED is set: then the caller counts them.  A test that provokes an oops
# on purpose brackets it on the console with
#
#   kprobes-test: expect-oops begin
#   kprobes-test: expect-oops end
#
# and a test that provokes a warning does so with the word expect-warning.  A bracket
# without an oops or a warning is a failure, and so is a second oops in a bracket, a bracket that
# is never closed, or another defect in a bracket: a report of KASAN, of lockdep, of a broken list
# or count, or of a stall.  Messages that were dropped could have been any of these, so they are a
# failure, too.
# Between
#
#   kprobes-test: out-of-memory begin
#   kprobes-test: out-of-memory end
#
# the stack dumps of failed allocations are allowed.  On x86 a mark ends a dump; elsewhere
# the first line without the name of a function ends it.  OUTPUT is the output of the job,
# with the reports of kmemleak.
#
# With OWN_FUNCTIONS, a file of names, a data race that KCSAN reports is a failure only if
# one of these functions takes part in it: the base has races of its own.

. "$(dirname "$0")/lib.sh"

# Messages of a kernel with a defect.  Extended regular expressions, one a line.
BAD='
(^|[^A-Za-z_])BUG(:| [^ ]+ \()
WARNING:
kretprobe BUG!
Oops
general protection
[Kk]ernel panic
Internal error:
Unable to handle kernel
Unexpected kernel
unable to handle page fault
------------\[ cut here \]------------
Call [Tt]race:
possible circular locking
possible recursive locking
inconsistent lock state
possible irq lock inversion
bad unlock balance
suspicious RCU usage
INFO: rcu
INFO: task .* blocked
INFO: trying to register non-static key
rcu.*detected.*stall
sleeping function called from invalid context
scheduling while atomic
DEBUG_LOCKS_WARN_ON
ODEBUG:
KASAN:
UBSAN:
refcount_t:
list_(add|del) corruption
kmemleak: .* new suspected
unreferenced object
Kernel memory leak detector disabled
Out of memory: Killed process
hung_task:
soft lockup
hard LOCKUP
[a-z0-9]+\[[0-9]+\]: segfault at
traps: .* trap
Attempted to kill init
double fault
int3 .* unexpected
Failed to add event
deprecated workqueue
printk messages dropped
'

# Messages of an oops, which must not be in the bracket of a warning.  NUMBER is in one line of
# each oops; the bracket of an oops demands it once.  The bracket of a warning demands WARNING.
OOPS='Oops|kernel BUG at|general protection|[Uu]nable to handle'
NUMBER='[[]#[0-9]+[]]'
WARNING='WARNING:|kretprobe BUG!'

# Messages that no bracket excuses.  At a bad address, "KASAN:" is also part of an oops.
NEVER='BUG: (KASAN|KFENCE|sleeping function|scheduling while atomic|spinlock|rwlock)'
NEVER+='|possible (circular|recursive) locking|possible irq lock inversion'
NEVER+='|inconsistent lock state|bad unlock balance|suspicious RCU usage'
NEVER+='|refcount_t:|list_(add|del) corruption'
NEVER+='|INFO: rcu|INFO: task .* blocked|soft lockup|hard LOCKUP|printk messages dropped'

judge_console()
{
	sed '/^$/d' <<<"$BAD" >"$BUILD/bad-lines"
	awk -v oops="$OOPS" -v number="$NUMBER" -v warning="$WARNING" -v never="$NEVER" \
		-v own="${OWN_FUNCTIONS:-}" '
	BEGIN { while (own && (getline name < own) > 0) ours[name] }
	FNR == NR { bad[++n] = $0; next }
	/kprobes-test: expect-(oops|warning) begin/ {
		if (inside)
			complain("a second bracket inside one")
		kind = /expect-oops/ ? "oops" : "warning"
		inside = FNR; found = 0; next
	}
	/kprobes-test: expect-(oops|warning) end/ {
		if (!inside)
			complain("an end without a begin")
		else if ($0 !~ "expect-" kind)
			complain("the end of another bracket than that of line " inside)
		else if (!found)
			complain("no " kind " in the bracket opened in line " inside)
		inside = 0; next
	}
	# Advice about mitigations that the kernel was told to use.
	/(Spectre V2 |RETBleed|Speculative Return Stack Overflow): WARNING: / { next }
	/kprobes-test: out-of-memory (begin|end)/ { starved = /begin/; dump = 0; next }
	starved && /(vmalloc error|page allocation failure)/ { dump = 1 }
	dump && /<\/TASK>/ { dump = 0; next }
	dump && /Call trace:/ { dump = 2; next }
	dump == 2 && !/\+0x[0-9a-f]+\/0x[0-9a-f]+/ { dump = 0 }
	dump { next }
	inside && kind == "warning" && ($0 ~ oops || /(^|[^A-Za-z_])BUG:/) { complain($0); next }
	inside && $0 ~ never { complain($0); next }
	inside && kind == "oops" && $0 ~ number && found++ { complain($0); next }
	inside { if (kind == "warning" && $0 ~ warning) found = 1; next }
	own && /BUG: KCSAN: data-race in / {
		parties = $0
		sub(/.*data-race in /, "", parties)
		many = split(parties, party, " / ")
		for (i = 1; i <= many; i++) {
			sub(/\+0x.*/, "", party[i])
			sub(/\..*/, "", party[i])
			if (party[i] in ours) { complain($0); break }
		}
		next
	}
	{
		for (i = 1; i <= n; i++)
			if ($0 ~ bad[i]) { complain($0); break }
	}
	END {
		if (inside)
			complain("the bracket opened in line " inside " was never closed")
		if (starved)
			complain("the out-of-memory bracket was never closed")
		exit wrong > 0
	}
	function complain(text) { wrong++; print FNR ": " text }
	' "$BUILD/bad-lines" "$1"
}

judge_kunit()
{
	[[ -z ${KUNIT_COUNTED:-} ]] || return 0
	! awk -v prefix=KUnit -f "$LAB/tap.awk" "$1" | grep '^FAIL '
}

judge_output()
{
	! grep -nA 12 'unreferenced object' "$1"
}

main()
{
	local status=0

	[[ -s $1 ]] || { say "$1 is empty: the kernel printed nothing"; return 1; }
	judge_console "$1" || status=1
	judge_kunit "$1" || status=1
	[[ -z ${2:-} ]] || judge_output "$2" || status=1
	return "$status"
}

main "$@"
