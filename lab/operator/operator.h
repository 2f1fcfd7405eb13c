/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the operator's commands ask of the server that works on a database: JSON over HTTP through a Unix
 * socket beside it. Who may ask is a matter of the socket's file permissions. */
#ifndef ASSAY_OPERATOR_H
#define ASSAY_OPERATOR_H

#include <jansson.h>

/* In the folder DATABASE.run. */
#define OPERATOR_SOCKET "operator"

struct operator_link;

/* For the server of DATABASE, whether it is there or not. NULL: no memory. operator_free() it. */
struct operator_link *operator_new(const char *database);
void operator_free(struct operator_link *o);

/* METHOD PATH with BODY (NULL: none): 0 with HTTP's status in *STATUS and the JSON in *ANSWER (the caller
 * owns it; NULL: none), whatever they are; -ENOENT or -ECONNREFUSED: no server is there; -EACCES: it may not
 * be asked; another -errno. operator_message() then says so, and what to do. */
int operator_ask(struct operator_link *o, const char *method, const char *path, const json_t *body,
                 long *status, json_t **answer);
const char *operator_message(const struct operator_link *o);

#endif
