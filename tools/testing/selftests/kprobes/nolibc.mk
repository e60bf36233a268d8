# SPDX-License-Identifier: GPL-2.0
#
# How the helper programs in C are built.  They have to run where there is no C
# library, and have the kernel's word size: nolibc can do both.  It lies in the tree
# that the kernel is built from.  A compiler for 64 bit does not look for <asm/...>
# by itself when told -m32.
#
# Included after lib.mk by a Makefile that has named them in TEST_GEN_PROGS_EXTENDED.

KDIR ?= /lib/modules/$(shell uname -r)/build
NOLIBC := $(firstword $(wildcard $(top_srcdir)/tools/include/nolibc \
				 $(KDIR)/source/tools/include/nolibc \
				 $(KDIR)/tools/include/nolibc))
WORD_i386 := -m32
WORD_x86_64 := -m64

$(TEST_GEN_PROGS_EXTENDED): $(OUTPUT)/%: %.c
	$(call msg,CC,,$@)
	$(Q)$(CC) -Os -Wall -Wextra -Werror $(WORD_$(ARCH)) -static -nostdlib \
		-ffreestanding -fno-asynchronous-unwind-tables -fno-stack-protector \
		-idirafter /usr/include/$(shell $(CC) -dumpmachine) \
		-include $(NOLIBC)/nolibc.h -o $@ $<
