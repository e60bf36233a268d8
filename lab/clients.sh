#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# clients.sh [ARCH]: run all users of kprobes, unchanged, on our kernel.  Builds
# a kernel with every in-tree user, boots it, and runs in it the KUnit suite of
# lib/, selftests/ftrace, cases of selftests/bpf, the tests of perf that are about probes, with
# perf of the base, and the samples, all as they are in the base, and our kselftests of the users.
#
# With an argument, the tree must have been assembled (make check), and the results
# are added to RESULTS.  Without one, as "make clients", the packages and the tree are
# prepared first; and with COMPARE set, all tests run a second time on the base
# kernel, and the results are compared.
#
# The kselftests of user-space probes run here, too, with Debian's perf, trace-cmd, gdb and
# bpftrace, and on both kernels.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/results.sh"

if (($#)); then
	ARCHES=$1
	PREPARED=1
else
	ARCHES=${ARCH:-x86_64}
	PREPARED=
fi
COMPARE=${COMPARE:-}

# boot_event ARCH: the usual example of kprobe_event=.
boot_event()
{
	local event=p:myprobe,do_sys_openat2

	case $1 in
	x86_64)	echo "kprobe_event=$event,dfd=%di,filename=%si,flags=+0(%dx),mode=+8(%dx)" ;;
	i386)	echo "kprobe_event=$event,dfd=%ax,filename=%dx,flags=+0(%cx),mode=+8(%cx)" ;;
	arm64)	echo "kprobe_event=$event,dfd=%x0,filename=%x1,flags=+0(%x2),mode=+8(%x2)" ;;
	esac
}

# config_of TREE: the configuration's name for the trees "ours" and "base".
config_of()
{
	case $1 in
	ours)	echo users ;;
	base)	echo users-base ;;
	esac
}

build_kernel()
{
	case $2 in
	ours)	"$LAB/users.sh" "$1" ;;
	base)	"$LAB/build.sh" "$1" users-base ;;
	esac
}

# Programs of Debian that run in the guest.  A case of selftests/ftrace needs readelf.  The
# libraries of bpftrace have 200 MB, and the cases of selftests/bpf, and perf, are built for
# minutes: make check leaves them out, unless LONG is set.
TOOLS='perf gdb trace-cmd readelf'
SUITES='KUnit kselftest ftracetest'
if [[ -z $PREPARED || -n ${LONG:-} ]]; then
	TOOLS+=' bpftrace'
	# The cases are those of 7.3.
	[[ $BASE != 7.3 ]] || SUITES+=' bpf perf'
fi

# suites ARCH: the suites that run on that architecture.  setup.sh fetches no libraries for
# programs of i386, and perf is only built for x86_64.
suites()
{
	local suites=$SUITES

	[[ $1 == x86_64 ]] || suites=${suites/ perf/}
	[[ $1 != i386 ]] || suites=${suites/ bpf/}
	echo "$suites"
}

# Programs that perf's tests run; busybox lacks them, or has others.
PERF_TOOLS='bash grep mktemp nm perl readlink'

# needs FILE: the names of the libraries that a program or a library needs, and of its loader.
needs()
{
	readelf -ld "$1" 2>/dev/null |
		sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p; s/.*program interpreter: .*\/(.*)\]/\1/p'
}

# tools ARCH FOLDER: copy the programs that exist for the architecture, and all libraries
# that they need.  Loaders search /lib after the folders that Debian uses.
tools()
{
	local from=$BUILD/tools-$1 to=$2 name path tools=$TOOLS
	local -a todo=()
	local -A libraries=()

	mkdir -p "$to/usr/bin" "$to/lib"
	while read -r path; do
		libraries[${path##*/}]=$path
	done < <(find "$from" -name '*.so*' ! -path '*/gconv/*' ! -path '*/audit/*')
	if [[ -e $to/perf/perf ]]; then
		tools+=" $PERF_TOOLS"
		todo+=("$to/perf/perf")
	fi
	for name in $tools; do
		path=$from/usr/bin/$name
		[[ -e $path ]] || path=$from/bin/$name
		[[ -e $path ]] || continue
		cp -L "$path" "$to/usr/bin/"
		todo+=("$path")
	done
	((${#todo[@]})) || { echo "no programs in $from"; return 1; }
	while ((${#todo[@]})); do
		path=${todo[0]}
		todo=("${todo[@]:1}")
		while read -r name; do
			[[ ! -e $to/lib/$name ]] || continue
			[[ -n ${libraries[$name]:-} ]] ||
				{ echo "$path needs $name, which is not in $from"; return 1; }
			cp -L "${libraries[$name]}" "$to/lib/"
			todo+=("${libraries[$name]}")
		done < <(needs "$path")
	done
	# The loader of x86-64 has this path.
	[[ $1 != x86_64 ]] || ln -s lib "$to/lib64"
}

# guest_files ARCH CONFIG TREE: the files that the guest needs besides kselftests.
guest_files()
{
	local arch=$1 config=$2 tree=$3 out guest base name
	out=$(out_dir "$arch" "$config")
	guest=$out/guest
	base=$(base_tree)

	rm -rf "$guest" "$out/base-samples"
	mkdir -p "$guest/samples" "$out/base-samples"
	ftrace_files "$guest" "$LAB/clients.list"

	# Build the samples of the base as external modules.
	cp "$base"/samples/kprobes/* "$out/base-samples/"
	kmake "$arch" "$config" M="$out/base-samples" modules || return
	cp "$out"/base-samples/*.ko "$guest/samples/"

	[[ $(suites "$arch") != *perf* ]] ||
		"$LAB/perftests.sh" "$arch" "$config" "$guest" || return
	tools "$arch" "$guest" || return
	[[ $(suites "$arch") != *bpf* ]] ||
		"$LAB/bpftests.sh" "$arch" "$config" "$guest/bpf"
}

# bpf_cases PREFIX OUTPUT: the results of test_progs, which prints those of failed cases
# twice, and sums up the parts of a case that has some.  A case may fail although its parts
# do not.
bpf_cases()
{
	awk -v prefix="$1" '
	/^#[0-9]+(\/[0-9]+)? +[^ ]+:(OK|FAIL|SKIP)/ {
		name = $2
		sub(/:[A-Z]+$/, "", name)
		split(name, words, "/")
		verdict = $0 ~ /:OK/ ? "PASS" : $0 ~ /:FAIL/ ? "FAIL" : "SKIP"
		if (name ~ /\//) {
			parts[words[1]]++
			failed[words[1]] += verdict == "FAIL"
		}
		if (name in seen ||
		    (name !~ /\// && parts[name] && (verdict != "FAIL" || failed[name])))
			next
		seen[name]
		nr++
		print verdict " " prefix ": " name
	}
	/^Summary: / { ended = 1 }
	END { if (!ended || !nr) print "FAIL " prefix ": test_progs ran to its end" }' "$2"
}

# perf_cases PREFIX OUTPUT: the results of perf's tests.  Tests of its test suite print one for each
# of their checks, the others have only an exit status.
perf_cases()
{
	awk -v prefix="$1" '
	function out(verdict, name)
	{
		sub(/[ :]+$/, "", name)
		print verdict " " prefix ": " name
		checks++
		failed += verdict == "FAIL"
	}
	/^perf test: status / {
		if (!checks)
			out($4 == 0 ? "PASS" : $4 == 2 ? "SKIP" : "FAIL", test)
		else if ($4 && !failed)
			out("FAIL", test)
		next
	}
	/^perf test: / {
		test = $3
		checks = failed = 0
	}
	/^-- \[ (PASS|FAIL|SKIP) \] -- / {
		name = $0
		sub(/^.* -- perf_probe :: /, "", name)
		sub(/ :: testcase skipped$/, "", name)
		# The first functions of the blacklist differ.
		sub(/adding blacklisted function .*/, "adding blacklisted function", name)
		if ($3 == "FAIL")
			sub(/ \((command exitcode|output regexp parsing)[^()]*\)$/, "", name)
		out($3, name)
	}
	/^## \[ SKIP \] ## / { out("SKIP", $8) }
	/^lab: perf end/ { ended = 1 }
	END { if (!ended) print "FAIL " prefix ": the tests ran to their end" }' "$2"
}

# run ARCH TREE: build, boot and test, with the results in RESULTS.
run()
{
	local arch=$1 tree=$2 config id console output list
	config=$(config_of "$tree")
	id=$arch-$config
	console=$LOGS/$id-console.log
	output=$LOGS/$id-output.log

	say "== $id: the clients"
	rm -f "$console" "$output"
	step "$id every in-tree user of kprobes compiles" \
		build_kernel "$arch" "$tree" || return 0
	step "$id kselftests build" "$LAB/selftests.sh" "$arch" "$config" \
		uprobes kprobes/clients || return 0
	# The programs run in the other kernels; here they are only compared with the base.  An
	# oops would disturb all that follows.
	list=$(out_dir "$arch" "$config")/kselftest/kselftest-list.txt
	sed -i '/oops\.sh$/d' "$list"
	[[ -n $COMPARE ]] || sed -i '/^uprobes:.*[^h]$/d' "$list"
	step "$id samples and programs" logged "$LOGS/$id-guest.log" \
		"preparing the clients" guest_files "$arch" "$config" "$tree" || return 0
	step "$id initramfs" "$LAB/initramfs.sh" "$arch" "$config" || return 0
	BOOT_MEMORY=2G step "$id guest ran its job and ended by itself" \
		"$LAB/boot.sh" "$arch" "$config" clients "$console" "$output" \
		"$(boot_event "$arch")" || true
	step "$id console log is clean" "$LAB/judge.sh" "$console" || true
	part kselftest "$output" >"$output.kselftest"
	part ftracetest "$output" >"$output.ftracetest"
	: >"$output.cases"
	RESULTS=$output.cases cases "$id KUnit" "$console"
	RESULTS=$output.cases cases "$id kselftest" "$output.kselftest"
	RESULTS=$output.cases cases "$id ftracetest" "$output.ftracetest"
	if [[ -d $(out_dir "$arch" "$config")/guest/bpf ]]; then
		part bpf "$output" >"$output.bpf"
		bpf_cases "$id bpf" "$output.bpf" >>"$output.cases"
	fi
	if [[ -d $(out_dir "$arch" "$config")/guest/perf ]]; then
		part perf "$output" >"$output.perf"
		perf_cases "$id perf" "$output.perf" >>"$output.cases"
	fi
	strict "$arch" "$tree" "$output.cases" note >>"$RESULTS"
}

# count FILE VERDICT GROUP
count()
{
	grep -cE "^$2 [^ ]+ $3: " "$1" || true
}

# compare ARCH: print the counts of both kernels side by side.  Ours must pass each case
# that the base passes, unless lab/clients.known has a reason.
compare()
{
	local arch=$1 group groups tree file lost missing='' status=0
	local -A results=([ours]=$BUILD/clients-$1-ours [base]=$BUILD/clients-$1-base)

	printf '\n%s, cases       base: passed failed skipped   ours: passed failed skipped\n' "$arch"
	groups=$(suites "$arch")
	for group in $groups; do
		printf '%-20s' "$group"
		for tree in base ours; do
			file=${results[$tree]}
			printf '%13s %6s %7s' "$(count "$file" PASS $group)" \
				"$(count "$file" FAIL $group)" "$(count "$file" SKIP $group)"
		done
		echo
		(($(count "${results[base]}" PASS $group))) || missing+=" $group"
	done
	groups=${groups// /|}
	# A run of the base that was not complete would pass few cases, or none.
	if [[ -n $missing ]] || grep -E "^FAIL $arch-users-base " "${results[base]}" |
	   grep -vE "users-base ($groups): |console log"; then
		say "the tests of the base kernel did not complete: there is no comparison"
		status=1
	fi
	lost=$(comm -23 \
		<(sed -nE "s/^PASS [^ ]+ (($groups): .*)/\\1/p" "${results[base]}" | sort -u) \
		<(sed -E '/^SKIP/s/ \([^()]*\)$//' "${results[ours]}" |
			sed -nE "s/^(PASS|SKIP) [^ ]+ (($groups): .*)/\\2/p" | sort -u))
	if [[ -n $lost ]]; then
		say "the base passes these cases and ours does not:"
		sed 's/^/    /' <<<"$lost"
		status=1
	fi
	return "$status"
}

# main_compare: test both trees, with separate results; only ours are judged.
main_compare()
{
	local arch tree status=0 all=$RESULTS

	for arch in $ARCHES; do
		for tree in base ours; do
			RESULTS=$BUILD/clients-$arch-$tree
			: >"$RESULTS"
			run "$arch" "$tree"
			# Failures of the base only count in the comparison.
			[[ $tree == base ]] || cat "$RESULTS" >>"$all"
		done
		RESULTS=$all
		step "$arch ours passes every case that the base passes" compare "$arch" ||
			status=1
	done
	return "$status"
}

main()
{
	local arch

	lock_build
	if [[ -n $PREPARED ]]; then
		run "$ARCHES" ours
		return
	fi
	for arch in $ARCHES; do
		check_arch "$arch"
	done
	: >"$RESULTS"
	# shellcheck disable=SC2046,SC2086 # lists of words
	"$LAB/setup.sh" $ARCHES $(printf 'tools-%s ' $ARCHES) clang bpf perf
	"$LAB/tree.sh"
	if [[ -n $COMPARE ]]; then
		main_compare || true
	else
		for arch in $ARCHES; do
			run "$arch" ours
		done
	fi
	finish
}

main
