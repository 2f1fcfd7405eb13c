/* SPDX-License-Identifier: GPL-2.0-or-later
 * Stacks: the commands of every layer, in which order they go up and down, also where one of them fails. */
#include "cell_build.h"
#include "command.h"
#include "disk_signature.h"
#include "dm.h"
#include "file.h"
#include "layer.h"
#include "module.h"
#include "mounts.h"
#include "stack.h"
#include "stack_drbd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What was done, a word each: "pvcreate", "-lvm". */
static char done[1024];
static int fail_at;     /* the command that fails, from 1; 0: none */
static int commands;    /* so far */
static int busy;        /* how often a device is still in use; -1: always */
static char mounts[64]; /* a file in place of /proc/mounts */

static void note(const char *what)
{
	size_t n = strlen(done);

	snprintf(done + n, sizeof(done) - n, "%s%s", n ? " " : "", what);
}

/* The program's own name and, of LVM, its command; mounting and unmounting show in the file of mounts. */
int command_run(const char *const argv[], long timeout_ms, struct command_result *result)
{
	const char *program = !strcmp(argv[0], "chroot") ? argv[2] : argv[0];

	(void)timeout_ms;
	memset(result, 0, sizeof(*result));
	program = strrchr(program, '/') ? strrchr(program, '/') + 1 : program;
	note(!strcmp(program, "lvm") ? argv[3] : program);
	if (++commands == fail_at) {
		result->status = 5;
		result->length = (size_t)snprintf(result->output, sizeof(result->output), "no such luck\n");
		return -EREMOTEIO;
	}
	if (!strcmp(program, "mount"))
		assert_int_equal(create_file(mounts,
		                             "/dev/mapper/assay-lvm /mnt ext4 rw,noatime,commit=30 0 0\n"),
		                 0);
	if (!strcmp(program, "umount"))
		assert_int_equal(create_file(mounts, "%s", ""), 0);
	return 0;
}

void command_text(const char *const argv[], char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; argv[i] && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "", argv[i]);
}

int module_load(const char *name, const char *params)
{
	(void)params;
	return strcmp(name, "xfs") ? 0 : -ENOENT;
}

json_t *layer_names(const char *folder)
{
	(void)folder;
	return json_array();
}

json_t *layer_evidence(const char *folder)
{
	(void)folder;
	return json_array();
}

int layer_enter(const char *name, struct failure *why)
{
	(void)name;
	(void)why;
	return 0;
}

int layer_argv(const char *name, const char *const args[], char path[64], const char **argv)
{
	size_t n = 0;

	snprintf(path, 64, "/layers/%s", name);
	argv[n++] = "chroot";
	argv[n++] = path;
	while ((argv[n] = args[n - 2]))
		n++;
	return 0;
}

int dm_create(const char *name, uint64_t sectors, const char *target, const char *params)
{
	(void)name;
	(void)sectors;
	(void)target;
	(void)params;
	return 0;
}

int dm_read_table(const char *name, struct dm_table *table)
{
	memset(table, 0, sizeof(*table));
	table->minor = 3;
	return strcmp(name, "assay-lvm") ? -ENXIO : 0;
}

int dm_remove(const char *name)
{
	if (busy) {
		busy -= busy > 0;
		return -EBUSY;
	}
	note(name + strlen("assay"));
	return 0;
}

static int drbd_up(struct cell_build *build, struct stack_level *level, struct failure *why)
{
	(void)why;
	note("drbd");
	snprintf(done + strlen(done), sizeof(done) - strlen(done), ":%s", level->lower);
	build->has_drbd = true;
	return 0;
}

static void drbd_look(const struct cell_build *build, const struct stack_level *level, char *real,
                      size_t size, json_t *in_force, json_t *what)
{
	(void)build;
	(void)level;
	(void)real;
	(void)size;
	(void)in_force;
	(void)what;
}

static int drbd_gone(void)
{
	note("-drbd");
	return 0;
}

const struct stack_kind stack_drbd = {.build = drbd_up,
                                      .read = drbd_look,
                                      .down = drbd_gone,
                                      .device = "/dev/drbd0"};

int stack_drbd_look(struct cell_build *build, struct failure *why)
{
	(void)build;
	(void)why;
	return 0;
}

int drbd_prove(struct drbd *drbd, bool measure, long long deadline_ns, cell_progress *progress, void *ctx,
               struct failure *why)
{
	(void)drbd;
	(void)deadline_ns;
	(void)progress;
	(void)ctx;
	(void)why;
	note(measure ? "primary" : "secondary");
	return 0;
}

/* A state with the level STACK and what REST (JSON, may be "") adds. */
static json_t *state_of(const char *stack, const char *rest)
{
	json_t *part = json_loads(*rest ? rest : "{}", 0, NULL), *state;

	assert_non_null(part);
	json_object_set_new(part, "stack", json_string(stack));
	json_object_set_new(part, "drbd.link", json_string("never-connected"));
	state = factor_complete_state(part);
	json_decref(part);
	return state;
}

static void begin(struct cell_build *build, json_t *state, bool measure)
{
	struct failure why = {0};

	memset(build, 0, sizeof(*build));
	done[0] = '\0';
	fail_at = commands = busy = 0;
	build->state = state;
	build->measure = measure;
	snprintf(build->disk.device, sizeof(build->disk.device), "/dev/vda");
	assert_int_equal(create_file(mounts, "%s", ""), 0);
	assert_int_equal(stack_plan(build, &why), 0);
}

static int up(struct cell_build *build, struct failure *why)
{
	int r = stack_build(build, why);

	return r ? r : stack_prove(build, 0, NULL, NULL, why);
}

static void goes(const char *stack, bool measure, const char *up_and_down)
{
	json_t *state = state_of(stack, "");
	struct cell_build *build = malloc(sizeof(*build));
	struct failure why = {0};

	begin(build, state, measure);
	assert_int_equal(up(build, &why), 0);
	assert_int_equal(stack_down(build), 0);
	assert_string_equal(done, up_and_down);
	json_decref(state);
	free(build);
}

static void test_order(void **unused)
{
	(void)unused;
	goes("raw", true, "");
	goes("lvm", true, "pvcreate vgcreate lvcreate -lvm");
	goes("drbd/lvm", true, "pvcreate vgcreate lvcreate drbd:/dev/mapper/assay-lvm primary -drbd -lvm");
	goes("drbd/lvm", false, "pvcreate vgcreate lvcreate drbd:/dev/mapper/assay-lvm secondary -drbd -lvm");
	goes("ext4/lvm/drbd", true,
	     "drbd:/dev/vda primary pvcreate vgcreate lvcreate mke2fs dumpe2fs mount umount -lvm -drbd");
	/* What lies above DRBD is the measuring node's; taking down what is not there does no harm. */
	goes("ext4/lvm/drbd", false, "drbd:/dev/vda secondary -lvm -drbd");
}

/* Whichever command fails: it is named, and all that may be there goes in reverse. */
static void test_failures(void **unused)
{
	static const char *const reached[] = {"pvcreate", "vgcreate", "lvcreate",
	                                      "mke2fs",   "dumpe2fs", "mount"};
	json_t *state = state_of("ext4/lvm/drbd", "{\"ext4.mount\": \"commit=30\"}");

	(void)unused;
	for (int k = 1; k <= 6; k++) {
		struct cell_build *build = malloc(sizeof(*build));
		struct failure why = {0};
		char *end;

		begin(build, state, true);
		fail_at = k;
		assert_int_equal(up(build, &why), -EREMOTEIO);
		assert_int_equal(commands, k);
		assert_non_null(strstr(why.message, reached[k - 1]));
		assert_non_null(strstr(why.log, "no such luck"));
		/* Options of the plan that a tool refuses are the cell's fault, the rest may go well next
		 * time. */
		assert_int_equal(why.scope, k == 6 ? FAILURE_UNSUPPORTED : FAILURE_SAMPLE);
		assert_int_equal(stack_down(build), 0);
		end = strstr(done, "-lvm");
		assert_non_null(end);
		assert_string_equal(end, "-lvm -drbd");
		free(build);
	}
	json_decref(state);
}

static void test_busy(void **unused)
{
	json_t *state = state_of("drbd/lvm", "");
	struct cell_build *build = malloc(sizeof(*build));
	struct failure why = {0};

	(void)unused;
	begin(build, state, true);
	assert_int_equal(up(build, &why), 0);
	busy = 3;
	assert_int_equal(stack_down(build), 0);
	assert_non_null(strstr(done, "-drbd -lvm"));
	begin(build, state, true);
	assert_int_equal(up(build, &why), 0);
	/* What will not go keeps nothing else. */
	busy = -1;
	assert_int_equal(stack_down(build), -EBUSY);
	assert_non_null(strstr(done, "-drbd"));
	json_decref(state);
	free(build);
}

/* What an earlier worker left goes in whatever order it can. */
static void test_leftovers(void **unused)
{
	(void)unused;
	done[0] = '\0';
	busy = 2;
	fail_at = 0;
	assert_int_equal(create_file(mounts, "/dev/drbd0 /mnt xfs rw 0 0\n"), 0);
	assert_int_equal(stack_down(NULL), 0);
	assert_true(!strncmp(done, "umount -drbd", 12));
	assert_non_null(strstr(done, "-lvm"));
	assert_non_null(strstr(done, "-luks"));
	assert_non_null(strstr(done, "-linear"));
}

static void test_read_back(void **unused)
{
	json_t *state = state_of("ext4/lvm/drbd", "{\"ext4.mount\": \"noatime,commit=30\"}");
	json_t *in_force = json_object(), *evidence;
	struct cell_build *build = malloc(sizeof(*build));
	struct failure why = {0};
	const char *stack;

	(void)unused;
	begin(build, state, true);
	assert_int_equal(up(build, &why), 0);
	assert_string_equal(build->place.layer[STACK_LVM], "dm-3");
	assert_string_equal(build->place.top, "dm-3");
	assert_string_equal(stack_target(build), "/mnt/data");
	assert_int_equal(stack_in_force(build, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "ext4.mount")), "noatime,commit=30");
	/* The made-up table is no linear one. */
	stack = json_string_value(json_object_get(in_force, "stack"));
	assert_string_equal(stack, "ext4/lvm that is 0 segments of /drbd");
	evidence = stack_evidence(build);
	assert_int_equal(json_array_size(json_object_get(evidence, "layers")), 3);
	assert_int_equal(json_array_size(json_object_get(evidence, "commands")), 6);
	json_decref(evidence);
	/* Other options than asked for. */
	assert_int_equal(create_file(mounts, "/dev/mapper/assay-lvm /mnt ext4 rw,relatime 0 0\n"), 0);
	assert_int_equal(stack_in_force(build, in_force), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "ext4.mount")), "rw,relatime");
	build->proven = true;
	assert_int_not_equal(stack_prove(build, 0, NULL, NULL, &why), 0);
	assert_int_equal(stack_down(build), 0);
	json_decref(in_force);
	json_decref(state);
	free(build);
}

static void says(enum stack_step step, enum stack_layer layer, const json_t *state, const char *wanted)
{
	struct stack_argv command;
	char text[4096];

	assert_int_equal(stack_argv(step, layer, state, "/dev/drbd0", "U", &command), 0);
	command_text(command.argv, text, sizeof(text));
	assert_string_equal(text, wanted);
}

static void test_commands(void **unused)
{
	json_t *state =
	    state_of("luks", "{\"luks.cipher\": \"aes-cbc-essiv:sha256\", \"luks.key-bits\": 256}");
	json_t *ext4 = state_of("ext4", "{\"ext4.mkfs\": \"-b 1024 -O ^has_journal\", \"ext4.mount\": "
	                                "\"noatime,commit=30\"}");
	json_t *xfs = state_of("xfs", "");
	struct stack_argv command;

	(void)unused;
	says(STACK_LUKS_FORMAT, STACK_LUKS, state,
	     "/sbin/cryptsetup -q --disable-locks --type luks2 --key-file /run/key --uuid U --cipher "
	     "aes-cbc-essiv:sha256 --key-size 256 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 luksFormat "
	     "/dev/drbd0");
	says(STACK_LUKS_OPEN, STACK_LUKS, state,
	     "/sbin/cryptsetup -q --disable-locks --type luks2 --key-file /run/key --disable-keyring open "
	     "/dev/drbd0 assay-luks");
	says(STACK_MKFS_EXT4, STACK_EXT4, ext4,
	     "/sbin/mke2fs -t ext4 -F -q -E lazy_itable_init=0,lazy_journal_init=0 -b 1024 -O ^has_journal "
	     "-U U /dev/drbd0");
	says(STACK_MOUNT, STACK_EXT4, ext4, "mount -t ext4 -o noatime,commit=30 /dev/drbd0 /mnt");
	says(STACK_MKFS_XFS, STACK_XFS, xfs, "/sbin/mkfs.xfs -f -m uuid=U /dev/drbd0");
	says(STACK_MOUNT, STACK_XFS, xfs, "mount -t xfs /dev/drbd0 /mnt");
	/* LVM sees that one device, and asks no udev. */
	assert_int_equal(stack_argv(STACK_PVCREATE, STACK_LVM, xfs, "/dev/drbd0", "U", &command), 0);
	assert_string_equal(command.layer, "lvm2");
	assert_non_null(strstr(command.argv[3], "filter=[\"a|^/dev/drbd0$|\",\"r|.*|\"]"));
	assert_non_null(strstr(command.argv[3], "udev_sync=0"));
	assert_non_null(strstr(command.argv[3], "obtain_device_list_from_udev=0"));
	assert_non_null(strstr(command.argv[3], "verify_udev_operations=0"));
	json_decref(state);
	json_decref(ext4);
	json_decref(xfs);
}

static void test_uuids(void **unused)
{
	uint8_t random[16], dashes = 0;
	char uuid[40];

	(void)unused;
	memset(random, 0xff, sizeof(random));
	stack_uuid(STACK_EXT4, random, uuid);
	assert_string_equal(uuid, "41535341-59ff-4fff-8fff-ffffffffffff");
	stack_uuid(STACK_LVM, random, uuid);
	assert_true(!strncmp(uuid, "ASSAY", 5));
	assert_int_equal(strlen(uuid), 38);
	for (const char *c = uuid; *c; c++)
		dashes += *c == '-';
	assert_int_equal(dashes, 6);
}

static void test_tables(void **unused)
{
	struct dm_table table = {.sectors = 2064248, .target = "crypt"};
	unsigned int major_number, minor_number;
	char cipher[64], text[1200];
	long long bits;

	(void)unused;
	assert_int_equal(dm_lower("linear", "254:16 2048", &major_number, &minor_number), 0);
	assert_int_equal(major_number, 254);
	assert_int_equal(minor_number, 16);
	assert_int_equal(dm_lower("crypt", "aes-xts-plain64 00ff 0 147:0 32768", &major_number,
	                          &minor_number),
	                 0);
	assert_int_equal(major_number, 147);
	assert_int_equal(dm_lower("crypt", "aes-xts-plain64 00ff 0", &major_number, &minor_number), -EINVAL);
	assert_int_equal(dm_lower("linear", "vda 0", &major_number, &minor_number), -EINVAL);
	assert_int_equal(dm_lower("linear", "", &major_number, &minor_number), -EINVAL);
	assert_int_equal(dm_lower("striped", "2 32 254:0 0", &major_number, &minor_number), -EINVAL);
	assert_int_equal(dm_crypt_key("aes-xts-plain64 00112233445566778899aabbccddeeff 0 254:0 0", cipher,
	                              sizeof(cipher), &bits),
	                 0);
	assert_string_equal(cipher, "aes-xts-plain64");
	assert_int_equal(bits, 128);
	assert_int_equal(dm_crypt_key("aes-xts-plain64 :64:logon:cryptsetup:x 0 254:0 0", cipher,
	                              sizeof(cipher), &bits),
	                 0);
	assert_int_equal(bits, 512);
	assert_int_equal(dm_crypt_key("aes-xts-plain64 0g 0 254:0 0", cipher, sizeof(cipher), &bits),
	                 -EINVAL);
	assert_int_equal(dm_crypt_key("aes", cipher, sizeof(cipher), &bits), -EINVAL);
	/* No key leaves the node. */
	strcpy(table.params, "aes-cbc-essiv:sha256 00deadbeef 0 147:0 32768");
	dm_table_text(&table, text, sizeof(text));
	assert_string_equal(text, "0 2064248 crypt aes-cbc-essiv:sha256 0000000000 0 147:0 32768");
}

static void test_mounts(void **unused)
{
	static const char text[] = "rootfs / rootfs rw 0 0\n/dev/vda /mnt ext4 rw 0 0\n"
	                           "/dev/drbd0 /mnt xfs rw,noatime,logbsize=256k,allocsize=1024k 0 0\n";
	struct mount_entry entry;

	(void)unused;
	assert_int_equal(mounts_find(text, "/mnt", &entry), 0);
	/* The last one hides those before it. */
	assert_string_equal(entry.device, "/dev/drbd0");
	assert_string_equal(entry.type, "xfs");
	assert_int_equal(mounts_find(text, "/mn", &entry), -ENOENT);
	assert_int_equal(mounts_find("", "/mnt", &entry), -ENOENT);
	assert_true(mounts_have(entry.options, "", "noatime"));
	assert_true(mounts_have(entry.options, "", "logbsize=256k,allocsize=1m"));
	assert_true(mounts_have(entry.options, "", "logbsize=262144"));
	assert_false(mounts_have(entry.options, "", "logbsize=256"));
	assert_false(mounts_have(entry.options, "", "noatime,nodiratime"));
	assert_false(mounts_have(entry.options, "", "noat"));
	assert_true(mounts_have("rw", "rw\nnobarrier\ncommit=5\n", "barrier=0,commit=5"));
	assert_false(mounts_have("rw", "rw\nbarrier\ncommit=5\n", "barrier=0"));
	assert_true(mounts_have("rw", "rw\nbarrier\ncommit=5\n", "barrier=1"));
	assert_false(mounts_have("rw", "", "commit=5"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),     cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_busy),      cmocka_unit_test(test_leftovers),
	    cmocka_unit_test(test_read_back), cmocka_unit_test(test_commands),
	    cmocka_unit_test(test_uuids),     cmocka_unit_test(test_tables),
	    cmocka_unit_test(test_mounts),
	};
	int fd, failed;

	strcpy(mounts, "/tmp/assay-mounts.XXXXXX");
	fd = mkstemp(mounts);
	if (fd < 0)
		return 1;
	close(fd);
	stack_mounts = mounts;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(mounts);
	return failed;
}
