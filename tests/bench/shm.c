/* SPDX-License-Identifier: GPL-2.0-or-later
 * For LD_PRELOAD: System V shared memory of one process alone, which is all that fio --thread needs of it.
 * Our kernel has no System V IPC, and Debian's fio cannot do without. */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/shm.h>

static size_t sizes[16];
static int count;

int shmget(key_t key, size_t size, int flags)
{
	(void)key;
	(void)flags;
	if (count == 16) {
		errno = ENOSPC;
		return -1;
	}
	sizes[count] = size;
	return count++;
}

void *shmat(int id, const void *at, int flags)
{
	(void)flags;
	return mmap((void *)at, sizes[id], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int shmdt(const void *at)
{
	(void)at;
	return 0;
}

int shmctl(int id, int command, struct shmid_ds *buf)
{
	(void)id;
	(void)command;
	(void)buf;
	return 0;
}
