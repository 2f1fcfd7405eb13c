/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

int child_start(const char *program, const char *const argv[], char *const environment[], int out,
                bool own_group, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, pipe;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, 1);
	posix_spawn_file_actions_adddup2(&files, out, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&how);
	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &pipe);
	posix_spawnattr_setpgroup(&how, 0);
	posix_spawnattr_setflags(&how, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
	                                       (own_group ? POSIX_SPAWN_SETPGROUP : 0)));
	r = posix_spawnp(pid, program, &files, &how, (char *const *)argv, environment);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}
