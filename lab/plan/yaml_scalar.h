/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_YAML_SCALAR_H
#define ASSAY_YAML_SCALAR_H

#include <jansson.h>
#include <stdbool.h>

/* N bytes of a scalar by the core schema of YAML 1.2 (chapter 10.3); what is not PLAIN is a string. NULL with
 * *WHY where JSON can't hold it. */
json_t *yaml_scalar(const char *text, size_t n, bool plain, const char **why);

/* Why SIZE bytes are not worth parsing, with the place; NULL if they are. */
const char *yaml_refuse_text(const char *text, size_t size, int *line, int *column);

#endif
