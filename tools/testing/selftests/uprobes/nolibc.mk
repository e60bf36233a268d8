# SPDX-License-Identifier: GPL-2.0
#
# Rules for the programs in C, which need no C library: nolibc is in the kernel's sources.
# They are static and not position independent.  The lists, set before this file:
#
#	NATIVE, HELPERS	programs for the kernel's word size
#	NARROW		programs for 32 bits that a 64-bit kernel runs, too: NAME_32 from NAME.c
#	NARROW_PROCESS	the same, for scripts
#	X32		programs for x32, for a script: NAME_x32 from NAME.c
#
# KDIR is the build folder of the kernel.

KDIR ?= /lib/modules/$(shell uname -r)/build
SOURCES := $(firstword $(foreach dir,$(top_srcdir) $(KDIR)/source $(KDIR),\
	$(if $(wildcard $(dir)/tools/include/nolibc),$(dir))))

WORD_i386 := -m32
WORD_x86_64 := -m64
WORD_arm64 := -mno-outline-atomics

PROGRAM_CFLAGS := -Os -g -Wall -Wextra -Wno-unused-parameter -Werror \
	-static -fno-pie -nostdlib -ffreestanding \
	-fno-asynchronous-unwind-tables -fno-stack-protector -fcf-protection=none \
	-fno-omit-frame-pointer \
	-idirafter /usr/include/$(shell $(CC) -dumpmachine | sed "s,-[a-z]*-linux,-linux,") \
	-include $(SOURCES)/tools/include/nolibc/nolibc.h \
	-include $(SOURCES)/tools/include/uapi/linux/bpf.h
ifeq ($(ARCH),arm64)
PROGRAM_CFLAGS := $(filter-out -fcf-protection=none,$(PROGRAM_CFLAGS))
endif

HEADERS := $(wildcard *.h)

# Tools look for functions of assembly among symbols if there is no debugging information.
$(patsubst %,$(OUTPUT)/%,$(HELPERS)): PROGRAM_CFLAGS += -g0

$(patsubst %,$(OUTPUT)/%,$(NATIVE) $(HELPERS)): $(OUTPUT)/%: %.c $(HEADERS)
	$(call msg,CC,,$@)
	$(Q)$(CC) $(WORD_$(ARCH)) $(PROGRAM_CFLAGS) -o $@ $< -lgcc

# The program is that of the kprobes selftests.
vpath fail_nth.c ../kprobes

$(patsubst %,$(OUTPUT)/%,$(NARROW) $(NARROW_PROCESS)): $(OUTPUT)/%_32: %.c $(HEADERS)
	$(call msg,CC,,$@)
	$(Q)$(CC) -m32 $(PROGRAM_CFLAGS) -o $@ $<

$(patsubst %,$(OUTPUT)/%,$(X32)): $(OUTPUT)/%_x32: %.c $(HEADERS)
	$(call msg,CC,,$@)
	$(Q)$(CC) -mx32 $(PROGRAM_CFLAGS) -o $@ $<
