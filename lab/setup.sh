#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh ARCH... [clang] [boot] [bench] [series] [docs] [tools-ARCH...] [bpf] [perf]:
# install the packages that the lab needs and the machine lacks; with "clang" also that
# compiler, with "boot" the emulators of architectures that are otherwise only compiled, with
# "bench" the program that draws the plots of the benchmark, with "series" git and perl, with
# "docs" Sphinx, with "tools-ARCH" the clients that run in the guest of that architecture,
# with "bpf" also bpftrace, and the packages that selftests/bpf need besides clang, with "perf"
# those that perf of the base and its tests need.
#
# If nothing is missing, apt is not used.  All packages come from the Debian archive that
# the machine already uses.  The source of the base, the userland of a guest of another
# architecture, and the clients are only unpacked into the output folder: neither the machine's
# package sources and list of architectures nor its installed packages change for them.

. "$(dirname "$0")/lib.sh"

LOG=$LOGS/setup.log
DEFAULT_QEMU_WANTED=8.2
BASE_SUITE=trixie-backports
GUEST_PACKAGE=busybox-static

# Clients that run in guests; of them, and of the packages on which they depend, clients.sh
# copies the programs and libraries that they need.
TOOL_PACKAGES='linux-perf gdb-minimal trace-cmd binutils'

# Programs that the tests of perf run in the guest.
PERF_PACKAGES='bash grep coreutils perl-base'

# Debian's packages, in this order: compiler and kbuild's tools; for objtool; for the
# module signing code in certs/; initramfs; depmod; checkers; BTF; guest.
PACKAGES='
	gcc make libc6-dev flex bison bc python3 xz-utils rsync patch
	libelf-dev
	libssl-dev
	cpio gzip
	kmod
	ccache sparse
	dwarves
	busybox-static
'

as_root()
{
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "root is needed for '$*', and there is no sudo"
	fi
}

installed()
{
	[[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# default_gcc: the major version of the release's compiler, installed or not.
default_gcc()
{
	if command -v gcc >/dev/null; then
		gcc -dumpversion | cut -d. -f1
	else
		has_candidate gcc || apt_update >&2
		apt-cache depends gcc | sed -nE 's/^ *Depends: gcc-([0-9]+)$/\1/p' | head -n 1
	fi
}

# missing_packages ARCH...: the needed packages that are not installed.
missing_packages()
{
	local package version wanted=$PACKAGES

	# A 32 bit helper program of the kselftests links with gcc's own library.
	if [[ " $* " == *" i386 "* ]]; then
		version=$(default_gcc) && [[ -n $version ]] ||
			die "apt does not know which gcc is this release's (log: $LOG)"
		wanted+=" lib32gcc-$version-dev"
	fi

	[[ " $* " != *" bench "* ]] || wanted+=' gnuplot-nox'
	[[ " $* " != *" series "* ]] || wanted+=' git perl'
	[[ " $* " != *" bpf "* ]] || wanted+=' zlib1g-dev openssl'
	[[ " $* " != *" perf "* ]] || wanted+=' libdw-dev libtraceevent-dev pkgconf'
	[[ " $* " != *" docs "* ]] || wanted+=' python3-sphinx perl'

	# KSRC replaces Debian's source; the source of 7.3 is unpacked, not installed.
	[[ -n ${KSRC:-} || $BASE != 6.12 ]] || wanted+=' linux-source-6.12'
	for package in $wanted; do
		installed "$package" || echo "$package"
	done
}

has_candidate()
{
	apt-cache policy "$1" | grep '^ *Candidate: [^(]' >/dev/null
}

# missing_compilers ARCH...: packages of cross compilers that are not installed and
# that this Debian has.  A package that it lacks is recorded, to ask apt only once.
missing_compilers()
{
	local arch package

	for arch in "$@"; do
		for package in $(compiler_packages "$arch"); do
			[[ ! -e $BUILD/no-$package ]] || continue
			! installed "$package" || continue
			has_candidate "$package" || apt_update >&2
			if has_candidate "$package"; then
				echo "$package"
			else
				touch "$BUILD/no-$package"
			fi
		done
	done
}

# qemu_package ARCH: the package of its emulator; empty if the lab does not boot ARCH.
qemu_package()
{
	case $(emulator "$1") in
	*-aarch64) echo qemu-system-arm ;;
	?*)	echo qemu-system-x86 ;;
	esac
}

# qemu_wanted ARCH: the oldest version that suffices.  The arm64 machine has a second
# serial port since that version; on x86, thread=multi works since that version.
qemu_wanted()
{
	case $1 in
	arm64)	echo 9.1 ;;
	*)	echo "$DEFAULT_QEMU_WANTED" ;;
	esac
}

# qemu_fits ARCH: is the installed QEMU new enough?
qemu_fits()
{
	local have

	have=$(emulator_version "$1")
	[[ -n $have ]] && dpkg --compare-versions "$have" ge "$(qemu_wanted "$1")"
}

apt_update()
{
	[[ -n ${UPDATED:-} ]] && return
	logged "$LOG" "apt-get update" as_root apt-get -q update ||
		die "apt-get update failed (log: $LOG)"
	UPDATED=1
}

apt_install()
{
	apt_update
	logged "$LOG.install" "installing with apt: $*" \
		as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 install "$@"
}

# debian_source: "URI keyring" of the Debian archive in this machine's apt
# configuration.
debian_source()
{
	local uri entry keyring

	IFS='|' read -r uri entry < <(apt-get indextargets \
		--format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)|$(SOURCESENTRY)' \
		'Created-By: Packages' |
		awk -F'|' -v codename="$VERSION_CODENAME" \
			'$1 == "Debian" && $2 == codename { print $3 "|" $4; exit }') ||
		return 0
	keyring=$(sed -nE 's,^Signed-By: *(/[^ ]+).*,\1,p; s,^deb .*signed-by=(/[^] ]+).*,\1,p' \
		"${entry%:*}" | head -n 1)
	echo "$uri $keyring"
}

# add_backports: add the release's backports to apt's sources if they are not there.
add_backports()
{
	local uri keyring list=/etc/apt/sources.list.d/kprobes-lab-backports.list

	! apt-cache policy | grep "n=$VERSION_CODENAME-backports" >/dev/null || return 0
	read -r uri keyring < <(debian_source) || true
	[[ -n ${uri:-} ]] || return 0
	say "adding $VERSION_CODENAME-backports to the apt sources ($list)"
	echo "deb ${keyring:+[signed-by=$keyring] }$uri $VERSION_CODENAME-backports main" |
		as_root tee "$list" >/dev/null
	UPDATED=
	apt_update
}

qemu_candidate()
{
	apt-cache policy "$1" | sed -nE 's/^ *Candidate: ([0-9]+:)?([0-9.]+).*/\2/p'
}

# need_qemu ARCH: install the release's QEMU if it is new enough, else the backported
# one, and any QEMU if neither is available.
need_qemu()
{
	local arch=$1 package wanted candidate settled

	package=$(qemu_package "$arch")
	wanted=$(qemu_wanted "$arch")
	settled=$BUILD/$package-settled
	[[ -n $package ]] || return 0
	qemu_fits "$arch" && return
	[[ -e $settled && -n $(emulator_version "$arch") ]] && return
	apt_update
	candidate=$(qemu_candidate "$package")
	if dpkg --compare-versions "$candidate" ge "$wanted"; then
		apt_install "$package" || true
	else
		say "this release's QEMU is $candidate, but $wanted or later is needed: trying backports"
		add_backports
		apt_install -t "$VERSION_CODENAME-backports" "$package" ||
			apt_install "$package" || true
	fi
	[[ -n $(emulator_version "$arch") ]] ||
		die "apt could not install $package (log: $LOG.install)"
	say "installed: $package $(emulator_version "$arch")"
	# Recorded, so that the next run does not ask apt again.
	qemu_fits "$arch" || touch "$settled"
}

# cross_emulator ARCH: the QEMU for an architecture that crossboot.sh boots, and the names
# of its package in backports and in the release.
cross_emulator()
{
	case $1 in
	arm)	echo qemu-system-arm qemu-system-arm ;;
	mips)	echo qemu-system-mips64 qemu-system-mips ;;
	powerpc) echo qemu-system-ppc64 qemu-system-ppc ;;
	riscv)	echo qemu-system-riscv64 qemu-system-riscv qemu-system-misc ;;
	s390)	echo qemu-system-s390x qemu-system-s390x qemu-system-misc ;;
	esac
}

# need_cross_qemu ARCH: install that QEMU, in the version of the other emulators.
need_cross_qemu()
{
	local program packages package

	read -r program packages < <(cross_emulator "$1") || return 0
	! command -v "$program" >/dev/null || return 0
	apt_update
	add_backports
	for package in $packages; do
		apt_install -t "$VERSION_CODENAME-backports" "$package" ||
			apt_install "$package" || true
		! command -v "$program" >/dev/null || break
	done
	command -v "$program" >/dev/null ||
		die "apt could not install $program (log: $LOG.install)"
}

# judge_qemu ARCH: fail or warn if the QEMU is too old.
judge_qemu()
{
	local problem

	[[ -n $(emulator "$1") ]] || return 0
	! qemu_fits "$1" || return 0
	problem="QEMU $(emulator_version "$1") is installed, and no QEMU >= $(qemu_wanted "$1") is available"
	case $1 in
	arm64)	die "$problem: an arm64 guest would have no second serial port" ;;
	*)	warn "$problem; using it with -accel tcg,thread=single" ;;
	esac
}

# private_apt STATE ARGUMENTS...: apt-get with its state in the folder STATE; the state of
# the machine's apt does not change.
private_apt()
{
	local state=$1

	shift
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
	: >>"$state/status"
	(cd "$state" && apt-get -q -o Dir::State="$state" -o Dir::State::status="$state/status" \
		-o Dir::Cache="$state/cache" -o APT::Sandbox::User="$(id -un)" "$@")
}

# fetch_foreign ARCH PACKAGE...: unpack that architecture's builds of packages into
# $BUILD/guest-ARCH.
fetch_foreign()
{
	local package deb arch=$1 dest=$BUILD/guest-$1 state=$BUILD/apt-$1
	local -a missing=() opts=(-o APT::Architecture="$arch" -o APT::Architectures="$arch")

	shift
	for package in "$@"; do
		[[ -e $dest/$package.done ]] || missing+=("$package")
	done
	((${#missing[@]})) || return 0
	rm -rf "$state"
	mkdir -p "$dest"
	logged "$LOG.$arch" "finding ${missing[*]} for $arch (not installed, only unpacked)" \
		private_apt "$state" "${opts[@]}" update ||
		warn "some package lists for $arch could not be read; trying with the others"
	logged "$LOG.$arch" "fetching ${missing[*]} for $arch" \
		private_apt "$state" "${opts[@]}" download "${missing[@]}" ||
		die "${missing[*]} for $arch cannot be downloaded; its guest needs them (log: $LOG.$arch)"
	for deb in "$state"/*_"$arch".deb; do
		dpkg-deb -x "$deb" "$dest" || die "$deb cannot be unpacked"
	done
	for package in "${missing[@]}"; do
		touch "$dest/$package.done"
	done
	rm -rf "$state"
}

# fetch_tools ARCH PACKAGE...: unpack that architecture's builds of the clients, and of all
# packages on which they depend, into $BUILD/tools-ARCH.
fetch_tools()
{
	local deb package name=$1 arch=$1 dest=$BUILD/tools-$1 state=$BUILD/apt-tools-$1
	local -a opts missing=()

	shift
	[[ $arch != x86_64 ]] || name=amd64
	for package in "$@"; do
		[[ -e $dest/$package.done ]] || missing+=("$package")
	done
	((${#missing[@]})) || return 0
	rm -rf "$state"
	mkdir -p "$dest"
	# The state has an empty list of installed packages: all others are dependencies.
	opts=(-o APT::Architecture="$name" -o APT::Architectures="$name")
	logged "$LOG.tools" "finding ${missing[*]} for $arch (not installed, only unpacked)" \
		private_apt "$state" "${opts[@]}" update ||
		warn "some package lists for $arch could not be read; trying with the others"
	logged "$LOG.tools" "fetching them, and all packages that they need" \
		private_apt "$state" "${opts[@]}" --yes --no-install-recommends \
			--download-only install "${missing[@]}" ||
		die "${missing[*]} for $arch cannot be downloaded; its guest needs them (log: $LOG.tools)"
	for deb in "$state"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dest" --exclude='./usr/share/*' ||
			die "$deb cannot be unpacked"
	done
	for package in "${missing[@]}"; do
		touch "$dest/$package.done"
	done
	rm -rf "$state"
}

# fetch_base: store the base's source, which no release up to 13 has, in base_tarball.  It
# comes from the suite BASE_SUITE of the archive that the machine uses.
fetch_base()
{
	local uri keyring package=linux-source-$BASE state=$BUILD/apt-base
	local -a opts=(-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=-)

	[[ -z ${KSRC:-} && ! -e $(base_tarball) ]] || return 0
	read -r uri keyring < <(debian_source) || true
	if [[ -z ${uri:-} ]]; then
		apt_update
		read -r uri keyring < <(debian_source) || true
	fi
	[[ -n ${uri:-} ]] ||
		die "apt's sources name no Debian archive that has $package; give a Linux $BASE.y with KSRC="
	rm -rf "$state"
	mkdir -p "$state"
	echo "deb ${keyring:+[signed-by=$keyring] }$uri $BASE_SUITE main" >"$state/sources.list"
	{
		logged "$LOG.base" "looking for $package in $BASE_SUITE (not installed, only unpacked)" \
			private_apt "$state" "${opts[@]}" update &&
		logged "$LOG.base" "fetching $package, some 170 MB" \
			private_apt "$state" "${opts[@]}" download "$package" &&
		dpkg-deb -x "$state/$package"_*.deb "$state"
	} || die "$package cannot be downloaded from $BASE_SUITE (log: $LOG.base); give a Linux $BASE.y with KSRC="
	mv "$state/usr/src/$package.tar.xz" "$(base_tarball)"
	rm -rf "$state"
}

main()
{
	local arch found versions=
	local -a missing=()

	mkdir -p "$LOGS"
	command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
		die "this machine has no dpkg and apt; install by hand: $(echo $PACKAGES) and the Linux $BASE source (KSRC=)"
	. /etc/os-release
	found=$(missing_packages "$@" && missing_compilers "$@") || exit
	[[ -z $found ]] || mapfile -t missing <<<"$found"
	if ((${#missing[@]})); then
		apt_install "${missing[@]}" ||
			die "apt could not install: ${missing[*]} (log: $LOG.install)"
		say "installed: ${missing[*]}"
	fi
	fetch_base
	for arch in "$@"; do
		need_qemu "$arch"
		[[ " $* " != *" boot "* ]] || need_cross_qemu "$arch"
		judge_qemu "$arch"
		[[ -n $(emulator "$arch") ]] || continue
		# shellcheck disable=SC2086 # a list of words
		[[ " $* " != *" tools-$arch "* ]] || fetch_tools "$arch" $TOOL_PACKAGES
		# There is no bpftrace for i386.  With libelf-dev comes all that programs of arm64
		# are compiled and linked with.
		[[ " $* " != *" bpf "* || $arch == i386 ]] || fetch_tools "$arch" bpftrace
		[[ " $* " != *" bpf "* || $arch != arm64 ]] || fetch_tools "$arch" libelf-dev
		# shellcheck disable=SC2086 # a list of words
		[[ " $* " != *" perf "* || $arch != x86_64 ]] || fetch_tools "$arch" $PERF_PACKAGES
		versions+="$(emulator "$arch") $(emulator_version "$arch"), "
		[[ $arch == x86_64 ]] || fetch_foreign "$arch" "$GUEST_PACKAGE"
	done
	say "packages: all installed ($versions$(gcc --version | head -n 1))"
}

main "$@"
