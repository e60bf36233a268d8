/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _WPROBES_CONTROL_H
#define _WPROBES_CONTROL_H
/*
 * The module wp_test: add probes, and look at their hits.  Checks that fail print why, and exit.
 */
#define CONTROL		"/sys/kernel/debug/wp_test/control"
#define PROBES		"/sys/kernel/debug/wp_test/probes"

typedef volatile unsigned long word_t;

/* The line of a probe in the module's list. */
struct seen {
	long hits, missed, old, new, wrong;
	bool gone;
};

/* Prints why the case fails, and exits. */
static void fail(const char *what, long got, long wanted)
{
	printf("%s: %ld, wanted %ld\n", what, got, wanted);
	exit(1);
}

static void same(const char *what, long got, long wanted)
{
	if (got != wanted)
		fail(what, got, wanted);
}

/* The count of an event of perf. */
static inline long count_of(int file)
{
	unsigned long long count;

	same("read", read(file, &count, sizeof(count)), sizeof(count));
	return count;
}

/* --- The module ------------------------------------------------------------------ */

static int control(const char *text)
{
	int fd = open(CONTROL, O_WRONLY), ret;

	if (fd < 0)
		fail("open " CONTROL, errno, 0);
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static inline int add_at(const char *name, int pid, word_t *at, const char *type)
{
	char text[128];

	snprintf(text, sizeof(text), "add %s pid:%d:0x%lx %d %s", name, pid, (unsigned long)at,
		 (int)sizeof(*at), type);
	return control(text);
}

static __attribute__((unused)) void command(const char *verb, const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %s", verb, name);
	same(verb, control(text), 0);
}

static long value(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	if (!at)
		fail(name, -1, 0);
	return strtol(at + strlen(name), NULL, 10);
}

static struct seen look(const char *name)
{
	int fd = open(PROBES, O_RDONLY), n = 0, got;
	struct seen seen;
	char text[4096], *line, *end;

	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = '\0';
	for (line = text; strncmp(line, name, strlen(name)) || line[strlen(name)] != ' ';
	     line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			fail("no such probe in " PROBES, 0, 1);
	}
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	seen.hits = value(line, " hits=");
	seen.missed = value(line, " nmissed=");
	seen.old = value(line, " old=");
	seen.new = value(line, " new=");
	seen.wrong = value(line, " wrong=");
	seen.gone = strstr(line, " gone");
	return seen;
}

/* Every access was a call of the handler. */
static __attribute__((unused)) struct seen expect(const char *name, long hits)
{
	struct seen seen = look(name);

	same("hits", seen.hits, hits);
	same("missed", seen.missed, 0);
	same("handlers that could not read the memory", seen.wrong, 0);
	return seen;
}

/* --- Cases ----------------------------------------------------------------------- */

struct test_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case that the first argument names, and prints "ok". */
static inline int run_case(int argc, char **argv, const struct test_case *cases, unsigned int nr)
{
	unsigned int i;

	for (i = 0; argc == 2 && i < nr; i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run();
		printf("ok\n");
		return 0;
	}
	printf("no such case\n");
	return 1;
}

#endif /* _WPROBES_CONTROL_H */
