# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The results of scripts that test.  Sourced after lib.sh.
#
# Every step and every test case is one line "PASS|FAIL|SKIP name" in the file
# RESULTS.  A step that fails does not stop the others that can still run.

RESULTS=${RESULTS:-$BUILD/results}
export RESULTS

# For judge.sh: cases() counts the cases of KUnit.
export KUNIT_COUNTED=1

# step NAME command...: run a command that passes or fails as a whole.
step()
{
	local name=$1
	shift
	if "$@"; then
		echo "PASS $name" >>"$RESULTS"
	else
		echo "FAIL $name" >>"$RESULTS"
		say "FAILED: $name"
		return 1
	fi
}

# late NAME: true if the time for parts that can be left out is over; records that NAME is.
late()
{
	[[ -n ${DEADLINE:-} ]] && (($(date +%s) >= DEADLINE)) || return 1
	say "left out, because $MINUTES minutes have passed: $1"
	echo "SKIP $1: left out, because MINUTES=$MINUTES have passed" >>"$RESULTS"
}

# cases PREFIX LOG: record the TAP cases in a log.  A log without cases is a failure:
# tests that did not run must not count as passed.
cases()
{
	local found

	found=$(awk -v prefix="$1" -f "$LAB/tap.awk" "$2")
	if [[ -z $found ]]; then
		found="FAIL $1: no results in $2"
	fi
	echo "$found" >>"$RESULTS"
	say "$1: $(grep -c '^PASS' <<<"$found" || true) passed," \
		"$(grep -c '^FAIL' <<<"$found" || true) failed," \
		"$(grep -c '^SKIP' <<<"$found" || true) skipped"
}

# part NAME OUTPUT: the part of a job's output between the marks of that name.
part()
{
	sed -n "/^lab: $1 begin/,/^lab: $1 end/p" "$2"
}

# strict ARCH TREE FILE [note]: print the results in FILE; a case that did not run to completion is
# a failure unless lab/clients.known has a reason.  So is a failed case of selftests/bpf.  On the
# old implementation, TREE "base", a case of selftests/ftrace may fail if its reason there begins
# with "fails:".  With "note", note which lines of the list have no such case, if other cases of
# the same group have run.
strict()
{
	awk -F '\t' -v arch="$1" -v tree="$2" -v note="${4:-}" '
	function group(name)
	{
		sub(/:.*/, "", name)
		return name
	}
	FNR == NR {
		if ($0 !~ /^#/ && ($1 == arch || $1 == "any") &&
		    ($2 == tree || $2 == "any"))
			known[$3] = $4
		next
	}
	{
		text = name = $0
		pending = / # (SKIP|UNRESOLVED)/ || /^SKIP/ || /^FAIL [^ ]+ bpf: /
		fails = tree == "base" && /^FAIL [^ ]+ ftracetest: /
		sub(/^[A-Z]+ [^ ]+ /, "", name)
		sub(/ *# .*/, "", name)
		ran[group(name)]
		if (fails && name in known && known[name] ~ /^fails:/)
			pending = 1
		if (pending && name in known) {
			used[name]
			sub(/^[A-Z]+/, "SKIP", text)
			sub(/ *# .*/, "", text)
			text = text " (" known[name] ")"
		} else if (pending) {
			sub(/^[A-Z]+/, "FAIL", text)
		}
		print text
	}
	END {
		for (name in known)
			if (note && group(name) in ran && !(name in used))
				print "[lab] note: not skipped, in spite of lab/clients.known: " \
					name >"/dev/stderr"
	}' <(cat "$LAB/clients.known" "$LAB/config/$BASE/clients.known" 2>/dev/null || true) "$3"
}

# finish [LOG]: list skipped cases, the end of LOG if something has failed there, and failed cases;
# print "N passed, N failed" at the end.
finish()
{
	local log=${1:-} passed failed

	passed=$(grep -c '^PASS' "$RESULTS" || true)
	failed=$(grep -c '^FAIL' "$RESULTS" || true)
	echo
	grep '^SKIP' "$RESULTS" | sed 's/^SKIP/[lab] skipped:/' || true
	# A reader of the last lines may have nothing else.
	if [[ -f $log ]] && grep -qE '\[lab\] error: |FAILED' "$log"; then
		say "the end of $log:"
		tail -n 20 "$log" | sed 's/^/    /'
	fi
	grep '^FAIL' "$RESULTS" | sed 's/^FAIL/[lab] FAILED:/' || true
	say "all results: $RESULTS, all logs: $LOGS, $SECONDS s in total"
	echo "$passed passed, $failed failed"
	((failed == 0 && passed > 0))
}
