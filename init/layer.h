/* SPDX-License-Identifier: GPL-2.0-or-later
 * Layers: programs of Debian that came as further initrds, each under /layers/NAME, where they run by chroot.
 */
#ifndef ASSAY_LAYER_H
#define ASSAY_LAYER_H

#include "command.h"
#include "failure.h"

#include <jansson.h>

#define LAYERS_FOLDER "/layers"

/* The names of the layers under FOLDER, sorted; the caller owns it. NULL: out of memory. */
json_t *layer_names(const char *folder);

/* [{name, packages: [{name, version}]}] of the layers under FOLDER, as evidence; the caller owns it. */
json_t *layer_evidence(const char *folder);

/* The most words of a layer's command, with the NULL. */
enum { LAYER_WORDS = 48 };

/* Fills ARGV, with room for LAYER_WORDS, with what runs ARGS (ending with NULL) in layer NAME: "chroot
 * /layers/NAME ARGS…". It points into ARGS and into PATH. 0 or -E2BIG. */
int layer_argv(const char *name, const char *const args[], char path[64], const char **argv);

/* Makes layer NAME ready to run its programs: /dev, /proc and /sys are bound into it, once. 0 or -errno with
 * *WHY filled (-ENOENT: this boot has no such layer). */
int layer_enter(const char *name, struct failure *why);

#endif
