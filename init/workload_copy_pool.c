/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_copy_pool.h"

#include "workload_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SECTOR = 512, STAMP_AT = 496, MIN_POOL_BYTES = 16 << 20 };

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* xoshiro256++ 1.0 by Blackman and Vigna (public domain). */
static uint64_t xoshiro256pp(uint64_t s[4])
{
	uint64_t result = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

static void fill(unsigned char *pool, size_t bytes, uint64_t seed)
{
	uint64_t s[4];

	for (size_t i = 0; i < 4; i++)
		s[i] = splitmix64(&seed);
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t word = xoshiro256pp(s);

		memcpy(pool + at, &word, bytes - at < sizeof(word) ? bytes - at : sizeof(word));
	}
}

/* What is left on the disk must not look like a boot sector to the next run's check of the disk. */
static void spoil_boot_marks(unsigned char *pool, size_t records, size_t bs)
{
	for (size_t r = 0; r < records && bs >= SECTOR; r++)
		if (pool[r * bs + 510] == 0x55 && pool[r * bs + 511] == 0xaa)
			pool[r * bs + 510] = 0x54;
}

/* A small record too comes from a huge page. */
static size_t map_bytes(const struct copy *copy)
{
	return copy->pool_bytes < MEMORY_HUGE_BYTES ? MEMORY_HUGE_BYTES : copy->pool_bytes;
}

int copy_pool_make(struct copy *copy)
{
	size_t bs = (size_t)copy->request.bs_bytes;

	copy->pool_records = 1;
	if (copy->request.incompressible && bs < MIN_POOL_BYTES)
		copy->pool_records = (MIN_POOL_BYTES + bs - 1) / bs;
	copy->pool_bytes = copy->pool_records * bs;
	copy->pool = memory_map(map_bytes(copy));
	if (!copy->pool)
		return -ENOMEM;
	if (copy->request.read)
		return 0;
	if (!copy->request.incompressible) {
		copy->zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		return copy->zero_fd < 0 ? -errno : 0;
	}
	fill(copy->pool, copy->pool_bytes, copy->request.seed);
	spoil_boot_marks(copy->pool, copy->pool_records, bs);
	return 0;
}

/* Zeros are read anew for each record, as dd does: on a fast disk that costs a part of the time that shows,
 * and the figures are to be dd's. */
static const unsigned char *read_zeros(struct copy *copy)
{
	size_t done = 0;

	while (done < copy->pool_bytes) {
		ssize_t n = read(copy->zero_fd, copy->pool + done, copy->pool_bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return NULL;
		done += (size_t)n;
	}
	return copy->pool;
}

const unsigned char *copy_pool_record(struct copy *copy, uint64_t record)
{
	size_t bs = (size_t)copy->request.bs_bytes, stamps = bs / SECTOR;
	unsigned char *data = copy->pool + (record % copy->pool_records) * bs;
	uint64_t now = record * stamps;
	uint64_t before = record < copy->pool_records ? now : (record - copy->pool_records) * stamps;

	if (!copy->request.incompressible)
		return read_zeros(copy);
	/* On the pool's first turn its sectors are random as they are. Later each carries, XORed to its
	 * random bytes, its number in the run; that of the turn before is taken off. */
	if (now == before)
		return data;
	if (record < 2 * copy->pool_records)
		before = 0;
	for (size_t i = 0; i < stamps; i++) {
		unsigned char *stamp = data + i * SECTOR + STAMP_AT;
		uint64_t word;

		memcpy(&word, stamp, sizeof(word));
		word ^= (now + i) ^ (before ? before + i : 0);
		memcpy(stamp, &word, sizeof(word));
	}
	return data;
}

void copy_pool_free(struct copy *copy)
{
	if (copy->pool)
		memory_unmap(copy->pool, map_bytes(copy));
	if (copy->zero_fd >= 0)
		close(copy->zero_fd);
	copy->pool = NULL;
	copy->zero_fd = -1;
}
