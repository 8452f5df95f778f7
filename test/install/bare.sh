#!/bin/bash
# From a release to a recorded turn of the real client, on a Debian with git and nothing else: once from the archive,
# once from the package. Prints each command that a person types, and how long it takes.
#
#	test/install/bare.sh dist        as root, on Debian with debootstrap, node, and an installed client
#
# CLIENT names the client's program, by default the one that `make e2e` has installed; SUITE is Debian's release, and
# MIRROR where it comes from. The client talks to test/e2e's mock on this machine. Nothing is left.
set -euo pipefail
dist=$(realpath -- "${1:?the directory of a release}")
here=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")
client=${CLIENT:-$(find ~/.cache/git-agent-e2e -path '*/claude-code-linux-*/claude' -type f | sort -V | tail -n 1)}
arch=$(dpkg --print-architecture)
[[ -x $client ]] || {
	echo "bare.sh: error: there is no client: CLIENT=<program>, or install it with: make e2e" >&2
	exit 1
}

work=$(mktemp -d)
mock=
# shellcheck disable=SC2317 # the trap calls it
clean() {
	[[ -z $mock ]] || kill "$mock"
	rm -rf --one-file-system "$work"
}
trap clean EXIT

echo "== a Debian with git"
SECONDS=0
debootstrap --variant=minbase --include=git "${SUITE:-bookworm}" "$work/base" ${MIRROR:+"$MIRROR"} >"$work/log" 2>&1 || {
	tail "$work/log" >&2
	exit 1
}
echo "== took $SECONDS s"
node "$here/../e2e/testdata/mock-anthropic.mjs" --scenario "$here/../e2e/testdata/scenario.json" \
	--log "$work/requests" --portfile "$work/port" >/dev/null &
mock=$!
until [[ -s $work/port ]]; do
	kill -0 "$mock"
	sleep 0.05
done

# What a person types. A line is read, printed, timed and run as if it was typed.
typed() {
	case $1 in
	archive) cat <<-EOT
		tar xzf /dist/git-agent-*-linux-$arch.tar.gz
		./git-agent-*/install.sh
	EOT
	;;
	package) cat <<-EOT
		apt-get install -q -y /dist/git-agent_*_$arch.deb
	EOT
	;;
	esac
	cat <<-'EOT'
		git agent-turn --version
		git config --global user.name Dev; git config --global user.email dev@example.invalid
		git init -q -b main project; cd project; git commit -q --allow-empty -m first
		git agent-turn init --agent claude-code
		claude -p 'T1 please' --dangerously-skip-permissions --model claude-opus-4-8
		git agent-turn list
		git agent-turn show 1
		test "$(git agent-turn list --json | grep -c '"agent":"claude-code".*"program":"git-agent v\?[0-9]')" = 1
		git agent-turn init --remove
		cd ..; rm -rf project
	EOT
	case $1 in
	archive) echo './git-agent-*/install.sh --uninstall; rm -r git-agent-*' ;;
	package) echo 'apt-get purge -q -y git-agent' ;;
	esac
}

# files are those of a system, but for logs, caches, what the client keeps, and the user's key, which stays theirs.
files() {
	(cd -- "$1" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./dist -o -path ./var/log -o -path ./var/cache \
		-o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./home/dev/.claude -o -path './home/dev/.claude.json*' -o -path ./home/dev/.cache -o -path ./home/dev/.config \
		-o -path ./home/dev/.gitconfig \) -prune -o -print | sort)
}

for way in archive package; do
	echo "== from the $way"
	root=$work/$way
	cp -a -- "$work/base" "$root"
	cp -- "$client" "$root/usr/local/bin/claude"
	mkdir -p "$root/dist" "$root/home/dev"
	typed "$way" >"$root/tmp/typed"
	files "$root" >"$work/before"
	# shellcheck disable=SC2016 # the shell in the new root expands
	unshare --mount -- bash -euc '
		mount --bind "$2" "$1/dist"
		mount -t proc proc "$1/proc"
		mount --rbind /dev "$1/dev"
		exec chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/dev TERM=dumb LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive ANTHROPIC_API_KEY=sk-ant-dummy ANTHROPIC_BASE_URL="http://127.0.0.1:$3" IS_SANDBOX=1 \
			CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 \
			bash -euc '\''
				cd
				begin=${EPOCHREALTIME/./}
				while IFS= read -r line <&3; do
					echo "\$ $line"
					start=${EPOCHREALTIME/./}
					eval "$line" 3<&-
					echo "# $(((${EPOCHREALTIME/./} - start) / 1000)) ms"
				done 3</tmp/typed
				echo "# all: $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
			'\''
	' - "$root" "$dist" "$(<"$work/port")"
	files "$root" >"$work/after"
	diff "$work/before" "$work/after" || {
		echo "bare.sh: error: that is left, or gone" >&2
		exit 1
	}
	rm -rf --one-file-system "$root"
done
