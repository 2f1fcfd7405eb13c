#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A thousand nodes at one server: all boot, all wait for work at once, all are served; threads and memory stay few.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HTTP::Tiny;
use IO::Select;
use IO::Socket::INET;
use Lab;
use Test::More;
use Time::HiRes qw(sleep time);

my $nodes = 1000;
my $lab = Lab->new;
my ($groups, $list) = ('', '');
for my $n (1 .. $nodes) {
	my $mac = mac($n);
	$groups .= sprintf "  g%d: {nodes: [n%d], storage_network: 10.%d.%d.0/24}\n", $n, $n, 100 + $n / 250, $n % 250;
	$list .= "  n$n: {mac: \"$mac\", storage_nics: [\"" . mac($n, 1) . "\"], disk: {serial: D$n, consent: wipe, min_bytes: 1000000, " .
		"max_bytes: 1000000000}}\n";
}
Lab::write_file("$lab->{dir}/lab.yaml",
	"schema_version: 1\nserver: {interface: lo, address: 127.0.0.1/8, dhcp: none}\ngroups:\n${groups}nodes:\n$list");
Lab::write_file("$lab->{dir}/plan.yaml", "schema_version: 1\nquestion: q\nnodes: 1\nbase: {stack: raw}\n" .
	"workloads:\n  - copy: {bs: 64KiB, size: 64KiB}\nrepeat: {boots: 1, samples: 1}\n");

# Each has its own address, as nodes do: one address may not ask for a thousand scripts, nor hold a thousand connections.
sub address { sprintf '127.1.%d.%d', $_[0] >> 7, 1 + ($_[0] & 127) }
sub mac { sprintf '52:54:%02x:00:%02x:%02x', $_[1] // 0, $_[0] >> 8, $_[0] & 255 }
sub memory { (Lab::read_file("/proc/$lab->{server}/status") =~ /VmRSS:\s+(\d+)/)[0] / 1024 }

$lab->serve;
my $http = HTTP::Tiny->new(timeout => 30);
my @token;
my $started = time;
for my $n (1 .. $nodes) {
	my $script = $lab->quick('GET', '/boot.ipxe?mac=' . mac($n), 'none', undef, address($n))->{content};
	$token[$n] = ($script =~ /assay\.token=(\w+)/)[0];
	my $hello = {
		schema_version => 1, mac => mac($n), boot_id => sprintf('00000000-0000-0000-0000-%012d', $n), image_id => 'sim', uptime_ns => 1,
		inventory => {schema_version => 1, dmi => {}, cpus => {model => 'x', online => 1}, memory_bytes => 1, kernel_release => 'x',
			command_line => '', pci => [], nics => [], disks => []}};
	my $answer = $lab->quick('POST', '/v1/hello', $token[$n], $hello, address($n));
	die "n$n: $answer->{status} $answer->{content}" if $answer->{status} != 200;
}
diag(sprintf '%d boots in %.1f s', $nodes, time - $started);

my (%held, $select);
$select = IO::Select->new;
sub ask {
	my ($n) = @_;
	my $s = IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp', LocalAddr => address($n)) or die "n$n: $!";
	print $s "GET /v1/next HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer $token[$n]\r\n\r\n";
	$held{fileno $s} = [$n, $s];
	$select->add($s);
}
ask($_) for 1 .. $nodes;
Lab::wait_for(20, 'all to wait', sub { $lab->sql("SELECT count(*) FROM nodes WHERE step = 'ready'") == $nodes });
is($select->can_read(0) || 0, 0, "$nodes nodes wait for work");
my $threads = () = glob "/proc/$lab->{server}/task/*";
cmp_ok($threads, '<=', 8, "with $threads threads");
my $memory = memory();
cmp_ok($memory, '<', 200, sprintf 'and %.0f MiB', $memory);
$started = time;
is($http->get("$lab->{url}/image/vmlinuz")->{status}, 200, 'and others are served');
cmp_ok(time - $started, '<', 1, 'at once');

# All get a sample, and upload their results, in one go.
my $runs = 50;

for my $n (1 .. $runs) {
	my $out = `$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{dir}/db --group g$n --no-wait`;
	die $out if $?;
}
my $done = 0;
my $until = time + 60;
while ($done < $runs && time < $until) {
	for my $s ($select->can_read(1)) {
		local $/;
		my $n = $held{fileno $s}[0];
		my ($body) = <$s> =~ /\r\n\r\n(.*)/s;
		$select->remove($s);
		close $s;
		my $work = $Lab::json->decode($body);
		next if $work->{action} ne 'measure';
		my $size = $work->{cell}{workload}{size_bytes};
		my $answer = $lab->quick('PUT', join('/', '/v1/results', @$work{qw(run cell_id boot sample)}), $token[$n], {
			schema_version => 1, (map { $_ => $work->{$_} } qw(run cell_id boot sample attempt role cell)), node => "n$n",
			verdict => 'valid', started_unix_ns => 1,
			evidence => {boot_id => sprintf('00000000-0000-0000-0000-%012d', $n), kernel_release => 'x', image_id => 'sim',
				command_line => '', states_built_before => 0, in_force => $work->{cell}{state}, differences => [], nics => [],
				paths => [], before => {}, after => {}},
			measurement => {bytes => $size, ns => 1000, mb_per_s => $size, mib_per_s => 1, records_full => 1, records_partial => 0,
				second_bytes => [], equivalent => 'dd'}}, address($n));
		die "n$n: $answer->{status} $answer->{content}" if $answer->{status} != 200;
		$done++;
	}
}
Lab::wait_for(20, 'the runs to end', sub { $lab->sql("SELECT count(*) FROM runs WHERE state = 'done'") == $runs });
is($lab->sql("SELECT count(*) FROM attempts WHERE state = 'valid'"), $runs, "$runs runs side by side, none lost");
cmp_ok(memory() - $memory, '<', 50, 'memory has hardly grown');
is($lab->end($lab->{server}), 0, 'the end');
done_testing;
