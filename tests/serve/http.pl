#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# The server's HTTP side: who may ask what, and what becomes of messages that are wrong.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IO::Socket::INET;
use Lab;
use Test::More;
use Time::HiRes qw(sleep time);

my $lab = Lab->new;
my $mac = '52:54:00:00:00:01';
my $uuid = '00000000-1111-2222-3333-444444444444';
my $other_mac = '52:54:00:00:00:09';
$lab->serve;

sub status { $lab->request(@_)->{status} }

sub token { $lab->token(@_) }
sub hello { Lab::hello($mac, @_) }

# --- boot scripts ---
my $answer = $lab->request('GET', '/boot.ipxe');
like($answer->{content}, qr/^#!ipxe\n/, 'a script without MAC and UUID');
like($answer->{content}, qr{chain \S.*\Q$lab->{url}\E/boot\.ipxe\?mac=\$\{netX/mac\}&uuid=\$\{uuid\}}, 'it chains with what iPXE knows');
$answer = $lab->request('GET', "/boot.ipxe?mac=52-54-00-00-00-01&uuid=");
like($answer->{content}, qr/^kernel \S+vmlinuz initrd=initramfs\.cpio\.zst console=tty0 console=ttyS0,115200 panic=10 quiet/m,
	'a node known by its MAC, in whatever spelling, gets kernel, initrd= for UEFI, and consoles');
like($answer->{content}, qr{assay\.ip=\$\{netX/ip\}/8\$\{gateway-argument\} BOOTIF=01-52-54-00-00-00-01 mitigations=off},
	'address with the prefix of server.address, BOOTIF, and the node\'s own arguments');
my $script = $lab->request('GET', "/boot.ipxe?mac=$other_mac&uuid=\U$uuid")->{content};
like($script, qr/this is node n2 .* console=ttyS1,115200 panic/s, 'a node known by its UUID, with its console');
$script = $lab->request('GET', "/boot.ipxe?mac=$other_mac&uuid=x")->{content};
like($script, qr/not in the lab file.*mac: \Q$other_mac\E.*try=1/s, 'a stranger is told what to add, and asks again');
unlike($script, qr/token/, 'and gets no token');
like($lab->request('GET', "/boot.ipxe?mac=$other_mac&uuid=x&try=60")->{content}, qr/exit 1\n$/, 'but not for ever');
is($lab->sql('SELECT mac FROM strangers'), $other_mac, 'strangers are kept for status');
is(status('GET', '/boot.ipxe?mac=52:54:00:00:00:01%0aboot'), 400, 'a MAC that is none is refused');
isnt(token("mac=$mac"), token("mac=$mac"), 'every script has its own token');
token("mac=$mac") for 1 .. 20;
is($lab->sql("SELECT count(*) FROM boots WHERE node = 'n1'"), 8, 'tokens of scripts that led nowhere do not pile up');

# --- files ---
$answer = $lab->request('GET', '/image/vmlinuz');
is(length $answer->{content}, 100_000, 'the kernel');
is($answer->{headers}{'content-length'}, 100_000, 'with its length');
is($lab->request('HEAD', '/image/vmlinuz')->{headers}{'content-length'}, 100_000, 'HEAD too');
is(status('GET', '/image/ipxe/undionly.kpxe'), 200, 'iPXE');
for my $path ('secret', 'manifest.json', '../lab.yaml', '%2e%2e/lab.yaml', 'ipxe/../secret', 'ipxe/..%2fsecret', 'ipxe%2f..%2fsecret',
	'initramfs.cpio/../secret', '/etc/passwd', '', 'ipxe/', 'initramfs.cpio.zst/') {
	is(status('GET', "/image/$path"), 404, "not served: /image/$path");
}

# --- tokens ---
is(status('GET', '/v1/next'), 401, 'no token');
is(status('GET', '/v1/next', token => 'f' x 32), 401, 'wrong token');
is(status('GET', '/v1/next', token => 'f' x 300), 401, 'absurd token');
my $token = token("mac=$mac");
is(status('GET', '/v1/next', token => $token), 401, 'a token whose boot has not said hello');
my ($boot_a, $boot_b) = map { "00000000-0000-0000-0000-00000000000$_" } 1, 2;
is(status('POST', '/v1/hello', token => 'f' x 32, body => hello($boot_a)), 401, 'hello with an unknown token');
is(status('POST', '/v1/hello', token => $token, body => hello($boot_a, mac => $other_mac)), 422, 'hello of another machine');
$answer = $lab->request('POST', '/v1/hello', token => $token, body => hello($boot_a, pstore => [{name => 'dmesg-0', text => 'Oops'}]));
is($answer->{status}, 200, 'hello');
is_deeply([@{ $Lab::json->decode($answer->{content}) }{qw(node group image_id)}], ['n1', 'pair1', 'sim'], 'and who the node is');
is($lab->sql('SELECT text FROM pstore'), 'Oops', 'the dump of the kernel before is kept');
is(status('POST', '/v1/hello', token => $token, body => hello($boot_a)), 200, 'hello again, from the same boot');
is(status('POST', '/v1/hello', token => $token, body => hello($boot_b)), 401, 'the token does not serve another boot');
is(status('POST', '/v1/step', token => $token, body => {step => 'x', text => 'y'}), 410, 'a step of no sample is told that it is off');
my $token_b = token("mac=$mac");
is(status('POST', '/v1/hello', token => $token_b, body => hello($boot_b)), 200, 'the node boots again');
is(status('POST', '/v1/step', token => $token, body => {step => 'x', text => 'y'}), 401, 'which ends what the first token may do');
is(status('POST', '/v1/hello', token => $token, body => hello($boot_a)), 401, 'for ever');
$token = $token_b;

# --- addresses and methods ---
is(status('GET', '/'), 404, 'nothing at /');
is(status('GET', '/v1/other', token => $token), 404, 'nothing at /v1/other');
is(status('POST', '/v1/next', token => $token, body => {}), 405, 'next is not posted');
is(status('DELETE', '/image/vmlinuz'), 405, 'nothing is deleted');
is(status('GET', '/' . 'x' x 2000), 414, 'an absurd address');

# --- messages that are wrong ---
sub refused {
	my ($what, $method, $path, $body, $where) = @_;
	my $answer = $lab->request($method, $path, token => $token, body => $body);
	is($answer->{status}, 422, "$what: 422");
	is($Lab::json->decode($answer->{content})->{error}{path}, $where, "$what: with the path $where");
	my $hex = lc unpack 'H*', ref $body ? $Lab::json->encode($body) : $body;
	is(lc $lab->sql('SELECT hex(body) FROM refused ORDER BY id DESC LIMIT 1'), $hex, "$what: the bytes are kept aside");
}
refused('a member too many', 'POST', '/v1/step', {step => 'x', text => 'y', z => 1}, '/z');
refused('a member of another type', 'POST', '/v1/step', {step => 1, text => 'y'}, '/step');
refused('not JSON', 'POST', '/v1/step', "{\"step\": \x{1}", '');
refused('nothing', 'POST', '/v1/step', '', '');
refused('JSON deep in itself', 'POST', '/v1/step', '[' x 30000, '');
refused('twice the same member', 'POST', '/v1/step', '{"step": "a", "step": "b", "text": "c"}', '');
refused('an error without scope', 'POST', '/v1/error', {error => {node => 'n1', step => 's', object => 'o', message => 'm', remedy => 'r'}},
	'/error');
refused('a bare error', 'POST', '/v1/error', {node => 'n1'}, '');
my $cell = 'a' x 64;
refused('a result that is none', 'PUT', "/v1/results/run-1/$cell/1/1", {schema_version => 1}, '');
is(status('PUT', "/v1/results/run-1/$cell/1", token => $token, body => {}), 404, 'a result without sample in its address');
is(status('PUT', "/v1/results/run-1/$cell/1/-1", token => $token, body => {}), 404, 'or with a sample that is none');
is(status('POST', '/v1/step', token => $token, body => ' ' x 70_000), 413, 'a step of 70 kB');
is(status('PUT', "/v1/results/r/c/1/1", token => $token, body => ' ' x (5 << 20)), 413, 'a result of 5 MiB');
my $left = 100;
is(status('PUT', "/v1/results/r/c/1/1", token => $token, body => sub { $left-- > 0 ? ' ' x 65536 : undef }), 413,
	'a result of 6 MiB that does not say its length');
is(status('POST', '/v1/hello', token => $token, body => ' ' x (3 << 20)), 422, 'a hello of 3 MiB is read');

# --- many ---
my @held = map { IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp') } 1 .. 200;
print $_ "GET /v1/next HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\n\r\n" for @held;
is(status('GET', '/image/vmlinuz'), 200, 'two hundred held requests hold up nobody');
close $_ for @held;

# --- a whole sample by hand: keys, repeats, contradictions ---
my $run = `$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{dir}/db --no-wait`;
chomp $run;
like($run, qr/^plan-\d{8}-\d{4}-[0-9a-f]{4}$/, "run $run");
my $work;
Lab::wait_for(20, 'work', sub {
	$work = $Lab::json->decode($lab->request('GET', '/v1/next', token => $token)->{content});
	return $work->{action} eq 'measure';
});
is_deeply([@$work{qw(run boot sample attempt role)}], [$run, 1, 1, 1, 'measure'], 'the first sample, of the raw disk');
is($work->{self}{storage_address}, '10.99.0.1/24', 'with the storage address');
my $address = "/v1/results/$run/$work->{cell_id}/1/1";
my $result = Lab::result($work, $boot_b);
for my $case (['/cell_id', cell_id => $cell], ['/boot', boot => 2], ['/sample', sample => 2], ['/node', node => 'n2'],
	['/role', role => 'peer'], ['/cell', cell => {%{ $work->{cell} }, state => {%{ $work->{cell}{state} }, 'nic.mtu' => 1501}}],
	['/verdict', verdict => 'good'], ['/measurement/bytes', measurement => {%{ $result->{measurement} }, bytes => 0}]) {
	my ($where, $member, $value) = @$case;
	refused("a result with another $member", 'PUT', $address, {%$result, $member => $value}, $where);
}
is(status('PUT', $address, token => $token, body => {%$result, attempt => 7}), 404, 'an attempt that was never given');
my $first = $Lab::json->encode($result);
$answer = $lab->request('PUT', $address, token => $token, body => $first);
is($answer->{status}, 200, 'the result');
is(lc $lab->sql('SELECT hex(body) FROM results'), unpack('H*', $first), 'is there byte for byte');
is($lab->request('PUT', $address, token => $token, body => $first)->{content}, $answer->{content}, 'the same again: the same answer');
is(status('PUT', $address, token => $token, body => {%$result, started_unix_ns => 2}), 409, 'another one: 409');
is($lab->sql('SELECT count(*) FROM results'), 1, 'and one is there');
$work = $Lab::json->decode($lab->request('GET', '/v1/next', token => $token)->{content});
is_deeply([@$work{qw(action sample)}], ['measure', 2], 'the next sample');
is(status('POST', '/v1/step', token => $token, body => {step => 'x', text => 'y'}), 204, 'a step of the sample');
my %key = map { $_ => $work->{$_} } qw(run cell_id boot sample attempt);
is($Lab::json->decode($lab->request('POST', '/v1/barrier', token => $token, body => {%key, name => 'ready'})->{content})->{go},
	JSON::PP::true, 'a node alone passes its barriers');
# Two connections that stay open: one that says nothing while it measures, one that only says nothing.
my $ready_body = $Lab::json->encode({%key, name => 'ready'});
my ($measures, $idles) = map { IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp', Timeout => 5) } 1 .. 2;
sub answered {
	my ($socket, $request) = @_;
	my $text = '';
	print $socket $request;
	for (1 .. 100) {
		my $ready = '';
		vec($ready, fileno $socket, 1) = 1;
		last if !select($ready, undef, undef, 10) || !sysread($socket, $text, 4096, length $text) || $text =~ /\r\n\r\n./s;
	}
	return $text =~ /^HTTP\/1.1 200/;
}
ok(answered($measures, "POST /v1/barrier HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\nContent-Length: " .
	length($ready_body) . "\r\n\r\n$ready_body"), 'a node that begins to measure');
ok(answered($idles, "GET /boot.ipxe HTTP/1.1\r\nHost: x\r\n\r\n"), 'and one that got its script');
is(status('POST', '/v1/barrier', token => $token, body => {%key, sample => 1, name => 'done'}), 410, 'a barrier of another sample: 410');
$result = {%$result, sample => 2, evidence => {%{ $result->{evidence} }, boot_id => $boot_a}};
is(status('PUT', "/v1/results/$run/$work->{cell_id}/1/2", token => $token, body => $result), 200, 'evidence of another boot is taken');
is($lab->sql('SELECT verdict || reason FROM results WHERE sample = 2'),
	'invalidthe evidence is from another boot than the sample was given to', 'but does not count');

# --- slow ---
my $before = time;
my $slow = IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp', Timeout => 5);
print $slow "GET /v1/ne";
my $ended = 0;
while (time - $before < 90 && !$ended) {
	my $ready = '';
	vec($ready, fileno $slow, 1) = 1;
	if (select $ready, undef, undef, 1) {
		$ended = !sysread $slow, my $byte, 100;
	} else {
		$ended = !syswrite $slow, 'x';
	}
}
ok($ended, 'a request of a byte a second is cut off');
cmp_ok(time - $before, '<', 60, 'within a minute');
ok(!answered($idles, "GET /boot.ipxe HTTP/1.1\r\nHost: x\r\n\r\n"), 'a connection that was idle for so long is closed');
ok(answered($measures, "GET /boot.ipxe HTTP/1.1\r\nHost: x\r\n\r\n"), 'but not that of a node that may measure');
is($Lab::json->decode(scalar `$Lab::assay status --db $lab->{dir}/db --json`)->{runs}[0]{samples_done}, 1, 'status for programs');

# --- layers ---
# Which layers the node of MAC would load, and its kernel, by its script
sub script_loads {
	my $text = $lab->request('GET', "/boot.ipxe?mac=$mac")->{content};
	return join ' ', $text =~ m{^(?:kernel|initrd) \S+/image/(\S+)}mg;
}

# A run of one cell with LEVELS, the only one of its group that is not cancelled.
sub run_of {
	my ($levels) = @_;
	Lab::write_file("$lab->{dir}/layers.yaml", "schema_version: 1\nquestion: q\nnodes: 1\nbase: {$levels}\n"
		. "workloads:\n  - copy: {bs: 4KiB, size: 4KiB}\n");
	my $id = `$Lab::assay run $lab->{dir}/layers.yaml --db $lab->{dir}/db --no-wait`;
	chomp $id;
	Lab::wait_for(20, 'the run', sub { ($lab->sql("SELECT state FROM runs WHERE run = '$id'") // '') ne 'queued' });
	return $id;
}

sub cancel {
	my ($id) = @_;
	`$Lab::assay run --cancel $id --db $lab->{dir}/db 2>/dev/null`;
	Lab::wait_for(20, 'the end', sub { $lab->sql("SELECT ended_unix_ns FROM runs WHERE run = '$id'") });
}

cancel($run);
mkdir "$lab->{dir}/image/layers" or die;
for my $name ('lvm2.cpio.zst', 'filesystems.cpio.zst', 'kernel-debian.cpio.zst', 'kernel-debian.vmlinuz') {
	Lab::write_file("$lab->{dir}/image/layers/$name", 'L');
}
is(script_loads(), 'vmlinuz initramfs.cpio.zst', 'no run: no layer');
$run = run_of('stack: ext4/lvm');
is(script_loads(), 'vmlinuz initramfs.cpio.zst layers/lvm2.cpio.zst layers/filesystems.cpio.zst', 'a run with LVM and ext4: their layers');
like($lab->request('GET', "/boot.ipxe?mac=$mac")->{content},
	qr/ initrd=initramfs\.cpio\.zst initrd=lvm2\.cpio\.zst initrd=filesystems\.cpio\.zst /, 'by name too, for UEFI');
is(status('GET', '/image/layers/lvm2.cpio.zst'), 200, 'a layer');
is(status('GET', '/image/layers/../secret'), 404, 'nothing beside the layers');
cancel($run);
$run = run_of('boot.kernel: debian');
is(script_loads(), 'layers/kernel-debian.vmlinuz initramfs.cpio.zst layers/kernel-debian.cpio.zst', 'another kernel, with its modules');
cancel($run);
$run = run_of('stack: luks');
like($lab->request('GET', "/boot.ipxe?mac=$mac")->{content}, qr/make layers/, 'a layer that the server lacks: the console says what to do');
Lab::wait_for(20, 'the failure', sub { $lab->sql("SELECT state FROM runs WHERE run = '$run'") eq 'failed' });
like($lab->sql("SELECT error FROM runs WHERE run = '$run'"), qr/make layers/, 'and so does the run, which has ended');

# --- the end ---
my $held = IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp');
print $held "GET /v1/next HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\n\r\n";
sleep 0.2;
is($lab->end($lab->{server}), 0, 'the server ends well');
is($lab->sql('PRAGMA integrity_check'), 'ok', 'and leaves a sound database');
done_testing;
