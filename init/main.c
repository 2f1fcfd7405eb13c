/* SPDX-License-Identifier: GPL-2.0-or-later
 * The node, from the kernel's hand-over to its last result: a table of contents. */
#include "agent.h"
#include "boot.h"
#include "cmdline.h"
#include "console.h"
#include "file.h"
#include "inventory.h"
#include "management.h"
#include "modprobe.h"
#include "module.h"
#include "supervise.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void complain(void *ctx, const char *text)
{
	(void)ctx;
	say("%s", text);
}

/* The child of PID 1 that does the work. */
static int work(struct supervised *shared, const struct cmdline *options)
{
	char nic[NIC_NAME_SIZE];
	int storage = module_coldplug_start(MODULE_STORAGE, NULL);

	module_coldplug(MODULE_NETWORK);
	management_wait_nic(options, nic);
	management_wait_address(options, nic);
	inventory_sfp_start();
	module_coldplug_finish(storage);
	shared->network = true;
	return agent_main(shared, options, nic);
}

static bool called_as(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, name);
}

int main(int argc, char **argv)
{
	static struct cmdline options;
	char text[4096];

	if (getpid() != 1)
		return called_as(argv[0], "modprobe") ? modprobe_main(argc, argv)
		                                      : management_lease(argc, argv);
	boot_mount();
	console_open();
	boot_seed();
	read_file("/proc/cmdline", text, sizeof(text));
	cmdline_parse(text, &options, complain, NULL);
	if (options.rescue)
		console_rescue();
	boot_settings();
	supervise(work, &options);
}
