#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of 32-bit processes by pid and address, on x86-64: the programs of the other scripts.

. "$(dirname "$0")/functions.sh"

begin
run_programs_for 32 process_probes process_changed process_children process_errors process_exits \
	process_limits process_debug process_storm process_threads
finish
