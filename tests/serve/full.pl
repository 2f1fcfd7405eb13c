#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The disk of the store fills up: early enough nothing new is begun; once it is full nothing is lost; with room again all goes
# on. On a file system of 64 MiB in memory, in a mount namespace of its own (run by full.t, as root).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lab;
use Test::More;
use Time::HiRes qw(sleep time);

my $lab = Lab->new;
my $disk = "$lab->{dir}/disk";
mkdir $disk or die;
system('mount', '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', $disk) == 0 or die "no tmpfs\n";
$lab->{db} = "$disk/db";
$lab->serve;

my $mac = '52:54:00:00:00:01';
my $boot = '00000000-0000-0000-0000-000000000001';
Lab::write_file("$lab->{dir}/plan.yaml", <<'X');
schema_version: 1
question: q
nodes: 1
base: {stack: raw}
workloads:
  - copy: {bs: 1MiB, size: 4MiB}
repeat: {boots: 1, samples: 4}
X

# As many bytes as are left but KEEP; all that go in where KEEP is 0
sub fill {
	my ($keep) = @_;
	my $left = (split ' ', `df -B1 --output=avail $disk | tail -1`)[0] - $keep;
	open my $out, '>', "$disk/ballast" or die;
	my $block = 'x' x 65536;
	for (my $done = 0; $done < $left || !$keep; $done += 65536) {
		syswrite($out, $block) // last;
	}
	close $out;
}
sub log_text { Lab::read_file("$lab->{dir}/serve.log") }
sub status { scalar `$Lab::assay status --db $lab->{db}` }
sub next_work { $Lab::json->decode($lab->request('GET', '/v1/next', token => $_[0], timeout => 40)->{content}) }
sub put { my ($token, $work) = @_; return $lab->request('PUT', join('/', '/v1/results', @$work{qw(run cell_id boot sample)}),
	token => $token, body => Lab::result($work, $boot)) }

my $token = $lab->token("mac=$mac");
is($lab->request('POST', '/v1/hello', token => $token, body => Lab::hello($mac, $boot))->{status}, 200, 'a node');
my $run = `$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{db} --no-wait`;
chomp $run;
my $work = next_work($token);
is("$work->{action} $work->{sample}", 'measure 1', 'gets its first sample');
is(put($token, $work)->{status}, 200, 'and brings it');

# --- nearly full ---
fill(30 << 20);
Lab::wait_for(5, 'the server to see it', sub {
	$work = next_work($token);
	return $work->{action} eq 'wait' || put($token, $work)->{status} != 200;
});
is($work->{action}, 'wait', 'with 30 MiB left nothing new is begun');
like(status(), qr/n1 +full .*waits until the store's disk has room/, 'which the operator sees');
unlink "$disk/ballast";
$work = next_work($token);
is($work->{action}, 'measure', 'with room again it goes on');
my $sample = $work->{sample};

# --- full, in the middle of a sample ---
fill(0);
my $answer = put($token, $work);
is($answer->{status}, 503, 'full: the result is not acknowledged');
like($answer->{headers}{'retry-after'} // '', qr/^\d+$/, 'and the node told when to come again');
like($answer->{content}, qr/full.*Make room/, 'and why');
is($lab->request('POST', '/v1/error', token => $token, body => {error => {node => 'n1', step => 's', object => 'o', message => 'm',
	remedy => 'r', scope => 'sample'}})->{status}, 503, 'nor is an error');
my ($before, $began) = (length log_text(), time);
Lab::wait_for(20, 'time', sub { put($token, $work)->{status} == 503 or die; sleep 0.3; time - $began > 8 });
my $said = substr log_text(), $before;
my $lines = () = $said =~ /\n/g;
cmp_ok($lines, '<=', 8, "the log says it once, not ten times a second ($lines lines in 8 s)");
like(log_text(), qr/store: result: No space left on device: .*full/, 'with what does not fit where');
like(status(), qr/run $run on pair1: running, \d of 4 samples/, 'status still tells how far the run is');
cmp_ok($Lab::json->decode(scalar `$Lab::assay status --json --db $lab->{db}`)->{runs}[0]{left_s}, '<=', 1,
	'and the time left has not grown with that in which nothing is measured');

# --- the server killed with its disk full ---
$lab->end($lab->{server}, 'KILL');
unlink "$disk/ballast";
$lab->serve;
is(put($token, $work)->{status}, 200, 'room again, after a kill: the same result is taken');
is($lab->sql("SELECT count(*) FROM results WHERE sample = $sample"), 1, 'once');
for (1 .. 4) {
	last if $lab->sql('SELECT ended_unix_ns NOT NULL FROM runs');
	$work = next_work($token);
	last if $work->{action} ne 'measure';
	put($token, $work)->{status} == 200 or die;
}
Lab::wait_for(20, 'the run to end', sub { $lab->sql("SELECT state FROM runs") eq 'done' });
is($lab->sql("SELECT count(*), count(DISTINCT sample) FROM attempts WHERE state = 'valid'"), '4|4', 'every sample once, none lost');
is($lab->end($lab->{server}), 0, 'the end');
is($lab->sql('PRAGMA integrity_check'), 'ok', 'the database is sound');
system('umount', $disk);
done_testing;
