#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel that panics in mid-run: the node reboots by itself, the dump that the firmware kept comes with its next hello,
# and the run ends complete.
. "$(dirname "$0")/lib.sh"
lab_new panic --nodes 1
sed -i 's/^    console: .*/&\n    kernel_arguments: [unknown_nmi_panic=1]/' "$LAB/lab.yaml"
# ACPI ERST: where the firmware keeps what a dying kernel says.
printf '%s\n' -object "memory-backend-file,id=erst,size=128K,mem-path=erst.img,share=on" \
	-device acpi-erst,memdev=erst >>"$LAB/n1.args"
measuring() { at_least "$1" valid_samples; }
dumps() { sql 'SELECT count(*) FROM pstore'; }

serve_start
"$VLAB" start "$LAB" n1
timeout 600 out/assay run tests/boot/panic.yaml --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token tests/boot/panic.yaml)" >"$LAB/run.log" 2>&1 &
run=$!
ok 'the run is under way' wait_for 180 'a first sample' measuring 1
printf '%s\n' '{"execute": "qmp_capabilities"}' '{"execute": "inject-nmi"}' | socat -t 2 - "UNIX-CONNECT:$LAB/n1.qmp" >"$LAB/qmp.log"
ok "the dump of the dead kernel comes with the next hello" wait_for 240 'the dump' at_least 1 dumps
like 'it says why' "$(sql 'SELECT text FROM pstore')" 'panic'
wait "$run"
is 'the run ends with every sample' $? 0
samples_complete 40 panic
is 'in two boots' "$(sql "SELECT count(DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.boot_id')) FROM results WHERE verdict = 'valid'")" 2
done_testing
