#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# basetests.sh: make base-tests.  Run the kselftests of the series 0-tests on the base, with
# nothing else applied, for ARCH or for x86_64: each check that the old implementation fails must
# be in lab/series/known-base, with its reason, and each line of that list must be about a check
# that fails.  The last line is "N passed, N failed".
#
# The kernel is that of "make clients COMPARE=1" (configuration users-base).  make clients also
# runs the tests of kprobes/clients on it, so they are not run here.
#
#   base-tests/src	the kselftests as the last patch of 0-tests leaves them
#   base-tests/ARCH-users-base	the build folder of the kernel, a link

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/results.sh"

ARCHES=${ARCH:-x86_64}
CONFIG=users-base
KNOWN=$LAB/series/known-base
MAIN=$BUILD
TESTS=$BUILD/base-tests

# last_step: the name of the last step of 0-tests.
last_step()
{
	local first step last=

	first=$(sed '/^#/d' "$LAB/series/folders" | awk 'NR == 2 { print $2 }')
	for step in "$LAB/series"/[0-9][0-9][0-9]-*; do
		[[ ${step##*/} != "$first" ]] || break
		last=${step##*/}
	done
	echo "$last"
}

# make_sources: the sources that selftests.sh needs: those of the base, and the patches' tests.
make_sources()
{
	local file base selftests=tools/testing/selftests

	base=$(base_tree)
	rm -rf "$TESTS/src"
	mkdir -p "$TESTS/src"
	rsync -aR "$base"/./scripts/subarch.include "$base"/./tools/include \
		"$base"/./tools/arch/x86/include \
		"$base"/./$selftests/{Makefile,lib.mk,run_kselftest.sh,kselftest,kselftest.h,kselftest_harness.h} \
		"$TESTS/src/"
	git -C "$MAIN/series-repo" archive "step-$(last_step)" -- $selftests | tar -x -C "$TESTS/src"
	for file in base.path own-files stage-list src.id; do
		cp "$MAIN/$file" "$TESTS/$file"
	done
}

# judge ARCH FILE: print the results in FILE, with SKIP and the reason for each failure that the
# list has, and a failure for each line of the list without one that does not fail at times.
judge()
{
	local arch=$1 line where name reason i
	local -a patterns=() reasons=() used=()

	while IFS=$'\t' read -r where name reason; do
		[[ $where == any || $where == "$arch" || $where == x86 && $arch != arm64 ]] ||
			continue
		patterns+=("$name")
		reasons+=("$reason")
	done < <(sed '/^#/d' "$KNOWN")
	while read -r line; do
		name=$(sed -E 's/^[A-Z]+ [^ ]+ kselftest: //; s/ *# .*//' <<<"$line")
		if [[ $line == FAIL* ]]; then
			for i in "${!patterns[@]}"; do
				# shellcheck disable=SC2053 # the right side is a pattern
				[[ $name == ${patterns[i]} ]] || continue
				used[i]=1
				line="SKIP ${line#FAIL } (fails: ${reasons[i]})"
				break
			done
		fi
		echo "$line"
	done <"$2"
	for i in "${!patterns[@]}"; do
		[[ ${used[i]:-} || ${reasons[i]} == 'at times:'* ]] ||
			echo "FAIL $arch-base no check fails: ${patterns[i]}"
	done
}

run()
{
	local arch=$1 id=$1-base-tests console output out

	out=$(out_dir "$arch" $CONFIG)
	console=$LOGS/$id-console.log
	output=$LOGS/$id-output.log
	rm -f "$console" "$output"
	step "$id kernel builds" "$LAB/build.sh" "$arch" $CONFIG || return 0
	ln -sfn "$out" "$TESTS/$arch-$CONFIG"
	step "$id kselftests build" env BUILD="$TESTS" "$LAB/selftests.sh" "$arch" $CONFIG \
		uprobes kprobes || return 0
	step "$id initramfs" "$LAB/initramfs.sh" "$arch" $CONFIG || return 0
	BOOT_MEMORY=2G step "$id guest ran its tests and ended by itself" \
		"$LAB/boot.sh" "$arch" $CONFIG check "$console" "$output" || true
	# The old implementation also warns: only for the reader.
	"$LAB/judge.sh" "$console" || say "$id: the lines above are on the console of the base"
	part kselftest "$output" >"$output.kselftest"
	: >"$output.cases"
	RESULTS=$output.cases cases "$id kselftest" "$output.kselftest"
	judge "$arch" "$output.cases" >>"$RESULTS"
}

main()
{
	local arch

	for arch in $ARCHES; do
		check_arch "$arch"
	done
	[[ $BASE == 7.3 ]] || die "the series is for Linux 7.3"
	lock_build
	# shellcheck disable=SC2086 # a list of words
	"$LAB/setup.sh" $ARCHES series
	"$LAB/series.sh"
	: >"$RESULTS"
	make_sources
	for arch in $ARCHES; do
		run "$arch"
	done
	finish
}

main
