/* SPDX-License-Identifier: GPL-2.0-or-later
 * Our keys on the kernel command line. */
#ifndef ASSAY_CMDLINE_H
#define ASSAY_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>

struct cmdline {
	char server[256]; /* URL without a slash at its end */
	char token[128];
	char address[16]; /* "" where assay.ip is missing */
	unsigned int prefix_bits;
	char gateway[16]; /* "" without */
	char bootif[18];  /* "52:54:00:12:34:56", or "" */
	bool rescue;
};

/* Called with a whole sentence for each thing that is wrong with the command line. */
typedef void cmdline_complain(void *ctx, const char *text);

/* Reads TEXT as the kernel does ("" around blanks, no escapes). What is wrong is told to COMPLAIN and left
 * out; of keys given twice the last wins, and that is told as well. */
void cmdline_parse(const char *text, struct cmdline *out, cmdline_complain *complain, void *ctx);

/* A MAC address in any form that BOOTIF has ("01-52-54-00-12-34-56", with or without 01, "-" or ":", either
 * case) as "52:54:00:12:34:56". 0 or -EINVAL. */
int cmdline_mac(const char *text, char mac[18]);

/* TEXT with the boot token replaced by "***", so that it may be stored and shown: at most SIZE - 1 bytes. */
void cmdline_redact(const char *text, char *buf, size_t size);

/* Overwrites every boot token in TEXT with "*": for logs, which have the command line in them. */
void cmdline_mask(char *text);

#endif
