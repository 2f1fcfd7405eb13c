#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: node.pl URL MAC NAME UUID [trouble=WHAT@N]… [boots-by=COMMAND] [measure-ms=N] [patience=N]
# A node as the lab sees it: boots, says hello, does what `next` says, uploads made-up results. It ends with the lab's
# server. For tests of the lab alone. WHAT: fail, invalid, reboot (in mid-sample), die (and stay away), hang (until it is
# killed); N: at the Nth sample that it is given. COMMAND must succeed before each boot; a sample takes up to N ms; after
# patience=N requests in a row that failed it ends (100). SIGUSR1: its worker is killed, SIGUSR2: its kernel panics, wherever it
# is. What is sent and what is acknowledged is said on stdout, with the SHA-256 of the bytes.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use HTTP::Tiny;
use JSON::PP;
use Time::HiRes qw(sleep time);

my ($url, $mac, $name, $uuid, @rest) = @ARGV;
my (%trouble, %option);
for (@rest) {
	if (/^trouble=(\w+)\@(\d+)$/) { $trouble{$2} = $1 }
	elsif (/^(boots-by|measure-ms|patience)=(.*)$/) { $option{$1} = $2 }
	else { die "$0: $_?\n" }
}
my ($accident, @dump) = ('');
$SIG{USR1} = sub { $accident = 'killed'; die "accident\n" };
$SIG{USR2} = sub { $accident = 'panic'; die "accident\n" };
my $http = HTTP::Tiny->new(timeout => 40);
my $json = JSON::PP->new->canonical->utf8;
my ($token, $boot_id, $given, $tries) = ('', '', 0, 0);
my ($state, $states_built) = ('', 0);
$| = 1;

sub request {
	my ($method, $path, $body) = @_;
	while (1) {
		my $answer = $http->request($method, "$url$path", {
			headers => {Authorization => "Bearer $token", 'Content-Type' => 'application/json'},
			defined $body ? (content => ref $body ? $json->encode($body) : $body) : ()});
		die "accident\n" if $accident; # HTTP::Tiny has swallowed it
		if ($answer->{status} < 500) {
			$tries = 0;
			return $answer;
		}
		exit 0 if ++$tries > ($option{patience} // 100);
		sleep 0.1;
	}
}

sub uuid { join '-', map { join '', map { sprintf '%x', rand 16 } 1 .. $_ } 8, 4, 4, 4, 12 }

sub inventory {
	return {
		schema_version => 1, dmi => {}, cpus => {model => 'none', online => 1}, memory_bytes => 1, kernel_release => '6.1.0-sim',
		command_line => 'sim', pci => [], disks => [], drbd_version => '8.4.11',
		nics => [{name => 'eth0', mac => $mac, driver => 'sim', management => JSON::PP::true}],
		warnings => ["eth1: its link runs at 1000 Mb/s, it can 10000"],
	};
}

sub boot {
	while ($option{'boots-by'} && system($option{'boots-by'})) { sleep 0.1 }
	$token = '';
	while (!$token) {
		my $script = request('GET', "/boot.ipxe?mac=$mac&uuid=$uuid")->{content};
		if ($script =~ /assay\.token=(\w+)/) { $token = $1 }
		elsif ($script =~ /^sleep \d+\nchain .* goto again$/m) { sleep 0.5 } # as it is told, but sooner
		else { die "$name: no token in: $script" }
	}
	$boot_id = uuid();
	($state, $states_built) = ('', 0);
	my $answer = request('POST', '/v1/hello', {
		schema_version => 1, mac => $mac, boot_id => $boot_id, image_id => 'sim', uptime_ns => 1500000000,
		inventory => inventory(), @dump ? (pstore => [@dump]) : ()});
	die "$name: hello: $answer->{status} $answer->{content}\n" if $answer->{status} != 200;
	@dump = ();
	print "$name boot $boot_id\n";
}

sub barrier {
	my ($work, $barrier) = @_;
	while (1) {
		my $answer = request('POST', '/v1/barrier', {(map { $_ => $work->{$_} } qw(run cell_id boot sample attempt)),
			name => $barrier});
		return 0 if $answer->{status} == 410;
		die "$name: barrier: $answer->{status} $answer->{content}\n" if $answer->{status} != 200;
		return 1 if $json->decode($answer->{content})->{go};
	}
}

sub upload {
	my ($work, %more) = @_;
	my $result = {schema_version => 1, (map { $_ => $work->{$_} } qw(run cell_id boot sample attempt role cell)), node => $name,
		started_unix_ns => int(time * 1e9), %more};
	my $text = $json->encode($result);
	my $key = join ' ', @$work{qw(run cell_id boot sample attempt)}, sha256_hex($text);
	print "$name sends $key\n";
	my $answer = request('PUT', join('/', '/v1/results', @$work{qw(run cell_id boot sample)}), $text);
	die "$name: result: $answer->{status} $answer->{content}\n" if $answer->{status} != 200;
	print "$name acknowledged $key\n";
	print "$name result $work->{cell_id} $work->{boot} $work->{sample} $work->{attempt} $result->{verdict}\n";
}

sub failed {
	my ($work, $message) = @_;
	$state = '';
	upload($work, verdict => 'failed', error => {node => $name, step => 'sim', object => 'sim', message => $message, remedy =>
		'none', scope => 'sample'});
}

sub measure {
	my ($work) = @_;
	my $what = $trouble{++$given} // '';
	my $wanted = $json->encode($work->{cell}{state});
	if ($state ne $wanted) {
		$state = $wanted;
		$states_built++;
	}
	request('POST', '/v1/step', {step => 'apply', text => 'building'});
	barrier($work, 'applied') or return failed($work, 'the sample is off');
	if ($what eq 'die') {
		print "$name dies\n";
		exit 0;
	}
	if ($what eq 'hang') {
		print "$name hangs\n";
		sleep 1 while getppid != 1;
		exit 0;
	}
	return boot() if $what eq 'reboot';
	return failed($work, 'trouble was asked for') if $what eq 'fail';
	barrier($work, 'ready') or return failed($work, 'the sample is off');
	my $bytes = $work->{cell}{workload}{size_bytes};
	my $ns = 1000000 + int rand 100000;
	sleep rand($option{'measure-ms'} // 0) / 1000 if $work->{role} eq 'measure';
	barrier($work, 'done') or return failed($work, 'the sample is off');
	upload($work, verdict => $what eq 'invalid' ? 'invalid' : 'valid', $what eq 'invalid' ? (reason => 'a link flapped') : (),
		evidence => {
			boot_id => $boot_id, kernel_release => '6.1.0-sim', image_id => 'sim', command_line => 'sim',
			states_built_before => $states_built - 1, in_force => $work->{cell}{state}, differences => [], paths => [],
			before => {}, after => {},
			nics => [{name => 'eth1', mac => $mac, driver => 'sim', mtu_bytes => 9000, carrier => JSON::PP::true}],
			disk => {device => 'sda', serial => $work->{self}{disk}{serial} // 'X', size_bytes => 1, logical_sector_bytes => 512,
				removable => JSON::PP::false, read_only => JSON::PP::false},
		},
		$work->{role} eq 'measure' ? (measurement => {
			bytes => $bytes, ns => $ns, mb_per_s => $bytes * 1e3 / $ns, mib_per_s => $bytes * 1e9 / $ns / 1048576,
			records_full => 1, records_partial => 0, second_bytes => [$bytes], equivalent => 'dd'}) : ());
}

sub work {
	my $answer = request('GET', '/v1/next');
	if ($answer->{status} == 401) {
		boot();
		return;
	}
	die "$name: next: $answer->{status} $answer->{content}\n" if $answer->{status} != 200;
	my $work = $json->decode($answer->{content});
	if ($work->{action} eq 'measure') {
		measure($work);
	} elsif ($work->{action} eq 'reboot') {
		print "$name reboot: $work->{reason}\n";
		boot();
	}
}

# As init and its PID 1 see to it: a worker that was killed is told to the lab, a panic's last words come with the next hello.
sub after {
	my $what = $accident;
	$accident = '';
	print "$name $what\n";
	@dump = ({name => 'dmesg-erst-1', text => 'Kernel panic - not syncing: made up'}) if $what eq 'panic';
	request('POST', '/v1/error', {error => {node => $name, step => 'sim', object => 'sim', message => 'the worker was killed', remedy =>
		'none', scope => 'sample'}}) if $what eq 'killed' && $token;
}

print "$name is on\n";
my $booted = 0;
while (1) {
	next if eval { $booted ? work() : boot(); $booted = 1 };
	die $@ if !$accident;
	eval { after(); $booted = 0; 1 } or ($accident or die $@);
	$booted = 0;
}
