#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# apt.sh DIR: keeps a private apt configuration in DIR, with source packages enabled, and prints its file, for
# `apt-get -c FILE`. The user's own configuration is only read: its Debian entries are copied, so mirrors, keys and
# proxies stay as they are. Nothing here needs root.
set -eu

dir=$1
. /etc/os-release
suites="$VERSION_CODENAME $VERSION_CODENAME-updates $VERSION_CODENAME-security stable stable-updates stable-security
	oldstable oldstable-updates oldstable-security $VERSION_CODENAME/updates"
etc=${ASSAY_APT_ETC:-/etc/apt}

# Stanzas of the deb822 format: those with one of Debian's suites, with Types: widened.
deb822() {
	awk -v suites="$suites" '
	BEGIN { RS = ""; n = split(suites, s, /[ \t\n]+/); for (i = 1; i <= n; i++) known[s[i]] = 1 }
	{
		lines = split($0, line, "\n"); ours = main = 0; text = ""
		for (i = 1; i <= lines; i++) {
			if (line[i] ~ /^#/)
				continue
			if (line[i] ~ /^[Ss]uites:/) {
				k = split(line[i], word, /[ \t]+/)
				for (j = 2; j <= k; j++)
					ours += word[j] in known
			}
			if (line[i] ~ /^[Cc]omponents:.*main/)
				main = 1
			if (line[i] ~ /^[Tt]ypes:/)
				line[i] = "Types: deb deb-src"
			text = text line[i] "\n"
		}
		if (ours && main)
			print text
	}' "$@"
}

# One-line entries: every deb gets a deb-src beside it.
one_line() {
	awk -v suites="$suites" '
	BEGIN { n = split(suites, s, /[ \t\n]+/); for (i = 1; i <= n; i++) known[s[i]] = 1 }
	/^[ \t]*deb[ \t]/ && !/cdrom:/ {
		entry = $0; sub(/#.*/, "", entry); bare = entry; sub(/\[[^]]*\]/, "", bare)
		k = split(bare, word, /[ \t]+/); at = word[1] == "" ? 2 : 1
		if (!(word[at + 2] in known) || bare !~ /[ \t]main([ \t]|$)/)
			next
		sub(/^[ \t]*deb[ \t]/, "", entry)
		print "deb " entry; print "deb-src " entry
	}' "$@"
}

mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/sources"
find "$etc" -maxdepth 2 \( -path "$etc/sources.list" -o -path "$etc/sources.list.d/*.list" \) -type f |
	sort | while read -r f; do one_line "$f"; done >"$dir/sources/debian.list.new"
find "$etc/sources.list.d" -name '*.sources' -type f 2>/dev/null |
	sort | while read -r f; do deb822 "$f"; done >"$dir/sources/debian.sources.new"
if ! [ -s "$dir/sources/debian.list.new" ] && ! [ -s "$dir/sources/debian.sources.new" ]; then
	echo "image/apt.sh: no entry for Debian $VERSION_CODENAME main in $etc/sources.list or $etc/sources.list.d;" \
	     "add one (sources.list(5)) and try again" >&2
	exit 1
fi
for f in debian.list debian.sources; do
	cmp -s "$dir/sources/$f.new" "$dir/sources/$f" || rm -f "$dir/fresh"
	mv "$dir/sources/$f.new" "$dir/sources/$f"
done

cat >"$dir/apt.conf" <<EOF
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$dir/sources";
Dir::State::lists "$dir/lists";
Dir::Cache "$dir";
Dir::Cache::archives "$dir/archives";
APT::Sandbox::User "root";
APT::Get::List-Cleanup "true";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled "false";
Acquire::IndexTargets::deb::DEP-11-icons-large::DefaultEnabled "false";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
EOF
echo "$dir/apt.conf"
