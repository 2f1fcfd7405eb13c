/* SPDX-License-Identifier: GPL-2.0-or-later
 * Figures that others measured: read from text, and put into the store as a run that says so. */
#ifndef ASSAY_IMPORT_H
#define ASSAY_IMPORT_H

#include "../plan/complain.h"
#include "../report/report.h"
#include "../store/store.h"

#include <jansson.h>

enum { IMPORT_SAMPLES_MAX = 1000000, IMPORT_FILE_MAX_BYTES = 64 << 20, IMPORT_CELLS_MAX = 50000 };

struct import_sample {
	json_t *state;    /* levels by factor, or the "settings" as they stand in the file */
	json_t *workload; /* with a type */
	char *node;       /* NULL: not known */
	uint32_t boot;    /* as the file numbers them */
	uint64_t bytes, ns;
	double figure[FIGURES]; /* NAN: not there; throughput is bytes over ns */
	int line;
};

struct import {
	struct import_sample *samples;
	size_t count;
	uint32_t first_boot, last_boot; /* of the file that is read now */
};

/* SAMPLE is added; its objects are taken over, also where it fails. 0 or -errno. */
int import_add(struct import *import, struct import_sample *sample);
void import_free(struct import *import);
/* A sample without any figure. */
struct import_sample import_sample_new(void);

/* Each reads SIZE bytes of TEXT, which ends with a 0 that is not counted, and adds what it finds; what is
 * wrong is complained of by line. 0, -EINVAL or -ENOMEM. */

/* transcript.c: what dd of GNU coreutils and of busybox print. The last line above that is neither of theirs
 * nor empty names the settings; a line that is "reboot", or begins so, begins another boot. */
int import_transcript(struct import *import, const char *text, size_t size, struct complaints *complaints);
/* csv.c: RFC 4180 with a line of names: bytes and ns or seconds, or mb_per_s; other figures as `assay report
 * --csv` names them; boot, node; all other columns are settings. */
int import_csv(struct import *import, const char *text, size_t size, struct complaints *complaints);
/* fio.c: what fio --output-format=json prints; one sample of each job and direction. */
int import_fio(struct import *import, const char *text, size_t size, struct complaints *complaints);

/* import_store.c: all of IMPORT as a finished run, in one transaction; SOURCE is "dd", "fio" or "csv". RUN
 * gets its id. */
int import_store(struct store *store, const struct import *import, const char *name, const char *question,
                 const char *source, char run[64]);

#endif
