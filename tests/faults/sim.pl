#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: sim.pl INTERRUPTIONS SEED [LABS]
# Many short runs that are interrupted at random, with the real server over real HTTP and DHCP, and made-up nodes: a power cut
# is a process killed behind a cable that was cut before, a panic and a killed worker are what the made-up node does then. All
# choices follow from SEED. Afterwards every sample must be there once, as its node sent it. LABS labs at once, each in
# namespaces of its own, as root.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd ();
use Digest::SHA qw(sha256_hex);
use FaultLab;
use Time::HiRes qw(sleep time);

my $samples = 12;
my $all_of_a_run = 5; # at most so many interruptions

# What happens to LAB; NODE is one of its nodes, P three numbers from 0 to 1.
my @kinds = (
	['node power cut' => sub {
		my ($lab, $node, @p) = @_;
		$lab->power_cut($node);
		sleep 2 * $p[0];
		$lab->link_state($node, 'up');
		$lab->node($node);
	}],
	['init worker killed' => sub { my ($lab, $node) = @_; kill 'USR1', $lab->{node}{$node} }],
	['kernel panic' => sub { my ($lab, $node) = @_; kill 'USR2', $lab->{node}{$node} }],
	['server SIGKILL' => sub {
		my ($lab, $node, @p) = @_;
		$lab->end($lab->{server}, 'KILL');
		sleep $p[0];
		$lab->serve;
	}],
	["server's disk full" => sub {
		my ($lab, $node, @p) = @_;
		my $balloon = "$lab->{dir}/disk/balloon";
		system("cat /dev/zero >'$balloon' 2>/dev/null");
		die "the disk is not full\n" if `df --output=avail '$balloon'` !~ /\n\s*0\n/;
		sleep 2 * $p[0];
		unlink $balloon or die;
	}],
	['database locked' => sub {
		my ($lab, $node, @p) = @_;
		my $seconds = $p[1] < 0.05 ? 11 : 2 * $p[0]; # beyond the 10 s that the server waits, or within
		my $database = $lab->database;
		open my $out, '|-', "sqlite3 -cmd '.timeout 20000' '$database' >/dev/null 2>&1" or die;
		print $out "BEGIN EXCLUSIVE;\n.shell sleep $seconds\nROLLBACK;\n";
		close $out;
	}],
	['management link cut' => sub {
		my ($lab, $node, @p) = @_;
		my @cut = $p[1] < 0.5 ? $node : ('n1', 'n2');
		$lab->link_state($_, 'down') for @cut;
		sleep 3 * $p[0];
		$lab->link_state($_, 'up') for @cut;
	}],
	['dnsmasq killed' => sub {
		my ($lab) = @_;
		my $pid = Lab::read_file($lab->database . '.run/dnsmasq.pid');
		kill 'KILL', $pid if $pid =~ /^\d+/;
	}],
	['switch mute after link-up' => sub {
		my ($lab, $node, @p) = @_;
		$lab->power_cut($node);
		$lab->link_state($node, 'up');
		$lab->mute($node, 1);
		$lab->node($node);
		sleep 3; # stands for the 45 s of spanning tree
		$lab->mute($node, 0);
	}],
);

# The interruptions of each run: lists of [kind, after how many samples, its node, three numbers]. Kinds are as many each.
sub choose {
	my ($interruptions, $seed) = @_;
	my (@bag, @runs);
	srand $seed;
	while ($interruptions > 0) {
		my $count = 1 + int rand $all_of_a_run;
		$count = $interruptions if $count > $interruptions;
		$interruptions -= $count;
		my %at;
		$at{int rand($samples - 1)} = 1 while keys %at < $count;
		push @runs, [map {
			@bag = sort { rand() <=> 0.5 } 0 .. $#kinds if !@bag;
			[pop @bag, $_, rand() < 0.5 ? 'n1' : 'n2', rand, rand, rand]
		} sort { $a <=> $b } keys %at];
	}
	return @runs;
}

sub rows {
	my ($lab, $sql) = @_;
	my $out = `sqlite3 -json -cmd '.timeout 20000' '@{[$lab->database]}' "$sql"`;
	die "sqlite3: $sql\n" if $?;
	return @{ $Lab::json->decode($out || '[]') };
}

# What is wrong with RUN, as lines.
sub wrong {
	my ($lab, $run) = @_;
	my @wrong;
	my $said = '';
	$said .= Lab::read_file("$lab->{dir}/$_.log") for 'n1', 'n2';
	my $one = sub { my ($sql, $wanted, $what) = @_; my $got = $lab->sql($sql); push @wrong, "$what: $got, not $wanted" if $got ne $wanted };
	$one->("SELECT state FROM runs WHERE run = '$run'", 'done', 'the run');
	$one->("SELECT count(*), count(DISTINCT cell_id || boot || '/' || sample) FROM attempts WHERE run = '$run' AND state = 'valid'",
		"$samples|$samples", 'valid samples, and different ones');
	$one->("SELECT count(*) FROM attempts WHERE run = '$run' AND state = 'open'", 0, 'open samples');
	$one->("SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE run = '$run' AND a.state = 'valid' AND c.nodes != (SELECT "
		. "count(*) FROM results r WHERE r.run = a.run AND r.cell_id = a.cell_id AND r.boot = a.boot AND r.sample = a.sample AND r.attempt = "
		. "a.attempt AND r.verdict = 'valid')", 0, 'valid samples without a valid result of each node');
	$one->("SELECT count(*) FROM (SELECT token FROM assignments GROUP BY token HAVING count(DISTINCT run || '/' || boot) > 1)", 0,
		'boots that served two blocks');
	my %stored;
	for my $row (rows($lab, "SELECT r.cell_id, r.boot, r.sample, r.attempt, r.node, r.sha256, hex(body) AS body, b.boot_id FROM results r JOIN assignments a "
		. "USING (run, cell_id, boot, sample, attempt, node) JOIN boots b USING (token) WHERE r.run = '$run'")) {
		my $body = pack 'H*', $row->{body};
		my $result = $Lab::json->decode($body);
		my $key = join ' ', $run, @$row{qw(cell_id boot sample attempt)}, sha256_hex $body;
		push @wrong, "a body that is not what its sum says: $key" if sha256_hex($body) ne $row->{sha256};
		push @wrong, "mixed up: $key" if grep { $result->{$_} ne $row->{$_} } qw(cell_id boot sample attempt node);
		push @wrong, "from another run: $key" if $result->{run} ne $run;
		push @wrong, "from another boot: $key" if $result->{evidence} && $result->{evidence}{boot_id} ne $row->{boot_id};
		push @wrong, "nobody sent: $key" if $said !~ /^$row->{node} sends \Q$key\E$/m;
		$stored{"$row->{node} $key"} = 1;
	}
	while ($said =~ /^(n\d) acknowledged (\Q$run\E .*)$/mg) {
		push @wrong, "acknowledged, and not there: $1 $2" if !$stored{"$1 $2"};
	}
	my $csv = `$Lab::assay report $run --csv --db '@{[$lab->database]}'`;
	push @wrong, 'assay report: exit code ' . ($? >> 8) if $?;
	my %lines = map { $_ => 1 } $csv =~ /^(.*)\n/mg;
	push @wrong, 'lines of the report: ' . keys %lines if keys %lines != $samples + 1;
	return @wrong;
}

# One run with FAULTS, of which those are taken out that happened (into DONE): it may end before. Gives what is wrong.
sub one_run {
	my ($lab, $faults, $done) = @_;
	my $dir = $lab->{dir};
	# A full disk or a locked database may refuse to queue it: the operator asks again.
	my $run = '';
	my $wipe = $lab->wipe("$FindBin::Bin/plan.yaml");
	Lab::wait_for(60, 'the run to be queued', sub {
		($run) = `$Lab::assay run $FindBin::Bin/plan.yaml --no-wait --db '@{[$lab->database]}' $wipe 2>>'$dir/run.log'` =~ /(plan-\S+)/;
		return $run;
	});
	my $count = sub { $lab->sql("SELECT count(*) FROM attempts WHERE run = '$run' AND state = 'valid'") };
	my $ended = sub { $lab->sql("SELECT ended_unix_ns NOT NULL FROM runs WHERE run = '$run'") eq '1' };
	while (@$faults) {
		my ($kind, $after, $node, @p) = @{ $faults->[0] };
		Lab::wait_for(180, "$after samples of $run", sub { my $n = $count->(); $n ne '' && $n >= $after || $ended->() });
		last if $ended->();
		sleep 0.2 * $p[2];
		$kinds[$kind][1]->($lab, $node, @p);
		push @$done, shift @$faults;
		return 'the server ended by itself: ' . substr Lab::read_file("$dir/serve.log"), -300 if waitpid($lab->{server}, 1) == $lab->{server};
	}
	Lab::wait_for(240, "the end of $run", $ended);
	return wrong($lab, $run);
}

# One lab, its share of the runs; a line a run on stdout: its number, what happened, and what is wrong. Interruptions that came
# too late for a run are those of the next.
sub lab {
	my ($own, $labs, @runs) = @_;
	$| = 1;
	my $lab = FaultLab->new;
	$lab->serve;
	$lab->node($_) for 'n1', 'n2';
	my @left;
	for (my $i = $own; $i < @runs || @left; $i += $labs) {
		my @done;
		@left = sort { $a->[1] <=> $b->[1] } @left, $i < @runs ? @{ $runs[$i] } : ();
		my @wrong = eval { one_run($lab, \@left, \@done) };
		@wrong = ($@) if $@;
		print $Lab::json->encode({run => $i, done => \@done, wrong => \@wrong}), "\n";
		if (@wrong) {
			# What follows would only be its consequence.
			system('cp', '-r', "$lab->{dir}", "out/tests/faults-lab$own") if !-e "out/tests/faults-lab$own";
			last;
		}
	}
	my @wrong;
	push @wrong, "integrity_check: $_" for grep { $_ ne 'ok' } $lab->sql('PRAGMA integrity_check');
	push @wrong, "foreign_key_check: $_" for grep { $_ ne '' } $lab->sql('PRAGMA foreign_key_check');
	push @wrong, 'refused messages: ' . $lab->sql('SELECT request, message FROM refused') if $lab->sql('SELECT count(*) FROM refused');
	push @wrong, 'the server ends badly' if $lab->end(delete $lab->{server});
	print $Lab::json->encode({end => 1, wrong => \@wrong}), "\n";
	system("cat $lab->{dir}/serve.log >out/tests/faults-lab$own.log");
}

my ($interruptions, $seed, $labs, $own) = @ARGV;
$labs //= 4;
my @runs = choose($interruptions, $seed);
if (defined $own) {
	lab($own, $labs, @runs);
	exit 0;
}
require Test::More;
Test::More->import;
$| = 1;
system('rm -rf out/tests/faults-lab*');
mkdir 'out/tests';
my (%from, %done, %told);
# Whatever a lab has started ends with it: it is in the lab's own process namespace.
my @labs;
my $tmp = Cwd::abs_path('out/tests') . '/faults-tmp';
system('rm', '-rf', $tmp);
mkdir $tmp or die "$tmp: $!";
$ENV{TMPDIR} = $tmp;
$SIG{INT} = $SIG{TERM} = sub {
	kill 'KILL', @labs;
	waitpid $_, 0 for @labs;
	system('rm', '-rf', $tmp);
	exit 1;
};
for my $n (0 .. $labs - 1) {
	push @labs, open($from{$n}, '-|', qw(unshare --net --mount --propagation private --pid --fork --kill-child --mount-proc),
		$^X, $0, $interruptions, $seed, $labs, $n) || die;
}
my $again = "make check-faults N=$interruptions SEED=$seed";
diag(sprintf '%d interruptions in %d runs, made-up nodes, seed %s (%s)', $interruptions, scalar @runs, $seed, $again);
my $started = time;
for my $n (sort keys %from) {
	while (my $line = readline $from{$n}) {
		my $said = $Lab::json->decode($line);
		my $wrong = join "\n", @{ $said->{wrong} };
		if ($said->{end}) {
			$done{$n} = 1;
			is($wrong, '', "lab $n: the database passes its integrity check, no message was refused");
			next;
		}
		my $faults = join ', ', map { "$kinds[$_->[0]][0] ($_->[2]) after $_->[1]" } @{ $said->{done} };
		is($wrong, '', "run $said->{run}: $faults: complete, no sample lost, doubled or mixed up");
		$told{$kinds[$_->[0]][0]}++ for @{ $said->{done} };
		$told{interruptions} += @{ $said->{done} };
		$told{runs}++;
	}
}
system('rm', '-rf', $tmp);
is(scalar(keys %done), $labs, 'every lab came to its end');
is($told{interruptions}, $interruptions, 'and every interruption happened');
diag(sprintf '%d runs, %d samples, %.0f s, made-up nodes; interruptions: %s', $told{runs} // 0, $samples * ($told{runs} // 0), time - $started,
	join ', ', map { "$_->[0] " . ($told{$_->[0]} // 0) } @kinds);
done_testing();
