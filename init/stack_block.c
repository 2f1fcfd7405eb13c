/* SPDX-License-Identifier: GPL-2.0-or-later
 * Layers that are devices of the device mapper: dm-linear, LVM, LUKS. Each goes with its device: taking it
 * down needs none of their tools. */
#include "cell_build.h"
#include "dm.h"
#include "file.h"
#include "layer.h"
#include "module.h"
#include "stack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINEAR_NAME DM_PREFIX "linear"
#define LVM_NAME    DM_PREFIX "lvm"
#define LUKS_NAME   DM_PREFIX "luks"

static int device_number(const char *path, unsigned int *major_number, unsigned int *minor_number)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	*major_number = major(st.st_rdev);
	*minor_number = minor(st.st_rdev);
	return S_ISBLK(st.st_mode) ? 0 : -ENOTBLK;
}

static int size_of(const char *path, uint64_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = ioctl(fd, BLKGETSIZE64, bytes) ? -errno : 0;
	close(fd);
	return r;
}

/* The device mapper's view of NAME on LEVEL's lower device: "" to REAL where it is TARGET on it. */
static void read_table(const char *name, const char *target, const struct stack_level *level,
                       struct dm_table *table, char *real, size_t size, json_t *what)
{
	unsigned int on_major = 0, on_minor = 0, lower_major = 1, lower_minor = 1;
	int r = dm_read_table(name, table);
	char text[1400];

	if (r) {
		snprintf(real, size, "gone (%s)", strerror(-r));
		return;
	}
	dm_table_text(table, text, sizeof(text));
	json_object_set_new(what, "table", json_string(text));
	if (table->targets != 1 || strcmp(table->target, target) != 0)
		snprintf(real, size, "%u segments of %s", table->targets, table->target);
	else if (dm_lower(target, table->params, &on_major, &on_minor) ||
	         device_number(level->lower, &lower_major, &lower_minor) || on_major != lower_major ||
	         on_minor != lower_minor)
		snprintf(real, size, "on %u:%u", on_major, on_minor);
}

/* The whole device, sector for sector. */
static int build_linear(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	unsigned int on_major, on_minor;
	char params[64], text[160];
	uint64_t bytes = 0;
	int r = size_of(level->lower, &bytes);

	if (!r)
		r = device_number(level->lower, &on_major, &on_minor);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "stack", level->lower, "See the node's kernel log.",
		            "The device below dm-linear cannot be opened");
	snprintf(params, sizeof(params), "%u:%u 0", on_major, on_minor);
	snprintf(text, sizeof(text), "dmsetup create " LINEAR_NAME " --table \"0 %llu linear %s\"",
	         (unsigned long long)bytes / 512, params);
	json_array_append_new(build->stack.commands, json_string(text));
	r = dm_create(LINEAR_NAME, bytes / 512, "linear", params);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "stack", LINEAR_NAME, "See the node's kernel log.",
		            "The device mapper refuses \"0 %llu linear %s\"", (unsigned long long)bytes / 512,
		            params);
	return 0;
}

static void read_linear(const struct cell_build *build, const struct stack_level *level, char *real,
                        size_t size, json_t *in_force, json_t *what)
{
	struct dm_table table;

	(void)build;
	(void)in_force;
	read_table(LINEAR_NAME, "linear", level, &table, real, size, what);
}

static int remove_linear(void)
{
	return dm_remove(LINEAR_NAME);
}

static int build_lvm(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	static const enum stack_step steps[] = {STACK_PVCREATE, STACK_VGCREATE, STACK_LVCREATE};
	char uuid[40];
	int r = module_load("dm-mod", NULL);

	if (!r)
		r = stack_new_uuid(level, uuid);
	if (r)
		return fail(why, r, failure_refusal(r), "stack", "lvm",
		            "The image must have the module dm-mod.", "LVM cannot be used");
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && !r; i++)
		r = stack_run(build, level, steps[i], uuid, false, NULL, 0, why);
	return r;
}

static void read_lvm(const struct cell_build *build, const struct stack_level *level, char *real, size_t size,
                     json_t *in_force, json_t *what)
{
	struct dm_table table;

	(void)build;
	(void)in_force;
	read_table(LVM_NAME, "linear", level, &table, real, size, what);
}

static int remove_lvm(void)
{
	int r = dm_remove(LVM_NAME);

	/* The name that LVM itself gives it. */
	unlink("/dev/" STACK_GROUP "/lvm");
	rmdir("/dev/" STACK_GROUP);
	return r;
}

/* The passphrase, of which nobody keeps a copy: what was written is lost with the mapping. */
static int make_key(const char *path)
{
	uint8_t key[64];
	ssize_t n;
	int fd, r;

	if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EIO;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : 0;
	n = r ? 0 : write(fd, key, sizeof(key));
	explicit_bzero(key, sizeof(key));
	if (fd >= 0)
		close(fd);
	if (!r && n != (ssize_t)sizeof(key))
		r = -EIO;
	return r;
}

static int build_luks(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	static const char key[] = LAYERS_FOLDER "/cryptsetup" STACK_KEY;
	char uuid[40];
	int r = module_load("dm-crypt", NULL);

	if (!r)
		r = stack_new_uuid(level, uuid);
	if (r)
		return fail(why, r, failure_refusal(r), "stack", "luks",
		            "The image must have the module dm-crypt.", "LUKS cannot be used");
	r = layer_enter("cryptsetup", why);
	if (r)
		return r;
	r = make_key(key);
	if (r)
		return fail(why, r, FAILURE_SAMPLE, "stack", key, "See the node's kernel log.",
		            "The key cannot be made");
	/* Ciphers that the kernel does not have show when it is opened, or before. */
	r = stack_run(build, level, STACK_LUKS_FORMAT, uuid, true, NULL, 0, why);
	if (!r)
		r = stack_run(build, level, STACK_LUKS_OPEN, uuid, true, NULL, 0, why);
	unlink(key);
	return r;
}

static void read_luks(const struct cell_build *build, const struct stack_level *level, char *real,
                      size_t size, json_t *in_force, json_t *what)
{
	char cipher[64] = "unknown";
	long long key_bits = 0;
	struct dm_table table;

	(void)build;
	read_table(LUKS_NAME, "crypt", level, &table, real, size, what);
	dm_crypt_key(table.params, cipher, sizeof(cipher), &key_bits);
	explicit_bzero(table.params, sizeof(table.params));
	json_object_set_new(in_force, factors[FACTOR_LUKS_CIPHER].name, json_string(cipher));
	json_object_set_new(in_force, factors[FACTOR_LUKS_KEY_BITS].name, json_integer(key_bits));
}

static int remove_luks(void)
{
	return dm_remove(LUKS_NAME);
}

const struct stack_kind stack_dm_linear = {.build = build_linear,
                                           .read = read_linear,
                                           .down = remove_linear,
                                           .device = DM_FOLDER LINEAR_NAME};
const struct stack_kind stack_lvm = {.build = build_lvm,
                                     .read = read_lvm,
                                     .down = remove_lvm,
                                     .device = DM_FOLDER LVM_NAME};
const struct stack_kind stack_luks = {.build = build_luks,
                                      .read = read_luks,
                                      .down = remove_luks,
                                      .device = DM_FOLDER LUKS_NAME};
