# SPDX-License-Identifier: GPL-2.0
#
# Rules for the helper programs in C.  They have to run without a C library, in the
# kernel's word size; nolibc, from the kernel's source tree, supports both.
# A compiler for 64 bit does not find <asm/...> by itself with -m32.
#
# Included after lib.mk by a Makefile that lists them in TEST_GEN_PROGS_EXTENDED.

KDIR ?= /lib/modules/$(shell uname -r)/build
NOLIBC := $(firstword $(wildcard $(top_srcdir)/tools/include/nolibc \
				 $(KDIR)/source/tools/include/nolibc \
				 $(KDIR)/tools/include/nolibc))
WORD_i386 := -m32
WORD_x86_64 := -m64

$(TEST_GEN_PROGS_EXTENDED): $(OUTPUT)/%: %.c
	$(call msg,CC,,$@)
	$(Q)$(CC) -Os -Wall -Wextra -Wno-unused-parameter -Werror $(WORD_$(ARCH)) -static \
		-nostdlib -ffreestanding -fno-asynchronous-unwind-tables -fno-stack-protector \
		-idirafter /usr/include/$(shell $(CC) -dumpmachine | sed "s,-[a-z]*-linux,-linux,") \
		-include $(NOLIBC)/nolibc.h -o $@ $<
