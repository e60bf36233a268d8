# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions and settings shared by all scripts of the lab: paths, messages, and the
# running of a long step.  Sourced, never run.
#
# Settings that a caller may give in the environment:
#   BUILD   the output folder, build/ in the repository by default
#   JOBS    how many compilers at a time, the number of processors by default
#   SRC     the tree to build instead of the assembled one: the base, for comparison
#   BASE    the kernel under the overlay: 7.3 by default, or 6.12

set -eu -o pipefail

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(dirname "$LAB")
BASE=${BASE:-7.3}
BUILD=${BUILD:-$ROOT/build$([[ $BASE == 7.3 ]] || echo "/$BASE")}
[[ $BUILD == /* ]] || BUILD=$PWD/$BUILD
LOGS=$BUILD/logs
SRC=$BUILD/src
JOBS=${JOBS:-$(nproc)}

# Scripts compare and judge the untranslated messages.
export LC_ALL=C
export BUILD JOBS BASE

# Few objects are compiled twice, so let ccache skip the preprocessor: without a cache, that is
# a quarter of the time of a compilation.
export CCACHE_DEPEND=${CCACHE_DEPEND:-1}

# make exports an empty ARCH, which the kernel's own Makefiles would use as a name.
[[ -n ${ARCH:-} ]] || unset ARCH

# Seconds between two progress messages of a long step.
PROGRESS_EVERY=15

say()
{
	printf '[lab] %s\n' "$*"
}

warn()
{
	printf '[lab] note: %s\n' "$*" >&2
}

die()
{
	printf '[lab] error: %s\n' "$*" >&2
	exit 1
}

[[ $BASE == 7.3 || $BASE == 6.12 ]] ||
	die "BASE=$BASE is not supported; use 7.3 or 6.12"

# check_arch ARCH: refuse an architecture that the lab cannot build.
check_arch()
{
	case $1 in
	x86_64|i386|arm64) ;;
	*) die "ARCH=$1 is not supported; use x86_64, i386 or arm64" ;;
	esac
}

# source_arch ARCH: the folder in arch/ with the code of that architecture.
source_arch()
{
	case $1 in
	x86_64|i386) echo x86 ;;
	*) echo "$1" ;;
	esac
}

# cross_arches: the kernel's names of the architectures whose stock backends are
# compiled against our core; "make check ARCH=" never builds them.
cross_arches()
{
	echo arm csky loongarch mips powerpc riscv s390 sparc
}

# compiler ARCH [CONFIG]: the compiler for that architecture and configuration; the
# default is CONFIG of the environment.  No gcc of Debian 12 compiles for loongarch, or
# an arm64 kernel with landing pads, but clang does both.  No compiler of Debian compiles
# for csky.
compiler()
{
	case $1-${2:-${CONFIG:-}} in
	arm64-bti|arm64-tags|arm64-dist|x86_64-cfi) echo clang-19; return ;;
	*-configs-clang|*-configs-clang-base) echo clang-19; return ;;
	esac
	case $1 in
	clang)		echo clang-19 ;;
	arm)		echo arm-linux-gnueabihf-gcc ;;
	arm64)		echo aarch64-linux-gnu-gcc ;;
	csky)		echo csky-linux-gnu-gcc ;;
	loongarch)	echo clang-19 ;;
	mips)		echo mips64-linux-gnuabi64-gcc ;;
	powerpc)	echo powerpc64le-linux-gnu-gcc ;;
	riscv)		echo riscv64-linux-gnu-gcc ;;
	s390)		echo s390x-linux-gnu-gcc ;;
	sparc)		echo sparc64-linux-gnu-gcc ;;
	*)		echo gcc ;;
	esac
}

# compiler_packages ARCH: Debian's packages of that compiler and its tools.
compiler_packages()
{
	local cc

	cc=$(compiler "$1")
	case $cc in
	clang-*) echo "$cc lld-${cc#clang-} llvm-${cc#clang-}" ;;
	*-gcc)	echo "gcc-${cc%-gcc}" ;;
	esac
	# The kselftests have programs in C, which include <linux/...>.
	[[ $1 != arm64 ]] || echo linux-libc-dev-arm64-cross
}

# binutil ARCH NAME: the tool of that name for the compiler.
binutil()
{
	local cc

	cc=$(compiler "$1")
	case $cc in
	clang-*) echo "llvm-$2-${cc#clang-}" ;;
	*)	echo "${cc%gcc}$2" ;;
	esac
}

# toolchain ARCH [CONFIG]: the argument with which the kernel's make finds the toolchain.
toolchain()
{
	local cc

	cc=$(compiler "$@")
	case $cc in
	clang-*) echo "LLVM=-${cc#clang-}" ;;
	*)	echo "CROSS_COMPILE=${cc%gcc}" ;;
	esac
}

# emulator ARCH: the QEMU for that architecture; empty if the lab does not boot it.
emulator()
{
	case $1 in
	x86_64|i386) echo "qemu-system-$1" ;;
	arm64)	echo qemu-system-aarch64 ;;
	esac
}

# emulator_version ARCH: version of the installed QEMU; empty if none is installed.
emulator_version()
{
	"$(emulator "$1")" --version 2>/dev/null |
		sed -nE 's/^QEMU emulator version ([0-9.]+).*/\1/p'
}

# check_config NAME: refuse a configuration without fragments, or one that BASE lacks.
check_config()
{
	[[ $1-$BASE != bigendian-7.3 ]] ||
		die "CONFIG=bigendian needs BASE=6.12; Linux 7.3 cannot be built in that byte order"
	case $1 in
	default|debug|preempt|rt|dist|kcsan|cfi|bti|tags|pages64|bigendian|users|users-base|cross) ;;
	bench|bench-base|bench-equal|bench-dist|bench-dist-base) ;;
	configs|configs-clang|configs-base|configs-clang-base) ;;
	series) ;;
	*) die "CONFIG=$1 is not known; use default, debug, preempt, rt, dist or kcsan; on x86_64 also cfi; on arm64 also bti, tags, pages64 or bigendian" ;;
	esac
}

# out_dir ARCH CONFIG: the build folder of that kernel.
out_dir()
{
	printf '%s/%s-%s\n' "$BUILD" "$1" "$2"
}

# boots ARCH CONFIG NAME: the ways to boot that kernel, one a line,
# "name|processor|words|arguments", from its file in lab/config, or one way with NAME.
boots()
{
	local file=$LAB/config/$2-$1.boots

	if [[ -f $file ]]; then
		sed -E '/^#/d; /^[[:space:]]*$/d; s/[[:space:]]*\|[[:space:]]*/|/g' "$file"
	else
		echo "$3|-|-|"
	fi
}

# base_tree: the pristine tree under ours.  tree.sh writes its path.
base_tree()
{
	cat "$BUILD/base.path"
}

# tree_of CONFIG: the tree from which CONFIG is built: ours, or the pristine base.
tree_of()
{
	case $1 in
	*-base)	base_tree ;;
	*)	echo "$SRC" ;;
	esac
}

# kept: copy the lines of the input, paths relative to the repository, that
# backports/BASE/left-out does not list.  With that base the listed files of the overlay and
# patches are not used, and the base's own files of these names stay.
kept()
{
	local list=$ROOT/backports/$BASE/left-out path pattern
	local -a patterns=()

	[[ ! -f $list ]] || mapfile -t patterns < <(sed '/^#/d; /^$/d' "$list")
	while read -r path; do
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # a glob
			[[ $path != $pattern ]] || continue 2
		done
		echo "$path"
	done
}

# patch_files: the patches for BASE, in the order in which they apply.  A file of
# backports/BASE takes the place of the one of the same name in patches/; the others
# change the overlay's own files, and come last.
patch_files()
{
	local patch name instead=$ROOT/backports/$BASE

	shopt -s nullglob
	for patch in "$ROOT"/patches/*.patch; do
		name=${patch##*/}
		[[ -n $(kept <<<"patches/$name") ]] || continue
		[[ ! -e $instead/$name ]] || patch=$instead/$name
		echo "$patch"
	done
	for patch in "$instead"/*.patch; do
		[[ -e $ROOT/patches/${patch##*/} ]] || echo "$patch"
	done
	shopt -u nullglob
}

# busybox_of ARCH: the busybox of the guests of that architecture.
busybox_of()
{
	case $1 in
	x86_64) command -v busybox ;;
	*)	echo "$BUILD/guest-$1/bin/busybox" ;;
	esac
}

# ftrace_cases FOLDER LIST: the cases in LIST of selftests/ftrace in FOLDER.  Linux 6.12 does
# not have all of them, and some that it has cannot pass.
ftrace_cases()
{
	local leftout=$LAB/config/$BASE/clients.left-out name

	while read -r name; do
		if [[ $BASE == 6.12 ]]; then
			compgen -G "$1/$name" >/dev/null || continue
			! grep -qxF "$name" "$leftout" || continue
		fi
		echo "$name"
	done < <(grep -v '^#' "$2")
}

# ftrace_files GUEST LIST: copy selftests/ftrace of the base, unchanged, into the folder with
# the guest's files; its file "cases" names the cases that the job "clients" runs.
ftrace_files()
{
	rm -rf "$1/ftrace"
	mkdir -p "$1"
	cp -r "$(base_tree)/tools/testing/selftests/ftrace" "$1/ftrace" || return
	ftrace_cases "$1/ftrace" "$2" >"$1/ftrace/cases"
}

# base_tarball: the file in which setup.sh stores the base, unless KSRC names another.
base_tarball()
{
	case $BASE in
	6.12)	echo /usr/src/linux-source-6.12.tar.xz ;;
	*)	echo "$BUILD/linux-source-$BASE.tar.xz" ;;
	esac
}

# sanity_test: the object of the base's own test of kprobes.
sanity_test()
{
	case $BASE in
	6.12)	echo lib/test_kprobes.o ;;
	*)	echo lib/tests/test_kprobes.o ;;
	esac
}

# own_files: every file of the repository that is laid over the kernel tree,
# relative to the tree.  tree.sh writes the list.
own_files()
{
	cat "$BUILD/own-files"
}

# option_names: the names of the options that the input, sources and Kconfig files, names.
option_names()
{
	grep -oE '\bCONFIG_[A-Z0-9_]+|^(config|	(depends on|select)) .*' |
		grep -oE '\b[A-Z][A-Z0-9_]+\b' | sed 's/^CONFIG_//' | sort -u
}

# complaints LOG [FILE...]: lines of LOG that warn about a file of ours, or about FILE.
complaints()
{
	local log=$1

	shift
	{ own_files; (($# == 0)) || printf '%s\n' "$@"; } | awk '
	FNR == NR { own[$0]; next }
	/: (warning|error|note):|: warning|: error/ {
		path = $0
		sub(/:.*/, "", path)
		if (path ~ /\.o$/)
			sub(/\.o$/, ".c", path)
		while (path != "") {
			if (path in own) { print; break }
			if (!sub(/^[^\/]*\//, "", path)) break
		}
	}' - "$log"
}

# kmake ARCH CONFIG args...: run the kernel's make for that build.
kmake()
{
	local arch=$1 out tree cc tools
	out=$(out_dir "$1" "$2")
	tree=$(tree_of "$2")
	cc=$(compiler "$1" "$2")
	tools=$(toolchain "$1" "$2")
	shift 2
	! command -v ccache >/dev/null || cc="ccache $cc"
	# These flags are after those of our Makefiles.
	[[ ${out##*/} != *-bench-equal ]] || set -- CFLAGS_KERNEL=-Os "$@"
	# A fixed build date keeps ccache useful and images comparable.
	make -C "$tree" O="$out" ARCH="$arch" "$tools" CC="$cc" HOSTCC=gcc -j"$JOBS" \
		KBUILD_BUILD_TIMESTAMP='1970-01-01' \
		KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab "$@"
}

# install_modules ARCH CONFIG: install the modules of that build into its folder "modules".
install_modules()
{
	local modules

	modules=$(out_dir "$1" "$2")/modules
	rm -rf "$modules"
	kmake "$1" "$2" INSTALL_MOD_PATH="$modules" INSTALL_MOD_STRIP=1 modules_install
}

# end_job PID: end that process, its children, their children, and so on.  They cannot have a
# process group of their own: sudo could not ask for a password there.
end_job()
{
	local all=$1 parents=$1

	while [[ -n $parents ]]; do
		parents=$(grep -lsE "^PPid:[[:space:]]+(${parents// /|})\$" /proc/[0-9]*/status |
			cut -d/ -f3 | tr '\n' ' ' || true)
		parents=${parents% }
		all+=" $parents"
	done
	# shellcheck disable=SC2086 # a list of words
	kill $all 2>/dev/null || true
}

# logged LOG TITLE command...: run a long command with all its output in LOG,
# print its progress every now and then, and show the end of the log if it fails.
# Returns the status of the command.
logged()
{
	local log=$1 title=$2 pid status=0 start=$SECONDS next=$PROGRESS_EVERY
	shift 2
	mkdir -p "$(dirname "$log")"
	say "$title (log: $log)"
	# The lock on the output folder (9) is that of this process.
	"$@" >"$log" 2>&1 </dev/null 9>&- &
	pid=$!
	# A background job does not get the terminal's ^C.
	trap 'end_job "$pid"; exit 130' INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		if ((SECONDS - start >= next)); then
			next=$((next + PROGRESS_EVERY))
			progress_line "$log" $((SECONDS - start))
		fi
	done
	wait "$pid" || status=$?
	trap - INT TERM
	if ((status)); then
		say "FAILED after $((SECONDS - start)) s: $title"
		say "the last errors, and the end, of $log:"
		grep -nE '(error|Error|ERROR|undefined reference)[: ]' "$log" |
			tail -n 15 | sed 's/^/    /' || true
		tail -n 10 "$log" | sed 's/^/    /'
	else
		say "done in $((SECONDS - start)) s: $title"
	fi
	return "$status"
}

progress_line()
{
	local objects last
	objects=$(grep -cE '^ +(HOSTCC|CC|AS|LD|AR) ' "$1" || true)
	last=$(tail -n 1 "$1" | tr -s ' \t' ' ' | cut -c 1-70)
	if ((objects)); then
		say "  ... $2 s, $objects objects, now:$last"
	else
		say "  ... $2 s ${last:+, now: $last}"
	fi
}

# lock_build: one user of an output folder at a time; a second one waits.
lock_build()
{
	mkdir -p "$BUILD" "$LOGS"
	[[ -n ${LAB_LOCKED:-} ]] && return
	exec 9>"$BUILD/lock"
	if ! flock -n 9; then
		say "waiting for another run that uses $BUILD"
		flock 9
	fi
	export LAB_LOCKED=1
}
