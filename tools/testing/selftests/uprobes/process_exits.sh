#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Return probes on the exits of functions: process_exits.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_exits
