# SPDX-License-Identifier: GPL-2.0
#
# The commands of the lab.  They assemble a Linux 7.3 tree with the kernel code of this
# repository in build/, and build it there; see lab/.

.DEFAULT_GOAL := help
.PHONY: help run check bench cycles tree users clients cross cross-boot configs series series-branch series-check base-tests docs anywhere clean

export ARCH CONFIG KSRC BASE COMPARE LONG FROM LISTS BOOTS N SEED ONLY FLAGS RUNS KERNELS MINUTES

help:
	@echo 'make run   [ARCH=x86_64|i386|arm64]  build a kernel, boot it under QEMU, show probes that fire'
	@echo 'make check [ARCH=x86_64|i386|arm64] [CONFIG=default|debug|preempt|rt|dist|...] [LONG=1]'
	@echo '                                all tests; without ARCH for all three; LONG: longer races;'
	@echo '                                bti, tags and pages64 are kernels for arm64, cfi for x86_64;'
	@echo '                                dist and cfi boot several times; BOOTS="name ..." selects boots;'
	@echo '                                MINUTES=n: lint, clients and the like do not begin after n minutes'
	@echo 'make bench [ARCH=x86_64|i386|arm64] [CONFIG=dist|FLAGS=equal] [RUNS="..."]'
	@echo '                                measure the base kernel with its kprobes and with ours;'
	@echo '                                dist: compiled as by a distribution, and also hits of'
	@echo '                                BPF trampolines (x86_64);'
	@echo '                                equal: no own flags for our hit paths (arm64);'
	@echo '                                RUNS: only these of boot, quiet, instructions, user, traps ...'
	@echo '                                KERNELS=ours: the results of the base are those of the last time'
	@echo 'make cycles                     run detours of the base and ours on this processor, count cycles'
	@echo 'make tree  [ARCH=] [CONFIG=]    leave a configured kernel tree in build/tree'
	@echo 'make users [ARCH=x86_64|i386|arm64]  compile every in-tree user of kprobes'
	@echo 'make cross [ARCH=arm|csky|loongarch|mips|powerpc|riscv|s390|sparc]'
	@echo '                                compile our core with the stock backends'
	@echo 'make cross-boot ARCH=s390|...   boot such a kernel: KUnit suites, and probes of a program'
	@echo 'make configs [ARCH=x86_64|arm64] [N=n] [SEED=s] [ONLY="name ..."]'
	@echo '                                compile our files in many unusual configurations, and in n random ones'
	@echo 'make clients [ARCH=] [COMPARE=1] boot the kernel of make users, and test the users in it;'
	@echo '                                COMPARE: also on the base'
	@echo 'make anywhere [ARCH=] [CONFIG=dist] [BOOTS=] [LISTS=n] [FROM=list]  probe every instruction;'
	@echo '                                hours; LISTS: number of random lists; FROM: first list'
	@echo 'make series                     patches against the base, verified, in build/series'
	@echo 'make series-branch              the same as branches of the base, in build/series-branch'
	@echo 'make series-check [ARCH=] [FROM=N] [ONLY="name ..."]  build and boot every step of them, with'
	@echo '                                the old and the new kprobes; goes on where it was interrupted'
	@echo 'make base-tests [ARCH=]         run the tests of 0-tests on the base: only the known ones fail'
	@echo 'make docs                       the manuals in Documentation/trace as HTML, with Sphinx'
	@echo 'make clean                      remove build/'
	@echo
	@echo 'KSRC=dir|tarball  another pristine Linux 7.3.y than the package linux-source-7.3'
	@echo 'BASE=6.12         the same on Linux 6.12.y, in build/6.12'
	@echo 'BUILD=dir         another output folder than build/'
	@echo 'JOBS=n            compilers at a time; the number of processors by default'
	@echo 'BOOT_TIMEOUT=n    seconds until a guest counts as hung'
	@echo 'Missing packages are installed with apt.  Every log is kept in build/logs.'

run:
	@lab/run.sh

check:
	@lab/check.sh

bench:
	@lab/bench.sh

cycles:
	@lab/cycles.sh

tree:
	@lab/usertree.sh

users:
	@lab/users.sh

cross:
	@lab/cross.sh

cross-boot:
	@lab/crossboot.sh

configs:
	@lab/configs.sh

clients:
	@lab/clients.sh

series:
	@lab/series.sh

series-branch:
	@lab/seriesbranch.sh

series-check:
	@lab/seriescheck.sh

base-tests:
	@lab/basetests.sh

anywhere:
	@lab/anywhere.sh

docs:
	@lab/docs.sh

clean:
	@lab/clean.sh
