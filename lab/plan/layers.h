/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which layers of the image (image/layers/) cells need. */
#ifndef ASSAY_LAYERS_H
#define ASSAY_LAYERS_H

#include <jansson.h>
#include <stdbool.h>

/* Adds the names of the layers that STATE needs to LAYERS, an array of strings, unless they are in it. 0 or
 * -ENOMEM. */
int layers_of_state(const json_t *state, json_t *layers);

/* The first of WANTED that is not in LOADED (arrays of strings; NULL is empty), or NULL. */
const char *layers_missing(const json_t *wanted, const json_t *loaded);

#endif
