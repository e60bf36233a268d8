// SPDX-License-Identifier: GPL-2.0
/*
 * Write a text to a file while allocations of this task fail, as far as the settings of failslab
 * say so.
 *
 *	fail_task FILE TEXT
 *
 * Prints the errno of the write, 0 for a success.
 *
 * Status: 0; 1 if FILE cannot be used; 4 if this kernel cannot let allocations fail.
 */
int main(int argc, char **argv)
{
	int control, fail, err = 0;

	if (argc != 3)
		return 1;
	control = open(argv[1], O_WRONLY);
	fail = open("/proc/self/make-it-fail", O_RDWR);
	if (fail < 0)
		return 4;
	if (control < 0 || write(fail, "1", 1) < 0)
		return 1;
	if (write(control, argv[2], strlen(argv[2])) < 0)
		err = errno;
	write(fail, "0", 1);
	printf("%d\n", err);
	return 0;
}
