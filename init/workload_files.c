/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workload_files.h"

#include "file.h"
#include "workload_aio_engine.h"
#include "workload_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

enum { POOL_BYTES = 16 << 20, STAMP = 16 };

static const char *const syncs[] = {"none", "fsync", "syncfs"};

static uint64_t unsigned_of(const json_t *workload, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(workload, key));

	return value > 0 ? (uint64_t)value : 0;
}

int files_parse(const json_t *workload, struct files_request *request)
{
	const char *sync = json_string_value(json_object_get(workload, "sync"));
	size_t s = 0;

	while (sync && s < 3 && strcmp(sync, syncs[s]))
		s++;
	*request = (struct files_request){
	    .folders = (uint32_t)unsigned_of(workload, "folders"),
	    .files = (uint32_t)unsigned_of(workload, "files"),
	    .size_bytes = unsigned_of(workload, "size_bytes"),
	    .bs_bytes = unsigned_of(workload, "bs_bytes"),
	    .seed = unsigned_of(workload, "seed"),
	    .sync = (enum files_sync)s,
	};
	if (!sync || s == 3 || !request->files || request->bs_bytes < STAMP || request->bs_bytes > POOL_BYTES)
		return -EINVAL;
	return 0;
}

/* Paths of folders, below the root: "" is the root itself. 0 or -ENAMETOOLONG. */
static int make_paths(struct files *f)
{
	for (uint32_t i = 1; i <= f->request.folders; i++) {
		char parent[sizeof(*f->paths)];
		int n;

		memcpy(parent, f->paths[f->tree.folders[i].folder], sizeof(parent));
		n = snprintf(f->paths[i], sizeof(f->paths[i]), "%.200s%sd%u", parent, *parent ? "/" : "", i);
		if (n < 0 || n > 200)
			return -ENAMETOOLONG;
	}
	return 0;
}

/* Dirty pages are not dropped: whatever sync says, a cold cache has none. */
static int drop_caches(int root_fd)
{
	return syncfs(root_fd) ? -errno : write_file("/proc/sys/vm/drop_caches", "3");
}

static int allocate(struct files *f)
{
	uint64_t random = f->request.seed ^ 0x66696c6573;
	int r = files_tree_make(&f->request, &f->tree);

	f->pool = memory_map(POOL_BYTES);
	f->paths = calloc((size_t)f->request.folders + 1, sizeof(*f->paths));
	f->buffer = malloc(f->request.bs_bytes);
	if (r || !f->pool || !f->paths || !f->buffer)
		return -ENOMEM;
	for (size_t at = 0; at < POOL_BYTES; at += sizeof(uint64_t)) {
		uint64_t word = aio_random(&random);

		memcpy(f->pool + at, &word, sizeof(word));
	}
	memset(f->buffer, 0x5a, f->request.bs_bytes);
	for (int p = 0; p < FILES_PHASES; p++) {
		f->phases[p].second_bytes = calloc(f->seconds, sizeof(uint64_t));
		f->phases[p].second_files = calloc(f->seconds, sizeof(uint64_t));
		if (!f->phases[p].second_bytes || !f->phases[p].second_files)
			return -ENOMEM;
		/* Touched now, so that no page fault falls into the run. */
		memset(f->phases[p].second_bytes, 0, f->seconds * sizeof(uint64_t));
		memset(f->phases[p].second_files, 0, f->seconds * sizeof(uint64_t));
	}
	return make_paths(f);
}

int files_prepare(struct files *f, const struct files_request *request, const char *folder, long timeout_ms,
                  struct failure *why)
{
	int r;

	memset(f, 0, sizeof(*f));
	f->root_fd = -1;
	f->make_cold = drop_caches;
	f->request = *request;
	f->deadline_ns = now_ns() + timeout_ms * 1000000LL;
	f->seconds = (size_t)timeout_ms / 1000 + 2;
	snprintf(f->root, sizeof(f->root), "%.200s/assay-files", folder);
	r = allocate(f);
	if (r)
		return fail(why, r, FAILURE_CELL, "measure", "files", "Plan fewer folders and files.",
		            "%u folders and %u files cannot be made ready", request->folders, request->files);
	if (mkdir(f->root, 0755) || (f->root_fd = open(f->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return fail(why, -errno, FAILURE_SAMPLE, "measure", f->root, "See the node's kernel log.",
		            "The tree's folder cannot be made");
	return 0;
}

/* What file INDEX begins with, so that one that holds another's data shows. */
static void stamp_of(const struct files *f, uint32_t index, unsigned char stamp[STAMP])
{
	uint64_t words[2] = {f->request.seed ^ 0x41737361792d6669ULL, index}, state = words[0] + index;

	words[1] ^= aio_random(&state);
	memcpy(stamp, words, STAMP);
}

/* Where in the pool the piece at byte AT of file INDEX starts. */
static size_t pool_at(const struct files *f, uint32_t index, uint64_t at)
{
	return (size_t)(((uint64_t)index * 8192 + at) % (POOL_BYTES - f->request.bs_bytes + 1));
}

static void path_of(const struct files *f, uint32_t index, char path[280])
{
	const char *folder = f->paths[f->tree.files[index].folder];

	snprintf(path, 280, "%s%sf%u", folder, *folder ? "/" : "", index);
}

static int write_all(int fd, const unsigned char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

static int create_file_of(struct files *f, uint32_t index)
{
	uint64_t size = f->tree.files[index].size_bytes, bs = f->request.bs_bytes;
	unsigned char stamp[STAMP];
	char path[280];
	int fd, r = 0;

	path_of(f, index, path);
	fd = openat(f->root_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	stamp_of(f, index, stamp);
	for (uint64_t at = 0; at < size && !r; at += bs) {
		size_t length = size - at < bs ? (size_t)(size - at) : (size_t)bs;
		const unsigned char *data = f->pool + pool_at(f, index, at);

		if (!at) {
			memcpy(f->buffer, data, length);
			memcpy(f->buffer, stamp, length < STAMP ? length : STAMP);
			data = f->buffer;
		}
		r = write_all(fd, data, length);
	}
	if (!r && f->request.sync == FILES_SYNC_FSYNC && fsync(fd))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

/* All of it, to be compared: the disk's data is to be looked at. */
static int read_file_of(struct files *f, uint32_t index)
{
	uint64_t size = f->tree.files[index].size_bytes, bs = f->request.bs_bytes, at = 0;
	unsigned char stamp[STAMP];
	bool bad = false;
	char path[280];
	int fd, r = 0;

	path_of(f, index, path);
	fd = openat(f->root_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stamp_of(f, index, stamp);
	for (;;) {
		ssize_t n = read(fd, f->buffer, bs);
		size_t skip = at ? 0 : size < STAMP ? (size_t)size : STAMP;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n ? -errno : 0;
			break;
		}
		/* Local files are read in whole pieces; another length is a fault as well. */
		if ((uint64_t)n != (size - at < bs ? size - at : bs) || memcmp(f->buffer, stamp, skip) ||
		    memcmp(f->buffer + skip, f->pool + pool_at(f, index, at) + skip, (size_t)n - skip)) {
			bad = true;
			break;
		}
		at += (uint64_t)n;
	}
	close(fd);
	if (!r && (bad || at != size))
		f->bad++;
	return r;
}

static int unlink_file_of(struct files *f, uint32_t index)
{
	char path[280];

	path_of(f, index, path);
	return unlinkat(f->root_fd, path, 0) ? -errno : 0;
}

static int (*const each_file[FILES_PHASES])(struct files *f, uint32_t index) = {create_file_of, read_file_of,
                                                                                unlink_file_of};

static int make_folders(struct files *f)
{
	for (uint32_t i = 1; i <= f->request.folders; i++) {
		if (mkdirat(f->root_fd, f->paths[i], 0755))
			return -errno;
		f->phases[FILES_CREATE].folders++;
	}
	return 0;
}

static int remove_folders(struct files *f)
{
	for (uint32_t i = f->request.folders; i > 0; i--) {
		if (unlinkat(f->root_fd, f->paths[i], AT_REMOVEDIR))
			return -errno;
		f->phases[FILES_UNLINK].folders++;
	}
	return 0;
}

/* One phase; an error is that of file *INDEX. */
static int run_phase(struct files *f, int p, uint32_t *index)
{
	struct files_phase *phase = &f->phases[p];
	int64_t start_ns = aio_clock_ns();
	int r = p == FILES_CREATE ? make_folders(f) : 0;

	for (*index = 0; *index < f->request.files && !r; ++*index) {
		uint64_t bytes = p == FILES_UNLINK ? 0 : f->tree.files[*index].size_bytes;
		size_t second;
		int64_t ns;

		r = each_file[p](f, *index);
		if (r)
			return r;
		ns = aio_clock_ns();
		second = (size_t)((ns - start_ns) / NS_PER_S);
		phase->files++;
		phase->bytes += bytes;
		if (second < f->seconds) {
			phase->second_files[second]++;
			phase->second_bytes[second] += bytes;
		}
		if (ns > f->deadline_ns)
			return -ETIMEDOUT;
	}
	if (!r && p == FILES_UNLINK)
		r = remove_folders(f);
	if (!r && p != FILES_READ && f->request.sync != FILES_SYNC_NONE && syncfs(f->root_fd))
		r = -errno;
	phase->ns = aio_clock_ns() - start_ns;
	return r;
}

static int report(const struct files *f, int p, int r, uint32_t index, struct failure *why)
{
	static const char *const doing[FILES_PHASES] = {"Making", "Reading", "Removing"};
	char path[280] = "";

	if (index < f->request.files)
		path_of(f, index, path);
	return fail(why, r, r == -ENOSPC ? FAILURE_CELL : FAILURE_SAMPLE, "measure", f->root,
	            r == -ENOSPC      ? "Plan fewer or smaller files, or use a larger disk."
	            : r == -ETIMEDOUT ? "Plan fewer files, or a longer deadline (measure)."
	                              : "See the node's kernel log.",
	            "%s the tree failed at %s, after %llu files", doing[p], path,
	            (unsigned long long)f->phases[p].files);
}

int files_run(struct files *f, struct failure *why)
{
	uint32_t index = 0;
	int r = 0;

	f->cpu_ns = -process_cpu_ns();
	for (int p = 0; p < FILES_PHASES; p++) {
		if (p == FILES_READ && (r = f->make_cold(f->root_fd)))
			return fail(why, r, FAILURE_SAMPLE, "measure", "/proc/sys/vm/drop_caches",
			            "The node must run as root.", "The page cache cannot be dropped");
		r = run_phase(f, p, &index);
		if (r)
			return report(f, p, r, index, why);
	}
	f->cpu_ns += process_cpu_ns();
	return 0;
}

void files_close(struct files *f)
{
	bool whole = f->root_fd >= 0 && f->paths && f->tree.files && f->tree.folders;

	for (uint32_t i = 0;
	     whole && f->phases[FILES_UNLINK].files < f->request.files && i < f->request.files; i++)
		unlink_file_of(f, i);
	for (uint32_t i = f->request.folders; whole && i > 0; i--)
		unlinkat(f->root_fd, f->paths[i], AT_REMOVEDIR);
	if (f->root_fd >= 0) {
		close(f->root_fd);
		rmdir(f->root);
	}
	for (int p = 0; p < FILES_PHASES; p++) {
		free(f->phases[p].second_bytes);
		free(f->phases[p].second_files);
	}
	if (f->pool)
		memory_unmap(f->pool, POOL_BYTES);
	free(f->tree.folders);
	free(f->tree.files);
	free(f->paths);
	free(f->buffer);
}
