#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Errors of probes of one process, and their reasons: process_errors.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_errors
