/* SPDX-License-Identifier: GPL-2.0-or-later
 * The operator's word for one run: what `assay run --wipe TOKEN` says yes to. */
#ifndef ASSAY_WIPE_H
#define ASSAY_WIPE_H

#include "plan.h"

enum { WIPE_TOKEN_SIZE = 9 };

/* The token that lets a run of PLAN overwrite the disks of GROUP's nodes that it uses, as LAB has them: eight
 * hex digits of the SHA-256 of the plan's text and the disks' entries, so another plan, disk, size range or
 * "covers" is another token. 0 or -errno. */
int wipe_token(const struct plan *plan, const json_t *lab, const char *group, char token[WIPE_TOKEN_SIZE]);

/* Whether WIPE (NULL: nothing was said) is that token; if not, what would be overwritten and the token go to
 * ERR. */
bool wipe_allowed(const struct plan *plan, const json_t *lab, const char *group, const char *wipe, FILE *err);

/* A line for each disk that such a run overwrites, to OUT. */
void wipe_print(const struct plan *plan, const json_t *lab, const char *group, FILE *out);

#endif
