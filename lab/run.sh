#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh: make run.  Prepare, build and boot a kernel under QEMU whose probes fire while
# ordinary programs run.  ARCH is taken from the environment, x86_64 by default.

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-x86_64}
check_arch "$ARCH"
CONSOLE=$LOGS/run-$ARCH-console.log
SESSION=$LOGS/run-$ARCH-session.log

summary()
{
	local lines hits watches status=0

	lines=$(grep -cE 'kprobe_example: (pre|post): ' "$CONSOLE" || true)
	hits=$(grep -cE 'Hit #[0-9]+ on probepoint at ' "$CONSOLE" || true)
	watches=$(grep -cE 'wprobe_example: total_forks: [0-9]+ -> [0-9]+ ' "$CONSOLE" || true)
	echo
	if ! "$LAB/judge.sh" "$CONSOLE" "$SESSION"; then
		say "the kernel's log has the complaints above"
		status=1
	fi
	if ! grep -q '^lab: job run ended with status 0' "$SESSION"; then
		say "the session in the guest failed"
		status=1
	fi
	if ((lines == 0)); then
		say "no handler has printed a line: the probe did not fire"
		status=1
	fi
	if [[ $BASE != 6.12 ]] && ((hits < 3)); then
		say "the probe of cat has $hits hits, and cat has read 3 times"
		status=1
	fi
	# The sample shows the first three writes.
	if [[ $BASE-$ARCH != 6.12-arm64 ]] && ((watches < 3)); then
		say "the watchpoint probe has seen $watches writes, and 5 processes were made"
		status=1
	fi
	say "$lines lines from the sample's handlers, in $SESSION and $CONSOLE"
	say "$hits hits of the user-space probe"
	say "$watches writes seen by the watchpoint probe"
	say "all logs: $LOGS"
	if ((status)); then
		say "make run, $ARCH: FAILED after $SECONDS s"
	else
		say "make run, $ARCH: probes fired and the guest ended cleanly, in $SECONDS s"
	fi
	return "$status"
}

main()
{
	local booted=0

	lock_build
	"$LAB/setup.sh" "$ARCH"
	"$LAB/tree.sh"
	"$LAB/build.sh" "$ARCH" default
	"$LAB/initramfs.sh" "$ARCH" default
	FOLLOW=1 "$LAB/boot.sh" "$ARCH" default run "$CONSOLE" "$SESSION" \
		kunit.enable=0 || booted=$?
	((booted == 0)) || say "the guest did not end by itself"
	summary && ((booted == 0))
}

main
