#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# boot.sh ARCH CONFIG JOB CONSOLE OUTPUT [kernel arguments...]: boot that kernel
# under QEMU with lab.job=JOB.  The kernel's messages go to the file CONSOLE, the
# job's output to the file OUTPUT.  With the job "none" there is no user space:
# the kernel runs its own tests and reboots.
#
# Settings: BOOT_TIMEOUT, seconds until a guest counts as hung; FOLLOW=1 shows
# OUTPUT on the terminal while it grows; BOOT_CPUS, the number of the guest's
# processors, 2 by default; BOOT_CPU, QEMU's name of their model, by default the one with
# the most features; BOOT_CLOCK=instructions: one processor, and a clock that advances by
# one tick for each instruction; BOOT_INITRD, another initramfs than that of the kernel;
# BOOT_MEMORY, the size of the guest's memory, 1G by default; BOOT_EXCEPTIONS, a file to which
# QEMU logs all exceptions.
#
# Status: 0 the guest ended by itself after its job; 1 it died before; 124 it hung.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
JOB=$3
CONSOLE=$4
OUTPUT=$5
shift 5
OUT=$(out_dir "$ARCH" "$CONFIG")

# Checking kernels are several times slower.
default_timeout()
{
	case $ARCH-$CONFIG in
	arm64-debug) echo 7200 ;;
	*-debug|*-kcsan) echo 2700 ;;
	*-bti|*-tags) echo 2700 ;;
	*-dist|*-cfi) echo 2400 ;;
	*-bench*) echo 3600 ;;
	*)	echo 1800 ;;
	esac
}

# accel: older QEMUs lose modifications of code that another CPU executes.
accel()
{
	local version

	version=$(emulator_version "$ARCH")
	if dpkg --compare-versions "$version" ge 8.2; then
		echo tcg,thread=multi
	else
		echo tcg,thread=single
	fi
}

# cpu: a model with all features of TCG.  QEMU's 32 bit model identifies itself as an AMD
# K6, with which the kernel starts no second processor; another vendor's name avoids that.
# TCG spends half of its time in the architected algorithm that signs arm64's pointers;
# any other algorithm serves as well.  Debug kernels are slow, and do without it.  With five levels
# of page tables, KASAN of x86 may report an interrupt that arrives while identify_cpu() clears the
# features of the processor, from which KASAN learns where its shadow is.
cpu()
{
	case $ARCH-$CONFIG in
	i386-*)	echo max,vendor=GenuineIntel ;;
	x86_64-debug) echo max,la57=off ;;
	arm64-debug) echo max,pauth=off ;;
	arm64-*) echo max,pauth-impdef=on ;;
	*)	echo max ;;
	esac
}

# board: the machine.  That of arm64 starts the kernel in EL2, where the kernel stays if
# the processor has VHE, and has memory with tags, which not every processor supports.  It
# passes no random seeds to the kernel.
board()
{
	local tags=on

	[[ -z ${BOOT_CPU:-} ]] || tags=off
	case $ARCH in
	arm64)	echo "-machine virt,gic-version=3,virtualization=on,mte=$tags,dtb-randomness=off" ;;
	esac
}

# image: path of the kernel in its build folder.
image()
{
	case $ARCH in
	arm64)	echo arch/arm64/boot/Image ;;
	*)	echo arch/x86/boot/bzImage ;;
	esac
}

# arguments: the kernel's arguments besides the job.  On a busy host, x86's test of the
# timer's interrupt gets no interrupt in time.
arguments()
{
	local pseudo_nmi=

	# Built-in pseudo-NMIs are off by default, and have to be tested.
	! grep -q '^CONFIG_ARM64_PSEUDO_NMI=y' "$OUT/.config" ||
		pseudo_nmi=irqchip.gicv3_pseudo_nmi=1
	case $ARCH in
	arm64)	echo "console=ttyAMA0 $pseudo_nmi" ;;
	*)	echo "console=ttyS0,115200 no_timer_check" ;;
	esac
}

# ended: true if the guest ended by itself, false if it died.
ended()
{
	if [[ $JOB == none ]]; then
		grep -q 'reboot: Restarting system' "$CONSOLE"
	else
		grep -q '^lab: job .* ended' "$OUTPUT"
	fi
}

# machine: the processors and their clock.
machine()
{
	case ${BOOT_CLOCK:-host} in
	instructions)	echo "-accel tcg,thread=single -icount shift=0,sleep=off -smp ${BOOT_CPUS:-1}" ;;
	host)		echo "-accel $(accel) -smp ${BOOT_CPUS:-2}" ;;
	*)		die "BOOT_CLOCK=$BOOT_CLOCK is neither host nor instructions" ;;
	esac
}

# userspace: the argument with the initramfs.
userspace()
{
	[[ $JOB == none ]] || echo "-initrd ${BOOT_INITRD:-$OUT/initramfs.gz}"
}

qemu()
{
	local limit=$1 machine
	shift
	machine=$(machine)
	# shellcheck disable=SC2046,SC2086 # lists of words
	timeout --kill-after=10 "$limit" "$(emulator "$ARCH")" \
		$(board) $machine -cpu "${BOOT_CPU:-$(cpu)}" -m "${BOOT_MEMORY:-1G}" \
		-display none -monitor none -nic none -no-reboot \
		-chardev "file,id=console,path=$CONSOLE" -serial chardev:console \
		-chardev "file,id=output,path=$OUTPUT" -serial chardev:output \
		${BOOT_EXCEPTIONS:+-d int -D "$BOOT_EXCEPTIONS"} \
		-kernel "$OUT/$(image)" $(userspace) \
		-append "$*"
}

# watch PID: print the progress until QEMU has ended.
watch()
{
	local pid=$1 start=$SECONDS next=$PROGRESS_EVERY tail=

	if [[ -n ${FOLLOW:-} ]]; then
		tail -n +1 -f --pid="$pid" "$OUTPUT" | sed 's/^/    /' &
		tail=$!
	fi
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		if [[ -z $tail ]] && ((SECONDS - start >= next)); then
			next=$((next + PROGRESS_EVERY))
			say "  ... $((SECONDS - start)) s in the guest, $(grep -cE '^(# )?(not )?ok ' "$OUTPUT" || true) results, now: $(tail -n 1 "$OUTPUT" | cut -c 1-60)"
		fi
	done
	[[ -z $tail ]] || wait "$tail"
}

main()
{
	local limit=${BOOT_TIMEOUT:-$(default_timeout)} pid status=0 start=$SECONDS

	: >"$CONSOLE"
	: >"$OUTPUT"
	say "booting $ARCH-$CONFIG, job $JOB, at most $limit s (logs: $CONSOLE $OUTPUT)"
	qemu "$limit" "$(arguments) panic=-1 lab.job=$JOB $*" </dev/null 9>&- &
	pid=$!
	# A background job does not get the terminal's ^C.
	trap 'end_job "$pid"; exit 130' INT TERM
	watch "$pid"
	wait "$pid" || status=$?
	trap - INT TERM
	case $status in
	0)	;;
	124|137)
		say "the guest hung: killed after $limit s; the last lines of $CONSOLE:"
		tail -n 8 "$CONSOLE" | sed 's/^/    /'
		return 124
		;;
	*)
		say "QEMU failed with status $status"
		return 1
		;;
	esac
	if ! ended; then
		say "the guest died before its job ended; the last lines of $CONSOLE:"
		tail -n 25 "$CONSOLE" | sed 's/^/    /'
		return 1
	fi
	say "the guest ended by itself after $((SECONDS - start)) s"
}

main "$@"
