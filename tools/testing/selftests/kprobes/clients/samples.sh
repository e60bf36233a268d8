#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Ordinary modules that use the API: the samples of any kernel with this
# API, built for this one.  SAMPLES_DIR may name the folder with the modules.

. "$(dirname "$0")/../functions.sh"

SAMPLES_DIR=${SAMPLES_DIR:-/samples}
FUNCTION=kernel_clone

begin

# said: lines of the kernel's log that name the function.
said()
{
	dmesg | grep -c "$FUNCTION"
}

# try MODULE PARAMETER LETTER: load, five hits, unload; the list shows LETTER as its kind.
try()
{
	local i

	if [ ! -f "$SAMPLES_DIR/$1.ko" ]; then
		skip "$1" "$SAMPLES_DIR/$1.ko is not there"
		return
	fi
	yes "$1: loads" insmod "$SAMPLES_DIR/$1.ko" "$2=$FUNCTION"
	matches "$1: is in the list" "$(list | grep $FUNCTION)" \
		"^ADDR  $3  $FUNCTION\\+0x[04] "
	dmesg -c >/dev/null
	for i in 1 2 3 4 5; do
		sh -c 'exit 0'
	done
	between "$1: logs each hit" "$(said)" 5 1000
	yes "$1: unloads" rmmod "$1"
	is "$1: is not in the list any more" "$(list)" ""
	dmesg -c >/dev/null
	sh -c 'exit 0'
	is "$1: is silent" "$(said)" 0
}

try kprobe_example symbol k
try kretprobe_example func r
finish
