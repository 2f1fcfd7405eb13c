#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: database.pl DATABASE CELLS BOOTS SAMPLES SECONDS [HOSTILE]
# Makes up the store of a finished run: CELLS cells (copies and aio in turn), SAMPLES samples in each of BOOTS boots, each
# with a log of SECONDS seconds, the observers' series and, of aio, histograms. Figures come from a formula, so that the same
# run comes out each time. HOSTILE is put into every name and text that comes from outside.
use strict;
use warnings;
use JSON::PP;
use MIME::Base64 'encode_base64';

my ($database, $cells, $boots, $samples, $seconds, $hostile) = @ARGV;
my $json = JSON::PP->new->canonical->utf8(0);
my $root = $0 =~ m{^(.*)/tests/report/} ? $1 : '.';
my $run = 'made-up-1';
my $begin = 1796076811000000000;
$hostile //= '';

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/; return scalar <$in> }
sub quoted { my ($t) = @_; $t =~ s/'/''/g; return "'$t'" }
# A number from 0 to 1, by its arguments alone.
sub chance { my $x = 0; $x = ($x * 31 + $_ * 7919 + 12345) % 1000003 for @_; return (($x * 1103515245 + 12345) % 65537) / 65536 }

# results-schema/series.h: delta-1.
sub leb { my ($n) = @_; my $out = ''; while ($n > 127) { $out .= chr($n & 127 | 128); $n >>= 7 } return $out . chr($n) }
sub column {
	my ($out, $last, $zeros) = ('', 0, -1);
	for my $v (@_) {
		my $d = $v - $last;
		$last = $v;
		if ($d == 0) { $zeros++ ; next }
		$out .= leb(0) . leb($zeros) if $zeros >= 0;
		$zeros = -1;
		$out .= leb($d > 0 ? 2 * $d : -2 * $d - 1);
	}
	$out .= leb(0) . leb($zeros) if $zeros >= 0;
	return $out;
}
sub series {
	my ($cell) = @_;
	my @rows = 0 .. $seconds;
	my @counters = ([disk => "vda$hostile", 'write_bytes', 9e8], [disk => "vda$hostile", 'busy_ms', 900],
		(map { [cpu => "cpu$_", 'system_ns', 8e8] } 0 .. 3), [thread => 'drbd_w_r0/412', 'cpu_ns', 7e8],
		[drbd => '0', 'net_sent_bytes', 8e8], [tcp => '10.0.0.1:7788-10.0.0.2:4123', 'retransmits', 3]);
	my (@objects, %of, $data);
	$data = column(map { $_ * 1000000000 } @rows);
	for my $c (@counters) {
		my $key = "$c->[0] $c->[1]";
		push @objects, $of{$key} = {source => $c->[0], object => substr($c->[1], 0, 47), counters => [], gauges => []} if !$of{$key};
		push @{ $of{$key}{counters} }, $c->[2];
		my $sum = 0;
		$data .= column(0, map { $sum += int($c->[3] * (0.5 + 0.5 * chance($cell, $_, $c->[3]))) } 1 .. $seconds);
	}
	return $json->encode({layout => 'delta-1', rows => scalar @rows, begin_ns => 0, interval_ns => 1000000000,
		cost_ns => 4200000, cpu => 0, shared => JSON::PP::false, objects => \@objects, data => encode_base64($data, '')});
}
sub histogram {
	my ($cell, $sample) = @_;
	my ($count, $sum, @buckets) = (0, 0);
	for my $i (0 .. 149) {
		my $index = 8192 + $i * 16;
		my $n = int(2000 * exp(-(($i - 40) / 15) ** 2) + 30 / (1 + $i)) + 1;
		my $ns = ($index % 1024 + 1024) * 2 ** (int($index / 1024) - 1);
		push @buckets, [$index, $n];
		$count += $n;
		$sum += $n * $ns;
	}
	return ($count, {layout => 'hdr-1024', count => $count, sum_ns => int $sum, over => 0, min_ns => 130000, max_ns => 1000000, buckets => \@buckets});
}

# A noise certificate: cell 2 has a limit, which boot 1's second sample first did not keep; cell 1's CPU is as good as silent.
sub noise {
	my ($cell, $boot, $sample, $noisy) = @_;
	my $window = sub {
		my $us = $cell == 1 ? 0 : int(600 + 300 * chance(@_, $cell, $boot, $sample) + ($noisy ? 4000 : 0));
		return [map { {cpu => $_, runtime_us => 250000, noise_us => $us, longest_us => int($us / 4), hw => 0, nmi => 0,
			irq => $cell == 1 ? 0 : 63, softirq => $cell == 1 ? 0 : 9, thread => $cell == 1 ? 0 : 2} } 1 .. 3];
	};
	return {window_ms => 250, before => $window->(1), after => $window->(2), during => {ns => $seconds * 1000000000, threads => [],
		cpus => [map { {cpu => $_, timer_interrupts => $cell == 1 ? 0 : 250 * $seconds} } 1 .. 3]}, $cell == 2 ? (limit_ppm => 5000) : ()};
}

my $example = decode_json(slurp("$root/results-schema/examples/valid/result--valid-drbd.json"));
my $evidence = $example->{evidence};
$evidence->{notes} = ["a note$hostile"];
$evidence->{drbd_conf} = "resource r0 {\n\tnet { max-buffers 8000; }$hostile\n}";
my %workload = (
	copy => {type => 'copy', bs_bytes => 1048576, size_bytes => 8388608, direction => 'write', direct => JSON::PP::true},
	aio => {type => 'aio', bs_bytes => 4096, depth => 32, jobs => 1, engine => 'libaio'},
);
my ($version) = slurp("$root/lab/store/store.c") =~ /#define STORE_VERSION\s+(\d+)/;

unlink $database;
open my $sql, '|-', 'sqlite3', $database or die;
binmode $sql, ':utf8';
print $sql slurp("$root/lab/store/schema.sql"), "PRAGMA user_version = $version; PRAGMA synchronous = OFF; BEGIN;\n";
printf $sql "INSERT INTO runs (run, number, group_name, state, plan_name, question, plan_text, plan_sha256, lab, nodes, boots, "
	. "samples, retries, shuffled, seed, peer_ms, apply_ms, measure_ms, created_unix_ns, started_unix_ns, ended_unix_ns, scale) "
	. "VALUES ('%s', 1, 'pair1', 'done', 'made-up', %s, %s, '%s', '{}', 2, %d, %d, 2, 1, 7, 1, 1, 1, %d, %d, %d, '1/10');\n",
	$run, quoted("Is what was made up drawn?$hostile"), quoted("schema_version: 1$hostile"), '0' x 64, $boots, $samples,
	$begin, $begin, $begin + ($cells * $boots * $samples + 1) * 3e9;
for my $b (1 .. $boots) {
	printf $sql "INSERT INTO boots (token, node, mac, made_unix_ns, hello_order, boot_id, inventory, run, block) VALUES "
		. "('t%d', 'n1', 'm', 0, %d, 'b%d', %s, '%s', %d);\n", $b, $b, $b,
		quoted($json->encode({drbd_version => '8.4.11', warnings => ["eth1 is slow$hostile"],
			cpus => {model => "Made up$hostile", online => 4}, dmi => {product_name => 'virtual node'}})), $run, $b;
}
my $time = $begin;
for my $c (1 .. $cells) {
	my $type = $c % 4 ? 'copy' : 'aio';
	my $id = sprintf '%064x', $c;
	my $cell = {schema_version => 1, workload => $workload{$type},
		state => {%{ $example->{cell}{state} }, 'drbd.net.max-buffers' => 1000 + 100 * $c}};
	my $made = series($c);
	my $body = $json->encode($cell);
	$evidence->{in_force} = $cell->{state};
	$evidence->{quiet} = {level => 'on', housekeeping => '0', measuring => '1-3', shares_core => JSON::PP::false, threads_moved => 23, interrupts_moved => 7,
		isolated => '1-3', nohz_full => '1-3'};
	printf $sql "INSERT INTO cells (run, ordinal, cell_id, state_id, label, fresh, nodes, size_bytes, body) VALUES "
		. "('%s', %d, '%s', '%s', %s, 0, 2, 1, %s);\n", $run, $c, $id, $id, quoted("drbd max-buffers=" . (1000 + 100 * $c) . " $type$hostile"), quoted($body);
	for my $b (1 .. $boots) {
		print $sql "INSERT INTO visits VALUES ('$run', " . (($b - 1) * $cells + $c) . ", $b, '$id');\n";
		for my $s (1 .. $samples) {
			my $level = 400 + 200 * sin($c / 7) + 20 * chance($c, $b) + 10 * chance($c, $b, $s);
			my @log = map { int(1e6 * $level * (0.9 + 0.2 * chance($c, $b, $s, $_)) * ($_ > $seconds / 2 && $c % 5 == 0 ? 0.6 : 1)) } 1 .. $seconds;
			my $bytes = 0;
			$bytes += $_ for @log;
			my %m = (bytes => $bytes, ns => $seconds * 1000000000, mb_per_s => $bytes / $seconds / 1e6, mib_per_s => 1,
				second_bytes => \@log, equivalent => "dd if=/dev/zero of=/dev/drbd0 bs=1M$hostile");
			if ($type eq 'aio') {
				my ($count, $h) = histogram($c, $s);
				my %l = (min => 130000, mean => 200000, p50 => 190000, p75 => 1, p90 => 1, p95 => 1, p99 => 400000, p99_9 => 800000, p99_99 => 1, max => 1000000);
				$m{aio} = {engine => 'libaio', iops => $level * 50, latency_ns => \%l,
					# each second aio cell falls by a fifth from round to round, the others stay
					rounds => [map { {ios => int(1e5 * ($c % 8 ? 0.8 ** $_ : 1))} } 0 .. 5], write => {ios => $count, bytes => 1, latency_ns => \%l, histogram => $h}};
			}
			$evidence->{noise} = noise($c, $b, $s);
			my $proof = $json->encode($evidence);
			$proof =~ s/\}$/,"series":$made}/;
			$time += 3e9;
			printf $sql "INSERT INTO attempts VALUES ('%s', '%s', %d, %d, 1, 'valid', 0, %d, %d, NULL, NULL);\n", $run, $id, $b, $s, $time, $time + 1e9;
			print $sql "INSERT INTO assignments VALUES ('$run', '$id', $b, $s, 1, 'n1', 'measure', 't$b');\n";
			printf $sql "INSERT INTO results VALUES ('%s', '%s', %d, %d, 1, 'n1', 'measure', 'valid', NULL, %d, %d, '', CAST(%s AS BLOB), %d);\n",
				$run, $id, $b, $s, $bytes, $m{ns}, quoted(qq({"cell":{"workload":{"type":"$type","duration_ms":10000}},"measurement":) . $json->encode(\%m) . qq(,"evidence":$proof})), $time;
		}
		if ($c == 2 && $b == 1) {
			my $proof = $json->encode({%$evidence, noise => noise($c, $b, 2, 1)});
			my $why = quoted("noise: 16000 ppm of CPU 1 were taken before the sample, the limit is 5000$hostile");
			print $sql "INSERT INTO attempts VALUES ('$run', '$id', $b, 2, 2, 'invalid', 0, $time, $time, $why, NULL);\n";
			print $sql "INSERT INTO assignments VALUES ('$run', '$id', $b, 2, 2, 'n1', 'measure', 't$b');\n";
			printf $sql "INSERT INTO results VALUES ('%s', '%s', %d, 2, 2, 'n1', 'measure', 'invalid', %s, 1, 1, '', CAST(%s AS BLOB), %d);\n",
				$run, $id, $b, $why, quoted(qq({"evidence":$proof})), $time;
		}
		if ($c == 1) {
			print $sql "INSERT INTO attempts VALUES ('$run', '$id', $b, 1, 9, 'invalid', 0, $time, $time, " . quoted("n1: a link flapped$hostile") . ", NULL);\n";
		}
	}
}
print $sql "COMMIT;\n";
close $sql or die "sqlite3: $?";
