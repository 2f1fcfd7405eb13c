#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# IPMI, with Debian's ipmitool against OpenIPMI's simulated BMC.
. "$(dirname "$0")/lib.sh"
PORT=$(free_port udp)
SECRET=correct-horse-1
bmc()
{
	mkdir -p "$DIR/state"
	cat >"$DIR/lan.conf" <<X
name "assay"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 $PORT
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "$DIR/chassis"
  user 2 true "operator" "$SECRET" admin 10 none md2 md5 straight
X
	printf '%s\n' 'mc_setbmc 0x20' 'mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr' \
		'mc_enable 0x20' >"$DIR/bmc.emu"
	# What the BMC switches: the node's power is in a file, and what is asked of it in another.
	cat >"$DIR/chassis" <<X
#!/bin/bash
echo "\$*" >>"$DIR/asked"
action=\$1
shift
while [ \$# -gt 0 ]; do
	case \$action:\$1 in
	get:power) echo "power:\$(cat "$DIR/power")" ;;
	get:*) echo "\$1:none" ;;
	set:power) echo "\$2" >"$DIR/power" ;;
	esac
	shift \$([ \$action = set ] && echo 2 || echo 1)
done
X
	chmod +x "$DIR/chassis"
	ipmi_sim -n -c "$DIR/lan.conf" -f "$DIR/bmc.emu" -s "$DIR/state" >"$DIR/bmc.log" 2>&1 &
	PIDS+=($!)
}
answers() { ipmitool -I lanplus -C 3 -N 1 -R 1 -H 127.0.0.1 -p "$PORT" -U operator -f "$DIR/password" chassis power status; }
asked() { paste -sd, "$DIR/asked"; }

echo "$SECRET" >"$DIR/password"
chmod 600 "$DIR/password"
echo 1 >"$DIR/power"
bmc
ok 'the BMC is there' wait_for 20 'the BMC' answers
KEYS="driver: ipmi, address: 127.0.0.1, user: operator, cipher_suite: 3"
lab "{$KEYS, port: $PORT, password_file: password}"
says 0 '^n1: on$' status
: >"$DIR/asked"
says 0 '^n1: is power-cycled$' cycle
# The BMC itself switches on again, after some seconds.
ok 'the power comes back' wait_for 30 'power on' grep -qx 1 "$DIR/power"
like 'the boot device was set first, then the power went off and on' "$(asked)" 'set boot pxe,.*set power 0.*,set power 1'
: >"$DIR/asked"
says 0 'is switched off' off
says 0 '^n1: off$' status
says 0 'is off already' off
: >"$DIR/asked"
says 0 'was off, and is switched on' cycle --own-boot-order
like 'what is off is switched on' "$(asked)" 'set power 1'
is 'and its boot order was left alone' "$(grep -c 'set boot' "$DIR/asked")" 0
says 0 '^n1: on$' status

# What ipmitool gets to see: the password in no argument and no variable.
mkdir "$DIR/bin"
printf '#!/bin/bash\n{ printf "%%s\\n" "$@"; env; } >>"%s/seen"\nexec %s "$@"\n' "$DIR" "$(command -v ipmitool)" >"$DIR/bin/ipmitool"
chmod +x "$DIR/bin/ipmitool"
PATH=$DIR/bin:$PATH says 0 'power-cycled' cycle
ok 'ipmitool was called' grep -qx -- '-f' "$DIR/seen"
is 'the password is in no argument and no variable' "$(grep -c "$SECRET" "$DIR/seen")" 0

echo wrong-horse >"$DIR/password"
says 3 'the BMC at 127\.0\.0\.1: .*\(check address, user, password_file' cycle
is 'and not in what is said' "$(grep -c wrong-horse <<<"$SAID")" 0
chmod 644 "$DIR/password"
says 3 'password_file password: everybody can read it; chmod o= password' cycle
chmod 600 "$DIR/password"
: >"$DIR/password"
says 3 'its first line is empty' cycle
rm "$DIR/password"
says 3 'password_file password: No such file' cycle
echo "$SECRET" >"$DIR/password"
chmod 600 "$DIR/password"
lab "{$KEYS, port: $(free_port udp), password_file: password}"
says 3 'the BMC at 127\.0\.0\.1.*IPMI over LAN is on' status --timeout 3
lab "{$KEYS, password: $SECRET}"
says 2 'unknown key "password"' status
done_testing
