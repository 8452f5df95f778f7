#!/bin/bash
# git 2.55.0: diff-tree --stdin passes over a pair of trees of which one is not
# there, on stdout without a word, and ends with status 0.
#
# git-diff-tree(1) says that with --stdin each line names one tree or commit or a
# pair of trees, and nothing of those that it does not answer. Only stderr says
# that a tree could not be read, and that only of the first of a pair. With each
# tree compared to the one before it, as in a history, one tree that is lost takes
# two pairs: what the next tree added is nowhere in the answer. When it is a tree
# below that is lost, the same command ends with status 128. Who reads the answer
# must match each heading to its pair, and count them.
#
# Seen: git 2.55.0 (Debian's source package), linux/amd64, 2026-11-30; the same with 2.39.5.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

XDG_CACHE_HOME=$work "$here/../.ci/git-newest" "$work/git" >/dev/null 2>&1
export PATH=$work/git/bin:$PATH HOME=$work GIT_CONFIG_NOSYSTEM=1
[[ $(git version) == 'git version 2.55.0' ]] || fail "this is $(git version): look at it again"

git init -q "$work/repository"
cd "$work/repository"
trees=()
for name in one two three; do
	mkdir "$name"
	echo "$name" >"$name/file"
	git add .
	trees+=("$(git write-tree)")
done

# compared prints which files git says that the pairs differ in, how many pairs it answers, and its status.
compared() {
	local status=0
	printf '%s %s\n' "${trees[0]}" "${trees[1]}" "${trees[1]}" "${trees[2]}" "${trees[0]}" "${trees[0]}" |
		git diff-tree --stdin -r --name-only >"$work/answer" 2>"$work/errors" || status=$?
	echo "$(grep / "$work/answer" | xargs), pairs: $(grep -vc / "$work/answer"), status $status"
}

is=$(compared)
[[ $is == 'two/file three/file, pairs: 3, status 0' ]] || fail "of whole trees it says: $is"
lost=.git/objects/${trees[1]:0:2}/${trees[1]:2}
mv "$lost" "$work/lost"
is=$(compared)
[[ $is == ', pairs: 1, status 0' ]] || fail "of a lost tree it says: $is"
said=$(wc -l <"$work/errors")
mv "$work/lost" "$lost"
below=$(git rev-parse "${trees[1]}:two")
rm -f ".git/objects/${below:0:2}/${below:2}"
is=$(compared)
[[ $is == *'status 128' ]] || fail "of a lost tree below it says: $is"
echo "as described: of three pairs two are left out, with status 0; lines on stderr: $said"
