#!/bin/bash
# cyclonedx-gomod 1.10.0: a bill of materials depends on how the tool was built.
#
# -noserial and -notimestamp leave out what differs from run to run, and two
# runs of one executable are then equal to the byte. But the bill has five
# hashes of the tool's own executable (metadata.tools[0].hashes), and no flag
# leaves them out. Two executables of the same version, one of them linked
# without debug information, make different bills of one module. The same bytes
# on another machine take the same executable there, or a step that removes the
# hashes.
#
# Second, outside a git repository `mod` warns that it can't tell the version of
# the module and succeeds, while `app` fails for the same reason with status 1.
#
# Seen: cyclonedx-gomod v1.10.0, Go 1.26.8, linux/amd64, 2026-11-28.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

tool=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
export CGO_ENABLED=0 GOFLAGS=-trimpath
GOBIN=$work/with go install "$tool"
GOBIN=$work/without go install -ldflags=-s "$tool"

mkdir "$work/module"
cd "$work/module"
export GIT_CEILING_DIRECTORIES=$work
printf 'module example.invalid/m\n\ngo 1.26\n' >go.mod
printf 'package main\n\nfunc main() {}\n' >main.go

bill() { "$work/$1/cyclonedx-gomod" mod -json -noserial -notimestamp -output "$work/$2" 2>/dev/null; }
bill with first || fail 'mod fails outside a git repository'
bill with again
bill without other
cmp -s "$work/first" "$work/again" || fail 'two runs of one executable differ'
! cmp -s "$work/first" "$work/other" || fail 'two executables make the same bill'
lines=$(diff "$work/first" "$work/other" | grep -c '^<' || true)
[[ $lines == 5 ]] || fail "the bills differ in $lines lines, not in five hashes"
own=$(sha256sum <"$work/with/cyclonedx-gomod")
grep -qF "\"content\": \"${own%% *}\"" "$work/first" || fail 'the hash is not that of the executable'

status=0
"$work/with/cyclonedx-gomod" app -json -noserial -notimestamp -output "$work/app" . 2>"$work/said" || status=$?
[[ $status == 1 ]] || fail "app ends with status $status outside a git repository"
grep -q 'no git repository found' "$work/said" || fail 'app fails for another reason'
echo 'as described: five hashes of the tool itself are in the bill; app needs a git repository, mod does not'
