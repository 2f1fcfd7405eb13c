#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Clients that mean harm: what they send is no HTTP, no JSON, no UTF-8, SQL, HTML, too much, too slow, too often. The server
# goes on serving, keeps its store, and its pages say text as text.
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

my $mac = '52:54:00:00:00:01';
my $lab = Lab->new;
Lab::write_file("$lab->{dir}/plan.yaml", <<'X');
schema_version: 1
question: Is </script><img src=x onerror=alert(1)> a question?
nodes: 1
base: {stack: raw}
workloads:
  - copy: {bs: 1MiB, size: 4MiB}
repeat: {boots: 1, samples: 2}
retries: 5
X
$lab->serve;
my ($boot) = '00000000-0000-0000-0000-000000000001';
my $token = $lab->token("mac=$mac");

sub connection {
	my ($from) = @_;
	return IO::Socket::INET->new(PeerAddr => $lab->{url} =~ m{//(.*)}, Proto => 'tcp', Timeout => 5, $from ? (LocalAddr => $from) : ());
}

# What the server says within some seconds to the bytes of REQUEST
sub raw {
	my ($request, $from) = @_;
	my $s = connection($from) or return '';
	my $text = '';
	local $SIG{PIPE} = 'IGNORE';
	syswrite $s, $request;
	my $select = IO::Select->new($s);
	while ($select->can_read(5)) {
		last if !sysread($s, $text, 65536, length $text) || $text =~ /\r\n\r\n/;
	}
	return $text;
}

sub code { (raw(@_) =~ m{^HTTP/1\.[01] (\d+)})[0] // 0 }

sub post {
	my ($path, $body, $method) = @_;
	return ($method // 'POST') . " $path HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
}

sub served { $lab->request('POST', '/v1/step', token => $token, body => {step => 'x', text => 'y'})->{status} == 410 }

# --- before a token is shown, nothing is read ---
my $hello_head = "POST /v1/hello HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " . 'f' x 32 . "\r\nContent-Length: 4000000\r\n\r\n";
is(code($hello_head . ' ' x 4000000), 401, 'a hello of 4 MB with a token that was never made');
is($lab->sql('SELECT count(*) FROM refused'), 0, 'is not kept');
is($lab->request('POST', '/v1/hello', token => $token, body => Lab::hello($mac, $boot))->{status}, 200, 'the node says hello');

# --- no HTTP, no UTF-8 ---
is(code("GET /" . 'x' x 100_000 . " HTTP/1.1\r\n\r\n"), 414, 'an address of 100 kB');
is(code("GET / HTTP/1.1\r\nHost: x\r\n" . 'X: ' . 'y' x 100_000 . "\r\n\r\n"), 431, 'a header of 100 kB');
is(code("GET / HTTP/1.1\r\nHost: x\r\n" . join('', map { "X$_: y\r\n" } 1 .. 20_000) . "\r\n"), 431, 'twenty thousand headers');
is(code("GET /image/%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n"), 400, 'an address that is no UTF-8');
is(code("GET /image/%1b%5b2J HTTP/1.1\r\nHost: x\r\n\r\n"), 400, 'an address that moves the cursor of who reads the log');
is(code(post('/v1/step', "{\"step\": \"\xff\xfe\", \"text\": \"y\"}")), 422, 'JSON that is no UTF-8');
is(code(post('/v1/step', "{\"step\": \"\\ud800\", \"text\": \"y\"}")), 422, 'half a surrogate pair');
is(code(post('/v1/step', "{\"step\": \"a\\u0000b\", \"text\": \"y\"}")), 422, 'a zero byte in a text');
is(code("POST /v1/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\nContent-Length: 2\r\n\r\n{}"), 401, 'a token that is no UTF-8');
my $deep = $Lab::json->encode(Lab::hello($mac, $boot));
$deep =~ s/"dmi":\{\}/'"dmi":' . '[' x 1900 . ']' x 1900/e or die;
is(code(post('/v1/hello', $deep)), 422, 'JSON 1,900 deep where a schema looks');
is(code(post('/v1/step', '{"step":' x 100_00)), 413, 'JSON deeper than that is too long');
is(code(post('/v1/hello', '[' x 1_000_000)), 422, 'a million brackets');
is(code(post('/v1/hello', '{"a":' . '9' x 1_000_000 . '}')), 422, 'a number of a million digits');
is(code("POST /v1/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\nContent-Length: 99999999999999999999\r\n\r\n"), 413,
	'a length of more than there is');
my $smuggled = raw("POST /v1/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /image/vmlinuz HTTP/1.1\r\nHost: x\r\n\r\n");
unlike($smuggled, qr/K{100}/, 'a request hidden in the body of another');
ok(served(), 'and the node is served');

# --- every text of every message ---
# Calls CHANGE with a reference to each text in VALUE and its JSON pointer.
sub each_text {
	my ($value, $pointer, $change) = @_;
	if (ref $value eq 'HASH') {
		for my $key (sort keys %$value) {
			ref $value->{$key} ? each_text($value->{$key}, "$pointer/$key", $change) : $change->(\$value->{$key}, "$pointer/$key");
		}
	} elsif (ref $value eq 'ARRAY') {
		for my $i (0 .. $#$value) {
			ref $value->[$i] ? each_text($value->[$i], "$pointer/$i", $change) : $change->(\$value->[$i], "$pointer/$i");
		}
	}
}

sub example { $Lab::json->decode(Lab::read_file("$Lab::root/results-schema/examples/valid/$_[0].json")) }
sub copy { $Lab::json->decode($Lab::json->encode($_[0])) }

# MESSAGE with EVIL in every text that its schema lets it stand in: the server's 422 says where it does not. SEND gives the
# answer. Gives the last status, and how many texts were evil then.
sub poison {
	my ($message, $evil, $send, @fixed) = @_;
	my %fixed = map { $_ => 1 } @fixed;
	for (1 .. 400) {
		my ($body, $count) = (copy($message), 0);
		each_text($body, '', sub {
			my ($text, $pointer) = @_;
			return if $fixed{$pointer} || grep { $pointer =~ m{^\Q$_\E/} } keys %fixed;
			return if $$text =~ /^-?[0-9.e+]+$/ || ref $$text;
			$$text = $evil;
			$count++;
		});
		my $answer = $send->($body);
		return ($answer->{status}, $count) if $answer->{status} != 422;
		my $path = $Lab::json->decode($answer->{content})->{error}{path};
		die "422 without a path, or twice the same: $answer->{content}" if $path eq '' || $fixed{$path}++;
	}
	die 'no end';
}

my $sql = q{'); DROP TABLE boots; DELETE FROM results; --};
my $html = q{</script><img src=x onerror=alert(1)>"'<b>};
my $tables = $lab->sql("SELECT count(*) FROM sqlite_master WHERE type = 'table'");
sub send_to {
	my ($method, $path) = @_;
	return sub { $lab->request($method, $path, token => $token, body => $_[0]) };
}
# A boot says hello once, so each text gets a boot of its own.
my $number = 1;
sub hello_again {
	my ($evil) = @_;
	$token = $lab->token("mac=$mac");
	my $hello = example('hello--with-pstore');
	$boot = sprintf '00000000-0000-0000-0000-%012d', ++$number;
	@$hello{qw(mac boot_id inventory)} = ($mac, $boot, example('inventory--full'));
	delete $hello->{inventory}{layers};
	return poison($hello, $evil, send_to('POST', '/v1/hello'), '/mac', '/boot_id');
}
for my $evil ($sql, $html) {
	my ($status, $count) = hello_again($evil);
	is($status, 200, 'a hello');
	cmp_ok($count, '>=', 25, "with $count evil texts");
	is($lab->sql("SELECT count(*) FROM boots WHERE inventory LIKE '%DROP TABLE%' OR inventory LIKE '%<img%'"), $number - 1, 'keeps them as text');
	($status, $count) = poison(example('step--plain'), $evil, send_to('POST', '/v1/step'));
	is("$status $count", '410 2', 'a step');
	($status, $count) = poison({error => example('error--full')}, $evil, send_to('POST', '/v1/error'), '/error/scope');
	is($status, 204, 'an error');
	cmp_ok($count, '>=', 4, "with $count evil texts");
	($status, $count) = poison(example('barrier--ready'), $evil, send_to('POST', '/v1/barrier'));
	is($status, 410, 'a barrier');
}
for my $path ("/boot.ipxe?mac=$mac&uuid=%27%29%3B%20DROP%20TABLE%20boots%3B--", '/boot.ipxe?mac=%27%29%3B--',
	"/v1/results/%27%29%3B--/x/1/1", '/image/%27%29%3B--') {
	cmp_ok($lab->request(($path =~ /results/ ? 'PUT' : 'GET'), $path, token => $token, $path =~ /results/ ? (body => {}) : ())->{status},
		'<', 500, "an address with SQL: $path");
}
is($lab->sql("SELECT count(*) FROM sqlite_master WHERE type = 'table'"), $tables, 'every table is there');

# --- and what is made of it ---
my $run = `$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{dir}/db --no-wait`;
chomp $run;
sub work {
	my $work;
	Lab::wait_for(20, 'work', sub {
		$work = $Lab::json->decode($lab->request('GET', '/v1/next', token => $token)->{content});
		return $work->{action} eq 'measure';
	});
	return $work;
}
sub put { my ($work) = @_; return send_to('PUT', join '/', '/v1/results', @$work{qw(run cell_id boot sample)}) }
my $work = work();
my ($status, $count) = poison({%{ Lab::result($work, $boot) }, verdict => 'failed', error => {%{ example('error--full') }, scope => 'sample'}}, $html, put($work),
	'/run', '/cell_id', '/cell', '/node', '/role', '/verdict', '/error/scope', '/evidence', '/measurement');
is($status, 200, 'a failed result');
for my $n (1, 2) {
	$work = work();
	my $evidence = example('result--valid-drbd')->{evidence};
	@$evidence{qw(boot_id in_force differences states_built_before)} = ($boot, $work->{cell}{state}, [], 0);
	($status, $count) = poison(Lab::result($work, $boot, evidence => $evidence), $html, put($work),
		qw(/run /cell_id /cell /node /role /verdict /evidence/boot_id /evidence/in_force));
	is($status, 200, "a valid result");
	cmp_ok($count, '>=', 30, "with $count evil texts");
}
Lab::wait_for(20, 'the run to end', sub { $lab->sql("SELECT ended_unix_ns NOT NULL FROM runs WHERE run = '$run'") });
my $page = `$Lab::assay report --db $lab->{dir}/db --html -`;
is($? >> 8, 0, 'the page is made');
cmp_ok(scalar(() = $page =~ /&lt;img src=x/g), '>=', 5, 'it shows the texts');
unlike($page, qr/<img src=x/, 'and not one of them is a tag');
is(scalar(() = $page =~ m{</script>}g), scalar(() = $page =~ /<script\b/g), 'or ends a script');
for my $command ("status", "report", "report --csv") {
	my $out = `$Lab::assay $command --db $lab->{dir}/db`;
	unlike($out, qr/[\x00-\x08\x0b-\x1f\x7f]/, "assay $command prints no control characters");
}

# --- too slow ---
my @slow = map { connection('127.0.0.3') } 1 .. 30;
syswrite $_, "POST /v1/step HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $token\r\nContent-Length: 1000\r\n\r\n" for @slow;
my ($began, $open, $select) = (time, scalar @slow, IO::Select->new(@slow));
while ($open && time - $began < 100) {
	for my $s ($select->can_read(1)) {
		next if sysread $s, my $answer, 1000;
		$select->remove($s);
		$open--;
	}
	local $SIG{PIPE} = 'IGNORE';
	syswrite $_, 'x' for $select->handles;
}
is($open, 0, 'bodies of a byte a second are cut off');
cmp_ok(time - $began, '>', 30, 'not at once');
ok(served(), 'and the node is served');

# --- too many ---
sub memory { (Lab::read_file("/proc/$lab->{server}/status") =~ /VmRSS:\s+(\d+)/)[0] / 1024 }
sub files { my @fd = glob "/proc/$lab->{server}/fd/*"; return scalar @fd }
my ($memory, $files) = (memory(), files());
my @many = grep { defined } map { connection('127.0.0.4') } 1 .. 400;
{
	local $SIG{PIPE} = 'IGNORE';
	syswrite $_, "GET /v1/next HTTP/1.1\r\n" for @many;
}
Lab::wait_for(10, 'the server to take what it will', sub { files() > $files + 200 });
cmp_ok(files() - $files, '<=', 300, 'four hundred connections from one address: some are taken');
ok(served(), 'and the node, at another address, is served');
close $_ for @many;
srand 1;
my ($longest, @held) = (0);
for my $n (1 .. 10_000) {
	my $s = connection('127.0.0.' . (5 + $n % 50)) or next;
	$s->blocking(0);
	local $SIG{PIPE} = 'IGNORE';
	syswrite $s, join '', map { chr int rand 256 } 1 .. 1 + int rand 300;
	push @held, $s;
	shift @held if @held > 500;
	next if $n % 1000;
	my $start = time;
	ok(served(), "the node is served beside $n connections of garbage");
	$longest = time - $start if time - $start > $longest;
}
cmp_ok($longest, '<', 2, sprintf 'within %.2f s at most', $longest);
@held = ();
Lab::wait_for(70, 'files to be closed', sub { files() <= $files + 10 });
pass('all their files are closed in the end');
cmp_ok(memory() - $memory, '<', 60, sprintf 'memory has grown by %.0f MiB', memory() - $memory);

# --- too often ---
my %seen;
my $http = HTTP::Tiny->new(timeout => 10, local_address => '127.0.0.2');
for (1 .. 400) {
	my $answer = $http->get("$lab->{url}/boot.ipxe?mac=52:54:00:00:00:77");
	$seen{ $answer->{status} }++;
	$seen{retry} = $answer->{headers}{'retry-after'} if $answer->{status} == 429;
}
ok($seen{200} && $seen{429}, 'an address that asks for scripts without end is told to wait');
like($seen{retry} // '', qr/^\d+$/, 'and how long');
ok($lab->token("mac=$mac"), 'others are served');
is($lab->end($lab->{server}), 0, 'the end');
is($lab->sql('PRAGMA integrity_check'), 'ok', 'the database is sound');
unlike(Lab::read_file("$lab->{dir}/serve.log"), qr/[\x00-\x08\x0b-\x1f\x7f]/, 'the log has no control characters');
done_testing;
