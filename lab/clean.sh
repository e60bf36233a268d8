#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# clean.sh: make clean.  Remove the output folder of the lab.  Any other folder in
# BUILD is refused.

. "$(dirname "$0")/lib.sh"

if [[ ! -e $BUILD ]]; then
	say "nothing to clean"
elif [[ -d $BUILD/logs ]]; then
	rm -rf "$BUILD"
	say "removed $BUILD"
else
	die "$BUILD is not an output folder of the lab"
fi
