/* SPDX-License-Identifier: GPL-2.0-or-later
 * What proves that a sample measured what it claims. */
#ifndef ASSAY_EVIDENCE_H
#define ASSAY_EVIDENCE_H

#include "net_bond.h"
#include "observe.h"

#include <jansson.h>

/* The machine and its boot: boot_id, kernel_release, command_line, uptime_ns, to EVIDENCE. 0 or -errno. */
int evidence_machine(const struct observe_roots *roots, json_t *evidence);

/* Every factor of ASKED that differs in IN_FORCE, as evidence's `differences`; one that IN_FORCE lacks is
 * "unknown". The caller owns it. */
json_t *evidence_differences(const json_t *asked, const json_t *in_force);

/* `nics` of the first USED of NICS, with counters_before; the caller owns it. */
json_t *evidence_nics(const struct observe_roots *roots, const struct net_nics *nics, size_t used);

/* Adds counters_after to each of NICS (what evidence_nics() made). */
void evidence_nics_after(const struct observe_roots *roots, json_t *nics);

/* Adds TEXT to `notes`: what the reader should know, though the sample is valid. 0 or -ENOMEM. */
int evidence_note(json_t *evidence, const char *text);

/* What a reader should know of NICS: one whose link is slower than it can be. To BUF; "" if nothing. */
void evidence_nics_note(const json_t *nics, char *buf, size_t size);

/* Why the sample is invalid by its differences or its NICs' counters, to BUF; "" if it is not. */
void evidence_differences_fault(const json_t *differences, char *buf, size_t size);
void evidence_nics_fault(const json_t *nics, char *buf, size_t size);

#endif
