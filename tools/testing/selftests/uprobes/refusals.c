// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that cannot be: each has its errno.  And text that is mapped in an unusual way: a
 * probe there counts, or is refused if the text is shared.  Only in shared text that is mapped
 * after the registration it may have no effect.
 */
#include <linux/memfd.h>

#include "../kselftest.h"
#include "probe.h"
#include "signals.h"
#include "system.h"
#include "code.h"

#define FILE_NAME	"/tmp/uprobes-code"
#define PAGES		3
#ifdef __aarch64__
#define LAST_OFFSET	(PAGES * 4096 - 4)
#else
#define LAST_OFFSET	(PAGES * 4096 - 1)
#endif

extern char trap_insn[], good_insn[];

#ifdef __aarch64__
asm(".pushsection .text; good_insn: nop; trap_insn: brk #5; ret; .popsection");
#else
asm(".pushsection .text; good_insn: nop; trap_insn: int3; ret; .popsection");
#endif

/* --- Errors ---------------------------------------------------------------- */

static int open_error(const char *path, unsigned long offset, bool is_return)
{
	struct event_at at = { .path = path, .offset = offset, .is_return = is_return };
	int fd = event_open(&at);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void check_error(const char *name, int error, int wanted)
{
	ksft_test_result(error == wanted, "%s: error %d, wanted %d\n", name, error, wanted);
}

static void check_errors(void)
{
	code_file(FILE_NAME, PAGES);
	check_error("a good offset", open_error(FILE_NAME, 0, false), 0);
	check_error("a good return", open_error(FILE_NAME, 0, true), 0);
	check_error("no such file", open_error("/nonexistent/file", 0, false), ENOENT);
	check_error("an empty path", open_error("", 0, false), EINVAL);
	check_error("a directory", open_error("/tmp", 0, false), EINVAL);
	check_error("a device", open_error("/dev/null", 0, false), EINVAL);
	check_error("an offset after the end", open_error(FILE_NAME, 1UL << 28, false), EINVAL);
	check_error("a path that cannot be read", open_error((char *)16, 0, false), EFAULT);
	check_error("the last instruction of the file",
		    open_error(FILE_NAME, LAST_OFFSET, false), 0);
	/* Some implementations look at the instruction only when a process has mapped it. */
	ksft_test_result(open_error(SELF, file_offset(trap_insn), false) != 0,
			 "a breakpoint of the program is refused\n");
#ifdef __aarch64__
	check_error("an odd address", open_error(FILE_NAME, 2, false), EINVAL);
#else
	ksft_test_result_skip("an odd address: every address may be one of an instruction\n");
#endif
}

/* No instruction can be read from a file in huge pages. */
static void check_huge_file(void)
{
	int fd = syscall(__NR_memfd_create, "huge", MFD_HUGETLB);
	char path[32];

	if (fd < 0) {
		ksft_test_result_skip("no hugetlbfs in this kernel\n");
		return;
	}
	/* A multiple of any size of a huge page; the pages are not allocated. */
	syscall(__NR_ftruncate, fd, 1UL << 30);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_error("a file in huge pages", open_error(path, 0, false), EIO);
	close(fd);
}

/* All offsets of a link, or none. */
static void check_all_or_none(void)
{
	__u64 offsets[3] = { 0, code_offsets[1], 1UL << 28 }, cookies[3] = { 0, 0, 0 };
	struct link_at at = {
		.path = FILE_NAME, .offsets = offsets, .cookies = cookies, .nr = 3,
	};
	int map = counters_create(1), program = counting_program(map), link;
	char *text = code_map(FILE_NAME, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);

	link = link_multi(program, &at);
	ksft_test_result(link < 0 && errno == EINVAL, "one bad offset of three: error %d\n",
			 link < 0 ? errno : 0);
	ksft_test_result(code_call(text, 0, 3) && counter_read(map, 0) == 0,
			 "none of them is probed (%llu hits)\n", counter_read(map, 0));
	at.nr = 2;
	link = link_multi(program, &at);
	ksft_test_result(link >= 0 && code_call(text, 0, 3) && counter_read(map, 0) == 2,
			 "the good ones are (%llu hits)\n", counter_read(map, 0));
	link_close(link);
	at.nr = 0;
	link = link_multi(program, &at);
	ksft_test_result(link < 0 && errno == EINVAL, "no offset at all: error %d\n",
			 link < 0 ? errno : 0);
	close(program);
	close(map);
	munmap(text, PAGES * 4096);
}

/* --- Unusual mappings ------------------------------------------------------ */

/*
 * struct mapping - a way to map text
 * @name: for messages
 * @protection: at first
 * @flags: of mmap()
 * @later: protection that the mapping gets afterwards, or 0
 * @write: the program writes the first byte, the same as before, so that it has its own page
 */
static const struct mapping {
	const char *name;
	int protection, flags, later;
	bool write;
} mappings[] = {
	{ "private", PROT_READ | PROT_EXEC, MAP_PRIVATE, 0, false },
	{ "private, only executable", PROT_EXEC, MAP_PRIVATE, 0, false },
	{ "private, writable", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, 0, false },
	{ "private, writable, written", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, 0, true },
	{ "private, no longer writable", PROT_READ | PROT_WRITE, MAP_PRIVATE,
	  PROT_READ | PROT_EXEC, true },
	{ "private, made writable", PROT_READ | PROT_EXEC, MAP_PRIVATE,
	  PROT_READ | PROT_WRITE | PROT_EXEC, true },
	{ "shared", PROT_READ | PROT_EXEC, MAP_SHARED, 0, false },
	{ "shared, writable", PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, 0, false },
	{ "shared, no longer writable", PROT_READ | PROT_WRITE, MAP_SHARED,
	  PROT_READ | PROT_EXEC, true },
};

/*
 * The effect of a probe in a mapping.  COUNTS: it counts each call, or is refused in shared text.
 * NO_EFFECT: it counts no call, and the function works.  FAULTY: anything else.
 */
enum effect { COUNTS, NO_EFFECT, FAULTY };

static enum effect effect_in(const struct mapping *mapping, bool probe_first, char *detail)
{
	struct probes probes = { .link = -1 };
	bool calls;
	char *text;
	unsigned long hits;
	int error = 0;

	if (probe_first && !code_probe(&probes, FILE_NAME, 1, 1))
		error = errno;
	text = code_map(FILE_NAME, PAGES, mapping->protection, mapping->flags);
	if (!text)
		error = -errno;
	if (text && mapping->write && mapping->protection & PROT_WRITE)
		*(volatile char *)text = code_start[0];
	if (text && mapping->later)
		change_protection(text, PAGES * 4096, mapping->later);
	if (text && mapping->write && mapping->later & PROT_WRITE)
		*(volatile char *)text = code_start[0];
	if (!probe_first && !code_probe(&probes, FILE_NAME, 1, 1))
		error = errno;
	calls = text && code_call(text, 0, 5) && code_call(text, 0, 6);
	hits = error ? 0 : probe_count(&probes);
	if (error < 0)
		snprintf(detail, 64, "cannot be mapped, error %d", -error);
	else if (error)
		snprintf(detail, 64, "refused, error %d", error);
	else
		snprintf(detail, 64, "%lu hits of 2", hits);
	if (probes.link >= 0)
		probe_remove(&probes);
	if (text) {
		/* The function works when the probe has gone. */
		calls &= code_call(text, 0, 7);
		munmap(text, PAGES * 4096);
	}
	if (text && !calls)
		return FAULTY;
	if (error)
		return error > 0 && (mapping->flags & MAP_SHARED) ? COUNTS : FAULTY;
	if (hits == 2)
		return COUNTS;
	return hits ? FAULTY : NO_EFFECT;
}

static const struct mapping *current_mapping;
static bool current_first;

/* In a child: text that has changed kills a process. */
static char *detail;

static int one_mapping(void)
{
	return effect_in(current_mapping, current_first, detail);
}

static void check_mappings(void)
{
	unsigned int i, first;

	detail = shared_memory(4096);
	for (first = 0; first < 2; first++) {
		for (i = 0; i < ARRAY_SIZE(mappings); i++) {
			int status;

			current_mapping = &mappings[i];
			current_first = first;
			/* The file must be whole for the next mapping. */
			code_file(FILE_NAME, PAGES);
			detail[0] = 0;
			status = in_child(one_mapping);
			/* No implementation can put a probe that exists there. */
			if (status == NO_EFFECT && first && mappings[i].flags & MAP_SHARED)
				ksft_test_result_xfail("%s, mapped later: %s\n",
						       mappings[i].name, detail);
			else
				ksft_test_result(!status, "%s, %s: %s (%d)\n", mappings[i].name,
						 first ? "mapped later" : "mapped before", detail,
						 status);
		}
	}
}

/* A probe in a file that is deleted, or replaced, stays where it was. */
static void check_deleted(void)
{
	struct probes probes;
	char *text;

	code_file(FILE_NAME, PAGES);
	text = code_map(FILE_NAME, PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	code_probe(&probes, FILE_NAME, PAGES, 2);
	unlink(FILE_NAME);
	code_file(FILE_NAME, PAGES);
	ksft_test_result(code_call(text, 0, 1) && probe_count(&probes) == 1,
			 "a deleted file: %lu hits of 1\n", probe_count(&probes));
	probe_remove(&probes);
	ksft_test_result(code_call(text, 0, 1), "its text works afterwards\n");
	munmap(text, PAGES * 4096);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(12 + 4 + 2 * ARRAY_SIZE(mappings) + 2);
	check_errors();
	check_huge_file();
	check_all_or_none();
	check_mappings();
	check_deleted();
	unlink(FILE_NAME);
	ksft_finished();
}
