/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack_argv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct context {
	enum stack_layer layer;
	const json_t *state;
	const char *lower, *uuid;
};

__attribute__((format(printf, 2, 3))) static void put(struct stack_argv *out, const char *format, ...)
{
	size_t room = sizeof(out->text) - out->used, max = sizeof(out->argv) / sizeof(*out->argv);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->text + out->used, room, format, args);
	va_end(args);
	/* One too many: count stays beyond the end, which stack_argv() tells. */
	if (n < 0 || (size_t)n >= room || out->count + 1 >= max) {
		out->count = max;
		return;
	}
	out->argv[out->count++] = out->text + out->used;
	out->used += (size_t)n + 1;
}

/* Every word of TEXT by itself, unless it is "default". */
static void put_words(struct stack_argv *out, const char *text)
{
	if (!strcmp(text, "default"))
		return;
	for (; *text; text += strcspn(text, " "), text += strspn(text, " "))
		put(out, "%.*s", (int)strcspn(text, " "), text);
}

/* LVM without udev and without a configuration file: it sees but the device it is given, and waits for
 * nobody to make device nodes. Names of settings: lvm.conf(5). */
static void put_lvm(struct stack_argv *out, const struct context *c, const char *command)
{
	out->layer = "lvm2";
	put(out, "/sbin/lvm");
	put(out, "%s", command);
	put(out, "--config");
	put(out,
	    "devices { filter=[\"a|^%s$|\",\"r|.*|\"] global_filter=[\"a|^%s$|\",\"r|.*|\"] "
	    "obtain_device_list_from_udev=0 external_device_info_source=\"none\" use_devicesfile=0 } "
	    "activation { udev_sync=0 udev_rules=0 verify_udev_operations=0 monitoring=0 } "
	    "backup { backup=0 archive=0 } global { use_lvmpolld=0 event_activation=0 notify_dbus=0 }",
	    c->lower, c->lower);
}

static void pvcreate(const struct context *c, struct stack_argv *out)
{
	put_lvm(out, c, "pvcreate");
	put(out, "-ff");
	put(out, "-y");
	put(out, "--norestorefile");
	put(out, "--uuid");
	put(out, "%s", c->uuid);
	put(out, "%s", c->lower);
}

static void vgcreate(const struct context *c, struct stack_argv *out)
{
	put_lvm(out, c, "vgcreate");
	put(out, STACK_GROUP);
	put(out, "%s", c->lower);
}

static void lvcreate(const struct context *c, struct stack_argv *out)
{
	put_lvm(out, c, "lvcreate");
	/* Nothing is written to the new volume: what shall be in it comes by the next layer. */
	put(out, "-Zn");
	put(out, "-Wn");
	put(out, "-y");
	put(out, "-l");
	put(out, "100%%FREE");
	put(out, "-n");
	put(out, "lvm");
	put(out, STACK_GROUP);
}

static void put_cryptsetup(struct stack_argv *out)
{
	out->layer = "cryptsetup";
	put(out, "/sbin/cryptsetup");
	put(out, "-q");
	put(out, "--disable-locks");
	put(out, "--type");
	put(out, "luks2");
	put(out, "--key-file");
	put(out, STACK_KEY);
}

/* The passphrase is as random as a key, so nothing is gained by making guesses slow. */
static void luks_format(const struct context *c, struct stack_argv *out)
{
	put_cryptsetup(out);
	put(out, "--uuid");
	put(out, "%s", c->uuid);
	put(out, "--cipher");
	put(out, "%s", factor_string(c->state, FACTOR_LUKS_CIPHER));
	put(out, "--key-size");
	put(out, "%lld", factor_integer(c->state, FACTOR_LUKS_KEY_BITS));
	put(out, "--pbkdf");
	put(out, "pbkdf2");
	put(out, "--pbkdf-force-iterations");
	put(out, "1000");
	put(out, "luksFormat");
	put(out, "%s", c->lower);
}

static void luks_open(const struct context *c, struct stack_argv *out)
{
	put_cryptsetup(out);
	/* Not by the keyring, so that the table in force tells the key's size. */
	put(out, "--disable-keyring");
	put(out, "open");
	put(out, "%s", c->lower);
	put(out, "assay-luks");
}

/* Tables that the kernel would else fill in the background, while something is measured, are filled now. */
static void mkfs_ext4(const struct context *c, struct stack_argv *out)
{
	out->layer = "filesystems";
	put(out, "/sbin/mke2fs");
	put(out, "-t");
	put(out, "ext4");
	put(out, "-F");
	put(out, "-q");
	put(out, "-E");
	put(out, "lazy_itable_init=0,lazy_journal_init=0");
	put_words(out, factor_string(c->state, FACTOR_EXT4_MKFS));
	put(out, "-U");
	put(out, "%s", c->uuid);
	put(out, "%s", c->lower);
}

static void dumpe2fs(const struct context *c, struct stack_argv *out)
{
	out->layer = "filesystems";
	put(out, "/sbin/dumpe2fs");
	put(out, "-h");
	put(out, "%s", c->lower);
}

static void mkfs_xfs(const struct context *c, struct stack_argv *out)
{
	out->layer = "filesystems";
	put(out, "/sbin/mkfs.xfs");
	put(out, "-f");
	put_words(out, factor_string(c->state, FACTOR_XFS_MKFS));
	put(out, "-m");
	put(out, "uuid=%s", c->uuid);
	put(out, "%s", c->lower);
}

static void do_mount(const struct context *c, struct stack_argv *out)
{
	const char *options =
	    factor_string(c->state, c->layer == STACK_EXT4 ? FACTOR_EXT4_MOUNT : FACTOR_XFS_MOUNT);

	put(out, "mount");
	put(out, "-t");
	put(out, "%s", stack_layer_names[c->layer]);
	if (strcmp(options, "default") != 0) {
		put(out, "-o");
		put(out, "%s", options);
	}
	put(out, "%s", c->lower);
	put(out, STACK_MOUNT_POINT);
}

static void do_umount(const struct context *c, struct stack_argv *out)
{
	(void)c;
	put(out, "umount");
	put(out, STACK_MOUNT_POINT);
}

typedef void step_argv(const struct context *c, struct stack_argv *out);

static step_argv *const steps[STACK_STEP_COUNT] = {
    [STACK_PVCREATE] = pvcreate,       [STACK_VGCREATE] = vgcreate,   [STACK_LVCREATE] = lvcreate,
    [STACK_LUKS_FORMAT] = luks_format, [STACK_LUKS_OPEN] = luks_open, [STACK_MKFS_EXT4] = mkfs_ext4,
    [STACK_DUMPE2FS] = dumpe2fs,       [STACK_MKFS_XFS] = mkfs_xfs,   [STACK_MOUNT] = do_mount,
    [STACK_UMOUNT] = do_umount,
};

int stack_argv(enum stack_step step, enum stack_layer layer, const json_t *state, const char *lower,
               const char *uuid, struct stack_argv *out)
{
	const struct context c = {layer, state, lower, uuid};

	memset(out, 0, sizeof(*out));
	steps[step](&c, out);
	return out->count >= sizeof(out->argv) / sizeof(*out->argv) ? -E2BIG : 0;
}

void stack_uuid(enum stack_layer layer, const uint8_t random[16], char uuid[40])
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuv";
	static const unsigned int groups[] = {6, 4, 4, 4, 4, 4, 6};
	char *to = uuid;
	size_t n = 0;

	if (layer != STACK_LVM) {
		snprintf(uuid, 40, "41535341-59%02x-4%x%02x-8%x%02x-%02x%02x%02x%02x%02x%02x", random[0],
		         random[1] & 15u, random[2], random[3] & 15u, random[4], random[5], random[6],
		         random[7], random[8], random[9], random[10]);
		return;
	}
	for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
		for (unsigned int i = 0; i < groups[g]; i++, n++)
			*to++ = n < 5 ? "ASSAY"[n] : letters[(random[n % 16] >> (n / 16)) & 31];
		*to++ = '-';
	}
	to[-1] = '\0';
}
