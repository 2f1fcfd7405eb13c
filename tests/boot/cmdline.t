#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernel arguments of a cell: the nodes are rebooted as often as needed and no more, the boot script carries them, and the
# evidence proves them: by the command line, and by what the kernel made of it.
. "$(dirname "$0")/lib.sh"
lab_new cmdline
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/cmdline.yaml
is 'every cell is valid' "$RUN_STATUS" 0
samples_complete 4 cmdline
is 'one reboot of each node' "$(sql "SELECT group_concat(node) FROM (SELECT node FROM reboots ORDER BY node)")" n1,n2
is 'asked: in force' "$(evidence_of boot.cmdline 'maxcpus=1 mitigations=off' 'in_force."boot.cmdline"')" 'maxcpus=1 mitigations=off'
is 'asked: one CPU is used' "$(evidence_of boot.cmdline 'maxcpus=1 mitigations=off' 'settings."cpu.workload"')" 1
is 'default: both CPUs are used' "$(evidence_of boot.cmdline default 'settings."cpu.workload"')" 3
is 'default: none of these arguments' "$(evidence_of boot.cmdline default command_line | grep -cE 'maxcpus|mitigations')" 0
is 'asked: the command line says so on both nodes' "$(evidence_of boot.cmdline 'maxcpus=1 mitigations=off' command_line | grep -c ' maxcpus=1 mitigations=off')" 2
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
done_testing
