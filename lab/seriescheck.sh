#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# seriescheck.sh: make series-check.  Make the series, and build the kernel at every step
# of it, for ARCH or for x86_64, i386 and arm64, in the configuration "default".  From the
# step on that offers KPROBES, each kernel that differs from the one before is booted and
# runs the KUnit suites that it has.  At the end, the whole tree is built without KPROBES.
# The last line is "N passed, N failed".
#
#   series-check/src        one tree that goes from step to step
#   series-check/steps.git  the states it can go to
#   series-check/ARCH-default  where it is built, incrementally
#   series-check/passed     what need not be built again: ARCH, and a state
#
# FROM=N begins with patch N.

. "$(dirname "$0")/lib.sh"

ARCHES=${ARCH:-x86_64 i386 arm64}
FROM=${FROM:-1}
MAIN=$BUILD

lock_build

# All scripts find the tree that goes from step to step where they look for theirs.
export BUILD=$MAIN/series-check
SRC=$BUILD/src
LOGS=$BUILD/logs
STORE=$BUILD/steps.git
PASSED=$BUILD/passed
. "$LAB/results.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# prepare: the states, and a tree that is in one of them.  Objects are as new as the
# source that they have been made from, so the tree is never simply made again.
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
		# No file is ever written to: links will do where the lab has unpacked the base.
		if [[ $(base_tree) == "$MAIN/base" ]]; then
			cp -al "$(base_tree)" "$SRC"
		else
			cp -a --reflink=auto "$(base_tree)" "$SRC"
			rm -rf "$SRC/.git"
		fi
		echo "${COMMITS[0]}" >"$BUILD/at"
	}
}

# go_to COMMIT: bring the tree into that state.  If that does not come to its end, nobody
# knows what it is in.
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
	# With the time of today: newer than any object made from the other state.
	((${#new[@]} == 0)) || git -C "$STORE" archive "$to" -- "${new[@]}" | tar -xm -C "$SRC"
	echo "$to" >"$BUILD/at"
}

# offers_kprobes: is the tree in a state in which there is the option?
offers_kprobes()
{
	[[ -f $SRC/kernel/Kconfig.kprobes ]] && grep -qx 'config KPROBES' "$SRC/kernel/Kconfig.kprobes"
}

# full_config ARCH: the configuration of the last step, each line of which is proved to
# have taken effect.  All others are what is left of it.
full_config()
{
	local arch=$1

	"$LAB/config.sh" "$arch" default
	cp "$(out_dir "$arch" default)/.config" "$BUILD/config-$arch"
	rm "$(out_dir "$arch" default)/lab-config.id"
}

# configure ARCH [without]: with KPROBES where the tree offers it, or without.
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
	# Nothing may be lost on the way to the last step.
	[[ $without || $(cat "$BUILD/at") != "${COMMITS[-1]}" ]] ||
		diff "$BUILD/config-$arch" "$config"
}

# build ARCH [without]: all of the kernel, and nothing to complain about.
build()
{
	configure "$@" && kmake "$1" default --keep-going all
}

# build_state ARCH LOG [without]
build_state()
{
	local arch=$1 log=$2 found

	logged "$log" "building it, $arch${3:+, $3 KPROBES}" build "$arch" "${@:3}" || return 1
	found=$(grep -E 'warning: objtool:|error: objtool:' "$log" || true; complaints "$log")
	[[ -z $found ]] || {
		# They complain when they run, so all of it has to run again.
		rm -rf "$(out_dir "$arch" default)"
		printf '    %s\n' "$found"
		return 1
	}
}

# boot_state ARCH ID: boot the kernel without any user space, unless it has been.
boot_state()
{
	local arch=$1 id=$2 image console=$LOGS/$2-console.log

	image=$(sha256sum <"$(out_dir "$arch" default)/vmlinux")
	if grep -qF "$arch $image" "$BUILD/booted" 2>/dev/null; then
		say "$id: the kernel is the one of the step before"
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

# check_state ARCH NUMBER: the tree is in the state of that step.
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

# check_without ARCH: the whole tree, and KPROBES off.
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
