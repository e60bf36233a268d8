#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes in a file whose pages can only be read for an open file, as those of FUSE and NFS, while
# they are in nobody's page cache: nobody maps the file, or a process maps it, but has not used
# the page.

. "$(dirname "$0")/functions.sh"

FOLDER=/tmp/uprobes-files
BLIND=/sys/module/up_files/parameters/blind

# blind: the number of pages that were to be read without an open file.
blind()
{
	cat "$BLIND"
}

mount_again()
{
	umount "$FOLDER" 2>/dev/null
	mount -t up_files none "$FOLDER"
}

begin
load up_test
load up_files "path=$TARGET"
mkdir -p "$FOLDER"
yes "the file system is mounted" mount_again

is "a probe in a file that nobody maps" "$(up "add a path=$FOLDER/file offset=$(offset plain)")" ok
is "no page is read for it" "$(blind)" 0
is "a program in the file runs" "$("$FOLDER/file" call plain 5)" 5
is "its calls are hits" "$(counts a)" "5 0 0"
is "the probe is removed" "$(up del a)" ok
yes "the file system is unmounted" umount "$FOLDER"

# Only the program's pages that have been executed are in the page cache; "counter" is data.
mount_again
rm -f "$FLAG"
"$FOLDER/file" wait "$FLAG" plain 3 >"$OUTPUT" &
waiting=$!
lines=1
is "a probe in a file that a process maps" \
	"$(up "add a path=$FOLDER/file offset=$(offset plain)")" ok
is "the process goes on" "$(go)" 3
wait "$waiting"
is "its calls are hits" "$(counts a)" "3 0 0"
is "a return probe at the same place" \
	"$(up "add r path=$FOLDER/file offset=$(offset plain) return")" ok
is "a program in the file runs again" "$("$FOLDER/file" call plain 2)" 2
is "its returns are hits" "$(counts r)" "0 2 0"
up del a >/dev/null
up del r >/dev/null
is "no page is read without a file" "$(blind)" 0
yes "the file system is unmounted again" umount "$FOLDER"
rmdir "$FOLDER"

finish
