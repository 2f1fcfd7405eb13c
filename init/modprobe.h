/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the kernel calls for a cipher or a protocol by name, and people in the rescue shell: our own program
 * as /sbin/modprobe, because libkmod, which reads the image's compressed modules, is in it already. */
#ifndef ASSAY_MODPROBE_H
#define ASSAY_MODPROBE_H

/* Loads or unloads as the command line says; messages go to stderr. The exit status: 0, 1 (a module fails),
 * 2 (usage). */
int modprobe_main(int argc, char **argv);

#endif
