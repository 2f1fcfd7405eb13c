#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Whole runs over loopback with made-up nodes: assay serve, run, status, report as an operator uses them.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lab;
use Test::More;
use Time::HiRes qw(sleep time);

my $uuid2 = '00000000-1111-2222-3333-444444444444';
my @node1 = ("$FindBin::Bin/node.pl", 'URL', '52:54:00:00:00:01', 'n1', '');
my @node2 = ("$FindBin::Bin/node.pl", 'URL', '52:54:00:00:00:02', 'n2', $uuid2);

sub start {
	my ($lab, $node, @trouble) = @_;
	my @command = @$node;
	$command[1] = $lab->{url};
	return $lab->spawn($command[3], @command, @trouble);
}

sub run {
	my ($lab, @more) = @_;
	my $plan = "$lab->{dir}/plan.yaml";
	return $lab->spawn('run', $Lab::assay, 'run', $plan, '--db', "$lab->{dir}/db", split(/ /, $lab->wipe($plan)), @more);
}

# Ends by itself; gives its exit code.
sub wait_run {
	my ($lab, $pid, $seconds) = @_;
	my $status;
	Lab::wait_for($seconds, 'the end of the run', sub { waitpid($pid, 1) == $pid ? (($status = $?), 1)[1] : 0 });
	delete $lab->{children}{$pid};
	return $status >> 8;
}

sub exactly_once {
	my ($lab, $what) = @_;
	is($lab->sql("SELECT count(*), count(DISTINCT run || cell_id || boot || '/' || sample) FROM attempts WHERE state = 'valid'"),
		'12|12', "$what: every sample once");
	is($lab->sql('SELECT count(*) FROM refused'), 0, "$what: nothing was refused");
	is($lab->sql('PRAGMA integrity_check'), 'ok', "$what: the database is sound");
}

{
	my $lab = Lab->new;
	like(`$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{dir}/db 2>&1`, qr/no database .* there/, 'run before any server: what to do');
	$lab->serve;
	my @nodes = (start($lab, \@node1), start($lab, \@node2));
	my $run = run($lab);
	is(wait_run($lab, $run, 60), 0, 'a run over HTTP');
	exactly_once($lab, 'a run');
	my $log = Lab::read_file("$lab->{dir}/run.log");
	like($log, qr{^cell \d/3 .*, boot [12], sample [12], \d+/12 samples(, \d+ s left)? \| n1: \w+ \| n2: \w+$}m, 'progress, a line a change');
	like($log, qr{^  1  raw\s+4/4\s+2\s+\d+\.\d\d\s+\d+\.\d\d\s+\d+\.\d\d - \d+\.\d\d\s+50\.0 %\s+2 boots\s+0\s+0$}m, 'the table: median, its interval over two boots, and how sure it is');
	like($log, qr/kernel 6\.1\.0-sim \| image sim \| DRBD 8\.4\.11 \| storage NICs sim/, 'what it was measured with');
	like($log, qr/sha256 [0-9a-f]{64}, order as written/, 'and the plan');
	like($log, qr{^Warning: node n1, eth1: its link runs at 1000 Mb/s, it can 10000$}m, 'and what the nodes say of their NICs');
	my $csv = `$Lab::assay report --csv --db $lab->{dir}/db`;
	is($?, 0, 'report: exit code 0');
	is(scalar(() = $csv =~ /\n/g), 13, 'CSV: a line a sample');
	like($csv, qr/^run,scale,ordinal,cell_id,label,node,boot,sample,attempt,begun_unix_ns,bytes,ns,mb_per_s,iops,.*\n\S+,1,1,[0-9a-f]{64},"raw",n1,[12],[12],1,\d+,4194304,\d+,[\d.]+,,,,,,,,\n/, 'CSV: its lines');
	like(`$Lab::assay status --db $lab->{dir}/db`, qr/group pair1\n  n1 .*\n  n2 .*\nwarning: node n1, eth1: its link runs at 1000 Mb\/s, it can 10000\nwarning: node n2, .*\nrun \S+ on pair1: done, 12 of 12/, 'status');
	like(`$Lab::assay serve $lab->{dir}/lab.yaml --db $lab->{dir}/db --image $lab->{dir}/image --port 0 2>&1`,
		qr/another server works on/, 'a second server on one database is refused');
	is($? >> 8, 3, 'with exit code 3');
}

# What a plan demands, to the exit codes; and a run as published.
{
	my $lab = Lab->new;
	$lab->serve;
	my $node = start($lab, \@node1);
	my $demand = sub {
		my ($criteria, @more) = @_;
		Lab::write_file("$lab->{dir}/plan.yaml", <<"X");
schema_version: 1
question: Is it good enough?
nodes: 1
workloads:
  - copy: {bs: 1MiB, size: 4MiB}
repeat: {boots: 1, samples: 2}
published:
  workloads:
    - copy: {bs: 1MiB, size: 2MiB, source: zero}
acceptance:
$criteria
X
		my $status = wait_run($lab, run($lab, @more), 60);
		return ($status, Lab::read_file("$lab->{dir}/run.log"));
	};
	my ($status, $log) = $demand->('  - {metric: hardware-warnings, at_most: 1}');
	is($status, 0, 'acceptance: what passes is exit code 0');
	like($log, qr{^Acceptance: PASS \(1 pass, 0 fail, 0 inconclusive.*\n  pass +hardware-warnings at most 1: node n1, eth1: .*: 1$}m, 'and says so');
	($status, $log) = $demand->("  - {metric: hardware-warnings, at_most: 0}\n  - {metric: throughput, at_least: 1 kB/s}");
	is($status, 4, 'what fails is exit code 4');
	like($log, qr{^Acceptance: FAIL \(0 pass, 1 fail, 1 inconclusive}m, 'and says so');
	my $json = $Lab::json->decode(scalar `$Lab::assay report --json --db $lab->{dir}/db`);
	is($? >> 8, 4, 'of report too');
	is(join(' ', $json->{run}{acceptance}{verdict}, map { $_->{verdict} } @{$json->{run}{acceptance}{criteria}}), 'fail fail inconclusive', 'JSON has the verdicts');
	($status, $log) = $demand->('  - {metric: throughput, at_least: 1 kB/s}', '--as-published');
	is($status, 5, 'one boot decides nothing, however fast: exit code 5');
	like($log, qr{^  inconclusive +throughput at least 1 kB/s: cell 1, raw on n1: [\d.]+ MB/s .*; an interval takes 5 more boots$}m, 'and says what would');
	like($log, qr{^AS PUBLISHED: }m, 'a run as published is marked');
	is($lab->sql("SELECT DISTINCT measured_bytes FROM results WHERE run = (SELECT run FROM runs WHERE as_published)"), 2097152, 'and has what was published');
}

# The server is killed again and again; nodes and `assay run` go on.
{
	my $lab = Lab->new;
	$lab->serve;
	my @nodes = (start($lab, \@node1), start($lab, \@node2));
	my $run = run($lab);
	for my $done (1, 3, 5, 7, 9, 11) {
		Lab::wait_for(60, "$done samples", sub { $lab->sql("SELECT count(*) FROM attempts WHERE state = 'valid'") >= $done });
		$lab->end($lab->{server}, 'KILL');
		$lab->serve;
	}
	is(wait_run($lab, $run, 60), 0, 'the server killed six times');
	exactly_once($lab, 'killed');
	is($lab->sql("SELECT count(*) FROM attempts WHERE state != 'valid'"), 0, 'killed: not one attempt was lost');
	cmp_ok($lab->sql('SELECT max(n) FROM (SELECT count(*) AS n FROM boots WHERE boot_id NOT NULL GROUP BY node)'), '<=', 4,
		'killed: no node booted for it');
}

# A node reboots in the middle of a sample; one fails a sample; a link flaps.
{
	my $lab = Lab->new;
	$lab->serve;
	my @nodes = (start($lab, \@node1, 'trouble=fail@1', 'trouble=invalid@7'), start($lab, \@node2, 'trouble=reboot@2'));
	is(wait_run($lab, run($lab), 60), 0, 'troubles that pass');
	exactly_once($lab, 'troubles');
	is($lab->sql("SELECT group_concat(state) FROM (SELECT state FROM attempts WHERE state != 'valid' ORDER BY state)"),
		'abandoned,failed,invalid', 'troubles: what happened to the samples');
	my $log = Lab::read_file("$lab->{dir}/run.log");
	like($log, qr/attempt 1 failed: node n1, step sim, sim: trouble was asked for\n    what to do: none/, 'troubles: errors are printed');
	like($log, qr/attempt 1 invalid: n1: a link flapped/, 'troubles: the reason of an invalid sample is printed');
	like($log, qr/attempt 1 abandoned: node n2, step sample, n2: booted again in the middle/, 'troubles: so is a node that booted');
}

# A peer that dies and stays away.
{
	my $lab = Lab->new;
	$lab->serve;
	my @nodes = (start($lab, \@node1), start($lab, \@node2, 'trouble=die@1'));
	is(wait_run($lab, run($lab), 120), 1, 'a peer that stays away: exit code 1');
	my $log = Lab::read_file("$lab->{dir}/run.log");
	like($log, qr/^  error: node n2, step peer, n2 \($uuid2\): did not come within 20 s/m, 'the error names it');
	like($log, qr/what to do: Check its power/, 'and says what to do');
	is($lab->sql("SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE state = 'valid' AND c.nodes = 1"), 4,
		'what needs one node was measured');
	like($log, qr/FAILED|not complete/, 'the table says what is missing');
}

# Leaving `assay run`, and cancelling.
{
	my $lab = Lab->new;
	$lab->serve;
	my $run = run($lab);
	Lab::wait_for(20, 'progress', sub { Lab::read_file("$lab->{dir}/run.log") =~ /n1: absent \| n2: absent/ });
	is($lab->end($run, 'INT') >> 8, 1, 'Ctrl-C: exit code 1');
	my $log = Lab::read_file("$lab->{dir}/run.log");
	like($log, qr/The run goes on\. `assay status/, 'Ctrl-C: the run goes on, and where to see it');
	my ($id) = $log =~ /^run (\S+) on/m;
	like($lab->sql('SELECT state FROM runs'), qr/^(queued|running)$/, 'Ctrl-C: so it does');
	is(system($Lab::assay, 'run', '--cancel', $id, '--db', "$lab->{dir}/db"), 0, 'cancel');
	Lab::wait_for(20, 'the run to end', sub { $lab->sql('SELECT ended_unix_ns NOT NULL FROM runs') });
	is($lab->sql('SELECT state FROM runs'), 'cancelled', 'cancelled');
}
done_testing;
