/* SPDX-License-Identifier: GPL-2.0-or-later
 * PID 1: starts the worker, sleeps, feeds the watchdog, and turns every end of the worker into a reboot. */
#ifndef ASSAY_SUPERVISE_H
#define ASSAY_SUPERVISE_H

#include "cmdline.h"
#include "failure.h"

#include <stdatomic.h>
#include <stdnoreturn.h>

/* What the worker tells PID 1; memory that both see. */
struct supervised {
	_Atomic(long long) deadline_ns; /* of now_ns(): beyond it the worker hangs; 0: it may wait for ever */
	atomic_bool network;            /* the management network is up: errors can be uploaded */
	char node[64];                  /* the node's name, or its MAC address with "-" before hello */
	char step[64], object[256];     /* what it does now */
};

/* How a worker ends that wants something; everything else is a crash. */
enum worker_exit { WORKER_GOES_ON = 0, WORKER_REBOOT = 10, WORKER_POWEROFF = 11 };

/* Runs in a child process; returns an enum worker_exit. */
typedef int worker_main(struct supervised *shared, const struct cmdline *options);

/* Never returns: ends in a reboot or power-off. */
noreturn void supervise(worker_main *worker, const struct cmdline *options);

/* Why a worker with this wait(2) STATUS has crashed, for its last step; *WHY has no log yet. */
void supervise_crash(const struct supervised *shared, int status, struct failure *why);

/* Where the forced reboot is asked for when the kernel hangs on its way down; tests have it elsewhere. */
extern const char *supervise_sysrq;

/* Tells PID 1 (from any process) that all drivers are loaded, the watchdog may be there. */
void supervise_drivers_loaded(void);

#endif
