/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is free, and memory that this process has.
 */
/* nolibc's atol() does not skip blanks. */
static long number(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return atol(text);
}

/* Free memory in pages, with the lists of the processors. */
static unsigned long free_pages(void)
{
	static char text[16384];
	unsigned long pages = 0;
	char *line;
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY), length, size = 0;

	write(fd, "1", 1);
	close(fd);
	fd = open("/proc/zoneinfo", O_RDONLY);
	while ((length = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += length;
	close(fd);
	text[size] = 0;
	for (line = text; (line = strstr(line, "nr_free_pages ")); line++)
		pages += number(line + 14);
	for (line = text; (line = strstr(line, "count:")); line++)
		pages += number(line + 6);
	return pages;
}

/* Anonymous memory of this process in kB. */
static long anonymous(void)
{
	static char text[4096];
	int fd = open("/proc/self/status", O_RDONLY), length = read(fd, text, sizeof(text) - 1);
	char *line;

	close(fd);
	text[length < 0 ? 0 : length] = 0;
	line = strstr(text, "RssAnon:");
	if (!line)
		die("RssAnon");
	return number(line + 8);
}
