#!/bin/bash
# JGit 6.7.0: with gc.pruneExpire = never its garbage collection deletes all that
# no ref leads to, at once.
#
# git-config(1) says of gc.pruneExpire that "never" suppresses pruning, and
# `git gc` then leaves every object. JGit reads the same variable, and takes
# "never" for a moment that is still to come: every object is older than that. So
# it deletes what without the setting it would leave for two weeks, also what was
# written a second ago, as `now` would. A date far away, such as 100.years.ago,
# suppresses pruning for both.
#
# Seen: JGit 6.7.0 (Debian's libjgit-java 6.7.0-2, of trixie), OpenJDK 17.0.15, git 2.39.5, linux/amd64, 2026-11-30.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
	echo "changed: $*" >&2
	exit 1
}

# Debian's package, from apt's own mirror, unpacked into the folder.
cd "$work"
# shellcheck disable=SC2016 # it is apt's variable
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$')}
mkdir -p lists/partial archives/partial jgit
: >status
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >sources.list
cat >apt.conf <<-END2
	Dir::Etc::SourceList "$work/sources.list";
	Dir::Etc::SourceParts "/dev/null";
	Dir::State::Lists "$work/lists";
	Dir::State::Status "$work/status";
	Dir::Cache "$work";
	APT::Sandbox::User "";
END2
export APT_CONFIG=$work/apt.conf
apt-get update -qq
apt-get download -qq libjgit-java=6.7.0-2 libslf4j-java libjavaewah-java >/dev/null
for package in *.deb; do
	dpkg-deb -x "$package" jgit
done
path=$(printf '%s:' jgit/usr/share/java/{org.eclipse.jgit,slf4j-api,slf4j-nop,javaewah}.jar)

cat >Collect.java <<'END2'
public class Collect {
	public static void main(String[] args) throws Exception {
		try (var git = org.eclipse.jgit.api.Git.open(new java.io.File(args[0]))) {
			git.gc().call();
		}
	}
}
END2

export HOME=$work GIT_CONFIG_NOSYSTEM=1
jgit() { java -cp "$path" Collect.java "$1"; }
git_gc() { git -C "$1" gc -q; }

# left prints which of two objects that no ref leads to are there after a collection
# with a setting, if it is one: one of now, one of a year ago.
left() {
	rm -rf repo
	git init -q repo
	git -C repo -c user.name=A -c user.email=a@example.invalid commit -q --allow-empty -m one
	new=$(echo new | git -C repo hash-object -w --stdin)
	old=$(echo old | git -C repo hash-object -w --stdin)
	touch -d '1 year ago' "repo/.git/objects/${old:0:2}/${old:2}"
	[[ -z ${2-} ]] || git -C repo config gc.pruneExpire "$2"
	"$1" repo >/dev/null
	for object in "new $new" "old $old"; do
		if git -C repo cat-file -e "${object#* }" 2>/dev/null; then echo "${object% *}"; fi
	done | xargs
}

is() {
	local now
	now=$(left "${@:2}")
	[[ $now == "$1" ]] || fail "of ${*:2} there is left: $now"
}
is new git_gc
is 'new old' git_gc never
is new jgit
is '' jgit never
is 'new old' jgit 100.years.ago
echo 'as described: with gc.pruneExpire = never git gc leaves all that no ref leads to, and JGit nothing'
