#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh: make check.  Run all tests of the overlay, for the architecture in ARCH (for
# all that the lab boots, by default) and the configuration in CONFIG; with LONG set, races
# take longer, and more configurations are compiled.  If the configuration has a list of boots
# (lab/config/CONFIG-ARCH.boots), the guest's tests run in each of them, or in those that BOOTS
# names.
# If MINUTES is set, parts that need no guest of ours do not begin after that many minutes: warnings
# of W=1 and sparse, clients, other bases and architectures, configurations that are only compiled.
# They count as skipped.
# The last line is "N passed, N failed".

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/results.sh"

ARCHES=${ARCH:-x86_64 i386 arm64}
CONFIG=${CONFIG:-default}

MINUTES=${MINUTES:-}
DEADLINE=${MINUTES:+$(($(date +%s) + MINUTES * 60))}
export MINUTES DEADLINE

# Once in a full check, because they do not depend on the architecture of the guest.
CROSS=
BACKPORT=
SERIES=
if [[ -z ${ARCH:-} && $CONFIG == default ]]; then
	# The one of powerpc has the most features of kprobes; "make cross" has all.
	CROSS=powerpc
	[[ $BASE != 7.3 ]] || { BACKPORT=6.12; SERIES=1; }
fi

# The kernel of the clients takes as long to build as all others together, so a full check
# runs them on one architecture.
CLIENTS=${ARCH:-x86_64}

# i386 has the files of x86_64, and its kernel is compiled with the usual warnings.  A full check
# lints the files that arm64 shares with x86_64 there.
UNLINTED=
LINT_ONLY=
[[ -n ${ARCH:-} ]] || { UNLINTED=i386; LINT_ONLY=arm64; }

# Some of the configurations that are only compiled need clang.
CLANG=
[[ $CONFIG != default ]] || CLANG=clang

# Programs of Debian are clients.
TOOLS=
[[ $CONFIG != default ]] || TOOLS="${CLIENTS/#/tools-}${LONG:+ bpf perf}"

# Init text can be probed only while the kernel boots; init_text.sh checks the state of
# this probe.
BOOT_PROBE=kprobe_event=p:boot/init_text,populate_rootfs

# KUnit has four races of 64 jumps at a time; each must be shorter than the 300 s that KUnit
# allows for a case.  Unknown arguments of the kernel go to init's environment, and from
# there to the scripts.
LONG_ARGS=
if [[ -n ${LONG:-} ]]; then
	LONG_ARGS="races_kunit.rounds=600 STRESS_SECONDS=120 ANYWHERE_ROUNDS=8 UPROBES_SECONDS=1800"
	LONG_ARGS+=" UPROBES_THREADS=64 UPROBES_CALLS=1000000 STORM_ROUNDS=1000"
	export BOOT_TIMEOUT=${BOOT_TIMEOUT:-21600} BOOT_CPUS=${BOOT_CPUS:-4}
fi

# Then, and in checking kernels, the limits in the settings of the kselftests are too short.
case $CONFIG-${LONG:-} in
debug-*|kcsan-*|*-?*) LONG_ARGS+=" KSELFTEST_TIMEOUT=3600" ;;
esac

check_host()
{
	local arch=$1 tap=$LOGS/$1-$CONFIG-hosttests.tap

	rm -f "$tap"
	step "$arch-$CONFIG host tests ran to their end" \
		"$LAB/hosttests.sh" "$arch" "$CONFIG" "$tap" || true
	[[ ! -f $tap ]] || cases "$arch host tests" "$tap"
}

# own_functions ARCH: for KCSAN, write a file with the functions of our objects, and print
# its name.
own_functions()
{
	local out object list

	[[ $CONFIG == kcsan ]] || return 0
	out=$(out_dir "$1" "$CONFIG")
	list=$out/own-functions
	own_files | sed -n 's/\.[cS]$/.o/p' | while read -r object; do
		[[ ! -f $out/$object ]] || "$(binutil "$1" nm)" "$out/$object"
	done | awk '$2 ~ /^[TtWw]$/ { sub(/\..*/, "", $3); print $3 }' | sort -u >"$list"
	[[ -s $list ]] || die "$list: no function of ours was found"
	echo "$list"
}

# says LOG WORDS: true if the log has these words.
says()
{
	grep -qE "$2" "$1"
}

# strict ARCH FILE: print the results in FILE.  In the configuration whose skipped cases are
# known, another one is a failure, and a note tells which of the known ones were not skipped.
strict()
{
	if [[ $CONFIG-$BASE != default-7.3 ]]; then
		cat "$2"
		return
	fi
	awk -F '\t' -v arch="$1" '
	FNR == NR {
		if ($0 !~ /^#/ && arch ~ "^(" $1 ")$") {
			pattern[++n] = "^SKIP [^ ]+ " $2
			name[n] = $2
			reason[n] = $3
		}
		next
	}
	/^SKIP / {
		for (i = 1; i <= n && $0 !~ pattern[i]; i++)
			;
		if (i <= n) {
			used[i] = 1
			$0 = $0 " (" reason[i] ")"
		} else {
			$0 = "FAIL" substr($0, 5) " (lab/check.known has no reason)"
		}
	}
	{ print }
	END {
		for (i = 1; i <= n; i++)
			if (!(i in used))
				print "[lab] note: not skipped, in spite of lab/check.known: " \
					name[i] >"/dev/stderr"
	}' "$LAB/check.known" "$2"
}

# check_boot ARCH NAME PROCESSOR WORDS ARGUMENTS: boot in that way, and run all suites.
check_boot()
{
	local arch=$1 id=$1-$CONFIG cpu=$3 words=$4 arguments=$5 console output

	[[ $2 == - ]] || id+=-$2
	[[ $cpu != - ]] || cpu=${BOOT_CPU:-}
	console=$LOGS/$id-console.log
	output=$LOGS/$id-kselftest.log

	rm -f "$console" "$output"
	# shellcheck disable=SC2086 # lists of words
	BOOT_CPU=$cpu step "$id guest ran its job and ended by itself" \
		"$LAB/boot.sh" "$arch" "$CONFIG" check "$console" "$output" \
		"$BOOT_PROBE" $LONG_ARGS $arguments || true
	[[ -f $console ]] || return 0
	[[ $words == - ]] || step "$id console has '$words'" says "$console" "$words" || true
	OWN_FUNCTIONS=$(own_functions "$arch") step "$id console log is clean" \
		"$LAB/judge.sh" "$console" "$output" || true
	! grep -q '^CONFIG_DEBUG_KMEMLEAK=y' "$(out_dir "$arch" "$CONFIG")/.config" ||
		step "$id kmemleak has looked for leaks" says "$output" '^lab: kmemleak end' || true
	part kselftest "$output" >"$output.tap"
	: >"$output.cases"
	RESULTS=$output.cases cases "$id KUnit" "$console"
	RESULTS=$output.cases cases "$id kselftest" "$output.tap"
	strict "$arch" "$output.cases" >>"$RESULTS"
}

check_guest()
{
	local arch=$1 id=$1-$CONFIG name cpu words arguments boots=0

	rm -rf "$(out_dir "$arch" "$CONFIG")/kselftest"
	step "$id kselftests build" "$LAB/selftests.sh" "$arch" "$CONFIG" || true
	step "$id initramfs" "$LAB/initramfs.sh" "$arch" "$CONFIG" || return 0
	while IFS='|' read -r -u 3 name cpu words arguments; do
		[[ -z ${BOOTS:-} || " $BOOTS " == *" $name "* ]] || continue
		boots=$((boots + 1))
		check_boot "$arch" "$name" "$cpu" "$words" "$arguments"
	done 3< <(boots "$arch" "$CONFIG" -)
	((boots)) || step "$id has a boot with a name of BOOTS=$BOOTS" false || true
}

# check_bare: boot without user space, because Debian has no programs of that byte order.
check_bare()
{
	local arch=$1 id=$1-$CONFIG
	local console=$LOGS/$id-console.log

	rm -f "$console"
	step "$id kernel ran its tests and ended by itself" \
		"$LAB/boot.sh" "$arch" "$CONFIG" none "$console" "$console.output" \
		kunit_shutdown=reboot || true
	[[ -f $console ]] || return 0
	step "$id console log is clean" "$LAB/judge.sh" "$console" || true
	cases "$id KUnit" "$console"
}

check_arch_config()
{
	local arch=$1 id=$1-$CONFIG

	say "== $id"
	if step "$id kernel builds, objtool is silent" "$LAB/build.sh" "$arch" "$CONFIG"; then
		step "$id <linux/kprobes.h> declares all names of the base's" \
			"$LAB/headers.sh" "$arch" "$CONFIG" || true
		step "$id functions on the path of a hit cannot be probed" \
			"$LAB/hitpath.sh" "$arch" "$CONFIG" || true
		case $CONFIG in
		bigendian) check_bare "$arch" ;;
		*)	check_host "$arch"; check_guest "$arch" ;;
		esac
	fi
}

# check_lint: compile our files again in kernels that have been built.
check_lint()
{
	local arch name folder

	for arch in $ARCHES; do
		[[ $arch != "$UNLINTED" && -f $(out_dir "$arch" "$CONFIG")/vmlinux ]] || continue
		name="$arch-$CONFIG own files: kernel-doc, W=1 and sparse are silent"
		folder=
		[[ $arch != "$LINT_ONLY" ]] || folder=arch/$(source_arch "$arch")/
		late "$name" || step "$name" "$LAB/lint.sh" "$arch" "$CONFIG" "$folder" || true
	done
}

# check_clients: the users are not tested again in other configurations.
check_clients()
{
	local arch

	[[ $CONFIG == default ]] || return 0
	for arch in $CLIENTS; do
		late "$arch clients" || "$LAB/clients.sh" "$arch"
	done
}

# check_cross: compile for architectures without a backend of ours.
check_cross()
{
	local arch status name

	[[ -n $CROSS ]] || return 0
	say "== stock backends"
	for arch in $CROSS; do
		! late "$arch: the stock backend" || continue
		status=0
		name="$arch: the stock backend compiles against our core"
		"$LAB/cross.sh" "$arch" || status=$?
		case $status in
		0) echo "PASS $name" ;;
		4) echo "SKIP $name: no compiler in this Debian" ;;
		*) echo "FAIL $name" ;;
		esac >>"$RESULTS"
	done
}

# backport COMMAND...: run it for the base BACKPORT, which has its own output folder.
backport()
{
	env -u KSRC -u LAB_LOCKED BASE="$BACKPORT" BUILD="$BUILD/$BACKPORT" "$@"
}

# backport_is_small: what has to differ on the other base is a bounded number of lines.
backport_is_small()
{
	awk '/^[+-]/ && !/^(\+\+\+ |--- |---$)/ { n++ }
		END { print n " changed lines, at most 400"; exit n > 400 }' \
		"$ROOT/backports/$BACKPORT/"*.patch
}

# check_backport: assemble the tree of the other base, to see whether backports/ still fits
# the overlay.
check_backport()
{
	[[ -n $BACKPORT ]] || return 0
	! late "Linux $BACKPORT" || return 0
	say "== Linux $BACKPORT"
	step "Linux $BACKPORT: the backport has at most 400 changed lines" backport_is_small || true
	if step "Linux $BACKPORT: packages" backport "$LAB/setup.sh"; then
		step "Linux $BACKPORT: the backport applies to the overlay" \
			backport "$LAB/tree.sh" &&
			step "Linux $BACKPORT: Kconfig has all options that our sources name" \
				backport "$LAB/options.sh" || true
	fi
}

# check_configs: compile configurations that are not booted; they need no second CONFIG.
check_configs()
{
	local arch

	[[ $CONFIG == default ]] || return 0
	for arch in $ARCHES; do
		[[ $arch != i386 ]] || continue
		step "$arch configurations: all were tried" "$LAB/configs.sh" "$arch" || true
	done
}

# check_series: the patches are for the newest base only.
check_series()
{
	local name="the series: git am gives the tree, and checkpatch has known complaints only"

	[[ -n $SERIES ]] || return 0
	late "$name" || step "$name" "$LAB/series.sh" check || true
}

# The last line of check_aside.  bash forgets the status of a child that has ended when a later
# one gets its number.
ASIDE_ENDED="the checks of other architectures and configurations have ended"

# check_aside: checks that only compile, at the lowest priority: guests leave processors idle.
check_aside()
{
	renice -n 19 $BASHPID >/dev/null || true
	check_backport
	check_cross
	check_configs
	check_series
	say "$ASIDE_ENDED"
}

main()
{
	local arch aside=$LOGS/check-aside.log pid

	check_config "$CONFIG"
	for arch in $ARCHES; do
		check_arch "$arch"
	done
	lock_build
	: >"$RESULTS"
	rm -f "$aside"
	# shellcheck disable=SC2086 # a list of words
	if step "packages" "$LAB/setup.sh" $ARCHES $CROSS $CLANG $TOOLS ${SERIES:+series} &&
	   step "kernel tree" "$LAB/tree.sh"; then
		step "Kconfig has all options that our sources name" "$LAB/options.sh" || true
		say "compiling for other architectures and configurations beside the rest (log: $aside)"
		check_aside >"$aside" 2>&1 &
		pid=$!
		# A background job ignores ^C.
		trap 'trap - INT TERM; kill 0' INT TERM
		for arch in $ARCHES; do
			check_arch_config "$arch"
		done
		check_lint
		check_clients
		say "waiting for the other architectures and configurations (log: $aside)"
		wait "$pid" || true
		trap - INT TERM
		step "other architectures and configurations: ended by themselves" \
			says "$aside" "$ASIDE_ENDED" || true
	fi
	finish "$aside"
}

main
