#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# users.sh [ARCH]: build a kernel with every in-tree user of kprobes, and check that each
# of them has been compiled.  With an argument, the tree must be there already (make
# check).  Without one, as "make users", the packages and the tree are prepared first.

. "$(dirname "$0")/lib.sh"

if (($#)); then
	ARCH=$1
	PREPARED=1
else
	ARCH=${ARCH:-x86_64}
	PREPARED=
fi
OUT=$(out_dir "$ARCH" users)

USERS='
	kernel/trace/trace_kprobe.o
	kernel/trace/trace_uprobe.o
	kernel/trace/trace_probe.o
	kernel/trace/bpf_trace.o
	kernel/trace/kprobe_event_gen_test.o
	kernel/events/core.o
	kernel/fail_function.o
	kernel/debug/debug_core.o
	kernel/jump_label.o
	kernel/extable.o
	kernel/kallsyms.o
	kernel/module/main.o
	kernel/sysctl.o
	lib/error-inject.o
	drivers/misc/lkdtm/core.o
'

# own_users: users in the architecture's own code, or that only some architectures have.
own_users()
{
	sanity_test
	# On Linux 7.3, fprobe uses the graph tracer.
	case $BASE-$ARCH in
	6.12-arm64|7.3-i386) ;;
	6.12-*)	echo kernel/trace/{fprobe,trace_fprobe,rethook}.o ;;
	*)	echo kernel/trace/{fprobe,trace_fprobe}.o ;;
	esac
	case $ARCH in
	arm64) echo arch/arm64/kernel/{kgdb,ftrace,traps,debug-monitors,patching,stacktrace}.o \
		arch/arm64/kernel/probes/uprobes.o arch/arm64/mm/fault.o ;;
	*) echo arch/x86/kernel/{kgdb,ftrace,traps,alternative}.o arch/x86/mm/fault.o ;;
	esac
	[[ $ARCH != x86_64 ]] || echo kernel/livepatch/core.o
}

main()
{
	local object users

	check_arch "$ARCH"
	lock_build
	if [[ -z $PREPARED ]]; then
		"$LAB/setup.sh" "$ARCH"
		"$LAB/tree.sh"
	fi
	users="$USERS $(own_users)"
	"$LAB/build.sh" "$ARCH" users
	for object in $users; do
		[[ -f $OUT/$object ]] || die "$object has not been built in $OUT"
	done
	say "$ARCH: $(wc -w <<<"$users") files that use kprobes compiled"
}

main
