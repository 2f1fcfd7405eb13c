/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the observers share: the columns, and the row that is being filled. All of it lives in the process
 * that looks; columns and rows also in the worker that started it. */
#ifndef ASSAY_OBSERVE_SOURCE_H
#define ASSAY_OBSERVE_SOURCE_H

#include "observe_series.h"

#include <stdatomic.h>
#include <stdint.h>

enum { OBSERVE_NOTES = 8, OBSERVE_NOTE_SIZE = 160, OBSERVE_TEXT_SIZE = 256 << 10 };

struct observe_column {
	char source[16], object[48], field[32];
	bool gauge, kernel; /* kernel: the thread is one of the kernel's own */
};

struct observer {
	struct observe_place place;
	pid_t pid;
	int stop;      /* closed by the worker: look a last time and end */
	int64_t go_ns; /* of now_ns(): 0 on the rows' clock */
	int64_t begin_ns, interval_ns, cost_ns;
	int cpu;
	bool shared;
	size_t size; /* of this mapping */

	struct observe_column *columns;
	size_t column_count, column_max;
	int64_t *time_ns, *values; /* values: stride for each row */
	size_t stride, row_max;
	_Atomic(size_t) rows;
	atomic_bool done; /* the last look was taken */
	int64_t *row;     /* the one being filled, in it what the row before had */
	char notes[OBSERVE_NOTES][OBSERVE_NOTE_SIZE];
	size_t note_count;

	/* of the looking process alone */
	char *text; /* OBSERVE_TEXT_SIZE, to read to */
};

struct observe_field {
	const char *name;
	bool gauge;
};

#define COUNTER(field)                                                                                       \
	{                                                                                                    \
		.name = field                                                                                \
	}
#define GAUGE(field)                                                                                         \
	{                                                                                                    \
		.name = field, .gauge = true                                                                 \
	}

/* Adds COUNT columns of OBJECT; the index of the first, or -1 where there is no room. After the first look
 * only those of the reserve are left. */
int observe_add(struct observer *o, const char *source, const char *object,
                const struct observe_field *fields, size_t count);

/* Says (once, in the result) what cannot be seen. */
__attribute__((format(printf, 2, 3))) void observe_note(struct observer *o, const char *format, ...);

/* The whole of FD, from its start, to O->text. The length, or -errno; O->text is "" then. */
int observe_read(struct observer *o, int fd);

/* Opens PATH for looking at, or -errno. */
__attribute__((format(printf, 1, 2))) int observe_open(const char *format, ...);

struct observe_source {
	/* Finds the objects, adds their columns. */
	void (*open)(struct observer *o);
	/* Fills the row. Allocates nothing. */
	void (*look)(struct observer *o);
};

extern const struct observe_source observe_disk, observe_cpu, observe_softnet, observe_irq, observe_thread,
    observe_tcp, observe_drbd;

/* Threads and CPUs that were at their limit, as evidence's `hot`; the caller owns it. */
json_t *observe_hot(const struct observer *o);

#endif
