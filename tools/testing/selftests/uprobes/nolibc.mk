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
FORMS := $(SOURCES)/kernel/kprobes/tests

WORD_i386 := -m32
WORD_x86_64 := -m64
WORD_arm64 := -mno-outline-atomics
FORMS_i386 := x86
FORMS_x86_64 := x86
FORMS_arm64 := arm64
FORM_TABLES_x86 := data flags branch vector
FORM_TABLES_arm64 := data memory branch system vector scalable
FORM_TABLES := $(FORM_TABLES_$(FORMS_$(ARCH)))

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

# The tables and the machine of the kernel's suites, with the headers under headers/.
FORM_FLAGS := -Iheaders -I$(FORMS) -I$(SOURCES)/tools/arch/x86/include
FORM_AFLAGS := -D__ASSEMBLY__ $(FORM_FLAGS)
FORM_SOURCES := $(patsubst %,$(FORMS)/$(FORMS_$(ARCH))_forms_%.S,$(FORM_TABLES)) \
	$(FORMS)/$(FORMS_$(ARCH))_form_run.S forms_user_$(FORMS_$(ARCH)).S
FORM_C := forms.c forms_$(FORMS_$(ARCH)).c

# build_forms FLAGS CONFIG: assemble and compile the program of the forms, in a folder of
# objects, because assembly and C have different options.
define build_forms
	$(Q)rm -rf $@.o && mkdir $@.o
	$(Q)for source in $(FORM_SOURCES); do \
		$(CC) $(1) -D$(2) $(FORM_AFLAGS) -c -o $@.o/$$(basename $$source).o $$source || exit; \
	done
	$(Q)for source in $(FORM_C); do \
		$(CC) $(1) -D$(2) $(PROGRAM_CFLAGS) $(FORM_FLAGS) -c -o $@.o/$$source.o $$source || exit; \
	done
	$(Q)$(CC) $(1) -static -nostdlib -z noexecstack -o $@ $@.o/*.o -lgcc
	$(Q)rm -rf $@.o
endef

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

$(OUTPUT)/forms: $(FORM_C) $(FORM_SOURCES) $(HEADERS)
	$(call msg,CC,,$@)
	$(call build_forms,$(WORD_$(ARCH)),CONFIG_$(patsubst i386,X86_32,$(patsubst x86_64,X86_64,$(ARCH))))

$(OUTPUT)/forms_32: $(FORM_C) $(FORM_SOURCES) $(HEADERS)
	$(call msg,CC,,$@)
	$(call build_forms,-m32,CONFIG_X86_32)
