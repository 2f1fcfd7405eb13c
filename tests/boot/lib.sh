# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# One virtual lab for one boot test: `lab_new NAME [lab.sh up options]`, then serve_start, power, run_plan. Everything is
# under out/tests/boot/NAME and is taken down when the test ends, however it ends.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/tap.sh

VLAB=lab/virtual/lab.sh
TINY=tests/boot/tiny.yaml

lab_new()
{
	LAB=out/tests/boot/$1
	DB=$LAB/assay.db
	shift
	"$VLAB" down "$LAB" >/dev/null 2>&1
	rm -rf "$LAB"
	mkdir -p "$LAB"
	trap lab_end EXIT
	trap 'exit 1' INT TERM HUP
	"$VLAB" up "$LAB" "$@" 2>"$LAB/up.log" || { cat "$LAB/up.log" >&2; exit 1; }
	"$VLAB" lab-file "$LAB" >"$LAB/lab.yaml"
}

lab_end()
{
	local status=$?
	serve_kill
	"$VLAB" down "$LAB" >/dev/null 2>&1
	[ "$status" = 0 ] || { echo "# logs: $LAB"; tail -n 25 "$LAB/serve.log" "$LAB"/*.serial 2>/dev/null | sed 's/^/# /' >&2; }
	exit "$status"
}

# The server's log of all its starts is one file.
serve_start()
{
	"$VLAB" exec "$LAB" out/assay serve "$LAB/lab.yaml" --db "$DB" --image out "$@" >>"$LAB/serve.log" 2>&1 &
	SERVE_PID=$!
}

serve_kill()
{
	[ -n "${SERVE_PID:-}" ] || return 0
	kill -KILL "$SERVE_PID" 2>/dev/null
	wait "$SERVE_PID" 2>/dev/null
	SERVE_PID=
}

# run_plan PLAN [assay run options]: its exit code is in RUN_STATUS, its output in $LAB/run.log. Ends after RUN_SECONDS.
RUN_SECONDS=900
run_plan()
{
	timeout "$RUN_SECONDS" out/assay run "$1" --db "$DB" --lab "$LAB/lab.yaml" --wipe "$(wipe_token "$@")" "${@:2}" >"$LAB/run.log" 2>&1
	RUN_STATUS=$?
}

# The token of the lab's disks for PLAN [assay run options that assay plan has, too]
wipe_token()
{
	out/assay plan "$1" --lab "$LAB/lab.yaml" "${@:2}" | sed -n 's/.* --wipe \([0-9a-f]*\)$/\1/p'
}

sql()
{
	sqlite3 -cmd '.timeout 10000' "$DB" "$1"
}

# How many results of RUN's role `measure` are valid (all runs of this database if no RUN)
valid_samples()
{
	sql "SELECT count(*) FROM results WHERE verdict = 'valid' AND role = 'measure'"
}

at_least()
{
	local n
	n=$("${@:2}" 2>/dev/null) && [ -n "$n" ] && [ "$n" -ge "$1" ]
}

# The sha256 of a node's disk under test: to prove that nothing was written to it
disk_sum()
{
	sha256sum <"$LAB/$1.data.raw" || kill -TERM $$
}

# What the nodes' kernels complained of
kernel_faults()
{
	grep -aE 'WARNING:|BUG:|Oops|Call Trace|hung_task' "$LAB"/n?.serial
}

# evidence_of FACTOR LEVEL KEY: what results of cells with that level have under that key of their evidence, each value once
evidence_of()
{
	sql "SELECT DISTINCT json_extract(CAST(body AS TEXT), '\$.evidence.$3') FROM results
		WHERE coalesce(json_extract(CAST(body AS TEXT), '\$.cell.state.\"$1\"'), 'default') = '$2'"
}

# Every sample of the last run counted exactly once: as many (cell, boot, sample) with a valid measurement as were asked
# for, none twice, and the database is sound.
samples_complete()
{
	local wanted=$1
	is "$2: each sample is there" "$(sql "SELECT count(*) FROM (SELECT DISTINCT run, cell_id, boot, sample FROM results WHERE verdict = 'valid' AND role = 'measure')")" "$wanted"
	is "$2: none is there twice" "$(valid_samples)" "$wanted"
	is "$2: the database is sound" "$(sql 'PRAGMA integrity_check')" ok
}

# factors_proven NAME: of each factor that tests/boot/proven gives to NAME.t, valid results had two levels in force, as the
# nodes read them back; and each that cannot be proven here was refused, with words.
factors_proven()
{
	local factor by level
	while read -r factor by level _; do
		[ "$by" = "$1" ] || continue
		[ "$level" != own ] || continue
		if [ "$level" = refused ]; then
			ok "$factor: these nodes refuse it, and say why" [ "$(sql "SELECT count(*) FROM cells WHERE json_extract(error, '\$.scope') = 'unsupported'
				AND json_extract(CAST(body AS TEXT), '\$.state.\"$factor\"') IS NOT NULL AND json_extract(error, '\$.message') LIKE '%$factor%: %'")" -ge 1 ]
			continue
		fi
		ok "$factor: two levels were in force" [ "$(sql "SELECT count(DISTINCT coalesce(json_extract(text, '\$.evidence.in_force.\"$factor\"'),
			json_extract(text, '\$.evidence.settings.\"$factor\"'), json_extract(text, '\$.evidence.nics[0].settings.\"$factor\"'),
			CASE '$factor' WHEN 'boot.kernel' THEN json_extract(text, '\$.evidence.kernel_release') END))
			FROM (SELECT CAST(body AS TEXT) AS text FROM results WHERE verdict = 'valid')")" -ge 2 ]
	done < <(sed 's/#.*//' tests/boot/proven)
}

# inside_image: $LAB/image, as out but with tests/boot/inside.c beside init; to be served with --image "$LAB/image". The lab
# file and the nodes get what it needs. Then `inside NODE WORD` does WORD to a node that is on, and prints its answer.
inside_image()
{
	local node
	mkdir -p "$LAB/image"
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Os -static -o "$LAB/inside" tests/boot/inside.c || exit 1
	{
		zstd -qdc out/initramfs.cpio.zst
		(cd "$LAB" && echo inside | cpio --quiet -o -H newc)
	} | zstd -q -c >"$LAB/image/initramfs.cpio.zst"
	cp -r out/vmlinuz out/manifest.json out/ipxe "$LAB/image/"
	sed -i 's/^    console: .*/&\n    kernel_arguments: [rdinit=\/inside]/' "$LAB/lab.yaml"
	sed -n 's/^  \(n[0-9]*\):$/\1/p' "$LAB/lab.yaml" | while read -r node; do
		printf '%s\n' -chardev "socket,id=inside,path=$node.inside,server=on,wait=off" -serial chardev:inside >>"$LAB/$node.args"
	done
}

inside()
{
	local pid line=
	coproc INSIDE { cd "$LAB" && exec socat - "UNIX-CONNECT:$1.inside" 2>/dev/null; }
	pid=$INSIDE_PID
	echo "$2" >&"${INSIDE[1]}"
	read -r -t 60 line <&"${INSIDE[0]}"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	echo "$line"
}
