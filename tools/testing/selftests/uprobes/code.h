/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_CODE_H
#define _UPROBES_CODE_H
/*
 * A file with a function, for tests that map text in unusual ways.  The function needs no
 * relocation: it returns its argument and 7.  Several of its instructions can be probed.
 */

extern const char code_start[], code_end[];
extern const unsigned int code_offsets[];

#define CODE_PROBES	4
/* With a nop that a call may replace. */
#ifdef __x86_64__
#define CODE_ALL_PROBES	5
#else
#define CODE_ALL_PROBES	CODE_PROBES
#endif
#define CODE_SIZE	((unsigned long)(code_end - code_start))

#ifdef __i386__
typedef unsigned long code_function(unsigned long value) __attribute__((regparm(1)));
#else
typedef unsigned long code_function(unsigned long value);
#endif

#if defined(__x86_64__)
asm(".pushsection .rodata; .balign 64\n"
	"code_start: push %rbp\n"
	"1: mov %rdi, %rax\n"
	"2: lea 7(%rax), %rax\n"
	"3: pop %rbp\n"
	"4: .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
	"ret\n"
	"code_end: .balign 4\n"
	"code_offsets: .long 0, 1b - code_start, 2b - code_start, 3b - code_start, 4b - code_start\n"
	".popsection");
#elif defined(__i386__)
asm(".pushsection .rodata; .balign 64\n"
	"code_start: push %ebp\n"
	"1: mov %eax, %edx\n"
	"2: lea 7(%edx), %eax\n"
	"3: pop %ebp; ret\n"
	"code_end: .balign 4\n"
	"code_offsets: .long 0, 1b - code_start, 2b - code_start, 3b - code_start\n"
	".popsection");
#elif defined(__aarch64__)
asm(".pushsection .rodata; .balign 64\n"
	"code_start: mov x1, x0\n"
	"1: add x1, x1, #3\n"
	"2: add x0, x1, #4\n"
	"3: nop; ret\n"
	"code_end: .balign 4\n"
	"code_offsets: .long 0, 1b - code_start, 2b - code_start, 3b - code_start\n"
	".popsection");
#endif

/* Writes a file of PAGES pages, each of which begins with the function; false on failure. */
UNUSED static bool code_file(const char *path, unsigned int pages)
{
	static char page[4096];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
	bool ok = fd >= 0;

	memcpy(page, code_start, CODE_SIZE);
	while (ok && pages--)
		ok = write(fd, page, sizeof(page)) == sizeof(page);
	close(fd);
	return ok;
}

/* Maps the file; NULL on failure. */
UNUSED static char *code_map(const char *path, unsigned int pages, int protection, int flags)
{
	int fd = open(path, flags & MAP_SHARED ? O_RDWR : O_RDONLY);
	void *p = mmap(NULL, pages * 4096UL, protection, flags, fd, 0);

	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Calls the function in a page of a mapping; true if it has its result. */
UNUSED static bool code_call(const char *map, unsigned int page, unsigned long value)
{
	return ((code_function *)(map + page * 4096UL))(value) == value + 7;
}

/* Probes an instruction of the function in each of the pages. */
UNUSED static bool code_probe(struct probes *probes, const char *path, unsigned int pages,
			      unsigned int insn)
{
	static __u64 offsets[MOST_PROBES], cookies[MOST_PROBES];
	struct link_at at = {
		.path = path, .offsets = offsets, .cookies = cookies, .nr = pages,
	};
	unsigned int i;

	for (i = 0; i < pages && i < MOST_PROBES; i++) {
		offsets[i] = i * 4096UL + code_offsets[insn];
		cookies[i] = i;
	}
	probes->nr = pages;
	probes->map = counters_create(pages);
	probes->program = counting_program(probes->map);
	probes->link = link_multi(probes->program, &at);
	return probes->link >= 0;
}

#endif /* _UPROBES_CODE_H */
