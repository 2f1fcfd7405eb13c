#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine in the lab's network that says it is a node, in a network namespace of its own (run by forged.t, as root): n1 has
# the MAC of the lab file; the intruder has another one, knows n1's MAC, and has heard every token.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IPC::Open2;
use Lab;
use Test::More;

my $mac = '52:54:00:00:00:01';

# A machine: reads requests as lines of JSON, and prints the answers.
if (@ARGV && $ARGV[0] eq '--machine') {
	my (undef, $device, $address, $url) = @ARGV;
	$| = 1;
	<STDIN>;
	for my $command ("ip addr add $address/24 dev $device", "ip link set $device up") {
		system(split ' ', $command) == 0 or die "$command\n";
	}
	print "up\n";
	while (my $line = <STDIN>) {
		my ($method, $path, $token, $body) = @{ $Lab::json->decode($line) };
		my $answer = HTTP::Tiny->new(timeout => 20)->request($method, "$url$path", {
			headers => {defined $token ? (Authorization => "Bearer $token") : ()}, defined $body ? (content => $Lab::json->encode($body)) : ()});
		print $Lab::json->encode({status => $answer->{status} + 0, content => $answer->{content}}), "\n";
	}
	exit 0;
}

for my $command ('ip link set lo up', 'ip link add lab0 type bridge', 'ip addr add 10.77.0.1/24 dev lab0', 'ip link set lab0 up') {
	system(split ' ', $command) == 0 or die "$command\n";
}
my $lab = Lab->new;
my $text = Lab::read_file("$lab->{dir}/lab.yaml");
$text =~ s{^server: .*$}{server: {interface: lab0, address: 10.77.0.1/24, dhcp: none}}m or die;
Lab::write_file("$lab->{dir}/lab.yaml", $text);
$lab->serve;

my @machines;
sub machine {
	my ($device, $device_mac, $address) = @_;
	my %m;
	for my $command ("ip link add v$device type veth peer name $device address $device_mac", "ip link set v$device master lab0 up") {
		system(split ' ', $command) == 0 or die "$command\n";
	}
	$m{pid} = open2($m{told}, $m{ask}, 'unshare', '--net', $^X, $0, '--machine', $device, $address, $lab->{url});
	Lab::wait_for(10, 'a namespace', sub { (readlink("/proc/$m{pid}/ns/net") // '') ne readlink('/proc/self/ns/net') });
	system("ip link set $device netns $m{pid}") == 0 or die;
	$m{ask}->autoflush;
	print { $m{ask} } "go\n";
	readline $m{told};
	push @machines, \%m;
	return \%m;
}

sub ask {
	my ($m, @request) = @_;
	print { $m->{ask} } $Lab::json->encode(\@request), "\n";
	return $Lab::json->decode(readline($m->{told}) // die "the machine is gone\n");
}

sub token_of { $_[0]{content} =~ /assay\.token=(\w+)/ ? $1 : '' }

my $n1 = machine('n1', $mac, '10.77.0.21');
my $intruder = machine('x1', '52:54:00:00:00:66', '10.77.0.66');
my ($boot_a, $boot_b) = map { "00000000-0000-0000-0000-00000000000$_" } 1, 2;

# --- scripts ---
my $token = token_of(ask($n1, 'GET', "/boot.ipxe?mac=$mac"));
like($token, qr/^[0-9a-f]{32}$/, 'the node gets a token');
my $answer = ask($intruder, 'GET', "/boot.ipxe?mac=$mac");
is(token_of($answer), '', 'a machine that says it is the node gets none');
like($answer->{content}, qr/^#!ipxe\necho assay: .*did not come by the NIC that it names/, 'and is told why on its console');
is(token_of($lab->request('GET', "/boot.ipxe?mac=$mac")), '', 'nor does a user of the lab server');
is($lab->sql('SELECT count(*) FROM boots'), 1, 'one token was made');
like(Lab::read_file("$lab->{dir}/serve.log"), qr/n1 boot: 10\.77\.0\.66 asked for its script .* and has another MAC: it gets no token/,
	'the log names the machine');

# --- a token that was overheard ---
is(ask($intruder, 'POST', '/v1/hello', $token, Lab::hello($mac, $boot_a))->{status}, 403, 'the token does not say hello from elsewhere');
is(ask($n1, 'POST', '/v1/hello', $token, Lab::hello($mac, $boot_a))->{status}, 200, 'it does from where it was served');
is(ask($n1, 'POST', '/v1/step', $token, {step => 'x', text => 'y'})->{status}, 410, 'and is heard there');
for my $try (['GET', '/v1/next'], ['POST', '/v1/step', {step => 'x', text => 'y'}],
	['POST', '/v1/error', {error => {node => 'n1', step => 's', object => 'o', message => 'm', remedy => 'r', scope => 'run'}}],
	['PUT', '/v1/results/run-1/' . 'a' x 64 . '/1/1', {}]) {
	my ($method, $path, $body) = @$try;
	is(ask($intruder, $method, $path, $token, $body)->{status}, 403, "not from elsewhere: $method $path");
}
is($lab->request('POST', '/v1/step', token => $token, body => {step => 'x', text => 'y'})->{status}, 403, 'nor from the lab server itself');
is($lab->sql('SELECT count(*) FROM errors'), 0, 'nothing that the intruder said was kept');

# --- replay, after the node booted again ---
my $token_b = token_of(ask($n1, 'GET', "/boot.ipxe?mac=$mac"));
is(ask($n1, 'POST', '/v1/hello', $token_b, Lab::hello($mac, $boot_b))->{status}, 200, 'the node boots again');
is(ask($n1, 'POST', '/v1/hello', $token, Lab::hello($mac, $boot_a))->{status}, 401, 'its first hello said again: refused');
is(ask($intruder, 'POST', '/v1/hello', $token, Lab::hello($mac, $boot_a))->{status}, 403, 'from elsewhere too');

# --- a server that was killed knows where each token belongs ---
$lab->end($lab->{server}, 'KILL');
$lab->serve;
is(ask($intruder, 'POST', '/v1/step', $token_b, {step => 'x', text => 'y'})->{status}, 403, 'the server killed: still not from elsewhere');
is(ask($n1, 'POST', '/v1/step', $token_b, {step => 'x', text => 'y'})->{status}, 410, 'but from the node');

# --- guessing ---
my %seen;
$seen{ ask($intruder, 'GET', '/v1/next', sprintf '%032x', $_)->{status} }++ for 1 .. 300;
is(join(' ', sort keys %seen), '401 429', 'a machine that guesses tokens is slowed down');
cmp_ok($seen{401}, '<', 250, "after $seen{401} tries");
is(ask($n1, 'POST', '/v1/step', $token_b, {step => 'x', text => 'y'})->{status}, 410, 'which holds up no node');
is($lab->end($lab->{server}), 0, 'the end');
for my $m (@machines) {
	close $m->{ask};
	waitpid $m->{pid}, 0;
}
done_testing;
