#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The systemd unit: systemd finds nothing wrong with it, says how exposed it leaves the system, and its server takes its options.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unit=lab/serve/assay.service
# The same, with the program where it is now
sed "s|^ExecStart=/usr/local/bin/assay|ExecStart=$PWD/out/assay|; /^Documentation=/d" "$unit" >"$dir/assay.service"
is 'systemd has nothing to say of it' "$(systemd-analyze verify "$dir/assay.service" 2>&1 | grep -F assay.service)" ''
# 0: not at all exposed; 100: nothing is kept from it. DHCP needs the network, and the right to set it up.
ok 'it is little exposed, as systemd counts' systemd-analyze security --offline=true --threshold=30 "$dir/assay.service"
sed -i 's/^ProtectSystem=.*/ProtectNothing=x/; /^SystemCall/d; /^Restrict/d; /^Protect/d; /^Private/d' "$dir/assay.service"
exposed() { ! systemd-analyze security --offline=true --threshold=30 "$dir/assay.service" >/dev/null; }
ok 'which would be seen if it were not' exposed
help=$(out/assay serve --help)
while read -r option; do
	like "assay serve knows $option" "$help" "^ +$option "
done < <(grep ^ExecStart= "$unit" | grep -o -- '--[a-z-]*')
is 'it starts with what dnsmasq needs, and no more' "$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr ' ' '\n' | sort | xargs)" \
	"$(sed -n '/^static const unsigned int network/,/;/p' lab/serve/privilege.c | grep -o 'CAP_[A-Z_]*' | sort | xargs)"
done_testing
