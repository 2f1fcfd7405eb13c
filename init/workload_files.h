/* SPDX-License-Identifier: GPL-2.0-or-later
 * The workload `files`: a tree of folders and files made, read with a cold cache, and removed again. */
#ifndef ASSAY_WORKLOAD_FILES_H
#define ASSAY_WORKLOAD_FILES_H

#include "failure.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum files_sync { FILES_SYNC_NONE, FILES_SYNC_FSYNC, FILES_SYNC_SYNCFS };
enum { FILES_CREATE, FILES_READ, FILES_UNLINK, FILES_PHASES };

struct files_request {
	uint32_t folders, files;
	uint64_t size_bytes; /* of all files together */
	uint64_t bs_bytes;   /* of each read and write */
	uint64_t seed;
	enum files_sync sync; /* each file by itself when it is written; or all, at the end of a phase */
};

struct files_node {
	uint32_t folder; /* that it is in; of folder 0, the root, itself */
	uint64_t size_bytes;
};

/* The tree of a request, always the same. Folder 0 is the root of it; a folder's parent comes before it. */
struct files_tree {
	struct files_node *folders, *files; /* folders: request.folders + 1 of them */
};

struct files_phase {
	uint64_t bytes, files, folders;
	int64_t ns;
	uint64_t *second_bytes, *second_files;
};

struct files {
	struct files_request request;
	struct files_tree tree;
	char root[256];
	int root_fd;
	int (*make_cold)(int root_fd); /* before the tree is read; 0 or -errno. Tests have their own */
	char (*paths)[256];            /* of folders, below the root */
	unsigned char *pool, *buffer;
	size_t seconds; /* length of each phase's logs */
	int64_t deadline_ns, cpu_ns;
	struct files_phase phases[FILES_PHASES];
	uint64_t bad; /* files that were read and are not as they were written */
};

/* cell.json's workload to *REQUEST. 0 or -EINVAL. */
int files_parse(const json_t *workload, struct files_request *request);

/* 0 or -ENOMEM; the caller frees folders and files. */
int files_tree_make(const struct files_request *request, struct files_tree *tree);

/* Makes a folder of its own in FOLDER, and all that the run needs. 0 or -errno with *WHY filled;
 * files_close() is due in either case. */
int files_prepare(struct files *files, const struct files_request *request, const char *folder,
                  long timeout_ms, struct failure *why);

/* Creates, drops the page cache, reads, removes. 0 or -errno with *WHY filled. */
int files_run(struct files *files, struct failure *why);

/* Removes what is left of the tree, too. */
void files_close(struct files *files);

/* Why the sample is invalid, to BUF; "" if it is not. */
void files_fault(const struct files *files, char *buf, size_t size);

/* Result as result.json's measurement; the caller owns it. */
json_t *files_json(const struct files *files);

#endif
