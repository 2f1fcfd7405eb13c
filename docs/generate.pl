#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: docs/generate.pl ASSAY FOLDER
# Writes the pages that are made from the code: factors.md and metrics of acceptance (assay factors), workloads.md
# (results-schema/plan.json), messages.md (every failure that a node reports, from the calls of fail() in init/). tests/docs/docs.t
# compares them with what is in docs/; `make docs` writes them there.
use strict;
use warnings;
use JSON::PP;

my ($assay, $folder) = @ARGV;
my $json = JSON::PP->new->utf8;
my $made = "<!-- Made by docs/generate.pl: do not edit. -->\n\n";
sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/; return scalar <$in> }
sub page { my ($name, $text) = @_; open my $out, '>', "$folder/$name" or die "$folder/$name: $!"; print $out $text; close $out or die }
# For a cell of a table.
sub cell { my ($t) = @_; $t =~ s/\|/\\|/g; $t =~ s/\s+/ /g; $t =~ s/</&lt;/g; return $t }
sub encoded { my ($t) = @_; utf8::encode($t); return $t }

sub factors {
	my $out = "# Factors\n\n${made}Everything that a plan can vary; `assay factors NAME` tells the same of one. The default is in bold.\n\n";
	my $group = '';
	for my $f (@{ $json->decode(scalar `$assay factors --json`) }) {
		my ($head) = $f->{name} =~ /^([a-z0-9]+)/;
		$out .= "## $head\n\n| factor | levels | what it is | part of | applied |\n| --- | --- | --- | --- | --- |\n" if $head ne $group;
		$group = $head;
		my $default = $f->{default} // '';
		my @levels = map { $_ eq $default ? "**$_**" : $_ } @{ $f->{levels} // [] };
		push @levels, "$f->{min} to $f->{max}" . ($f->{unit} ? " $f->{unit}" : '') if exists $f->{min};
		push @levels, 'text' if $f->{text};
		push @levels, "**$default**" if !grep { /\*/ } @levels;
		$out .= '| ' . join(' | ', "`$f->{name}`", map { cell(encoded($_)) } join(', ', @levels), $f->{description}, $f->{in}, $f->{applied}) . " |\n";
		die "assay factors --json has more than this knows: " . join ' ', keys %$f if grep { !/^(name|in|applied|description|levels|default|min|max|unit|text|drbdsetup_option)$/ } keys %$f;
	}
	$out =~ s/\n(## )/\n\n$1/g;
	$out .= "\n## What acceptance can demand\n\nAs `assay factors --metrics` lists it: the metric, a bound as an example, what it is.\n\n```text\n" . `$assay factors --metrics` . "```\n";
	return $out =~ s/\n\n\n+/\n\n/gr;
}

sub type_of {
	my ($key) = @_;
	return join ', ', @{ $key->{enum} } if $key->{enum};
	return 'list of ' . join ', ', @{ $key->{items}{enum} } if $key->{items};
	return 'true, false' if $key->{type} eq 'boolean';
	return ($key->{description} // '') =~ /^(?:of its test file: )?bytes/ ? 'size' : 'duration' if ref $key->{type};
	my $range = exists $key->{minimum} && exists $key->{maximum} ? "$key->{minimum} to $key->{maximum}" : exists $key->{minimum} ? "from $key->{minimum} on" : '';
	return $range || $key->{type};
}
sub workloads {
	my $all = $json->decode(slurp('results-schema/plan.json'))->{properties}{workloads}{items}{properties};
	my $out = "# Workloads\n\n${made}What a plan's `workloads` can list. Sizes are bytes, or have a unit (KiB, MiB, GiB: powers of 1024; kB, MB, GB: of 1000);\n"
		. "durations need one (ms, s, min, h). Keys in bold must be there.\n";
	for my $name (sort keys %$all) {
		my $w = $all->{$name};
		my %needed = map { $_ => 1 } @{ $w->{required} // [] };
		my @either = map { @{ $_->{required} // [] } } @{ $w->{oneOf} // [] };
		$out .= "\n## $name\n\n" . encoded(ucfirst $w->{description}) . ".\n\n| key | value | what it is |\n| --- | --- | --- |\n";
		for my $key (sort keys %{ $w->{properties} }) {
			my $k = $w->{properties}{$key};
			$out .= '| ' . join(' | ', $needed{$key} ? "**`$key`**" : "`$key`", cell(type_of($k)), cell(encoded($k->{description} // ''))) . " |\n";
		}
		$out .= "\nOne of " . join(' and ', map { "`$_`" } @either) . " must be there.\n" if @either;
	}
	return $out;
}

# The arguments of the call that begins before $text's position, at the first bracket.
sub arguments {
	my ($text) = @_;
	my ($depth, $from, @args) = (0, pos $$text);
	while ($$text =~ /\G(?:[^"'(),{}]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|([(){},]))/gcs) {
		my $c = $1 // '';
		$depth++ if $c eq '(' || $c eq '{';
		if ($depth == 0 && ($c eq ',' || $c eq ')')) {
			push @args, substr $$text, $from, pos($$text) - 1 - $from;
			$from = pos $$text;
			return @args if $c eq ')';
		}
		$depth-- if $c eq ')' || $c eq '}';
	}
	return ();
}
# The string literals in an argument; alternatives (c ? "a" : "b") one by one. PRIu64 and the like are numbers.
sub literals {
	my ($arg) = @_;
	$arg =~ s/"\s*PRI\w+\s*"/d/g;
	return map { join '', $_ =~ /"((?:[^"\\]|\\.)*)"/g } grep { /"/ } split /[?:](?=(?:[^"]*"[^"]*")*[^"]*$)/, $arg;
}
sub plain { my ($t) = @_; $t =~ s/\\"/"/g; $t =~ s/\\n/ /g; $t =~ s/%%/%/g; $t =~ s/%[-.*0-9]*(?:ll|l|z|h)?[a-zA-Z]/…/g; return $t }
sub messages {
	my (%rows, $calls);
	for my $file (sort glob 'init/*.c') {
		my $text = slurp($file);
		while ($text =~ /\bfail\(/g) {
			my @args = arguments(\$text);
			next if @args < 7 || $args[0] =~ /struct failure/;
			$calls++;
			my @steps = literals($args[3]);
			my @remedies = literals($args[5]);
			for my $message (literals($args[6])) {
				# a name is put before or behind it
				my $said = cell(plain($message)) =~ s/^ /… /r =~ s/ $/ …/r;
				$rows{$said} = [join(', ', @steps) || '…', cell(plain(join ' / ', grep { length } @remedies)) || '—'];
			}
		}
	}
	die "only $calls calls of fail() were found" if $calls < 100;
	my $out = "# What a node says, and what to do\n\n${made}Every failure that a node reports, on its consoles, in the log of `assay serve` and in the report, as\n"
		. "`node NAME, step STEP, OBJECT: MESSAGE`, with the remedy behind it. `…` stands for a name, a level or a number.\n\n| message | step | what to do |\n| --- | --- | --- |\n";
	$out .= "| $_ | $rows{$_}[0] | $rows{$_}[1] |\n" for sort keys %rows;
	return $out;
}

page('factors.md', factors());
page('workloads.md', workloads());
page('messages.md', messages());
