#!/bin/bash
# Usage: test/readers/sid.sh [<directory>]
# Other implementations of git as Debian has them in sid, unpacked into <directory>, in which chroot runs them; the
# default is ~/.cache/git-readers. It does nothing if they are there: remove the directory to have newer ones. Their
# packages come from apt; it needs root, as chroot does.
set -euo pipefail
dir=$(realpath -m -- "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/git-readers}")
packages=(git python3-pygit2 python3-dulwich libjgit-java libslf4j-java got jujutsu stagit cgit)
[[ ! -f $dir/versions ]] || exit 0
((EUID == 0)) || {
	echo 'test/readers/sid.sh: error: it takes root' >&2
	exit 1
}

# Apt as it is set up here, mirror and proxy, but with sid for its only source, and with nothing installed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2016 # it is apt's variable
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$' || true)}
[[ -n $mirror ]] || {
	echo 'test/readers/sid.sh: error: apt has no mirror of Debian here; name one in DEBIAN_MIRROR' >&2
	exit 1
}
mkdir -p "$work"/{lists,archives}/partial "$work/root/dev" "$work/root/tmp"
: >"$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >"$work/sources.list"
cat >"$work/apt.conf" <<-END
	Dir::Etc::SourceList "$work/sources.list";
	Dir::Etc::SourceParts "/dev/null";
	Dir::State::Lists "$work/lists";
	Dir::State::Status "$work/status";
	Dir::Cache "$work";
	APT::Install-Recommends "false";
	APT::Sandbox::User "";
END
export APT_CONFIG=$work/apt.conf
apt-get update -q >&2
apt-get install -q -y --download-only "${packages[@]}" >&2
for package in "$work"/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$package" | tar -x -C "$work/root" --keep-directory-symlink
done
for name in bin sbin lib lib64; do
	[[ ! -d $work/root/usr/$name ]] || ln -s "usr/$name" "$work/root/$name"
done
mknod -m 666 "$work/root/dev/null" c 1 3
mknod -m 666 "$work/root/dev/urandom" c 1 9
for package in "${packages[@]}"; do
	dpkg-deb --show "$work/archives/$package"_*.deb
done >"$work/root/versions"
mkdir -p "$(dirname "$dir")"
mv "$work/root" "$dir"
