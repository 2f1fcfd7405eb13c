/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observer: DRBD's counters (/proc/drbd), and the age of its oldest request (debugfs; DRBD looks at the heads
 * of its lists for it, not through them). */
#include "observe_source.h"
#include "observe_text.h"

#include "drbd_argv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KiB where the key says so: drivers/block/drbd/drbd_proc.c. */
static const struct {
	struct observe_field field;
	const char *key;
	unsigned int times;
} counts[] = {
    {COUNTER("net_sent_bytes"), "ns:", 1024},
    {COUNTER("net_received_bytes"), "nr:", 1024},
    {COUNTER("disk_written_bytes"), "dw:", 1024},
    {COUNTER("disk_read_bytes"), "dr:", 1024},
    {COUNTER("al_writes"), "al:", 1},
    {COUNTER("bm_writes"), "bm:", 1},
    {GAUGE("local_ios"), "lo:", 1},
    {GAUGE("pending_requests"), "pe:", 1},
    {GAUGE("unacked_requests"), "ua:", 1},
    {GAUGE("application_ios"), "ap:", 1},
    {GAUGE("epochs"), "ep:", 1},
    {GAUGE("out_of_sync_bytes"), "oos:", 1024},
};
static const struct observe_field oldest = GAUGE("oldest_request_ms");

enum { COUNTS = sizeof(counts) / sizeof(*counts) };

static int proc_fd = -1, oldest_fd = -1, column, oldest_column;

static void open_drbd(struct observer *o)
{
	struct observe_field fields[COUNTS];

	proc_fd = oldest_fd = -1;
	if (!o->place.drbd)
		return;
	proc_fd = observe_open("%s/drbd", o->place.proc);
	for (size_t i = 0; i < COUNTS; i++)
		fields[i] = counts[i].field;
	column = observe_add(o, "drbd", DRBD_MINOR, fields, COUNTS);
	oldest_fd = observe_open("%s/kernel/debug/drbd/resources/" DRBD_RESOURCE "/volumes/0/oldest_requests",
	                         o->place.sys);
	if (oldest_fd < 0)
		observe_note(o, "DRBD's debugfs cannot be read: %s", strerror(-oldest_fd));
	else
		oldest_column = observe_add(o, "drbd", DRBD_MINOR, &oldest, 1);
}

static void look(struct observer *o)
{
	if (proc_fd >= 0 && column >= 0 && observe_read(o, proc_fd) > 0)
		for (size_t i = 0; i < COUNTS; i++) {
			int64_t *value = &o->row[(size_t)column + i];
			int64_t n = text_drbd(o->text, (unsigned int)atoi(DRBD_MINOR), counts[i].key, -1);

			if (n >= 0)
				*value = n * counts[i].times;
			else if (counts[i].field.gauge)
				*value = -1;
		}
	if (oldest_fd >= 0 && oldest_column >= 0 && observe_read(o, oldest_fd) >= 0)
		o->row[oldest_column] = text_oldest_ms(o->text);
}

const struct observe_source observe_drbd = {.open = open_drbd, .look = look};
