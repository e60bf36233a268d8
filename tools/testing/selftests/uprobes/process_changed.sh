#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of one process on text that changes: process_changed.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_changed
