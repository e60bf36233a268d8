#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# initramfs.sh ARCH CONFIG: make the guest's root file system, an initramfs of
# busybox, lab/guest, the kernel's modules and, if they exist, the kselftests and
# the files in the build's folder "guest".  No network, no disk.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
OUT=$(out_dir "$ARCH" "$CONFIG")
FS=$OUT/initramfs
LOG=$LOGS/$ARCH-$CONFIG-initramfs.log

# applets BUSYBOX: its applets.  If it does not run here, list those of the machine's
# busybox, which has the same ones, because both are from the same Debian.
applets()
{
	"$1" --list-full 2>/dev/null || busybox --list-full
}

fill()
{
	local busybox applet job

	busybox=$(busybox_of "$ARCH")
	[[ -x $busybox ]] || { echo "no busybox for $ARCH"; return 1; }
	mkdir -p "$FS"/{bin,sbin,usr/bin,usr/sbin,dev,proc,sys,tmp,lab,etc}
	cp "$busybox" "$FS/bin/busybox"
	while read -r applet; do
		# The wrapper script has this name, not the applet.
		[[ $applet == usr/bin/timeout || -e $FS/$applet ]] ||
			ln -s /bin/busybox "$FS/$applet"
	done < <(applets "$busybox")
	ln -sf /bin/busybox "$FS/bin/timeout"
	install -m 755 "$LAB/guest/timeout" "$FS/usr/bin/timeout"
	install -m 755 "$LAB/guest/init" "$FS/init"
	for job in run check clients bench anywhere; do
		install -m 644 "$LAB/guest/$job" "$FS/lab/$job"
	done
	rsync -a --exclude=build --exclude=source "$OUT/modules/lib" "$FS/"
	[[ ! -d $OUT/kselftest ]] || rsync -a "$OUT/kselftest" "$FS/"
	[[ ! -d $OUT/guest ]] || rsync -a "$OUT/guest/" "$FS/"
}

pack()
{
	rm -rf "$FS"
	fill
	# PID 1 needs a console before it has mounted /dev.
	(cd "$FS" && find . -print0 | LC_ALL=C sort -z |
		cpio --null --create --format=newc --owner=0:0) |
		gzip -1 >"$OUT/initramfs.gz.new"
	mv "$OUT/initramfs.gz.new" "$OUT/initramfs.gz"
}

logged "$LOG" "making the initramfs of $ARCH-$CONFIG" pack ||
	die "the initramfs cannot be made (log: $LOG)"
