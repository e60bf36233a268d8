#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of one process by pid and address: process_probes.c has the checks, and the module
# up_process registers the probes.

. "$(dirname "$0")/functions.sh"

begin
if ! grep -q ' register_uprobe_process_notifier$' /proc/kallsyms; then
	skip_all "no probes of processes in this kernel"
fi
load up_process
"$HERE/process_probes"
status=$?
put_back
exit $status
