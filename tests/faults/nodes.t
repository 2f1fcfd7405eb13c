#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# One run of two real nodes (QEMU, our kernel and init), interrupted by each of the nine kinds of faults once; order, nodes and
# moments follow from SEED. The run ends complete, and nothing is lost, doubled or mixed up. sim.t has the large numbers.
# A mount namespace of its own: its disk to be filled goes with it.
[ -n "${FAULTS_INSIDE:-}" ] || FAULTS_INSIDE=1 exec unshare --mount --propagation private bash "$0" "$@"
. "$(dirname "$0")/../boot/lib.sh"
SEED=${SEED:-1}
RANDOM=$SEED
lab_new faults
mkdir "$LAB/disk"
mount -t tmpfs -o size=128m tmpfs "$LAB/disk" || exit 1
DB=$LAB/disk/assay.db
inside_image
# Ours is not the only argument: a kernel that takes an NMI as a panic.
sed -i 's/rdinit=\/inside/&, unknown_nmi_panic=1/' "$LAB/lab.yaml"
port() { "$VLAB" exec "$LAB" "$@"; }
serve() { serve_start --image "$LAB/image"; }

power_cut()
{
	"$VLAB" stop "$LAB" "$1"
	"$VLAB" start "$LAB" "$1"
}
worker_killed()
{
	[ "$(inside "$1" kill)" = 'done kill' ]
}
kernel_panic()
{
	printf '%s\n' '{"execute": "qmp_capabilities"}' '{"execute": "inject-nmi"}' | socat -t 2 - "UNIX-CONNECT:$LAB/$1.qmp" | grep -q return
}
server_killed()
{
	serve_kill
	serve
}
disk_full()
{
	cat /dev/zero >"$LAB/disk/balloon" 2>/dev/null
	sleep 5 # how long it lasts
	rm "$LAB/disk/balloon"
}
database_locked()
{
	printf '%s\n' 'BEGIN EXCLUSIVE;' '.shell sleep 12' 'ROLLBACK;' | sqlite3 -cmd '.timeout 20000' "$DB"
}
link_cut()
{
	port ip link set "$1-m" down
	sleep 20 # how long it lasts
	port ip link set "$1-m" up
}
dnsmasq_killed()
{
	kill -KILL "$(<"$DB.run/dnsmasq.pid")"
}
switch_mute()
{
	"$VLAB" stop "$LAB" "$1"
	"$VLAB" start "$LAB" "$1"
	port bridge link set dev "$1-m" state 0 || return
	sleep 45 # how long spanning tree listens and learns
	port bridge link set dev "$1-m" state 3
}

kinds=(power_cut worker_killed kernel_panic server_killed disk_full database_locked link_cut dnsmasq_killed switch_mute)
# Shuffled (Fisher and Yates).
for ((i = ${#kinds[@]} - 1; i > 0; i--)); do
	k=$((RANDOM % (i + 1))) kind=${kinds[i]}
	kinds[i]=${kinds[k]} kinds[k]=$kind
done

serve
"$VLAB" start "$LAB" n1 n2
ok 'the server is up' wait_for 60 'the database' test -s "$DB"
timeout 1800 out/assay run tests/faults/nodes.yaml --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token tests/faults/nodes.yaml)" >"$LAB/run.log" 2>&1 &
run=$!
after=0
echo "# ${#kinds[@]} interruptions in 1 run of real nodes, seed $SEED: ${kinds[*]}" >&2
for kind in "${kinds[@]}"; do
	after=$((after + 1 + RANDOM % 2))
	node=n$((1 + RANDOM % 2))
	ok "at least $after samples are there" wait_for 420 "$after samples" at_least "$after" valid_samples
	ok "$kind ($node)" "$kind" "$node"
done
wait "$run"
is 'the run ends with every sample' $? 0
samples_complete 24 faults
is 'no sample is open' "$(sql "SELECT count(*) FROM attempts WHERE state = 'open'")" 0
is 'every result is that of its sample, node and boot' "$(sql "SELECT count(*) FROM results r JOIN assignments a USING (run, cell_id, boot, sample, attempt, node)
	JOIN boots b USING (token), (SELECT 1) WHERE json_extract(CAST(r.body AS TEXT), '\$.cell_id') != r.cell_id OR json_extract(CAST(r.body AS TEXT), '\$.sample') != r.sample
	OR json_extract(CAST(r.body AS TEXT), '\$.node') != r.node OR json_extract(CAST(r.body AS TEXT), '\$.evidence.boot_id') != b.boot_id")" 0
is 'every valid sample has a valid result of each of its nodes' "$(sql "SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE a.state = 'valid'
	AND c.nodes != (SELECT count(*) FROM results r WHERE r.run = a.run AND r.cell_id = a.cell_id AND r.boot = a.boot AND r.sample = a.sample
	AND r.attempt = a.attempt AND r.verdict = 'valid')")" 0
is 'no message was refused' "$(sql 'SELECT count(*) FROM refused')" 0
ok "nobody's system disk was touched" "$VLAB" check-system-disks "$LAB"
done_testing
