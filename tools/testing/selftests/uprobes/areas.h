/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_AREAS_H
#define _UPROBES_AREAS_H
/*
 * The mappings in which the kernel runs probed instructions: executable ones that are neither
 * of a file nor the vDSO's.  Nothing that a program can see may be an address in them, except
 * the return address of a function with a return probe.
 */

#define MAPS_SIZE	65536
#define MOST_AREAS	256

struct area {
	unsigned long start, end;
	char permissions[5];
	char name[32];
};

static struct area areas[MOST_AREAS];
static unsigned int nr_areas;

static char maps[MAPS_SIZE];

/* Reads a small file whole; returns its size. */
UNUSED static int read_whole(const char *path, char *text, int size)
{
	int fd = open(path, O_RDONLY), length, all = 0;

	if (fd < 0)
		return -1;
	while (all < size - 1 && (length = read(fd, text + all, size - 1 - all)) > 0)
		all += length;
	close(fd);
	text[all] = 0;
	return all;
}

/* Reads the numbers of one line of /proc/PID/maps; returns the rest of it. */
static const char *read_line(const char *line, struct area *area)
{
	char *end;
	int i;

	area->start = strtoul(line, &end, 16);
	area->end = strtoul(end + 1, &end, 16);
	memcpy(area->permissions, end + 1, 4);
	area->permissions[4] = 0;
	end += 5;
	/* Offset, device, inode. */
	for (i = 0; i < 4; i++) {
		while (*end == ' ')
			end++;
		while (i < 3 && *end && *end != ' ' && *end != '\n')
			end++;
	}
	return end;
}

/* Finds the areas of a process; returns how many there are. */
UNUSED static unsigned int find_areas(const char *maps_file)
{
	const char *line = maps;
	unsigned int i;

	nr_areas = 0;
	if (read_whole(maps_file, maps, sizeof(maps)) <= 0)
		return 0;
	while (*line) {
		struct area *area = &areas[nr_areas];
		const char *name = read_line(line, area);

		for (i = 0; i < sizeof(area->name) - 1 && name[i] && name[i] != '\n'; i++)
			area->name[i] = name[i];
		area->name[i] = 0;
		if (area->permissions[2] == 'x' && area->name[0] != '/' &&
		    strcmp(area->name, "[vdso]") && strcmp(area->name, "[vsyscall]") &&
		    nr_areas < MOST_AREAS - 1)
			nr_areas++;
		line = strchr(line, '\n');
		if (!line)
			break;
		line++;
	}
	return nr_areas;
}

/* True if an address is in one of the areas that find_areas() has found. */
UNUSED static bool in_area(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < nr_areas; i++) {
		if (address >= areas[i].start && address < areas[i].end)
			return true;
	}
	return false;
}

#endif /* _UPROBES_AREAS_H */
