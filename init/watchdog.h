/* SPDX-License-Identifier: GPL-2.0-or-later
 * The hardware watchdog: fed while PID 1 lives, so that a hung kernel becomes a reset. */
#ifndef ASSAY_WATCHDOG_H
#define ASSAY_WATCHDOG_H

#define WATCHDOG_TIMEOUT_S 60
#define WATCHDOG_FEED_MS   15000

/* Opens /dev/watchdog if it is there and not open yet, and says which it is. */
void watchdog_open(void);

/* Feeds it; nothing without a watchdog. */
void watchdog_feed(void);

/* Stops it for an orderly reboot, which may last longer than its timeout. */
void watchdog_stop(void);

#endif
