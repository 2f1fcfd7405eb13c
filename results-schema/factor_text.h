/* SPDX-License-Identifier: GPL-2.0-or-later
 * Levels that are text. */
#ifndef ASSAY_FACTOR_TEXT_H
#define ASSAY_FACTOR_TEXT_H

#include "factor.h"

/* factor_check() for a factor with a form. */
int factor_check_text(const struct factor *f, const json_t *level, char *why, size_t why_size);

#endif
