/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rule that keeps people's data: everything must fit, or the disk is refused. */
#include "disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DISKS = 256 };

/* Signatures that "covers" has a name for; any other is covered by "any" only. */
static const char *const coverable[] = {"gpt", "mbr",  "ext4", "xfs",  "swap",   "lvm",
                                        "md",  "luks", "zfs",  "drbd", "bcache", "bitlocker"};

struct text {
	char buf[4096];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	size_t room = sizeof(text->buf) - text->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->buf + text->used, room, format, args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_signature(struct text *text, const struct disk_signature *s)
{
	add(text, "%s%s at byte %" PRIu64, s->name, s->ours ? " (Assay's own)" : "", s->offset_bytes);
	if (*s->label)
		add(text, " \"%s\"", s->label);
}

static void add_disk(struct text *text, const struct disk *disk)
{
	add(text, "%s serial=\"%s\" wwn=\"%s\" %" PRIu64 " bytes in sectors of %u carries=", disk->device,
	    disk->serial, disk->wwn, disk->size_bytes, disk->logical_sector_bytes);
	if (disk->read_error)
		add(text, "(unreadable: %s)", strerror(disk->read_error));
	else if (!disk->signatures.count)
		add(text, "nothing");
	for (size_t i = 0; i < disk->signatures.count && !disk->read_error; i++) {
		add(text, i ? ", " : "");
		add_signature(text, &disk->signatures.items[i]);
	}
	if (disk->removable)
		add(text, " removable");
	if (disk->read_only)
		add(text, " read-only");
	if (!strcmp(disk->transport, "usb"))
		add(text, " usb");
	if (disk->health == HEALTH_FAILING)
		add(text, " failing: %s", disk->health_text);
	if (disk->in_use_by[0])
		add(text, " in use: %s", disk->in_use_by);
}

static void add_disks(struct text *text, const struct disk *disks, int n)
{
	add(text, n ? "Disks of this node: " : "This node has no disk");
	for (int i = 0; i < n; i++) {
		if (text->used > sizeof(text->buf) - 512) {
			add(text, "; and %d more", n - i);
			return;
		}
		add(text, i ? "; " : "");
		add_disk(text, &disks[i]);
	}
}

/* "naa.5000…", "0x5000…" and "5000…" are one WWN, in either case of letters. */
static const char *bare_wwn(const char *wwn)
{
	static const char *const prefixes[] = {"naa.", "eui.", "uuid.", "0x"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncasecmp(wwn, prefixes[i], strlen(prefixes[i])))
			return wwn + strlen(prefixes[i]);
	return wwn;
}

static bool matches(const json_t *wanted, const struct disk *disk)
{
	const char *serial = json_string_value(json_object_get(wanted, "serial"));
	const char *wwn = json_string_value(json_object_get(wanted, "wwn"));

	if (serial)
		return *serial && !strcmp(serial, disk->serial);
	return wwn && *bare_wwn(wwn) && !strcasecmp(bare_wwn(wwn), bare_wwn(disk->wwn));
}

static bool has_word(const json_t *words, const char *word)
{
	size_t i;
	json_t *text;

	json_array_foreach (words, i, text) {
		if (json_is_string(text) && !strcmp(json_string_value(text), word))
			return true;
	}
	return false;
}

static bool is_coverable(const char *name)
{
	for (size_t i = 0; i < sizeof(coverable) / sizeof(*coverable); i++)
		if (!strcmp(name, coverable[i]))
			return true;
	return false;
}

static bool is_covered(const json_t *wanted, const struct disk_signature *s)
{
	const json_t *covers = json_object_get(wanted, "covers");

	return s->ours || has_word(covers, "any") || (is_coverable(s->name) && has_word(covers, s->name));
}

static int refuse(struct failure *why, int r, const char *object, const char *remedy,
                  const struct text *found, const char *reason)
{
	r = fail(why, r, FAILURE_RUN, "disk", object, remedy, "%s. Nothing was written to any disk. %s",
	         reason, found->buf);
	why->error = 0; /* our judgement: no system call failed */
	return r;
}

/* What it is asked of a disk, and how it is refused: begins as "Disk refused: /dev/sda (serial X) ". */
struct question {
	const json_t *wanted;
	const struct disk *disk, *disks;
	int count; /* of disks */
	struct text reason, remedy;
};

/* Each adds to reason and remedy and gives -errno where the disk is not to be written; else 0. In the order
 * of the table below. */
static int check_kind(struct question *q)
{
	bool usb = !strcmp(q->disk->transport, "usb");

	if (!q->disk->removable && !q->disk->read_only && !usb && q->disk->size_bytes)
		return 0;
	add(&q->reason, "is %s",
	    usb                    ? "a USB disk, as virtual media of a management controller are, too"
	    : q->disk->removable   ? "removable"
	    : !q->disk->size_bytes ? "of no size: no medium, or not ready"
	                           : "read-only");
	add(&q->remedy, "Name a fixed, writable disk in the lab file (nodes: NODE: disk: serial:).");
	return -EPERM;
}

/* Two paths to one disk: a lock on one says nothing of the other, and what is written may be another
 * machine's. */
static int check_paths(struct question *q)
{
	for (int i = 0; i < q->count; i++) {
		const struct disk *other = &q->disks[i];

		if (!strcmp(other->name, q->disk->name) || !*q->disk->wwn ||
		    strcasecmp(bare_wwn(other->wwn), bare_wwn(q->disk->wwn)) != 0)
			continue;
		add(&q->reason, "has the WWN %s, and so has %s: two paths to one disk", q->disk->wwn,
		    other->device);
		add(&q->remedy, "Name a disk that the node sees once, or take away the other path.");
		return -ENOTUNIQ;
	}
	return 0;
}

static int check_size(struct question *q)
{
	json_int_t min = json_integer_value(json_object_get(q->wanted, "min_bytes"));
	json_int_t max = json_integer_value(json_object_get(q->wanted, "max_bytes"));

	if (min > 0 && max > 0 && q->disk->size_bytes >= (uint64_t)min &&
	    q->disk->size_bytes <= (uint64_t)max)
		return 0;
	add(&q->reason, "has %" PRIu64 " bytes, not from %lld to %lld", q->disk->size_bytes, (long long)min,
	    (long long)max);
	add(&q->remedy,
	    "If it is the right disk, correct min_bytes and max_bytes of the node's disk in the lab "
	    "file.");
	return -ERANGE;
}

static int check_sectors(struct question *q)
{
	const json_t *declared = json_object_get(q->wanted, "logical_sector_bytes");
	json_int_t bytes = declared ? json_integer_value(declared) : 512;

	if (bytes == q->disk->logical_sector_bytes)
		return 0;
	add(&q->reason, "has sectors of %u bytes, not of %lld%s", q->disk->logical_sector_bytes,
	    (long long)bytes,
	    declared ? "" : ", which is what a disk has unless the lab file says otherwise");
	add(&q->remedy,
	    "If it is the right disk, set logical_sector_bytes: %u at the node's disk in the lab file; "
	    "the disks that replicate to each other are better alike.",
	    q->disk->logical_sector_bytes);
	return -ERANGE;
}

static int check_health(struct question *q)
{
	if (q->disk->health != HEALTH_FAILING || has_word(json_object_get(q->wanted, "covers"), "failing"))
		return 0;
	add(&q->reason, "says that it fails (%s)", q->disk->health_text);
	add(&q->remedy,
	    "Replace the disk, or, to measure it all the same, add failing to covers: at the node's disk "
	    "in the lab file.");
	return -EPERM;
}

static int check_use(struct question *q)
{
	if (!*q->disk->in_use_by)
		return 0;
	add(&q->reason, "is in use: %s", q->disk->in_use_by);
	add(&q->remedy, "Name a disk that nothing uses, or reboot the node if Assay itself left it so.");
	return -EBUSY;
}

static int check_readable(struct question *q)
{
	if (!q->disk->read_error)
		return 0;
	add(&q->reason, "cannot be read, so what it carries is not known");
	add(&q->remedy, "Replace the disk, or name another one.");
	return -q->disk->read_error;
}

static int check_data(struct question *q)
{
	const struct disk_signatures *all = &q->disk->signatures;
	bool data = false, any = false;
	const char *comma = "";

	for (size_t i = 0; i < all->count; i++) {
		if (is_covered(q->wanted, &all->items[i]))
			continue;
		add(&q->reason, data ? ", " : "carries data: ");
		add_signature(&q->reason, &all->items[i]);
		data = true;
		any |= !is_coverable(all->items[i].name);
	}
	if (!data)
		return 0;
	add(&q->remedy, "If that data may be lost, set at the node's disk in the lab file covers: [");
	for (size_t i = 0; i < sizeof(coverable) / sizeof(*coverable) && !any; i++) {
		bool there = false;

		for (size_t k = 0; k < all->count; k++)
			there |= !all->items[k].ours && !strcmp(all->items[k].name, coverable[i]);
		if (there) {
			add(&q->remedy, "%s%s", comma, coverable[i]);
			comma = ", ";
		}
	}
	add(&q->remedy, "%s]; else name another disk.", any ? "any" : "");
	return -EEXIST;
}

static int check_disk(const json_t *wanted, const struct disk *disk, const struct disk *disks, int count,
                      const struct text *found, struct failure *why)
{
	static int (*const checks[])(struct question *) = {check_kind,     check_paths,  check_size,
	                                                   check_sectors,  check_health, check_use,
	                                                   check_readable, check_data};
	struct question q = {.wanted = wanted, .disk = disk, .disks = disks, .count = count};

	add(&q.reason, "Disk refused: %s (serial %s) ", disk->device, disk->serial);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		int r = checks[i](&q);

		if (r)
			return refuse(why, r, disk->device, q.remedy.buf, found, q.reason.buf);
	}
	return 0;
}

static int select_of(const json_t *wanted, const struct disk *disks, int n, struct disk *disk,
                     struct failure *why)
{
	const char *serial = json_string_value(json_object_get(wanted, "serial"));
	const char *wwn = json_string_value(json_object_get(wanted, "wwn"));
	const char *consent = json_string_value(json_object_get(wanted, "consent"));
	const char *kind = serial ? "serial" : "wwn", *name = serial ? serial : wwn ? wwn : "";
	struct text found = {.used = 0}, reason = {.used = 0};
	int match = -1, matching = 0;

	for (int i = 0; i < n; i++)
		if (matches(wanted, &disks[i])) {
			match = i;
			matching++;
		}
	add_disks(&found, disks, n);
	if (!consent || strcmp(consent, "wipe") != 0) {
		add(&reason, "Disk refused: the lab file does not consent to wipe the disk with %s %s", kind,
		    name);
		return refuse(
		    why, -EPERM, name,
		    "If its data may be lost, set consent: wipe at the node's disk in the lab file.", &found,
		    reason.buf);
	}
	if (matching != 1) {
		add(&reason, "Disk refused: %d disks have %s %s, not exactly one", matching, kind, name);
		return refuse(why, matching ? -ENOTUNIQ : -ENODEV, name,
		              matching
		                  ? "Name the disk by what only it has: serial or wwn in the lab file."
		                  : "Correct serial (or wwn) of the node's disk in the lab file: the message "
		                    "lists those there are. No disk at all: a driver may be missing.",
		              &found, reason.buf);
	}
	*disk = disks[match];
	return check_disk(wanted, disk, disks, n, &found, why);
}

int disk_select(const struct disk_roots *roots, const json_t *wanted, struct disk *disk, struct failure *why)
{
	struct disk *disks = calloc(MAX_DISKS, sizeof(*disks));
	int n = disks ? disk_scan(roots, disks, MAX_DISKS) : -ENOMEM;
	int r;

	if (n < 0)
		r = fail(why, n, FAILURE_RUN, "disk", roots->sys,
		         "Report this: the node's sysfs cannot be read.", "Disks cannot be listed");
	else
		r = select_of(wanted, disks, n, disk, why);
	free(disks);
	return r;
}
