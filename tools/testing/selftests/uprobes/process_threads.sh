#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Threads at probes of one process: process_threads.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_threads
