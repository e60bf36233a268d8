// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command again and again, and let a different allocation of it fail each time.
 *
 *	fail_nth FILE TEXT UNDO
 *
 * writes TEXT to FILE repeatedly.  In the first write the first allocation fails, in
 * the second the second, and so on, until a write has fewer allocations, so that none
 * fails.  A write that succeeds although an allocation failed is undone by writing UNDO.
 * Prints a line for each write, "N ERRNO", with 0 for a success, and at the end
 * "through N", where N is the number of allocations.
 *
 * Status: 0; 1 if FILE cannot be used or no write runs without a failed allocation; 4 if
 * this kernel cannot let allocations fail.
 *
 * Built with nolibc.
 */
#define STATUS_SKIP	4
#define MOST		2000

static int control, fail_nth;

static int put_text(const char *text)
{
	return write(control, text, strlen(text)) < 0 ? errno : 0;
}

/* The next @n - 1 allocations of this task succeed, then one fails; 0: all succeed. */
static int set_nth(int n)
{
	char text[16];

	strcpy(text, itoa(n));
	return write(fail_nth, text, strlen(text)) < 0;
}

/*
 * Number of allocations until one fails; 0: it has failed.  Use pread(), because the file
 * cannot be rewound, and opening it again would count as an allocation.
 */
static int get_nth(void)
{
	char text[16] = "";

	if (syscall(__NR_pread64, fail_nth, text, sizeof(text) - 1, 0, 0) <= 0)
		return -1;
	return atoi(text);
}

int main(int argc, char **argv)
{
	int n, err, left;

	if (argc != 4)
		return 1;
	control = open(argv[1], O_WRONLY);
	fail_nth = open("/proc/self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		return STATUS_SKIP;
	if (control < 0)
		return 1;

	for (n = 1; n <= MOST; n++) {
		if (set_nth(n))
			return 1;
		err = put_text(argv[2]);
		left = get_nth();
		if (left < 0 || set_nth(0))
			return 1;
		printf("%d %d\n", n, err);
		if (!err && put_text(argv[3])) {
			printf("cannot be undone\n");
			return 1;
		}
		if (left) {
			printf("through %d\n", n - 1);
			return 0;
		}
	}
	return 1;
}
