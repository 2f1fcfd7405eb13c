/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which layers of the image (image/layers/) cells need. */
#ifndef ASSAY_LAYERS_H
#define ASSAY_LAYERS_H

#include <jansson.h>
#include <stdbool.h>

/* Adds the names of the layers that STATE needs to LAYERS, an array of strings, unless they are in it. 0 or
 * -ENOMEM. */
int layers_of_state(const json_t *state, json_t *layers);

/* The layer with the kernel that STATE asks for, or "": ours, which is in no layer. */
const char *layers_kernel_of_state(const json_t *state);

/* The one of LOADED (array of strings, or NULL) that has a kernel, or "". */
const char *layers_kernel(const json_t *loaded);

/* The first of WANTED that is not in LOADED (arrays of strings; NULL is empty), or NULL. */
const char *layers_missing(const json_t *wanted, const json_t *loaded);

#endif
