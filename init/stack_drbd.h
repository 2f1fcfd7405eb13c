/* SPDX-License-Identifier: GPL-2.0-or-later
 * DRBD as a layer of the stack. */
#ifndef ASSAY_STACK_DRBD_H
#define ASSAY_STACK_DRBD_H

#include "stack.h"

/* Whether DRBD, which was proven before, is still as the cell says. 0 or -errno with *WHY filled. */
int stack_drbd_look(struct cell_build *build, struct failure *why);

#endif
