/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernel parameters under /proc/sys. */
#include "file.h"
#include "knob.h"

#include <string.h>

/* "4096\t131072\t6291456" is as long a way to say it with spaces. */
static int sysctl_read(const struct knob *knob, const struct knob_place *place, char *buf, size_t size)
{
	int r = read_file_at(buf, size, "%s/sys/%s", place->proc, knob->file);

	for (char *c = buf; *c; c++)
		if (*c == '\t')
			*c = ' ';
	return r < 0 ? r : 0;
}

static int sysctl_write(const struct knob *knob, const struct knob_place *place, const char *level)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/%s", place->proc, knob->file);
	return write_file(path, "%s", level);
}

#define KEY(id, path)                                                                                        \
	{                                                                                                    \
		.factor = FACTOR_SYSCTL_##id, .file = path, .read = sysctl_read, .write = sysctl_write       \
	}

const struct knob sysctl_knobs[] = {
    KEY(RMEM_MAX, "net/core/rmem_max"),
    KEY(WMEM_MAX, "net/core/wmem_max"),
    KEY(BACKLOG, "net/core/netdev_max_backlog"),
    KEY(TCP_RMEM, "net/ipv4/tcp_rmem"),
    KEY(TCP_WMEM, "net/ipv4/tcp_wmem"),
    KEY(TCP_SACK, "net/ipv4/tcp_sack"),
    KEY(TCP_TIMESTAMPS, "net/ipv4/tcp_timestamps"),
    KEY(DIRTY_RATIO, "vm/dirty_ratio"),
    KEY(DIRTY_BACKGROUND, "vm/dirty_background_ratio"),
    KEY(DIRTY_EXPIRE, "vm/dirty_expire_centisecs"),
    KEY(DIRTY_WRITEBACK, "vm/dirty_writeback_centisecs"),
    {0},
};

static const struct {
	const char *set;
	enum factor_id factor;
	const char *level;
} sets[] = {
    {"el6", FACTOR_SYSCTL_RMEM_MAX, "124928"},
    {"el6", FACTOR_SYSCTL_WMEM_MAX, "124928"},
    {"el6", FACTOR_SYSCTL_BACKLOG, "1000"},
    {"el6", FACTOR_SYSCTL_TCP_RMEM, "4096 87380 4194304"},
    {"el6", FACTOR_SYSCTL_TCP_WMEM, "4096 16384 4194304"},
    {"el6", FACTOR_SYSCTL_TCP_SACK, "1"},
    {"el6", FACTOR_SYSCTL_TCP_TIMESTAMPS, "1"},
    {"20mb-buffers", FACTOR_SYSCTL_RMEM_MAX, "20971520"},
    {"20mb-buffers", FACTOR_SYSCTL_WMEM_MAX, "20971520"},
    {"20mb-buffers", FACTOR_SYSCTL_BACKLOG, "300000"},
    {"20mb-buffers", FACTOR_SYSCTL_TCP_RMEM, "2097152 20971520 20971520"},
    {"20mb-buffers", FACTOR_SYSCTL_TCP_WMEM, "2097152 20971520 20971520"},
    {"20mb-buffers", FACTOR_SYSCTL_TCP_SACK, "0"},
    {"20mb-buffers", FACTOR_SYSCTL_TCP_TIMESTAMPS, "0"},
};

const char *sysctl_set_level(const char *set, enum factor_id factor)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (sets[i].factor == factor && !strcmp(sets[i].set, set))
			return sets[i].level;
	return NULL;
}
