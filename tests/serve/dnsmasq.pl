#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# DHCP by the server's dnsmasq, in a network namespace of its own (run by dnsmasq.t, as root).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy;
use IPC::Open2;
use Lab;
use Socket;
use Test::More;
use Time::HiRes qw(sleep time);

# A DHCPDISCOVER as a PXE ROM sends it; gives what the offer says, undef where none comes.
sub send_discover {
	my ($mac, $arch, $ipxe, $uuid) = @_;
	socket(my $s, PF_INET, SOCK_DGRAM, getprotobyname('udp')) or die $!;
	setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
	setsockopt($s, SOL_SOCKET, SO_BROADCAST, 1);
	setsockopt($s, SOL_SOCKET, 25, "node0\0") or die "SO_BINDTODEVICE: $!";
	bind($s, pack_sockaddr_in(68, INADDR_ANY)) or die "bind: $!";
	my $xid = int rand 2**32;
	my $packet = pack('CCCCNnna4a4a4a4a16x64x128N', 1, 1, 6, 0, $xid, 0, 0x8000, ("\0" x 4) x 4,
		pack('H12', $mac =~ s/://gr) . "\0" x 10, 0x63825363);
	$packet .= pack('CCC', 53, 1, 1) . pack('CC/a', 60, sprintf('%s:Arch:%05d:UNDI:002001', $arch == 16 ? 'HTTPClient' : 'PXEClient', $arch)) . pack('CCn', 93, 2, $arch) .
		pack('CCCCC', 55, 3, 1, 66, 67);
	$packet .= pack('CCCCC', 175, 3, 177, 1, 1) if $ipxe;
	$packet .= pack('CCCH32', 97, 17, 0, $uuid) if $uuid;
	$packet .= "\xff";
	for my $try (1 .. 2) {
		send($s, $packet, 0, pack_sockaddr_in(67, INADDR_BROADCAST)) or die "send: $!";
		my $ready = '';
		vec($ready, fileno $s, 1) = 1;
		next unless select $ready, undef, undef, 1.5;
		recv($s, my $answer, 1500, 0);
		next if unpack('x4N', $answer) != $xid;
		my %offer = (file => unpack('x108Z128', $answer), address => inet_ntoa(substr $answer, 16, 4));
		my $options = substr $answer, 240;
		while ($options =~ s/^([^\xff])(.)//s) {
			my ($code, $length) = (ord $1, ord $2);
			$offer{$code} = substr $options, 0, $length, '';
		}
		$offer{file} = $offer{67} if defined $offer{67};
		$offer{file} =~ s/\0.*//s;
		return {file => $offer{file}, address => $offer{address}, router => defined $offer{3} ? 1 : 0, class => $offer{60}};
	}
	return undef;
}

if (@ARGV && $ARGV[0] eq '--node') {
	$| = 1;
	<STDIN>;
	system('ip link set node0 up') == 0 or die;
	print "up\n";
	while (<STDIN>) {
		my $offer = send_discover(split);
		print $offer ? $Lab::json->encode($offer) : 'none', "\n";
	}
	exit 0;
}

my $mac = '52:54:00:00:00:01';
my $lab = Lab->new;
my $dir = $lab->{dir};

for my $command ('ip link set lo up', 'ip link add lab0 type veth peer name node0', 'ip addr add 10.77.0.1/24 dev lab0',
	'ip link set lab0 up') {
	system(split ' ', $command) == 0 or die "$command\n";
}
my $node = open2(my $told, my $ask, 'unshare', '--net', $^X, $0, '--node');
Lab::wait_for(10, 'the node\'s namespace', sub { (readlink("/proc/$node/ns/net") // '') ne readlink('/proc/self/ns/net') });
system("ip link set node0 netns $node") == 0 or die;
print $ask "go\n";
<$told>;

sub lab_file {
	my (%o) = @_;
	my $text = Lab::read_file("$dir/lab.yaml");
	my $server = "server: {interface: $o{interface}, address: 10.77.0.1/24, dhcp: $o{dhcp}" .
		($o{dhcp} eq 'own' ? ', dhcp_range: [10.77.0.20, 10.77.0.40]' : '') . '}';
	$text =~ s/^server: .*$/$server/m;
	Lab::write_file("$dir/lab.yaml", $text);
}

# The node has a namespace of its own: this script again, fed through pipes.
sub discover {
	print $ask join(' ', @_), "\n";
	my $line = <$told> // die "the node is gone\n";
	return $line =~ /^none/ ? undef : $Lab::json->decode($line);
}

sub dnsmasq_pid { (Lab::read_file("$dir/db.run/dnsmasq.pid") =~ /(\d+)/)[0] // 0 }

Lab::write_file("$dir/lab.yaml", Lab::read_file("$dir/lab.yaml") =~ s/uuid: "[^"]*"/uuid: "00112233-4455-6677-8899-aabbccddeeff"/r);
lab_file(interface => 'lab0', dhcp => 'own');
$lab->serve;
my $offer = discover($mac, 0, 0);
ok($offer, 'a listed node gets an offer');
is($offer->{file}, 'undionly.kpxe', 'BIOS: iPXE by TFTP');
is($offer->{router}, 0, 'and no router, for there is none');
is(discover($mac, 7, 0)->{file}, 'ipxe.efi', 'UEFI');
is(discover($mac, 9, 0)->{file}, 'ipxe.efi', 'UEFI of another number');
my $by_http = discover($mac, 16, 0);
is($by_http->{file}, "$lab->{url}/image/ipxe/ipxe.efi", 'UEFI by HTTP: iPXE by HTTP');
is($by_http->{class}, 'HTTPClient', 'named as such, else the firmware does not take it');
is(discover($mac, 0, 1)->{file}, "$lab->{url}/boot.ipxe", 'iPXE: the script by HTTP');
is(discover('52:54:00:00:00:09', 0, 0), undef, 'a machine that is not listed gets none');
my $uuid = '33221100554477668899aabbccddeeff';
ok(discover('52:54:00:00:00:02', 0, 0, $uuid), 'one that is listed by its UUID gets one, its first fields as SMBIOS has them');
ok(discover('52:54:00:00:00:02', 0, 1, '00112233445566778899aabbccddeeff'), 'or as they are read');
is(discover('52:54:00:00:00:02', 0, 0, '00112233445566778899aabbccddee00'), undef, 'another UUID gets none');
Lab::wait_for(5, 'the strangers', sub { $lab->sql('SELECT count(*) FROM strangers') == 2 });
is($lab->sql('SELECT group_concat(mac) FROM (SELECT mac FROM strangers ORDER BY mac)'), '52:54:00:00:00:02,52:54:00:00:00:09',
	'but the operator sees them');
like(`ss -Hlunp`, qr/%lab0:67\b/, 'DHCP is bound to the interface');
unlike(`ss -Hlunt`, qr/:53\b/, 'no DNS');

my $pid = dnsmasq_pid();
kill 'KILL', $pid;
Lab::wait_for(10, 'dnsmasq again', sub { dnsmasq_pid() != $pid && kill 0, dnsmasq_pid() });
ok(discover($mac, 0, 0), 'dnsmasq killed: it is started again');
like(Lab::read_file("$dir/serve.log"), qr/dnsmasq ended \(signal 9\)/, 'and the log says so');

$pid = dnsmasq_pid();
$lab->end($lab->{server}, 'KILL');
Lab::wait_for(10, 'dnsmasq to end', sub { !kill 0, $pid });
pass('the server killed: dnsmasq ends with it');
for my $time (1 .. 4) {
	$lab->serve;
	$lab->end($lab->{server}, 'KILL');
}
$lab->serve;
ok(discover($mac, 0, 0), 'killed and started again at once, some times: nodes are answered');
$lab->end($lab->{server}, 'KILL');
$pid = dnsmasq_pid();
Lab::wait_for(10, 'dnsmasq to end', sub { !kill 0, $pid });

# One that a dead server left behind, and one that is somebody else's under the same number.
my $stale = $lab->spawn('stale', '/usr/sbin/dnsmasq', '--keep-in-foreground', "--conf-file=$dir/db.run/dnsmasq.conf");
Lab::wait_for(10, 'the stale one', sub { `ss -Hlunp` =~ /:67\b/ });
Lab::write_file("$dir/db.run/dnsmasq.pid", "$stale\n");
$lab->serve;
ok(discover($mac, 0, 0), 'a dnsmasq left behind gives way');
is(waitpid($stale, 1), $stale, 'it was ended');
delete $lab->{children}{$stale};
$pid = dnsmasq_pid();
$lab->end($lab->{server});
ok(!(kill 0, $pid), 'the server ended: so did dnsmasq');
my $sleep = $lab->spawn('sleep', 'sleep', '60');
Lab::write_file("$dir/db.run/dnsmasq.pid", "$sleep\n");
$lab->serve;
ok(kill(0, $sleep), 'a process that is not ours is left alone');
$lab->end($sleep);
$lab->end($lab->{server});

# Somebody else serves DHCP here.
my $other = $lab->spawn('other', '/usr/sbin/dnsmasq', '--keep-in-foreground', '--conf-file=/dev/null', '--port=0', '--pid-file=',
	'--interface=lab0', '--bind-interfaces', '--dhcp-range=10.77.0.100,10.77.0.110', "--dhcp-leasefile=$dir/other.leases");
Lab::wait_for(10, 'the other one', sub { `ss -Hlunp` =~ /:67\b/ });
my @serve = ($Lab::assay, 'serve', "$dir/lab.yaml", '--db', "$dir/db", '--image', "$dir/image");
sub try { my $out = `timeout 20 @serve 2>&1`; return ($? >> 8, $out) }
my ($code, $text) = try();
is($code, 3, 'the port is taken: exit code 3');
like($text, qr/Address already in use.*ss -lunp sport = :67.*proxy or none/s, 'and what to do');
$lab->end($other);

lab_file(interface => 'nowhere0', dhcp => 'own');
($code, $text) = try();
is($code, 3, 'an interface that is not there: exit code 3');
like($text, qr/nowhere0/, 'named');
system('ip addr del 10.77.0.1/24 dev lab0');
lab_file(interface => 'lab0', dhcp => 'own');
($code, $text) = try();
is($code, 3, 'an address that is not there: exit code 3');
like($text, qr/10\.77\.0\.1:8080.*no interface of this machine has that address/, 'and what to do');
system('ip addr add 10.77.0.1/24 dev lab0');

lab_file(interface => 'lab0', dhcp => 'none');
$lab->{url} = '';
$lab->serve;
unlike(`ss -Hlun`, qr/:67\b/, 'dhcp: none');
$lab->end($lab->{server});

lab_file(interface => 'lab0', dhcp => 'proxy');
$lab->serve;
$offer = discover($mac, 0, 0);
ok($offer, 'dhcp: proxy answers');
is($offer->{address}, '0.0.0.0', 'without giving an address');
is($lab->end($lab->{server}), 0, 'the end');

# --- without root ---
my $network = (1 << 10) | (1 << 12) | (1 << 13); # CAP_NET_BIND_SERVICE, _ADMIN, _RAW
sub of { my ($pid, $key) = @_; return (Lab::read_file("/proc/$pid/status") =~ /^$key:\s+(\S+)/m)[0] // '' }
sub threads { map { m{(\d+)$} } glob "/proc/$lab->{server}/task/*" }
sub children { grep { of($_, 'PPid') eq $_[0] } map { m{(\d+)$} } glob '/proc/[0-9]*' }

# The server and what it started: who they are, and what they may
sub as_nobody {
	my ($how) = @_;
	is(join(' ', sort map { of($_, 'Uid') . ' ' . of($_, 'Gid') . ' ' . hex(of($_, 'CapEff')) . ' ' . hex(of($_, 'CapPrm')) . ' ' . of($_, 'NoNewPrivs') }
		threads()), join(' ', ('65534 65534 0 0 1') x threads()), "$how: no thread of the server has a right of root's");
	my ($keeper) = children($lab->{server});
	is(of($keeper, 'Uid') . ' ' . hex(of($keeper, 'CapEff')), "65534 $network", "$how: nor has who starts dnsmasq, but for the network");
	is(of(dnsmasq_pid(), 'Uid') . ' ' . hex(of(dnsmasq_pid(), 'CapEff')), "65534 $network", "$how: nor dnsmasq");
	is(of(dnsmasq_pid(), 'PPid'), $keeper, "$how: which is its child");
	is(discover($mac, 0, 0)->{file}, 'undionly.kpxe', "$how: nodes are answered");
	my $before = dnsmasq_pid();
	kill 'KILL', $before;
	Lab::wait_for(10, 'dnsmasq again', sub { dnsmasq_pid() != $before && kill 0, dnsmasq_pid() });
	ok(discover($mac, 0, 0), "$how: dnsmasq is started again");
	is($lab->request('GET', '/image/vmlinuz')->{status}, 200, "$how: HTTP");
	my $wipe = $lab->wipe("$dir/plan.yaml");
	is(system("$lab->{assay} run $dir/plan.yaml --db $lab->{db} --no-wait $wipe >/dev/null"), 0, "$how: orders are taken");
}

copy($Lab::assay, "$dir/assay") or die;
chmod 0755, $dir, "$dir/assay";
$lab->{assay} = "$dir/assay";
mkdir "$dir/nobodys" or die;
chown 65534, 65534, "$dir/nobodys";
$lab->{db} = "$dir/nobodys/db";
lab_file(interface => 'lab0', dhcp => 'own');
sub dnsmasq_pid_of_db { (Lab::read_file("$lab->{db}.run/dnsmasq.pid") =~ /(\d+)/)[0] // 0 }
{ no warnings 'redefine'; *dnsmasq_pid = \&dnsmasq_pid_of_db; }
$lab->{url} = 'http://10.77.0.1:80';
$lab->serve('--user', 'nobody');
as_nobody('--user, at port 80');
is((stat $lab->{db})[4], 65534, 'the store is the user\'s');
is($lab->end($lab->{server}), 0, 'the end');
$lab->{url} = '';
$lab->serve;
as_nobody('by default, in a folder of that user');
my $dnsmasq = dnsmasq_pid();
my ($keeper) = children($lab->{server});
$lab->end($lab->{server}, 'KILL');
Lab::wait_for(10, 'all to end', sub { !kill(0, $dnsmasq) && !kill(0, $keeper) });
pass('the server killed: dnsmasq and who started it end');
my $some = '+net_admin,+net_raw,+net_bind_service';
$lab->{as} = [qw(setpriv --reuid 65534 --regid 65534 --clear-groups), "--inh-caps=$some", "--ambient-caps=$some", '--'];
$lab->serve;
as_nobody('started by another user with three capabilities, as systemd does');
kill 'KILL', children($lab->{server});
Lab::wait_for(20, 'the server to give up', sub { waitpid($lab->{server}, 1) == $lab->{server} });
delete $lab->{children}{ $lab->{server} };
like(Lab::read_file("$dir/serve.log"), qr/dnsmasq ended \(signal 9\)/, 'who starts dnsmasq is killed: the server says so and ends');
@serve = (qw(setpriv --reuid 65534 --regid 65534 --clear-groups --), "$dir/assay", 'serve', "$dir/lab.yaml", '--db', $lab->{db}, '--image', "$dir/image");
($code, $text) = try();
is($code, 3, 'without capabilities: exit code 3');
like($text, qr/Permission denied|Operation not permitted/, 'and why');
like($text, qr/CAP_NET_ADMIN/, 'and what it takes');
@serve = ("$dir/assay", 'serve', "$dir/lab.yaml", '--db', $lab->{db}, '--image', "$dir/image", '--user', 'no-such-user');
($code, $text) = try();
is($code, 2, 'a user that is not there: exit code 2');
close $ask;
waitpid $node, 0;
done_testing;
