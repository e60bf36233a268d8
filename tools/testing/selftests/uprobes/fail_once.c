// SPDX-License-Identifier: GPL-2.0
/*
 * Write a text to a file while one allocation fails.
 *
 *	fail_once FILE TEXT N
 *
 * Prints the errno of the write, 0 for a success, and "failed" if it had N allocations, of which
 * the last one has failed.
 *
 * Status: 0; 1 if FILE cannot be used; 4 if this kernel cannot let allocations fail.
 */
int main(int argc, char **argv)
{
	char left[16] = "";
	int control, fail_nth, err = 0;

	if (argc != 4)
		return 1;
	control = open(argv[1], O_WRONLY);
	fail_nth = open("/proc/self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		return 4;
	if (control < 0 || write(fail_nth, argv[3], strlen(argv[3])) < 0)
		return 1;
	if (write(control, argv[2], strlen(argv[2])) < 0)
		err = errno;
	syscall(__NR_pread64, fail_nth, left, sizeof(left) - 1, 0, 0);
	write(fail_nth, "0", 1);
	printf("%d %s\n", err, atoi(left) ? "" : "failed");
	return 0;
}
