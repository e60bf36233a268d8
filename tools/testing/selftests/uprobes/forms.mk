# SPDX-License-Identifier: GPL-2.0
#
# Rules for the programs that run the instruction forms of the KUnit suites.  Included after
# nolibc.mk.

FORMS := $(SOURCES)/kernel/kprobes/tests
FORMS_i386 := x86
FORMS_x86_64 := x86
FORMS_arm64 := arm64
FORM_TABLES_x86 := data flags branch vector
FORM_TABLES_arm64 := data memory branch system vector scalable
FORM_TABLES := $(FORM_TABLES_$(FORMS_$(ARCH)))

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

$(OUTPUT)/forms: $(FORM_C) $(FORM_SOURCES) $(HEADERS)
	$(call msg,CC,,$@)
	$(call build_forms,$(WORD_$(ARCH)),CONFIG_$(patsubst i386,X86_32,$(patsubst x86_64,X86_64,$(ARCH))))

$(OUTPUT)/forms_32: $(FORM_C) $(FORM_SOURCES) $(HEADERS)
	$(call msg,CC,,$@)
	$(call build_forms,-m32,CONFIG_X86_32)
