#!/bin/bash
# go-fuzzyfinder 0.9.0: of items that match equally well the one that was given
# last comes first.
#
# Before anything is typed a finder's list has the items in the order in which
# they were given. Package matching, by which the finder searches, sorts what
# matches by its score, and equal scores by the larger index. So a list of equal
# items, as of a history in which one command comes again and again, turns over at
# the first letter that is typed, and the item under the cursor, which Enter takes,
# is another one: the first before, the last now. No option of the package changes
# that; who wants one order gives the items the other way round, and then has the
# list before anything is typed the wrong way round.
#
# Seen: go-fuzzyfinder v0.9.0, Go 1.26.8, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export CGO_ENABLED=0 GOFLAGS=-mod=mod
cat >go.mod <<'END2'
module example.invalid/m

go 1.26

require github.com/ktr0731/go-fuzzyfinder v0.9.0
END2
cat >main.go <<'END2'
package main

import (
	"fmt"
	"os"

	"github.com/ktr0731/go-fuzzyfinder/matching"
)

func main() {
	for _, m := range matching.FindAll(os.Args[1], os.Args[2:]) {
		fmt.Print(m.Idx, " ")
	}
}
END2
go build -o find . 2>said || fail "it does not build: $(<said)"

same=$(./find s same same same same)
[[ $same == '3 2 1 0 ' ]] || fail "of four equal items it finds $same"
better=$(./find ab 'a b' ab 'a b' ab)
[[ $better == '3 1 2 0 ' ]] || fail "of two pairs of items it finds $better"
echo "as described: equal items are found in the order $same, of two pairs the better one first, and in each the last"
