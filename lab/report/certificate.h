/* SPDX-License-Identifier: GPL-2.0-or-later
 * Noise certificates (results' evidence.noise), read for people. */
#ifndef ASSAY_CERTIFICATE_H
#define ASSAY_CERTIFICATE_H

#include <jansson.h>
#include <stddef.h>

/* The worst of one certificate's CPUs, or of several's. Zero it before the first. */
struct certificate {
	size_t samples, windows;
	double share_ppm;                              /* taken from a CPU in a window */
	double timer_per_s;                            /* timer interrupts of a CPU during the sample */
	double irq_per_s, softirq_per_s, thread_per_s; /* of a CPU in a window */
	long long longest_us, smi, throttled;
};

/* Adds evidence.noise NOISE; another's worst. */
void certificate_add(struct certificate *worst, const json_t *noise);
void certificate_merge(struct certificate *worst, const struct certificate *other);

#endif
