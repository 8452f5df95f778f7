#!/bin/bash
# git 2.55.0, reftables: from a linked worktree, update-ref of a ref beside the
# main worktree's HEAD says that it was done, and does nothing.
#
# gitglossary and git-worktree(1) name such a ref main-worktree/X from any
# worktree. With files for refs, `git update-ref main-worktree/X_HEAD <commit>` in a
# linked worktree moves the ref of the main one. With reftables the same command
# ends with status 0, and so does a transaction of update-ref --stdin ("commit:
# ok"), but the ref is as before: reading it in either worktree finds the old
# commit, and a ref that was to be made is not there. In the main worktree both
# work. Who keeps a commit by such a ref learns of it when git gc has taken it.
#
# Seen: git 2.55.0 (Debian's source package), linux/amd64, 2026-11-28.
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
git config --global user.name A
git config --global user.email a@example.invalid
git config --global init.defaultBranch main

# moved prints the commit that the ref is at for the main worktree, after each way to move it.
moved() {
	git init -q --ref-format="$1" "$work/$1"
	cd "$work/$1"
	git commit -q --allow-empty -m one
	git commit -q --allow-empty -m two
	git worktree add -q --detach "$work/$1-linked"
	git update-ref KEPT_HEAD HEAD~1
	cd "$work/$1-linked"
	git update-ref main-worktree/KEPT_HEAD HEAD
	git -C "$work/$1" log -1 --format=%s KEPT_HEAD
	git -C "$work/$1" update-ref KEPT_HEAD HEAD~1
	[[ $(printf 'start\nupdate main-worktree/KEPT_HEAD HEAD\ncommit\n' | git update-ref --stdin) == $'start: ok\ncommit: ok' ]]
	git log -1 --format=%s main-worktree/KEPT_HEAD
	git update-ref main-worktree/NEW_HEAD HEAD
	git -C "$work/$1" log -1 --format=%s NEW_HEAD 2>/dev/null || echo none
}

[[ $(moved files | xargs) == 'two two two' ]] || fail "with files the ref is not moved: $(moved files | xargs)"
is=$(moved reftable | xargs)
[[ $is == 'one one none' ]] || fail "with reftables it is now: $is"
echo 'as described: three updates from a linked worktree end with success, and none is made'
