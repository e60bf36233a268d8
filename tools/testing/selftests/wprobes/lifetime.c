// SPDX-License-Identifier: GPL-2.0
/*
 * lifetime CASE: data of processes that fork, exec, lose their first thread, or end is watched.
 * Prints "ok" if the number of calls of the handler, and its values, are right; otherwise the
 * wrong number or value.
 */
#include "../uprobes/system.h"
#include "control.h"

static word_t word __attribute__((aligned(64)));

static void add(const char *name, const char *type)
{
	same("add", add_at(name, getpid(), &word, type), 0);
}

static int child_writes(void)
{
	word = 77;
	return 0;
}

static void forked(void)
{
	add("p", "w");
	word = 1;
	same("child", in_child(child_writes), 0);
	same("new", expect("p", 1).new, 1);
	word = 2;
	expect("p", 2);
}

static int child_is_watched(void)
{
	add("p", "w");
	word = 4;
	word = 5;
	expect("p", 2);
	return 0;
}

static void exits(void)
{
	same("child", in_child(child_is_watched), 0);
	same("gone", expect("p", 2).gone, 1);
}

static int child_executes(void)
{
	char *const arguments[] = { "lifetime", "touch", NULL };

	add("p", "w");
	word = 4;
	return execve("/proc/self/exe", arguments, environ);
}

/* The new program is the same, so the word has the same address. */
static void touch(void)
{
	word = 6;
	exit(0);
}

static void executes(void)
{
	same("child", in_child(child_executes), 0);
	same("new", expect("p", 1).new, 4);
	same("gone", look("p").gone, 1);
}

/* Another process is watched, and killed. */
static void killed(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		while (!word)
			usleep(1000);
		exit(0);
	}
	same("add", add_at("p", pid, &word, "rw"), 0);
	while (!look("p").hits)
		usleep(1000);
	same("kill", kill(pid, SIGKILL), 0);
	waitpid(pid, &status, 0);
	same("gone", look("p").gone, 1);
	same("enable", control("enable p"), -EINVAL);
	command("del", "p");
	same("ended", add_at("p", pid, &word, "w"), -ESRCH);
}

static void write_on(void *shared)
{
	word_t *go = shared;

	while (!*go)
		usleep(1000);
	word = 8;
	word = 9;
	syscall(__NR_exit_group, 0);
}

static bool is_zombie(pid_t pid)
{
	char path[64], text[512] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	read(fd, text, sizeof(text) - 1);
	close(fd);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'Z';
}

/* The second thread writes after the first has ended, and the probe was registered. */
static void first_thread(void)
{
	word_t *go = shared_memory(4096);
	static struct thread second;
	pid_t pid = fork();
	int tries;

	if (!pid) {
		thread_start(&second, write_on, (void *)go);
		syscall(__NR_exit, 0);
	}
	for (tries = 0; tries < 10000 && !is_zombie(pid); tries++)
		usleep(1000);
	same("the first thread has ended", is_zombie(pid), true);
	same("add", add_at("p", pid, &word, "w"), 0);
	*go = 1;
	reap(pid);
	same("new", expect("p", 2).new, 9);
	same("gone", look("p").gone, 1);
}

static const struct test_case cases[] = {
	{ "forked", forked },
	{ "exits", exits },
	{ "executes", executes },
	{ "killed", killed },
	{ "first_thread", first_thread },
	{ "touch", touch },
};

int main(int argc, char **argv)
{
	return run_case(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
