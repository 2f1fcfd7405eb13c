#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: run.pl DATABASE
# The store of a run that has everything an export must tell: copies and aio (reads, and both ways), three boots of which the
# last broke off, an invalid, a failed and an abandoned sample, a cell that no node supports, criteria that pass, fail and are
# inconclusive, and names with what XML, JSON, CSV and label values must escape. All figures are fixed.
use strict;
use warnings;
use JSON::PP;

my ($database) = @ARGV;
my $json = JSON::PP->new->canonical->utf8(0);
my $root = $0 =~ m{^(.*)/tests/export/} ? $1 : '.';
my $run = 'golden-1';
my $begin = 1796076811000000000;
my $second = 1000000000;

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/; return scalar <$in> }
sub quoted { my ($t) = @_; return 'NULL' if !defined $t; $t =~ s/'/''/g; return "'$t'" }
sub insert { my ($table, %v) = @_; my @k = sort keys %v;
	return "INSERT INTO $table (" . join(', ', @k) . ') VALUES (' . join(', ', map { ref $v{$_} ? ${ $v{$_} } : quoted($v{$_}) } @k) . ");\n" }
sub error_json { my ($step, $scope) = @_;
	return $json->encode({schema_version => 1, scope => $scope, node => 'n1', step => $step, object => 'eth1', message => 'no such "thing" & <more>', remedy => 'Look at it.'}) }

# Upper half of the buckets of results-schema/histogram.h: (1024 + m) << shift.
sub histogram {
	my @buckets = @_;
	my ($count, $sum, $min, $max) = (0, 0);
	for my $b (@buckets) {
		my ($index, $n) = @$b;
		my $ns = $index < 2048 ? $index : ($index % 1024 + 1024) << (int($index / 1024) - 1);
		$count += $n; $sum += $ns * $n; $min //= $ns; $max = $ns;
	}
	return {layout => 'hdr-1024', count => $count, sum_ns => $sum, over => 0, min_ns => $min, max_ns => $max, buckets => \@buckets};
}
sub op {
	my ($bs, $h) = @_;
	my %l = map { $_ => int($h->{sum_ns} / $h->{count}) } qw(min mean p50 p75 p90 p95 p99 p99_9 p99_99 max);
	return {ios => $h->{count}, bytes => $h->{count} * $bs, latency_ns => \%l, histogram => $h};
}
sub evidence {
	my ($node, %o) = @_;
	my $bond = {mode => 'active-backup', active_slave => 'eth0', slaves => [map { {name => $_, mii => 'up', link_failures => 0} } qw(eth0 eth1)]};
	my $drbd = {connection => 'Connected', role => 'Primary', disk => 'UpToDate', peer_disk => 'UpToDate', proc_drbd => 'cs:Connected'};
	my $after = $json->decode($json->encode({bond => $bond, drbd => $drbd}));
	if ($o{flap}) { $after->{bond}{active_slave} = 'eth1'; $after->{bond}{slaves}[0]{link_failures} = 1 }
	return {boot_id => 'b', kernel_release => '6.1.0', states_built_before => 1, before => {bond => $bond, drbd => $drbd}, after => $after,
		kernel_warnings => $o{flap} ? ['ixgbe 0000:01:00.0 eth0: NIC Link is Down'] : [], notes => ["one note of $node"],
		noise => {window_ms => 1000, limit_ppm => 100, before => [{cpu => 1, runtime_us => 1000000, noise_us => 12}],
			after => [{cpu => 1, runtime_us => 1000000, noise_us => 34}], during => {ns => $second, cpus => [], threads => []}},
		series => {layout => 'delta-1', rows => 1, data => 'left out of exports'}};
}

my %state = (stack => 'drbd', boot => 'warm', 'drbd.net.max-buffers' => 8000);
my %aio = (type => 'aio', engine => 'libaio', bs_bytes => 4096, size_bytes => 0, duration_ms => 3000, offset_bytes => 0, span_bytes => 0,
	iops => 0, depth => 32, jobs => 2, random_percent => 100, read_percent => 100, direct => JSON::PP::true, verify => JSON::PP::false,
	drop_caches => JSON::PP::true, seed => 1);
my @cells = (
	{label => "drbd <max-buffers=\"8000\"> & it's \x{e4}\n\\copy", workload => {type => 'copy', bs_bytes => 1048576, size_bytes => 209715200}},
	{label => 'randread 4k', workload => {%aio}},
	{label => 'randrw 4k', workload => {%aio, read_percent => 70}},
	{label => 'balance-xor', workload => {type => 'copy', bs_bytes => 1048576, size_bytes => 1048576}, error => error_json('bond', 'unsupported')},
);
my ($version) = slurp("$root/lab/store/store.c") =~ /#define STORE_VERSION\s+(\d+)/;

unlink $database;
open my $sql, '|-', 'sqlite3', $database or die;
binmode $sql, ':utf8';
print $sql slurp("$root/lab/store/schema.sql"), "PRAGMA user_version = $version; PRAGMA synchronous = OFF; BEGIN;\n";
my @criteria = (
	{metric => 'throughput', at_least => JSON::PP::true, bound => 1, text => '1 MB/s', cells => [1]},
	{metric => 'throughput', at_least => JSON::PP::true, bound => 9000, text => '9 GB/s', cells => [1]},
	{metric => 'hardware-warnings', at_least => JSON::PP::false, bound => 0, text => '0'},
);
print $sql insert('runs', run => $run, number => 1, group_name => 'pair1', state => 'done', plan_name => 'golden', question => 'Is all of it told & "kept"?',
	plan_text => 'schema_version: 1', plan_sha256 => '0123456789abcdef' x 4, lab => '{}', nodes => 2, boots => 3, samples => 1, retries => 2, shuffled => 1,
	seed => 7, peer_ms => 1, apply_ms => 1, measure_ms => 1, created_unix_ns => $begin, started_unix_ns => $begin, ended_unix_ns => $begin + 90 * $second,
	scale => '1/10', acceptance => $json->encode(\@criteria));
my $inventory = decode_json(slurp("$root/results-schema/examples/valid/inventory--full.json"));
my $hello = 0;
for my $b (1 .. 3) {
	for my $n (qw(n1 n2)) {
		print $sql insert('boots', token => "secret-$n-$b", node => $n, mac => 'm', made_unix_ns => $begin, hello_order => ++$hello, hello_unix_ns => $begin, boot_id => "b$hello",
			image_id => 'e2f9004af89a0aa49dd5122275a38380', inventory => $json->encode({%$inventory, warnings => $n eq 'n2' && $b == 3 ? ['eth1: slow'] : []}), run => $run, block => $b);
	}
}
print $sql insert('nodes', node => $_, group_name => 'pair1', step => 'wait', text => '', since_unix_ns => $begin + 80 * $second, seen_unix_ns => $begin + 85 * $second) for qw(n1 n2);
print $sql insert('strangers', mac => '52:54:00:00:00:99', uuid => '', seen_unix_ns => $begin);
print $sql insert('errors', at_unix_ns => $begin, run => $run, group_name => 'pair1', node => 'n1', scope => 'sample', body => error_json('apply', 'sample'));

my ($time, $position) = ($begin, 0);
my $attempt = sub {
	my ($c, $b, $number, $state, %o) = @_;
	my $id = sprintf '%064x', $c;
	my %key = (run => $run, cell_id => $id, boot => $b, sample => 1, attempt => $number);
	$time += 5 * $second;
	print $sql insert('attempts', %key, state => $state, rebuild => 0, opened_unix_ns => $time, closed_unix_ns => $time + 4 * $second, reason => $o{reason}, error => $o{error});
	for my $role (qw(measure peer)) {
		my $n = $role eq 'measure' ? 'n1' : 'n2';
		print $sql insert('assignments', %key, node => $n, role => $role, token => "secret-$n-$b");
		next if $state eq 'abandoned' || $state eq 'failed';
		my %body = (%key, schema_version => 1, node => $n, role => $role, verdict => $state, cell => {workload => $cells[$c - 1]{workload}, state => \%state},
			evidence => evidence($n, flap => $state eq 'invalid' && $role eq 'measure'));
		my ($bytes, $ns);
		if ($role eq 'measure') {
			($bytes, $ns) = (209715200 - 1000000 * $b, 2500000000);
			my %m = (second_bytes => [80000000, 90000000, $bytes - 170000000], equivalent => "dd of=/dev/drbd0 # $c");
			if ($cells[$c - 1]{workload}{type} eq 'aio') {
				# one bucket is ns alone; two are longer than all that fio counts, and fall into its last bin
				my %h = (read => op(4096, histogram([1500, 5], [9 * 1024 + 3, 700 + $b], [12 * 1024 + 512, 290], [25 * 1024 + 50, 1], [25 * 1024 + 100, 2])));
				$h{write} = op(4096, histogram([10 * 1024, 100])) if $c == 3;
				my $ios = $h{read}{ios} + ($h{write} ? $h{write}{ios} : 0);
				$bytes = 4096 * $ios;
				%m = (second_bytes => [4096 * 400, 4096 * 400, $bytes - 8192 * 400], equivalent => "fio --name=aio # $c", aio => {engine => 'libaio', cpus => [1, 2], ios => $ios, iops => $ios / 2.5,
					latency_ns => $h{read}{latency_ns}, second_ios => [400, 400, $ios - 800], second_mean_ns => [1000000, 1100000, 1200000], second_max_ns => [1, 1, 1],
					errors => {}, partial => 0, submit_again => 0, not_issued => 0, verified => 0, verify_bad => 0, %h});
			}
			$body{measurement} = {%m, bytes => $bytes, ns => $ns, mb_per_s => 1000 * $bytes / $ns, mib_per_s => 1};
		}
		my $text = $json->encode(\%body);
		my $sha = substr(sprintf('%02x%02x%02x', $c, $b, $number) . ($role eq 'peer' ? 'ff' : '00') . 'ab' x 32, 0, 64);
		print $sql insert('results', %key, node => $n, role => $role, verdict => $state, reason => $o{reason}, measured_bytes => $bytes, measured_ns => $ns, sha256 => $sha,
			body => \('CAST(' . quoted($text) . ' AS BLOB)'), committed_unix_ns => $time + 3 * $second);
	}
};
for my $c (1 .. @cells) {
	my $cell = $cells[$c - 1];
	print $sql insert('cells', run => $run, ordinal => $c, cell_id => sprintf('%064x', $c), state_id => sprintf('%064x', $c), label => $cell->{label}, fresh => 0, nodes => 2, size_bytes => 1,
		body => $json->encode({schema_version => 1, state => \%state, workload => $cell->{workload}}), failed => $cell->{error} ? 1 : 0, error => $cell->{error});
	print $sql insert('visits', run => $run, position => ++$position, boot => $_, cell_id => sprintf('%064x', $c)) for $c == 4 ? 1 : 1 .. 3;
}
$attempt->(1, 1, 1, 'invalid', reason => 'n1: eth0 went down & "up"');
$attempt->(1, 1, 2, 'valid');
$attempt->(2, 1, 1, 'failed', error => error_json('apply', 'sample'));
$attempt->(2, 1, 2, 'valid');
$attempt->(3, 1, 1, 'valid');
$attempt->(4, 1, 1, 'failed', error => error_json('bond', 'unsupported'));
$attempt->($_, 2, 1, 'valid') for 1 .. 3;
$attempt->(1, 3, 1, 'valid');
$attempt->(2, 3, 1, 'abandoned', error => error_json('sample', 'sample'));
print $sql "COMMIT;\n";
close $sql or die "sqlite3: $?";
