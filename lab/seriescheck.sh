#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# seriescheck.sh: make series-check.  Make the series, and build the kernel at every step
# of it, for ARCH or for x86_64, i386 and arm64, in the configuration "default".  From the
# step on that restores the option KPROBES, boot each kernel that differs from the previous
# one, and run its KUnit suites.  At the end, build the whole tree without KPROBES.
# The last line is "N passed, N failed".
#
#   series-check/src        one tree, updated from step to step
#   series-check/steps.git  the states of that tree
#   series-check/ARCH-default  the build folder, built incrementally
#   series-check/passed     states that have passed: ARCH, and a git tree
#
# FROM=N begins with patch N.

. "$(dirname "$0")/lib.sh"

ARCHES=${ARCH:-x86_64 i386 arm64}
FROM=${FROM:-1}
MAIN=$BUILD

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
	touch "$PASSED"
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

# offers_kprobes: true if the tree has the option KPROBES in its present state.
offers_kprobes()
{
	[[ -f $SRC/kernel/Kconfig.kprobes ]] && grep -qx 'config KPROBES' "$SRC/kernel/Kconfig.kprobes"
}

# full_config ARCH: make the configuration of the last step, in which each line has to take
# effect.  In earlier steps, options that do not exist yet are dropped from it.
full_config()
{
	local arch=$1

	"$LAB/config.sh" "$arch" default
	cp "$(out_dir "$arch" default)/.config" "$BUILD/config-$arch"
	rm "$(out_dir "$arch" default)/lab-config.id"
}

# configure ARCH [without]: with KPROBES if the tree has the option, or without.
configure()
{
	local arch=$1 without=${2:-} config wanted=n

	config=$(out_dir "$arch" default)/.config
	mkdir -p "${config%/*}"
	cp "$BUILD/config-$arch" "$config"
	if [[ $without ]]; then
		"$SRC/scripts/config" --file "$config" -d KPROBES
	elif offers_kprobes; then
		wanted=y
	fi
	kmake "$arch" default olddefconfig
	[[ $(sed -n 's/^CONFIG_KPROBES=//p' "$config") == "${wanted#n}" ]] || {
		echo "error: KPROBES is not $wanted in $config"
		return 1
	}
	# In the last step, no option may be missing.
	[[ $without || $(cat "$BUILD/at") != "${COMMITS[-1]}" ]] ||
		diff "$BUILD/config-$arch" "$config"
}

# build ARCH [without]: configure and build the kernel.
build()
{
	configure "$@" && kmake "$1" default --keep-going all
}

# build_state ARCH LOG [without]: build; fail on complaints of objtool or about our files.
build_state()
{
	local arch=$1 log=$2 found

	logged "$log" "building it, $arch${3:+, $3 KPROBES}" build "$arch" "${@:3}" || return 1
	found=$(grep -E 'warning: objtool:|error: objtool:' "$log" || true; complaints "$log")
	[[ -z $found ]] || {
		# Compiler and objtool only complain when they run.  Build all objects again.
		rm -rf "$(out_dir "$arch" default)"
		printf '    %s\n' "$found"
		return 1
	}
}

# boot_state ARCH ID: boot the kernel without user space, unless the same one has passed.
boot_state()
{
	local arch=$1 id=$2 image console=$LOGS/$2-console.log

	image=$(sha256sum <"$(out_dir "$arch" default)/vmlinux")
	if grep -qF "$arch $image" "$BUILD/booted" 2>/dev/null; then
		say "$id: the kernel is the same as in the previous step"
		return
	fi
	rm -f "$console"
	step "$id runs its tests and ends by itself" \
		"$LAB/boot.sh" "$arch" default none "$console" "$console.output" kunit_shutdown=reboot ||
		return 1
	step "$id console log is clean" "$LAB/judge.sh" "$console" || return 1
	cases "$id KUnit" "$console"
	! tail -n 1000 "$RESULTS" | grep -qF "FAIL $id" || return 1
	echo "$arch $image" >>"$BUILD/booted"
}

# check_state ARCH NUMBER: test the state of that step, which the tree is in.
check_state()
{
	local arch=$1 nr=$2 state id failed=

	state=$(git -C "$STORE" rev-parse "${COMMITS[nr]}^{tree}")
	id=$arch-$(printf '%02d' "$nr")
	if grep -qxF "$arch $state" "$PASSED"; then
		echo "PASS $id passed before" >>"$RESULTS"
		return
	fi
	step "$id builds" build_state "$arch" "$LOGS/$id-build.log" || failed=1
	if [[ ! $failed ]] && offers_kprobes; then
		boot_state "$arch" "$id" || failed=1
	fi
	[[ $failed ]] || echo "$arch $state" >>"$PASSED"
}

# check_without ARCH: build the whole tree with KPROBES off.
check_without()
{
	local arch=$1

	step "$arch without KPROBES builds" \
		build_state "$arch" "$LOGS/$arch-without-build.log" without || true
}

main()
{
	local arch nr

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
		full_config "$arch"
	done
	for ((nr = FROM; nr < ${#COMMITS[@]}; nr++)); do
		say "== step $nr of $((${#COMMITS[@]} - 1)): $(git -C "$STORE" log -1 --format=%s "${COMMITS[nr]}")"
		go_to "${COMMITS[nr]}"
		for arch in $ARCHES; do
			check_state "$arch" "$nr" || true
		done
	done
	go_to "${COMMITS[-1]}"
	for arch in $ARCHES; do
		check_without "$arch"
	done
	finish
}

main
