#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bench.sh: make bench.  Measure the base kernel with its own kprobes and with
# ours, in the same configuration, and put both into one table.  Taken from the environment:
#
#   ARCH	x86_64 by default
#   CONFIG	default; or dist: both kernels are compiled as distributions compile theirs
#   FLAGS	own; or equal: the compiler optimizes our hit paths no more than the rest of
#		the kernel (arm64, whose kernel is optimized for size)
#   RUNS	the runs; all by default.  With some of them, the table has only their rows.
#   KERNELS	"base ours" by default.  With one of them, the results of the other are those of the
#		last time.
#
# Each kernel boots nine times: five times on one processor, once on two and once on four with a
# clock that counts instructions, whose results repeat, and on two and on four with the host's
# clock, whose results are meaningful only as ratios, and only on an idle host.  The run "user"
# is that of the user-space probes, and "traps" counts exceptions.
#
# Fails if a guest fails or a row has no result.  A missed bound is shown, and is no
# failure.

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-x86_64}
CONFIG=${CONFIG:-default}
FLAGS=${FLAGS:-own}
RUNS=${RUNS:-}
KERNELS=${KERNELS:-base ours}
# The make of the kernel must not see them.
export -n CONFIG FLAGS RUNS KERNELS

# KIND is a part of the names of all files of this benchmark.
case $CONFIG-$FLAGS in
default-own)	KIND= ;;
default-equal)	KIND=-equal ;;
dist-own)	KIND=-dist ;;
*)	die "CONFIG=$CONFIG FLAGS=$FLAGS is not supported; use CONFIG=dist, FLAGS=equal, or none" ;;
esac
RUNS=${RUNS:-boot quiet instructions user traps two four host parallel}
RESULTS=$BUILD/bench/$ARCH$KIND.results
TABLE=$BUILD/bench/$ARCH$KIND

# id KERNEL: the name of its configuration in the lab.  The base has no hit paths of ours.
id()
{
	case $1$KIND in
	base-dist)	echo bench-dist-base ;;
	base*)		echo bench-base ;;
	ours*)		echo "bench$KIND" ;;
	esac
}

make_module()
{
	local config=$1 copy=$2

	mkdir -p "$copy"
	rsync -a "$LAB/bench/module/" "$copy/"
	kmake "$ARCH" "$config" M="$copy" W=1 modules
}

# make_client FOLDER: build the programs that measure system calls, and user-space probes,
# without a C library.
make_client()
{
	[[ $ARCH == i386 ]] ||
		make -C "$LAB/bench" -f "$ROOT/tools/testing/selftests/uprobes/nolibc.mk" \
			ARCH="$ARCH" CC="$(compiler "$ARCH")" KDIR="$SRC" OUTPUT="$1" \
			NATIVE=uclient "$1/uclient"
	make -C "$LAB/bench" -f "$ROOT/tools/testing/selftests/kprobes/nolibc.mk" ARCH="$ARCH" \
		CC="$(compiler "$ARCH")" top_srcdir="$SRC" OUTPUT="$1" \
		TEST_GEN_PROGS_EXTENDED="$1/client"
}

# guest_files CONFIG: make the contents of the guest's folder /bench.
guest_files()
{
	local config=$1 out log=$LOGS/$ARCH-$1-module.log
	out=$(out_dir "$ARCH" "$config")

	logged "$log" "building the measuring module for $ARCH-$config" \
		make_module "$config" "$out/bench-module" ||
		die "the measuring module does not build (log: $log)"
	if grep -E '(warning|error):' "$log" | grep -v 'the compiler differs'; then
		die "warnings from the measuring module (log: $log)"
	fi
	mkdir -p "$out/guest/bench"
	cp "$out/bench-module/"*.ko "$out/guest/bench/"
	logged "$LOGS/$ARCH-$config-client.log" "building the measuring program for $ARCH-$config" \
		make_client "$out/guest/bench" || die "the measuring program does not build"
	choose "$out" points
	choose "$out" coverage
	mixed "$out/guest/bench/mixed"
}

# choose OUT LIST: choose the addresses to be probed.  That takes a while, and depends on
# the kernel only.
choose()
{
	local vmlinux=$1/vmlinux script=$LAB/bench/$2.sh file=$1/guest/bench/$2

	[[ $file -nt $vmlinux && $file -nt $script ]] && return
	say "choosing addresses to be probed in $vmlinux: $2"
	"$script" "$ARCH" "$vmlinux" >"$file.new" ||
		die "the instructions of $vmlinux cannot be listed"
	[[ -s $file.new ]] || die "no address to be probed in $vmlinux"
	mv "$file.new" "$file"
}

# mixed FILE: choose instructions of the guest's largest program.
mixed()
{
	"$LAB/bench/mixed.sh" "$ARCH" "$(busybox_of "$ARCH")" >"$1" && [[ -s $1 ]] ||
		die "the instructions of busybox cannot be listed"
}

prepare()
{
	local config=$1

	"$LAB/build.sh" "$ARCH" "$config"
	guest_files "$config"
	"$LAB/initramfs.sh" "$ARCH" "$config"
}

# machine RUN: the settings of boot.sh for that run.  To measure the boot, both kernels
# unpack the same initramfs.
machine()
{
	case $1 in
	boot)		echo BOOT_CLOCK=instructions \
				"BOOT_INITRD=$(out_dir "$ARCH" "$(id base)")/initramfs.gz" ;;
	quiet|instructions|user|traps) echo BOOT_CLOCK=instructions ;;
	two)		echo BOOT_CLOCK=instructions BOOT_CPUS=2 ;;
	four)		echo BOOT_CLOCK=instructions BOOT_CPUS=4 ;;
	host)		echo BOOT_CLOCK=host ;;
	parallel)	echo BOOT_CLOCK=host BOOT_CPUS=4 ;;
	esac
}

# listen KERNEL: count exceptions while the guest runs; QEMU would write hundreds of megabytes.
listen()
{
	local pipe=$TABLE.exceptions

	rm -f "$pipe"
	mkfifo "$pipe"
	awk -f "$LAB/bench/traps.awk" "$pipe" >"$TABLE-$1.traps" &
	LISTENER=$!
	export BOOT_EXCEPTIONS=$pipe
}

# hear KERNEL OUTPUT: add the numbers of exceptions to RESULTS, for the keys in the output.
hear()
{
	unset BOOT_EXCEPTIONS
	wait "$LISTENER"
	sed -nE 's/^mark: ([a-z0-9_]+)\r?$/\1/p' "$2" | paste -d' ' - "$TABLE-$1.traps" |
		sed "s/^/$1 traps /" >>"$RESULTS"
	! grep -qvE '^(base|ours) [a-z]+ [a-z0-9_]+ [0-9]+$' "$RESULTS" ||
		die "the log of exceptions and the output have different marks"
}

# measure KERNEL RUN: boot the kernel, and add the measurements of the guest to RESULTS.
measure()
{
	local kernel=$1 run=$2 config console output
	config=$(id "$kernel")
	console=$LOGS/$ARCH-$config-$run-console.log
	output=$LOGS/$ARCH-$config-$run-output.log

	[[ $run != traps ]] || listen "$kernel"
	# shellcheck disable=SC2046 # a list of words
	env $(machine "$run") "$LAB/boot.sh" "$ARCH" "$config" bench "$console" "$output" \
		"lab.run=$run" || die "the guest of $kernel, $run, failed"
	[[ $run != traps ]] || hear "$kernel" "$output"
	"$LAB/judge.sh" "$console" "$output" ||
		die "the log of $kernel, $run, has the complaints above"
	grep -q '^lab: job bench ended with status 0' "$output" || {
		tail -n 5 "$output" "$console" | sed 's/^/    /'
		die "the benchmark of $kernel, $run, failed (logs: $console $output)"
	}
	sed -nE "s/^(\[[^]]*\] )?bench: ([a-z0-9_]+) ([0-9]+)\r?\$/$kernel $run \2 \3/p" \
		"$console" "$output" >>"$RESULTS"
}

# kprobes_objects: the objects of kprobes among those of a kernel.  Return probes of the
# base are in the rethook files.
kprobes_objects()
{
	grep -E "^(kernel/kprobes|kernel/trace/rethook|arch/$(source_arch "$ARCH")/kernel/(kprobes|probes|rethook))(\.o|/.*)\$"
}

# sizes KERNEL: add the sizes of the text, and of the data, of kprobes and of the kernel.
sizes()
{
	local kernel=$1 out
	out=$(out_dir "$ARCH" "$(id "$kernel")")

	(
		cd "$out"
		"$(binutil "$ARCH" ar)" t vmlinux.a | kprobes_objects |
			xargs "$(binutil "$ARCH" size)" --totals | tail -n 1 |
			awk -v kernel="$kernel" '{
				print kernel, "sizes kprobes_text", $1
				print kernel, "sizes kprobes_data", $2 + $3
			}'
		"$(binutil "$ARCH" size)" vmlinux | tail -n 1 |
			awk -v kernel="$kernel" '{
				print kernel, "sizes kernel_text", $1
				print kernel, "sizes kernel_data", $2 + $3
			}'
	) >>"$RESULTS" || die "the size of $kernel cannot be read"
}

# text: the table as text, made from the CSV file.
text()
{
	echo "Linux $(make -s -C "$SRC" kernelversion), $ARCH${KIND:+, ${KIND#-}}, $("$(compiler "$ARCH")" --version | head -n 1)"
	echo "insn and ms: instructions of the guest and millions of them, or idle time; host: the host's time"
	echo
	awk -F'"' 'BEGIN { print "row,unit,base,ours,ratio,bound," }
		{ row = $2; gsub(/,/, ";", row); print row $3 }' "$TABLE.csv" |
	awk -F, '{
		gsub(/;/, ",", $1)
		printf "%-40s %-6s %10s %10s %8s  %-11s %s\n", $1, $2, $3, $4, $5, $6, $7
	}' | sed 's/ *$//'
}

# rows: the rows of the table, with the own bounds of the architecture and of this kind of
# benchmark, and without the rows that do not exist there.
rows()
{
	own_rows | awk -F'|' -v runs=" sizes $RUNS " 'index(runs, " " $2 " ")'
}

# own_rows: those of all runs.
own_rows()
{
	local file own=()

	for file in "$LAB/bench/bounds-$ARCH" ${KIND:+"$LAB/bench/bounds-$ARCH$KIND"}; do
		[[ ! -f $file ]] || own+=("$file")
	done
	awk -F'|' -v OFS='|' '
	/^#/ { next }
	FILENAME != ARGV[ARGC - 1] { own[$1 "|" $2] = $3; next }
	($1 "|" $2) in own { $6 = own[$1 "|" $2] }
	$6 != "absent" { print }' "${own[@]}" "$LAB/bench/rows"
}

# forget: remove from RESULTS those that are about to be measured.
forget()
{
	touch "$RESULTS"
	awk -v kernels=" $KERNELS " -v runs=" sizes $RUNS " '
		!(index(kernels, " " $1 " ") && index(runs, " " $2 " "))' "$RESULTS" >"$RESULTS.new"
	mv "$RESULTS.new" "$RESULTS"
}

report()
{
	local missed

	rows >"$TABLE.rows"
	awk -f "$LAB/bench/table.awk" "$TABLE.rows" "$RESULTS" >"$TABLE.csv" ||
		die "rows are missing (results: $RESULTS, logs: $LOGS)"
	text >"$TABLE.txt"
	# The plots are of the run "instructions".
	[[ " $RUNS " != *' instructions '* ]] || "$LAB/bench/plot.sh" "$RESULTS" "$TABLE" ||
		die "the plots cannot be drawn"
	echo
	cat "$TABLE.txt"
	echo
	missed=$(grep -c 'MISSED$' "$TABLE.csv" || true)
	say "make bench, $ARCH$KIND: $missed bounds are missed, in $SECONDS s: $TABLE.txt, $TABLE.csv, $TABLE-*.svg"
}

main()
{
	local kernel run

	check_arch "$ARCH"
	[[ $KERNELS == "base ours" || $KERNELS == base || $KERNELS == ours ]] ||
		die "KERNELS=$KERNELS is not supported; use base, ours, or none"
	[[ $BASE == 7.3 ]] || die "the benchmark is for Linux 7.3; BASE=$BASE is a backport"
	[[ $KIND != -dist || $ARCH == x86_64 ]] || die "CONFIG=dist is for x86_64"
	[[ $KIND != -equal || $ARCH == arm64 ]] ||
		die "FLAGS=equal is for arm64; on x86 the whole kernel is compiled with -O2"
	lock_build
	mkdir -p "$BUILD/bench"
	"$LAB/setup.sh" "$ARCH" bench
	"$LAB/tree.sh"
	for kernel in $KERNELS; do
		prepare "$(id "$kernel")"
	done
	forget
	for kernel in $KERNELS; do
		sizes "$kernel"
	done
	for run in $RUNS; do
		for kernel in $KERNELS; do
			measure "$kernel" "$run"
		done
	done
	report
}

main
