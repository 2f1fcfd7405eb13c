/* SPDX-License-Identifier: GPL-2.0-or-later
 * A change of roles under load: the first node stops to write and becomes secondary, its peer becomes primary
 * and goes on to write, then all the way back. What both say to each other over the storage network. */
#ifndef ASSAY_WORKLOAD_ROLE_H
#define ASSAY_WORKLOAD_ROLE_H

#include "workload_failover_watch.h"

#include <stdint.h>

/* The peer's bins of FAILOVER_BIN_MS that it tells of. */
enum { ROLE_BINS_MAX = 360000 };

/* Numbers are big endian on the wire. */
struct role_order {
	uint64_t bs_bytes, size_bytes, after_ms;
};

/* The peer's first write is done, or ERROR (an errno) is why not. */
struct role_first {
	uint64_t error, primary_ns, open_ns, write_ns;
};

/* It has written all, closed the device, and is secondary again; BINS numbers follow, the bytes written in
 * each bin from the first write on. */
struct role_last {
	uint64_t error, secondary_ns, bins;
};

/* One direct write after the other of BS bytes from RECORD to FD, over and over the first SIZE bytes, until
 * UNTIL_NS after START_NS (now_ns()); each goes to FLOW. 0 or -errno. */
int role_write(int fd, const unsigned char *record, uint64_t bs_bytes, uint64_t size_bytes, int64_t start_ns,
               int64_t until_ns, struct failover_flow *flow);

/* Incompressible, aligned for direct I/O; the caller frees it. NULL: no memory. */
unsigned char *role_record(uint64_t bs_bytes);

/* The peer's part, on the connection FD. */
void role_serve(int fd);

#endif
