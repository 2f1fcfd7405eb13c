/* SPDX-License-Identifier: GPL-2.0-or-later
 * The files of the image folder that may be fetched. */
#include "server.h"

#include "log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const initramfs_names[] = {"initramfs.cpio.zst", "initramfs.cpio.xz", "initramfs.cpio.gz",
                                              "initramfs.cpio"};

static bool plain(const char *name)
{
	if (*name == '.' || !*name)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	return true;
}

static bool allowed(const char *name)
{
	if (!strncmp(name, "ipxe/", 5))
		return plain(name + 5);
	if (!strncmp(name, "layers/", 7))
		return plain(name + 7);
	return plain(name) && (!strcmp(name, "vmlinuz") || !strncmp(name, "initramfs.cpio", 14));
}

static int open_file(const struct server *s, const char *name)
{
	char path[4096];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/%s", s->image_dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

void image_get(struct server *s, struct request *rq)
{
	const char *name = rq->path + strlen(rq->route->path);
	int fd = allowed(name) ? open_file(s, name) : -ENOENT;

	if (fd < 0) {
		request_error(rq, 404, "%s is no file of the image", name);
		return;
	}
	log_event(NULL, "image", "%s is fetched", name);
	rq->file = fd;
	rq->status = 200;
}

bool image_has_layer(const struct server *s, const char *layer, const char *ending)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "layers/%s%s", layer, ending);
	fd = open_file(s, name);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool image_complete(const struct server *s)
{
	int fd = open_file(s, "vmlinuz");

	if (fd >= 0)
		close(fd);
	return fd >= 0 && image_initramfs(s);
}

const char *image_initramfs(const struct server *s)
{
	for (size_t i = 0; i < sizeof(initramfs_names) / sizeof(initramfs_names[0]); i++) {
		int fd = open_file(s, initramfs_names[i]);

		if (fd < 0)
			continue;
		close(fd);
		return initramfs_names[i];
	}
	return NULL;
}

void image_id(const struct server *s, char *id, size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/manifest.json", s->image_dir);
	json_t *manifest = json_load_file(path, 0, NULL);
	const char *value = json_string_value(json_object_get(manifest, "image_id"));

	snprintf(id, size, "%s", value ? value : "");
	json_decref(manifest);
}
