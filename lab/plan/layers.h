/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which layers of the image (image/layers/) cells need. */
#ifndef ASSAY_LAYERS_H
#define ASSAY_LAYERS_H

#include "factor.h"

#include <jansson.h>
#include <stdbool.h>

/* The factors whose levels decide which layers are needed. */
#define LAYERS_FACTORS 3
extern const enum factor_id layers_factors[LAYERS_FACTORS];

/* Adds the names of the layers that cells with these LEVELS of layers_factors need to LAYERS, an array of
 * strings, unless they are in it; the kernel's, which is a boot's own, is not among them. 0 or -ENOMEM. */
int layers_of_levels(const char *const levels[LAYERS_FACTORS], json_t *layers);

/* The same for STATE. */
int layers_of_state(const json_t *state, json_t *layers);

/* Adds NAME to LAYERS unless it is in it. 0 or -ENOMEM. */
int layers_add(json_t *layers, const char *name);

/* The layer with the kernel that STATE asks for, or "": ours, which is in no layer. */
const char *layers_kernel_of_state(const json_t *state);
const char *layers_kernel_of_level(const char *level);

/* The one of LOADED (array of strings, or NULL) that has a kernel, or "". */
const char *layers_kernel(const json_t *loaded);

/* The first of WANTED that is not in LOADED (arrays of strings; NULL is empty), or NULL. */
const char *layers_missing(const json_t *wanted, const json_t *loaded);

#endif
