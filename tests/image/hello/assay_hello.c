// SPDX-License-Identifier: GPL-2.0-or-later
/* The smallest out-of-tree module, and one that leans on another: what make image MODULES= is tested with. */
#include <linux/crc32c.h>
#include <linux/init.h>
#include <linux/module.h>

static int __init assay_hello_init(void)
{
	pr_info("assay_hello: %08x\n", crc32c(0, "hello", 5));
	return 0;
}

static void __exit assay_hello_exit(void)
{
}

module_init(assay_hello_init);
module_exit(assay_hello_exit);
MODULE_DESCRIPTION("Test module of the image's build");
MODULE_LICENSE("GPL");
