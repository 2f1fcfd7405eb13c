#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The driver of `make run` with an `assay` that only plays its part: exit codes, and that it always cleans up.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
lab=${LABS[0]}
namespace=$(namespace_of "$lab")
touch "$WORK/vmlinuz" "$WORK/plan.yaml"
cat >"$WORK/assay" <<X
#!/bin/bash
case \$1 in
serve)
	[ -z "\$SERVE_FAILS" ] || { echo "assay: cannot serve"; exit 1; }
	exec python3 -m http.server --bind 10.77.0.1 8080 ;;
plan) echo "measure it with: assay run \$2 --wipe 0123abcd" ;;
run)
	echo "run \$*"
	[ -z "\$SPOIL" ] || printf x | dd of=$lab/n1.system.raw bs=1 seek=3000000 conv=notrunc status=none
	[ -z "\$SLOW" ] || exec sleep 1000
	exit \${RUN_STATUS:-0} ;;
report) echo "the table"
	[ "\$4" != --html ] || echo "the page" >"\$5" ;;
esac
X
chmod +x "$WORK/assay"
export ASSAY=$WORK/assay IMAGE=$WORK CACHE=$WORK/cache

run() {
	timeout 120 "$ROOT/lab/virtual/run.sh" "$lab" "$WORK/plan.yaml" --nic virtio --accel tcg 2>&1
	echo "exit $?"
}

# cleaned WHEN: nothing may be left
cleaned() {
	ok "nothing is left $1" test ! -e "/run/netns/$namespace"
}

said=$(run)
like "a good run ends with 0" "$said" '^exit 0$'
like "it ran the plan for the pair" "$said" "^run run .*plan.yaml --db $lab/assay.db --group pair1 --wipe 0123abcd"
is "the table is kept in a file" "$(cat "$lab/report.txt")" 'the table'
like "and where the report is" "$said" "^report +$lab/report.txt$"
like "and the page" "$said" "^page +$lab/report.html$"
is "the page is there" "$(cat "$lab/report.html")" 'the page'
like "and how to have it again" "$said" "^again .* report --db $lab/assay.db "
like "the system disks were compared" "$said" '^n2: system disk unchanged'
cleaned "after a good run"
said=$(RUN_STATUS=1 run)
like "cells without samples: not 0" "$said" '^exit 1$'
is "the table is kept all the same" "$(cat "$lab/report.txt")" 'the table'
cleaned "after a failed run"
said=$(SPOIL=1 run)
like "a touched system disk fails the run" "$said" '^exit 1$'
like "and is named" "$said" '^n1: SYSTEM DISK CHANGED'
said=$(SERVE_FAILS=1 run)
like "no server: its own words" "$said" 'assay serve ended: assay: cannot serve'
like "no server: not 0" "$said" '^exit [^0]'
cleaned "without a server"
said=$(SLOW=1 RUN_LIMIT_SECONDS=3 run)
like "a run that never ends is ended" "$said" 'took more than 3 s'
cleaned "after that"

SLOW=1 "$ROOT/lab/virtual/run.sh" "$lab" "$WORK/plan.yaml" --nic virtio --accel tcg >"$WORK/said" 2>&1 &
driver=$!
wait_for 60 "the run" grep -q '^run ' "$WORK/said"
kill -TERM $driver
wait $driver
is "told to end, it ends" $? 130
cleaned "after SIGTERM"

# make virtual: stays until it is ended, here by `make virtual-down`.
"$ROOT/lab/virtual/play.sh" "$lab" --nic virtio --accel tcg >"$WORK/said" 2>&1 &
driver=$!
wait_for 60 "the lab to play with" grep -q '^End it with' "$WORK/said"
like "it says how to reach a console" "$(cat "$WORK/said")" "lab.sh console $lab n1"
like "its nodes are on" "$("$LAB" status "$lab")" '^n2 +on '
ok "down from elsewhere" "$LAB" down "$lab"
ok "then it ends" wait_for 20 "play.sh" eval "! kill -0 $driver"
cleaned "of it"
"$ROOT/lab/virtual/play.sh" "$lab" --nic virtio --accel tcg >"$WORK/said-again" 2>&1 &
driver=$!
wait_for 60 "the lab to play with" grep -q '^End it with' "$WORK/said-again"
kill -TERM $driver
wait $driver
is "told to end, it ends well" $? 0
cleaned "of that"
done_testing
