/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ASSAY_LAB_INTERNAL_H
#define ASSAY_LAB_INTERNAL_H

#include "network.h"
#include "plan.h"
#include "yaml.h"

/* MACs as aa:bb:cc:dd:ee:ff, UUIDs and PCI addresses in lower case, wherever a lab file has them. */
void lab_normalise(json_t *lab);

/* Complains of what the schema can't say; DOC fits it. */
void lab_check(struct yaml_doc *doc);

/* Complains of what NODE's POWER (NULL: it has none) lacks for its driver, or has beyond it. */
void lab_check_power(struct yaml_doc *doc, const char *node, const json_t *power);

/* "aa:bb:..." as lab_normalise() leaves it. */
bool lab_is_mac(const char *text);

#endif
