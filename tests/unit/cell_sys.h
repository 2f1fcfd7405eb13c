/* SPDX-License-Identifier: GPL-2.0-or-later
 * A /sys and a /proc with three NICs, and a bond of two of them, in a folder of its own. */
#ifndef ASSAY_TEST_CELL_SYS_H
#define ASSAY_TEST_CELL_SYS_H

#include "observe.h"
#include "tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char sys[80], proc[80];
static const struct observe_roots roots = {.sys = sys, .proc = proc};

static void put_of(const char *nic, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/class/net/%s/%s", nic, name);
	put(path, text);
}

/* PCI "0000:03:00.0" or "0000:00:02.0/virtio1" */
static void make_nic(const char *name, const char *mac, const char *pci, const char *driver)
{
	char folder[256], path[600], target[512];

	snprintf(folder, sizeof(folder), "sys/devices/pci0000:00/%s/uevent", pci);
	put(folder, "");
	put_of(name, "address", mac);
	put_of(name, "mtu", "9000\n");
	put_of(name, "speed", "10000\n");
	put_of(name, "carrier", "1\n");
	put_of(name, "statistics/tx_bytes", "1000\n");
	put_of(name, "statistics/rx_bytes", "2000\n");
	put_of(name, "statistics/rx_crc_errors", "5\n");
	put_of(name, "statistics/rx_dropped", "5\n");
	snprintf(target, sizeof(target), "%s/devices/pci0000:00/%s", sys, pci);
	snprintf(path, sizeof(path), "%s/class/net/%s/device", sys, name);
	assert_int_equal(symlink(target, path), 0);
	snprintf(path, sizeof(path), "%s/driver", target);
	assert_int_equal(symlink(driver, path), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(root, "/tmp/assay-net.XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	put("proc/stat", "cpu  10 1 20 1000 50 3 4 2 99 0\ncpu0 10 1 20 1000 50 3 4 2 99 0\n"
	                 "intr 123456 0 9 0\nctxt 7890\nbtime 1\n");
	put("sys/class/net/lo/address", "00:00:00:00:00:00\n");
	make_nic("eth0", "52:54:00:00:01:00\n", "0000:00:02.0/virtio1", "virtio_net");
	make_nic("eth1", "00:1b:21:00:01:01\n", "0000:03:00.0", "ixgbe");
	make_nic("eth2", "00:1b:21:00:01:02\n", "0000:04:00.0", "ixgbe");
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

__attribute__((unused)) static void make_bond(const char *active, const char *failures)
{
	put_of("bond0", "bonding/mode", "active-backup 1\n");
	put_of("bond0", "bonding/active_slave", active);
	put_of("bond0", "bonding/miimon", "100\n");
	put_of("bond0", "bonding/slaves", "eth1 eth2\n");
	put_of("bond0", "mtu", "9000\n");
	put_of("eth1", "bonding_slave/mii_status", "up\n");
	put_of("eth2", "bonding_slave/mii_status", "up\n");
	put_of("eth1", "bonding_slave/link_failure_count", "0\n");
	put_of("eth2", "bonding_slave/link_failure_count", failures);
	put_of("eth1", "bonding_slave/perm_hwaddr", "00:1b:21:00:01:01\n");
}

#endif
