/* SPDX-License-Identifier: GPL-2.0-or-later
 * The rule that keeps people's data: everything must fit, or the disk is refused. */
#include "disk.h"
#include "disk_signature.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DISKS = 256 };

/* What "covers" has own names for; the rest is covered by "any". */
#define BIT(id) (1ULL << SIGNATURE_##id)
#define COVERABLE                                                                                            \
	(BIT(GPT) | BIT(MBR) | BIT(EXT4) | BIT(XFS) | BIT(SWAP) | BIT(LVM) | BIT(MD) | BIT(LUKS) |           \
	 BIT(ZFS) | BIT(DRBD))

struct text {
	char buf[1536];
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

static void add_signatures(struct text *text, uint64_t signatures)
{
	const char *comma = "";

	for (size_t i = 0; i < SIGNATURE_COUNT; i++)
		if (signatures & 1ULL << i) {
			add(text, "%s%s", comma, disk_signature_names[i]);
			comma = ",";
		}
}

static void add_disk(struct text *text, const struct disk *disk)
{
	add(text, "%s serial=\"%s\" wwn=\"%s\" %" PRIu64 " bytes carries=", disk->device, disk->serial,
	    disk->wwn, disk->size_bytes);
	if (disk->read_error)
		add(text, "(unreadable: %s)", strerror(disk->read_error));
	else if (disk->signatures)
		add_signatures(text, disk->signatures);
	else
		add(text, "nothing");
	if (disk->removable)
		add(text, " removable");
	if (disk->read_only)
		add(text, " read-only");
	if (disk->in_use_by[0])
		add(text, " in use: %s", disk->in_use_by);
}

static void add_disks(struct text *text, const struct disk *disks, int n)
{
	add(text, n ? "Disks of this node: " : "This node has no disk");
	for (int i = 0; i < n; i++) {
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

/* Bits of the signatures that "covers" does not have. */
static uint64_t uncovered(const json_t *wanted, const struct disk *disk)
{
	uint64_t left = disk->signatures & ~SIGNATURES_OURS;
	size_t i;
	json_t *name;

	json_array_foreach (json_object_get(wanted, "covers"), i, name) {
		const char *text = json_string_value(name);

		if (!text)
			continue;
		if (!strcmp(text, "any"))
			return 0;
		for (size_t s = 0; s < SIGNATURE_COUNT; s++)
			if (!strcmp(text, disk_signature_names[s]))
				left &= ~(1ULL << s);
	}
	return left;
}

static int refuse(struct failure *why, int r, const char *object, const char *remedy,
                  const struct text *found, const char *reason)
{
	r = fail(why, r, FAILURE_RUN, "disk", object, remedy, "%s. Nothing was written to any disk. %s",
	         reason, found->buf);
	why->error = 0; /* our judgement: no system call failed */
	return r;
}

/* The one match's own properties. */
static int check_disk(const json_t *wanted, const struct disk *disk, const struct text *found,
                      struct failure *why)
{
	json_int_t min = json_integer_value(json_object_get(wanted, "min_bytes"));
	json_int_t max = json_integer_value(json_object_get(wanted, "max_bytes"));
	uint64_t data = uncovered(wanted, disk);
	struct text reason = {.used = 0}, remedy = {.used = 0};

	add(&reason, "Disk refused: %s (serial %s) ", disk->device, disk->serial);
	if (disk->removable || disk->read_only) {
		add(&reason, "is %s", disk->removable ? "removable" : "read-only");
		return refuse(why, -EPERM, disk->device,
		              "Name a fixed, writable disk in the lab file (nodes: NODE: disk: serial:).",
		              found, reason.buf);
	}
	if (min <= 0 || max <= 0 || disk->size_bytes < (uint64_t)min || disk->size_bytes > (uint64_t)max) {
		add(&reason, "has %" PRIu64 " bytes, not from %lld to %lld", disk->size_bytes, (long long)min,
		    (long long)max);
		return refuse(
		    why, -ERANGE, disk->device,
		    "If it is the right disk, correct min_bytes and max_bytes of the node's disk in the "
		    "lab file.",
		    found, reason.buf);
	}
	if (disk->in_use_by[0]) {
		add(&reason, "is in use: %s", disk->in_use_by);
		return refuse(why, -EBUSY, disk->device,
		              "Name a disk that nothing uses, or reboot the node if Assay itself left it so.",
		              found, reason.buf);
	}
	if (disk->read_error) {
		add(&reason, "cannot be read, so what it carries is not known");
		return refuse(why, -disk->read_error, disk->device, "Replace the disk, or name another one.",
		              found, reason.buf);
	}
	if (data) {
		add(&reason, "carries data: ");
		add_signatures(&reason, data);
		add(&remedy, "If that data may be lost, set at the node's disk in the lab file covers: [");
		if (data & ~COVERABLE)
			add(&remedy, "any");
		else
			add_signatures(&remedy, disk->signatures & COVERABLE);
		add(&remedy, "]; else name another disk.");
		return refuse(why, -EEXIST, disk->device, remedy.buf, found, reason.buf);
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
	return check_disk(wanted, disk, &found, why);
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
