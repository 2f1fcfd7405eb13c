/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_PLAN_PRINT_H
#define ASSAY_PLAN_PRINT_H

#include "estimate.h"

/* A plan for people, and for programs. */
void plan_print(const struct plan *plan, const struct assumptions *a, FILE *to);
void plan_print_json(const struct plan *plan, const struct assumptions *a, FILE *to);

#endif
