#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/: pages made from the code are what the code makes; links lead somewhere; the commands of each page run, one after the
# other, in a folder with a run's database; those that need nodes name commands and options that there are; and the factor that
# extending.md adds is added, in a copy.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tests/tap.sh
. tests/tap.sh
root=$PWD
assay=$root/${OUT:-out}/assay
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

mkdir "$dir/made" "$dir/bin"
ok "pages are made" docs/generate.pl "$assay" "$dir/made"
for page in factors workloads messages; do
	ok "$page.md is what the code says (else: make docs)" diff -u "docs/$page.md" "$dir/made/$page.md"
done

# links PAGE: those to files, without what is behind #
links()
{
	grep -oE '\]\([^)#]+' "$1" | cut -c3- | grep -v '^https\?:' || :
}
for page in docs/*.md; do
	missing=$(links "$page" | while read -r link; do [ -e "docs/$link" ] || echo "$link"; done)
	is "$page: its links lead somewhere" "$missing" ''
	is "$page is in the index" "$([ "$page" = docs/README.md ] || grep -c "($(basename "$page"))" docs/README.md | sed 's/[2-9]/1/')" "$([ "$page" = docs/README.md ] || echo 1)"
done

# blocks PAGE HEAD: the lines of its code blocks that begin so
blocks()
{
	awk -v head="\`\`\`$2" '$0 == head { in_block = 1; next } /^```/ { in_block = 0 } in_block' "$1"
}

ln -s "$assay" "$dir/bin/assay"
ran=0
for page in docs/*.md; do
	script=$(blocks "$page" sh)
	[ -n "$script" ] || continue
	ran=$((ran + 1))
	work=$dir/$(basename "$page" .md)
	mkdir -p "$work/tests"
	ln -s "$root/lab" "$work/lab"
	ln -s "$root/tests/matrix" "$work/tests/matrix"
	tests/export/run.pl "$work/assay.db"
	ok "$page: its commands run" env PATH="$dir/bin:$PATH" bash -euo pipefail -c "cd '$work'; $script"
done
is "pages with commands" "$([ $ran -ge 6 ] && echo enough)" enough

# What needs nodes: every command and option is one that --help knows, every target of make one that make help knows.
wrong=
checked=0
while read -r line; do
	checked=$((checked + 1))
	case $line in
	"make "*)
		for target in ${line#make }; do
			grep -q "^## $target:" Makefile ./*/*.mk lab/virtual/*.mk || wrong="$wrong [$line]"
		done ;;
	"assay "*)
		read -r _ command rest <<<"$line"
		"$assay" help | grep -q "^  $command " || wrong="$wrong [$line]"
		for word in $rest; do
			case $word in
			--*) "$assay" "$command" --help | grep -q -- "^  $word\b" || wrong="$wrong [$line]" ;;
			esac
		done ;;
	*) wrong="$wrong [$line]" ;;
	esac
done < <(cat docs/*.md | awk '/^```sh nodes$/ { b = 1; next } /^```/ { b = 0 } b')
is "commands that need nodes are there as written" "$wrong" ''
is "and some were looked at" "$([ $checked -ge 5 ] && echo enough)" enough

# Symptoms are quoted as the program words them; … stands for what varies. The firmware's and the C library's words are theirs.
unknown=
while read -r quote; do
	case $quote in "No configuration methods succeeded" | "Address already in use") continue ;; esac
	while read -r part; do
		[ -z "$part" ] || grep -rqF -- "$part" lab init || unknown="$unknown [$quote]"
	done <<<"${quote//…/$'\n'}"
done < <(grep -oE '"[^"]+"' docs/troubleshooting.md | tr -d '"')
is "troubleshooting.md quotes what is said" "$unknown" ''

# The factor of extending.md.
copy=$dir/copy
mkdir "$copy"
cp -r init lab results-schema "$copy"
blocks docs/extending.md "c results-schema/factors.def" >"$dir/line"
blocks docs/extending.md "c init/sysctl.c" >"$dir/row"
is "extending.md: a line and a row" "$(cat "$dir/line" "$dir/row" | wc -l)" 2
# Before the #undefs at the end, where there are some.
if grep -q '^#undef' "$copy/results-schema/factors.def"; then
	awk -v file="$dir/line" '/^#undef/ && !done { while ((getline l < file) > 0) print l; done = 1 } { print }' results-schema/factors.def >"$copy/results-schema/factors.def"
else
	cat "$dir/line" >>"$copy/results-schema/factors.def"
fi
awk -v file="$dir/row" '/^    \{0\},$/ && !done { while ((getline l < file) > 0) print l; done = 1 } { print }' init/sysctl.c >"$copy/init/sysctl.c"
flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I$copy/results-schema"
build_lab()
{
	# shellcheck disable=SC2046,SC2086
	(cd "$copy" && rm lab/plan/cmd_plan.c && gcc $flags -Ilab -Ilab/plan $(pkg-config --cflags libfyaml jansson) -o "$dir/plan" "$root/tests/docs/plan.c" lab/cli.c \
		lab/plan/*.c lab/tune/*.c lab/stats/*.c lab/store/*.c lab/accept/metric.c results-schema/*.c \
		"$root/${OUT:-out}/gen/schema_texts.c" $(pkg-config --libs libfyaml jansson gsl sqlite3 libcrypto) -lmbedcrypto -lm)
}
build_node()
{
	# shellcheck disable=SC2086
	(cd "$copy" && rm init/main.c && gcc $flags -DSHA256_MBEDTLS -Iinit -o "$dir/factor" "$root/tests/docs/factor.c" init/*.c results-schema/*.c "$root/${OUT:-out}/gen/schema_texts.c" \
		-lkmod -lcurl -lmbedcrypto -ljansson -laio -lblkid -pthread)
}
ok "extending.md: the lab takes the factor" build_lab
ok "extending.md: so does the node" build_node
like "extending.md: it is listed" "$("$dir/plan" factors sysctl.vm.swappiness)" 'levels +.*0 to 200'
printf 'schema_version: 1\nquestion: q\nnodes: 1\nsweep: {sysctl.vm.swappiness: [default, 0, 100]}\nworkloads: [{copy: {bs: 1MiB, size: 1MiB}}]\nrepeat: {boots: 1, samples: 1}\n' >"$dir/plan.yaml"
is "extending.md: a plan varies it" "$("$dir/plan" plan "$dir/plan.yaml")" '3 cells'
sed -i 's/100/201/' "$dir/plan.yaml"
like "extending.md: within its bounds" "$("$dir/plan" plan "$dir/plan.yaml" 2>&1 || :)" 'from 0 to 200'
mkdir -p "$dir/proc/sys/vm"
echo 60 >"$dir/proc/sys/vm/swappiness"
is "extending.md: the node sets it, reads it back, puts it back" "$("$dir/factor" "$dir/proc" 10 | tr '\n' ' ')" '10 {"sysctl.vm.swappiness":10} 60 '
done_testing
