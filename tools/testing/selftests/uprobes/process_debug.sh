#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Debuggers and probes of one process: process_debug.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_debug
