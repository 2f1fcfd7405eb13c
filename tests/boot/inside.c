/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tests, as rdinit=/inside: PID 1 is the node's own init; beside it this waits for words on the second
 * serial port, does them to the node, and answers there with "done WORD" or "cannot WORD". freeze   stops PID
 * 1 for good, as a debugger would, once it has the hardware watchdog open kill     kills the worker, PID 1's
 * first child */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static bool has_watchdog(void)
{
	DIR *folder = opendir("/proc/1/fd");
	struct dirent *entry;
	bool found = false;

	while (folder && (entry = readdir(folder))) {
		char path[sizeof(entry->d_name) + 16], target[64] = "";

		snprintf(path, sizeof(path), "/proc/1/fd/%s", entry->d_name);
		found =
		    found || (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "watchdog"));
	}
	if (folder)
		closedir(folder);
	return found;
}

static bool freeze(void)
{
	int status;

	while (!has_watchdog())
		poll(NULL, 0, 200);
	return !ptrace(PTRACE_SEIZE, 1, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, 1, NULL, NULL) &&
	       waitpid(1, &status, __WALL) == 1;
}

/* The oldest child of PID 1 that is not us. */
static bool kill_worker(void)
{
	for (int pid = 2; pid < 32768; pid++) {
		char path[32];
		int parent = 0;
		FILE *in;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		in = fopen(path, "r");
		if (!in)
			continue;
		if (fscanf(in, "%*d (%*[^)]) %*c %d", &parent) != 1)
			parent = 0;
		fclose(in);
		if (parent == 1 && pid != getpid())
			return !kill(pid, SIGKILL);
	}
	return false;
}

/* The port is there once PID 1 has mounted /dev. */
static int open_port(void)
{
	struct termios how;
	int fd;

	while ((fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY)) < 0)
		poll(NULL, 0, 200);
	if (!tcgetattr(fd, &how)) {
		cfmakeraw(&how);
		tcsetattr(fd, TCSANOW, &how);
	}
	return fd;
}

/* Until the end of the line, which is left out. */
static bool read_word(int fd, char *word, size_t size)
{
	size_t used = 0;
	char c;

	while (read(fd, &c, 1) == 1 && c != '\n')
		if (c != '\r' && used + 1 < size)
			word[used++] = c;
	word[used] = '\0';
	return used > 0;
}

int main(void)
{
	char word[64];
	int port;

	if (fork() != 0) {
		execl("/init", "/init", (char *)NULL);
		return 1;
	}
	setsid();
	port = open_port();
	while (read_word(port, word, sizeof(word))) {
		bool done = false;

		if (!strcmp(word, "freeze"))
			done = freeze();
		else if (!strcmp(word, "kill"))
			done = kill_worker();
		dprintf(port, "%s %s\n", done ? "done" : "cannot", word);
	}
	return 1;
}
