#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Redfish over TLS, against a small stand-in (redfish.py).
. "$(dirname "$0")/lib.sh"
SECRET=correct-horse-2
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$DIR/key" -out "$DIR/certificate" -days 2 \
	-subj /CN=bmc -addext 'subjectAltName=IP:127.0.0.1' 2>/dev/null
PIN=sha256//$(openssl x509 -in "$DIR/certificate" -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64)
echo "$SECRET" >"$DIR/password"
chmod 600 "$DIR/password"
listens() { : 2>/dev/null <"/dev/tcp/127.0.0.1/$PORT"; }

# bmc [QUIRK…]: another one, at another port
bmc()
{
	PORT=$(free_port tcp)
	: >"$DIR/changes"
	python3 tests/power/redfish.py "$PORT" "$DIR/certificate" "$DIR/key" root "$SECRET" "$DIR/changes" "$@" 2>"$DIR/bmc.log" &
	PIDS+=($!)
	wait_for 20 'the BMC' listens || cat "$DIR/bmc.log" >&2
	KEYS="driver: redfish, url: \"https://127.0.0.1:$PORT\", user: root, password_file: password"
	lab "{$KEYS, ca_file: certificate}"
}
changes() { paste -sd, "$DIR/changes"; }
SYSTEM=/redfish/v1/Systems/437XR1138R2
PXE='{"Boot": {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": "Pxe"}}'
reset() { echo "POST ${2:-$SYSTEM}/Actions/ComputerSystem.Reset {\"ResetType\": \"$1\"}"; }

bmc
says 0 '^n1: on$' status
is 'a look changes nothing' "$(changes)" ''
says 0 '^n1: is power-cycled$' cycle
is 'the network once, then the power' "$(changes)" "PATCH $SYSTEM $PXE,$(reset PowerCycle)"
says 0 'is switched off' off --own-boot-order
says 0 '^n1: off$' status
: >"$DIR/changes"
says 0 'was off, and is switched on' cycle --own-boot-order
is 'what is off is switched on' "$(changes)" "$(reset On)"

bmc restart-only no-pxe
says 0 'boot device is not set to the network: .*BootSourceOverrideTarget cannot be set' cycle
is 'a boot device that cannot be set does not keep the power on' "$(tail -n 1 "$DIR/changes")" "$(reset ForceRestart)"
bmc two-systems
says 3 'not exactly one system \(it has: blade1, blade2\); .system. in the lab file names it' cycle
lab "{$KEYS, ca_file: certificate, system: blade2}"
says 0 'power-cycled' cycle --own-boot-order
is 'the named one' "$(changes)" "$(reset PowerCycle /redfish/v1/Systems/blade2)"
bmc no-reset
says 3 'has no action #ComputerSystem.Reset' cycle
bmc nonsense
says 3 'the answer is no JSON object' status
bmc hangs
says 3 'Timeout was reached' status --timeout 2

bmc
lab "{$KEYS}"
says 3 '\(ca_file or pinned_key in the lab file say whom to trust\)' status
lab "{$KEYS, pinned_key: \"$PIN\"}"
says 0 '^n1: on$' status
lab "{$KEYS, pinned_key: \"sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}"
says 3 'SSL' cycle
lab "{$KEYS, ca_file: certificate}"
echo mistaken >"$DIR/password"
says 3 'the BMC refuses user root \(status 401\)' cycle
is 'nothing was switched without leave' "$(changes)" ''
is 'and no password is said' "$(grep -c mistaken <<<"$SAID")" 0
lab '{driver: redfish, url: "http://10.1.2.3", user: root, password_file: password}'
says 3 'the password would go in clear text; use https://' cycle
done_testing
