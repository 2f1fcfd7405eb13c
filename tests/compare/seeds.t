#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The published figures of a tuning session on one pair of nodes (tests/data/seeds: figures only, mostly three samples of
# one boot): which of its decisions do they carry? None, as to another boot; as to that boot alone, those asked on their
# own with enough samples.
. "$(dirname "$0")/../tap.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
db=$dir/seeds.db
for csv in tests/data/seeds/*.csv; do
	name=$(basename "$csv" .csv)
	ok "$name is imported" out/assay import "$csv" --db "$db"
done
run() { sqlite3 "$db" "SELECT run FROM runs WHERE plan_name = '$1'"; }

# compare NAME A-PICKS B-PICKS OPTION…: sets $said, and $verdict: the line of verdicts, and the exit code
compare()
{
	local name=$1 a=$2 b=$3 status=0
	shift 3
	said=$(out/assay compare "$db:$(run "$name")${a:+,$a}" "$db:$(run "$name")${b:+,$b}" "$@" 2>&1) || status=$?
	verdict=$(sed -n "s/^Verdict: \(.*\) the same within 2 %, \(.*\)\./\1 same, \2; exit code $status/p" <<<"$said")
}
undecided() { echo "0 better, 0 worse, 0 same, $1 undecided; exit code 5"; }

# what was asked | picks of A: the level that was kept, or the default | how many levels it is compared with | what comes out
# where samples are taken for boots and all levels are compared together (else undecided)
while IFS='|' read -r name a others one_boot; do
	compare "$name" "$a" ''
	is "$name: not decided as to another boot" "$verdict" "$(undecided "$others")"
	is "$name: and it is said why, $others times" \
		"$(grep -c "no interval of the boot's effect; 4 boots a side at least" <<<"$said")" "$others"
	compare "$name" "$a" '' --one-boot
	is "$name: as to these boots, all levels compared together" "$verdict" "${one_boot:-$(undecided "$others")}"
done <<-'END'
	irq|irqbalance=yes,irq.affinity=none|3
	sysctl|sysctl=stock|1
	max-buffers|drbd.net.max-buffers=1024,drbd.net.max-epoch-size=156|15|0 better, 1 worse, 0 same, 14 undecided; exit code 1
	socket-buffers|drbd.net.sndbuf-size=1024k,drbd.net.rcvbuf-size=2048k|14
	write-order|drbd.write-order=flush,drbd.disk.md-flushes=yes|4
	tcp-cork|drbd.net.tcp-cork=yes|1
	unplug-watermark|drbd.net.unplug-watermark=default|2
	bond|bond=changed-while-up|1
	driver|nic.driver-version=3.18.7|1
	link|bond=active-backup,port=both|2
	lvm|lvm=none|1
	guest|stack=raw|2
	commit|ext4.commit=default,ext4.barrier=yes|4
END

# Asked as the one question, with the samples of all rounds: 9 against 3 and 6 against 3 can be told apart, in that boot.
best='drbd.net.max-buffers=1024,drbd.net.max-epoch-size=156'
default='drbd.net.max-buffers=default,drbd.net.max-epoch-size=default'
compare max-buffers "$default" "$best" --one-boot
is 'smaller buffers are better, in that boot' "$verdict" '1 better, 0 worse, 0 same, 0 undecided; exit code 0'
like 'by 47 %, and the verdict is only of that boot' "$said" '1\.47[0-9]* +\[1\.456, 1\.502\]'
like 'the report says so' "$said" 'Verdicts hold for these boots alone'
like 'and that nothing proves it' "$said" 'IMPORTED \(csv\): no evidence'
compare max-buffers "$default" "$best"
is 'not so as to another boot' "$verdict" "$(undecided 1)"
compare socket-buffers drbd.net.sndbuf-size=default drbd.net.sndbuf-size=1024k,drbd.net.rcvbuf-size=2048k --one-boot
is 'larger receive buffers are better, in that boot' "$verdict" '1 better, 0 worse, 0 same, 0 undecided; exit code 0'
compare max-buffers "$best" "$default" --one-boot
is 'the other way round the default is worse' "$verdict" '0 better, 1 worse, 0 same, 0 undecided; exit code 1'

# The same setting, set again later, is 9 % faster than before: more than most of the differences that were decided on.
compare repeated round=1,drbd.net.max-buffers=2048 round=2,drbd.net.max-buffers=2048 --one-boot
is 'one setting measured twice' "$verdict" "$(undecided 1)"
like 'differs by 9 % from itself' "$said" '1\.09[0-9]* +\[1\.0[0-9]+, 1\.1[0-9]+\] +90\.0 %'

# A bond that was changed while up against a fresh boot: 37 %, but one boot of each.
compare bond bond=changed-while-up bond=fresh
like 'a fresh bond: 37 % in one boot of each' "$said" '1\.370[0-9]* .* undecided: 1 boot against 1: no interval'

# Whoever only reads the report of a question is told what its figures do not carry.
for csv in tests/data/seeds/*.csv; do
	name=$(basename "$csv" .csv)
	report=$(out/assay report "$(run "$name")" --db "$db")
	like "$name: the report says that it is imported" "$report" '^IMPORTED \(csv\): no evidence'
	like "$name: and that one boot has no interval of the effect of boots" "$report" "^1 boot: no interval of the boot's effect"
	is "$name: no figure of it is called sure at 95 % over boots" "$(grep -cE ' (9[5-9]\.[0-9]|100\.0) % +[0-9]+ boots' <<<"$report")" 0
done
done_testing
