/* SPDX-License-Identifier: GPL-2.0-or-later
 * The noise certificate of a sample: what is taken from the measuring CPUs just before it and just after it
 * (osnoise tracer), and what was counted meanwhile. Between the two nothing of it runs. */
#ifndef ASSAY_NOISE_H
#define ASSAY_NOISE_H

#include "noise_count.h"

#define TRACING_FOLDER "/sys/kernel/tracing"

struct noise; /* of one sample */

/* Holds the CPUs that this process may run on for the window that STATE asks for, then reads the counters.
 * *NOISE (an older one is freed) is to be freed by noise_free(). What cannot be told is said in EVIDENCE's
 * notes. 0 or -ENOMEM. TRACING is tracefs's folder. */
int noise_before(const struct observe_roots *roots, const char *tracing, const json_t *state,
                 struct noise **noise, json_t *evidence);

/* Reads the counters, holds the CPUs again, and sets EVIDENCE's `noise`. Why the sample is invalid by it to
 * FAULT;
 * "" if it is not. NOISE may be NULL. 0 or -ENOMEM. */
int noise_after(const struct observe_roots *roots, const char *tracing, struct noise *noise, json_t *evidence,
                char *fault, size_t fault_size);

void noise_free(struct noise *noise);

/* The levels of STATE's noise factors that are in force, to IN_FORCE. 0 or -ENOMEM. */
int noise_in_force(const json_t *state, json_t *in_force);

#endif
