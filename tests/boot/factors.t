#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Settings of the node: each level is read back on both nodes and differs from another, a level that the node has nothing
# for fails its cell while the run goes on, and everything is put back.
. "$(dirname "$0")/lib.sh"
lab_new factors
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/factors.yaml
is 'all was measured that these nodes support, and the exit code says so' "$RUN_STATUS" 6
is 'every other cell was measured' "$(valid_samples)" 16
is 'the run is complete' "$(sql 'SELECT state FROM runs')" 'done'
is 'a level that is refused is not tried again' "$(sql "SELECT count(*) FROM attempts WHERE state <> 'valid'")" 3
is 'nothing in force differed from what was asked' \
	"$(sql "SELECT count(*) FROM results WHERE json_array_length(CAST(body AS TEXT), '\$.evidence.differences') > 0")" 0

# Where FACTOR is ASKED ("-": left alone), what the kernel says of it, over both nodes
kernel_says()
{
	sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.settings.\"$1\"') FROM results
		WHERE verdict = 'valid' AND CAST(coalesce(json_extract(CAST(body AS TEXT), '\$.cell.state.\"$1\"'), '-') AS TEXT) = '$2'
		AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"sysctl.set\"') IS $3 ORDER BY 1" | xargs
}
while read -r factor asked set kernel; do
	is "$factor: asked $asked, set $set" "$(kernel_says "$factor" "$asked" "$set")" "$kernel"
done <<'X'
sysctl.net.core.rmem_max - NULL 212992
sysctl.net.core.rmem_max - 'el6' 124928
sysctl.net.core.rmem_max - '20mb-buffers' 20971520
sysctl.net.core.rmem_max 1048576 NULL 1048576
sysctl.net.core.wmem_max 2097152 NULL 2097152
sysctl.net.core.netdev_max_backlog - NULL 1000
sysctl.net.core.netdev_max_backlog - '20mb-buffers' 300000
sysctl.net.core.netdev_max_backlog 5000 NULL 5000
sysctl.net.ipv4.tcp_sack 1 '20mb-buffers' 1
sysctl.net.ipv4.tcp_timestamps - NULL 1
sysctl.net.ipv4.tcp_timestamps - '20mb-buffers' 0
sysctl.net.ipv4.tcp_timestamps 2 NULL 2
sysctl.net.ipv4.tcp_rmem - 'el6' 4096 87380 4194304
sysctl.net.ipv4.tcp_rmem - '20mb-buffers' 2097152 20971520 20971520
sysctl.net.ipv4.tcp_wmem - 'el6' 4096 16384 4194304
sysctl.vm.dirty_ratio - NULL 20
sysctl.vm.dirty_ratio 33 'el6' 33
sysctl.vm.dirty_background_ratio - NULL 10
sysctl.vm.dirty_background_ratio 7 'el6' 7
sysctl.vm.dirty_expire_centisecs - NULL 3000
sysctl.vm.dirty_writeback_centisecs - NULL 500
block.disk.read-ahead - NULL 256
block.disk.read-ahead 727 NULL 720
block.disk.read-ahead 728 NULL 728
block.drbd.read-ahead 727 NULL 720
block.drbd.read-ahead 728 NULL 728
block.disk.scheduler - NULL none
block.disk.scheduler mq-deadline NULL mq-deadline
block.disk.scheduler bfq NULL bfq
block.disk.scheduler kyber NULL kyber
block.disk.nr-requests 32 NULL 32
block.disk.write-cache - NULL write-back
block.disk.write-cache write-through NULL write-through
block.drbd.write-cache - NULL write-back
block.drbd.write-cache write-through NULL write-through
cpu.workload - NULL 3
cpu.workload 1 NULL 1
cpu.workload 2 NULL 2
X

# in_force FACTOR: all levels that were in force
in_force()
{
	sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.in_force.\"$1\"') AS level FROM results
		WHERE verdict = 'valid' AND level IS NOT NULL ORDER BY 1" | xargs
}
while read -r factor levels; do
	is "$factor: levels in force" "$(in_force "$factor")" "$levels"
done <<'X'
sysctl.set 20mb-buffers el6
sysctl.net.ipv4.tcp_rmem 4096 65536 1048576
sysctl.net.ipv4.tcp_wmem 4096 32768 2097152
cpu.drbd-mask 1 2
drbd.disk.read-balancing prefer-local round-robin
drbd.disk.resync-rate 250 30720 4194304
drbd.disk.c-plan-ahead 0 20
drbd.disk.c-delay-target 10 20
drbd.disk.c-fill-target 100 2048
drbd.disk.c-max-rate 102400 204800
drbd.disk.c-min-rate 250 500
X

out=$(cat "$LAB/run.log")
like 'no frequencies: node, step, factor, words' "$out" 'node n[12], step unsupported, cpu.governor: This node does not take cpu.governor=performance'
like 'no idle states' "$out" 'step unsupported, cpu.max-cstate: This node does not take cpu.max-cstate=15.*: No such file or directory'
like 'no siblings: the words of the kernel' "$out" 'step unsupported, cpu.smt: This node does not take cpu.smt=off \(it has not[a-z]*\): '
is 'the report says of each that it is unsupported' "$(grep -c '  unsupported$' <<<"$out")/$(grep -c 'is not supported by these nodes: node n' <<<"$out")" 3/3
is 'nothing could not be put back' "$(grep -aE 'cannot be put back|after it was put back' "$LAB"/n?.serial)" ''
is 'no warning or error in any kernel log' "$(kernel_faults)" ''
is 'a full synchronisation went over the network before the sample: the disk, but for metadata' \
	"$(sql "SELECT max(CAST(substr(text, instr(text, 'ns:') + 3, 12) AS INTEGER)) >= 250 * 1024 FROM (SELECT json_extract(CAST(body AS TEXT), '\$.evidence.before.drbd.proc_drbd') AS text
		FROM results WHERE role = 'measure' AND json_extract(CAST(body AS TEXT), '\$.cell.state.\"drbd.initial-sync\"') = 'full')")" 1
factors_proven factors
done_testing
