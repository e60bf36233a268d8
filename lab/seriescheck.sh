#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# seriescheck.sh: make series-check.  Make the series, and build a small kernel (the
# configuration "series") at every step of it, for ARCH or for x86_64.  While the tree has
# two implementations of kprobes, build one kernel with each that can be chosen.  Boot each
# kernel that differs from those that have passed, and run its KUnit suites: that of the base
# for kprobes, and ours from the step on that adds them.  In the same boot, run the cases of the
# base's selftests/ftrace that lab/seriescheck.list names.  At the end, build the configuration
# "default", and the same without KPROBES.  The last line is "N passed, N failed".
#
# A case that fails, or does not run to completion, fails the step, unless lab/clients.known has
# a reason.  The old implementation is the tree "base" there, and the new one "ours".
#
#   series-check/src        one tree, updated from step to step
#   series-check/steps.git  the states of that tree
#   series-check/ARCH-series-CHOICE  the build folders, built incrementally
#   series-check/passed     states that have passed: TESTS, ARCH, CHOICE, and a git tree
#   series-check/booted     kernels that have passed: TESTS, ARCH, and a checksum
#
# ONLY="NAME ..." takes only these steps, as lab/series names them, and FROM=N begins with
# step N.  A run that is interrupted goes on where it was: states that have passed are not
# built again.

. "$(dirname "$0")/lib.sh"

ARCHES=${ARCH:-x86_64}
FROM=${FROM:-1}
ONLY=${ONLY:-}
MAIN=$BUILD

# The tests that a state has to pass, with a checksum of their lists and known results.  With
# another word here, states and kernels that have passed are tested again.
TESTS=kunit+ftrace-$(cat "$LAB"/{seriescheck.list,clients.known} | cksum | cut -d ' ' -f 1)
mapfile -t NAMES < <(cd "$LAB/series" && printf '%s\n' [0-9][0-9][0-9]-*)

lock_build

# All scripts use the tree of this check as theirs.
export BUILD=$MAIN/series-check
SRC=$BUILD/src
LOGS=$BUILD/logs
STORE=$BUILD/steps.git
PASSED=$BUILD/passed
. "$LAB/results.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# prepare: fetch the states, and make a tree in one of them if there is none.  A fresh copy
# of the tree would have new times, and every object would be built again.
prepare()
{
	local file

	mkdir -p "$BUILD" "$LOGS"
	if [[ $(cat "$BUILD/src.id" 2>/dev/null) != "$(cat "$MAIN/src.id")" || ! -e $BUILD/at ]]; then
		rm -rf "$BUILD"
		mkdir -p "$BUILD" "$LOGS"
		git init -q --bare "$STORE"
		git -C "$STORE" config gc.auto 0
	fi
	git -C "$STORE" fetch -q "$MAIN/series-am" +HEAD:refs/heads/series
	mapfile -t COMMITS < <(git -C "$STORE" rev-list --reverse series)
	for file in base.path own-files stage-list src.id; do
		cp "$MAIN/$file" "$BUILD/$file"
	done
	for file in "$MAIN"/guest-*; do
		[[ ! -d $file ]] || ln -sfn "$file" "$BUILD/${file##*/}"
	done
	touch "$PASSED" "$BUILD/booted"
	[[ -d $SRC ]] || {
		# Files are replaced, never written in place, so hard links to a base that the lab
		# has unpacked are safe.
		if [[ $(base_tree) == "$MAIN/base" ]]; then
			cp -al "$(base_tree)" "$SRC"
		else
			cp -a --reflink=auto "$(base_tree)" "$SRC"
			rm -rf "$SRC/.git"
		fi
		echo "${COMMITS[0]}" >"$BUILD/at"
	}
}

# go_to COMMIT: bring the tree into that state.  Without the file "at", the state is
# unknown, because go_to() was interrupted.
go_to()
{
	local from to=$1
	local -a gone new

	from=$(cat "$BUILD/at")
	mapfile -t gone < <(git -C "$STORE" diff --name-only --no-renames "$from" "$to")
	mapfile -t new < <(git -C "$STORE" diff --name-only --no-renames --diff-filter=d "$from" "$to")
	((${#gone[@]})) || return 0
	rm "$BUILD/at"
	(cd "$SRC" && rm -f -- "${gone[@]}")
	# With the current time: newer than any object built from the other state.
	((${#new[@]} == 0)) || git -C "$STORE" archive "$to" -- "${new[@]}" | tar -xm -C "$SRC"
	echo "$to" >"$BUILD/at"
}

# kernel_changes NUMBER: true if that step changes a file that is compiled into the kernel.
kernel_changes()
{
	git -C "$STORE" diff --name-only --no-renames "${COMMITS[$1 - 1]}" "${COMMITS[$1]}" |
		grep -qvE '^(Documentation|samples|tools)/|^MAINTAINERS$'
}

# choices ARCH: the implementations that can be chosen in the present state: "only", or
# "stock", and "core" from the step on that offers it.
choices()
{
	local arch=$1

	if [[ ! -f $SRC/kernel/Kconfig.kprobes-choice ]]; then
		echo only
		return
	fi
	echo stock
	configure "$arch" core >"$LOGS/choices.log" 2>&1 || true
	! grep -qx CONFIG_KPROBES_CORE=y "$(out_dir "$arch" series-core)/.config" || echo core
}

# full_config ARCH CONFIG: make the configuration of the last step, in which each line has to
# take effect.  In earlier steps, options that do not exist yet are dropped from it.
full_config()
{
	local arch=$1 config=$2

	"$LAB/config.sh" "$arch" "$config"
	cp "$(out_dir "$arch" "$config")/.config" "$BUILD/config-$arch-$config"
	rm "$(out_dir "$arch" "$config")/lab-config.id"
}

# configure ARCH CHOICE: write the small configuration.
configure()
{
	local arch=$1 choice=$2 config

	config=$(out_dir "$arch" "series-$choice")/.config
	mkdir -p "${config%/*}"
	cp "$BUILD/config-$arch-series" "$config.new"
	case $choice in
	stock)	"$SRC/scripts/config" --file "$config.new" -e KPROBES_STOCK -d KPROBES_CORE ;;
	core)	"$SRC/scripts/config" --file "$config.new" -e KPROBES_CORE -d KPROBES_STOCK ;;
	esac
	mv "$config.new" "$config"
	kmake "$arch" "series-$choice" olddefconfig
}

# build ARCH CHOICE: configure and build the kernel and its module.
build()
{
	local config

	config=$(out_dir "$1" "series-$2")/.config
	configure "$@" || return 1
	grep -qx CONFIG_KPROBES=y "$config" || {
		echo "error: there is no KPROBES in $config"
		return 1
	}
	case $2 in
	stock|core) grep -qx "CONFIG_KPROBES_${2^^}=y" "$config" || {
			echo "error: $2 is not chosen in $config"
			return 1
		} ;;
	esac
	kmake "$1" "series-$2" --keep-going all || return
	install_modules "$1" "series-$2"
}

# checked_build DIR LOG TITLE COMMAND...: build; fail on complaints of objtool or about our
# files.
checked_build()
{
	local dir=$1 log=$2 title=$3 found

	logged "$log" "$title" "${@:4}" || return 1
	found=$(grep -E 'warning: objtool:|error: objtool:' "$log" || true; complaints "$log")
	[[ -z $found ]] || {
		# Compiler and objtool only complain when they run.  Build all objects again.
		rm -rf "$dir"
		printf '    %s\n' "$found"
		return 1
	}
}

# implementation CHOICE: the tree whose kprobes these are, as lab/clients.known names it.
implementation()
{
	case $1 in
	stock)	echo base ;;
	core)	echo ours ;;
	# Before the choice begins, or after it has ended.
	*)	[[ -f $SRC/kernel/kprobes/point.c ]] && echo ours || echo base ;;
	esac
}

# judge_state ARCH CHOICE ID CONSOLE OUTPUT: record the cases of KUnit and of selftests/ftrace.
# Fail if one of them fails, or if the base's suite of kprobes has not run.
judge_state()
{
	local arch=$1 choice=$2 id=$3 console=$4 output=$5 found=$LOGS/$3-cases

	part ftracetest "$output" >"$output.ftracetest"
	: >"$found"
	: >"$output.cases"
	RESULTS=$found cases "$id KUnit" "$console"
	RESULTS=$output.cases cases "$id ftracetest" "$output.ftracetest"
	strict "$arch" "$(implementation "$choice")" "$output.cases" >>"$found"
	grep -q "^PASS $id KUnit:.*kprobes_test" "$found" ||
		echo "FAIL $id does not run the base's suite of kprobes" >>"$found"
	cat "$found" >>"$RESULTS"
	! grep '^FAIL' "$found"
}

# boot_state ARCH CHOICE ID: boot the kernel, which runs its KUnit suites and then the cases of
# selftests/ftrace, unless the same kernel has passed.
boot_state()
{
	local arch=$1 choice=$2 id=$3 out image console=$LOGS/$3-console.log output=$LOGS/$3-output.log

	out=$(out_dir "$arch" "series-$choice")
	image=$(sha256sum <"$out/vmlinux")
	if grep -qxF "$TESTS $arch $image" "$BUILD/booted"; then
		say "$id: the same kernel has passed"
		return
	fi
	rm -f "$console" "$output"
	ftrace_files "$out/guest" "$LAB/seriescheck.list" || return 1
	step "$id initramfs" "$LAB/initramfs.sh" "$arch" "series-$choice" || return 1
	step "$id runs its tests and ends by itself" \
		"$LAB/boot.sh" "$arch" "series-$choice" clients "$console" "$output" || return 1
	step "$id console log is clean" "$LAB/judge.sh" "$console" || return 1
	judge_state "$arch" "$choice" "$id" "$console" "$output" || return 1
	echo "$TESTS $arch $image" >>"$BUILD/booted"
}

# check_state ARCH CHOICE NUMBER: test the kernel with that choice at that step.
check_state()
{
	local arch=$1 choice=$2 nr=$3 state id failed=

	state=$(git -C "$STORE" rev-parse "${COMMITS[nr]}^{tree}")
	id=$arch-${NAMES[nr - 1]}-$choice
	if grep -qxF "$TESTS $arch $choice $state" "$PASSED"; then
		echo "PASS $id passed before" >>"$RESULTS"
		return
	fi
	step "$id builds" checked_build "$(out_dir "$arch" "series-$choice")" \
		"$LOGS/$id-build.log" "building it, $arch, $choice" build "$arch" "$choice" ||
		failed=1
	if [[ ! $failed ]]; then
		boot_state "$arch" "$choice" "$id" || failed=1
	fi
	[[ $failed ]] || echo "$TESTS $arch $choice $state" >>"$PASSED"
}

# build_default ARCH [without]: build the configuration default, or the same without KPROBES.
build_default()
{
	local arch=$1 without=${2:-} config

	config=$(out_dir "$arch" default)/.config
	mkdir -p "${config%/*}"
	cp "$BUILD/config-$arch-default" "$config"
	[[ ! $without ]] || "$SRC/scripts/config" --file "$config" -d KPROBES
	kmake "$arch" default olddefconfig
	[[ $without ]] || diff "$BUILD/config-$arch-default" "$config"
	kmake "$arch" default --keep-going all
}

# check_end ARCH: build the whole tree.
check_end()
{
	local arch=$1 dir

	dir=$(out_dir "$arch" default)
	full_config "$arch" default
	step "$arch: the configuration default builds" checked_build "$dir" \
		"$LOGS/$arch-default-build.log" "building the configuration default" \
		build_default "$arch" || true
	step "$arch: it builds without KPROBES" checked_build "$dir" \
		"$LOGS/$arch-without-build.log" "building it without KPROBES" \
		build_default "$arch" without || true
}

# wanted NUMBER: true if that step is to be checked.
wanted()
{
	if [[ $ONLY ]]; then
		[[ " $ONLY " == *" ${NAMES[$1 - 1]} "* ]]
	else
		(($1 >= FROM)) && kernel_changes "$1"
	fi
}

main()
{
	local arch nr choice

	for arch in $ARCHES; do
		check_arch "$arch"
	done
	# shellcheck disable=SC2086 # a list of words
	BUILD=$MAIN "$LAB/setup.sh" $ARCHES
	BUILD=$MAIN "$LAB/series.sh"
	prepare
	: >"$RESULTS"
	go_to "${COMMITS[-1]}"
	for arch in $ARCHES; do
		full_config "$arch" series
	done
	for ((nr = 1; nr < ${#COMMITS[@]}; nr++)); do
		wanted "$nr" || continue
		say "== step $nr of $((${#COMMITS[@]} - 1)): $(git -C "$STORE" log -1 --format=%s "${COMMITS[nr]}")"
		go_to "${COMMITS[nr]}"
		for arch in $ARCHES; do
			for choice in $(choices "$arch"); do
				check_state "$arch" "$choice" "$nr" || true
			done
		done
	done
	go_to "${COMMITS[-1]}"
	[[ $ONLY ]] || for arch in $ARCHES; do
		check_end "$arch"
	done
	finish
}

main
