#!/bin/sh
# Install git-agent: its programs, manual pages and shell completions.
#
#	./install.sh                                  into ~/.local, as root into /usr/local
#	PREFIX=/opt/git-agent ./install.sh            elsewhere
#	DESTDIR=package PREFIX=/usr ./install.sh      for a package
#	./install.sh --uninstall                      remove exactly what was installed
#
# It needs git and no root. In an archive of a release the programs are beside it; in a source tree it builds
# them, with Go and no network but for the modules that Go downloads.
set -eu
unset CDPATH
LC_ALL=C # for sort
export LC_ALL

need_go=1.26
need_git=2.39
programs='git-agent-turn git-agent-handoff git-agent-fork'
# What was installed, one "f <file>" or "d <directory>" a line, relative to PREFIX.
manifest=share/git-agent/installed

main() {
	[ -n "${PREFIX-}" ] || PREFIX=$(default_prefix)
	case $PREFIX in
	/*) ;;
	*) fail "PREFIX must be an absolute path, not $PREFIX" ;;
	esac
	case ${DESTDIR-} in
	'' | /*) ;;
	*) DESTDIR=$PWD/$DESTDIR ;;
	esac
	root=${DESTDIR-}${PREFIX%/}
	case $#${1-} in
	0) install ;;
	1--uninstall) uninstall ;;
	*) fail "usage: [PREFIX=<dir>] [DESTDIR=<dir>] $0 [--uninstall]" ;;
	esac
}

fail() {
	printf 'install.sh: error: %s\n' "$*" >&2
	exit 1
}

default_prefix() {
	if [ "$(id -u)" -eq 0 ]; then
		echo /usr/local
	else
		printf '%s\n' "${HOME:?}/.local"
	fi
}

install() {
	cd -- "$(dirname -- "$0")"
	require git "$need_git" "$(git --version 2>/dev/null)"
	work=$(mktemp -d)
	new=
	trap 'rm -rf "$work" ${new:+"$new"}' EXIT
	trap 'exit 1' HUP INT TERM
	if [ -f go.mod ]; then
		build
		built=$work
	else
		built=.
		run_here
	fi

	: >"$work/manifest"
	exe=
	[ ! -f "$built/bin/git-agent-turn.exe" ] || exe=.exe
	for program in $programs; do
		put 755 "$built/bin/$program$exe" "bin/$program$exe"
		for page in "docs/$program".1 "docs/$program"-*.1; do
			put 644 "$page" "share/man/man1/${page##*/}"
		done
		put 644 completions/git-agent.bash "share/bash-completion/completions/$program"
		put 644 "completions/_$program" "share/zsh/site-functions/_$program"
	done
	put 644 completions/_git_agent share/zsh/site-functions/_git_agent
	put 644 completions/git-agent.fish share/fish/vendor_conf.d/git-agent.fish
	put 644 LICENSE share/doc/git-agent/LICENSE
	[ ! -f THIRD-PARTY ] || put 644 THIRD-PARTY share/doc/git-agent/THIRD-PARTY
	# The plugin for Claude Code, as a marketplace, which the client takes a directory for.
	find .claude-plugin plugin -type f | sort >"$work/plugin"
	while IFS= read -r file; do
		put 644 "$file" "share/git-agent/$file"
	done <"$work/plugin"
	finish
	advise
}

# build makes the programs in $work.
build() {
	# Not in this directory: there an old Go would download a new one and not tell.
	require Go "$need_go" "$(cd / && go version 2>/dev/null)"
	# Without this Go refuses to build in a repository that git does not trust, as under sudo.
	vcs=auto
	git rev-parse HEAD >/dev/null 2>&1 || vcs=false
	# What a start costs: the tag leaves out a generator of manual pages (0.4 ms), no cgo means no dynamic linker (0.5 ms).
	CGO_ENABLED=0 go build -trimpath -buildvcs=$vcs -ldflags '-s -w' -tags urfave_cli_no_docs -o "$work/bin/" ./cmd/...
}

# run_here fails if the programs beside us are for other machines. A package may be made on any.
run_here() {
	[ -z "${DESTDIR-}" ] || return 0
	bin/git-agent-turn --version >"$work/version" 2>&1 ||
		fail "the programs of this archive don't run here: $(uname -s) on $(uname -m)"
}

# require <name> <least version> <what it says of its version>
require() {
	[ -n "$3" ] || fail "$1 $2 or newer is needed, and there is none on PATH"
	# The first two numbers with a dot between them; "go1.26rc1" and "2.39.5 (Apple Git-154)" have them, too.
	have=$(printf '%s\n' "$3" | sed -n 's/^[^0-9]*\([0-9][0-9]*\)\.\([0-9][0-9]*\).*/\1 \2/p')
	[ -n "$have" ] || fail "$1 $2 or newer is needed, and this says: $3"
	if [ $((${have% *} * 1000 + ${have#* })) -lt $((${2%.*} * 1000 + ${2#*.})) ]; then
		fail "$1 $2 or newer is needed, and this is $(printf '%s' "$have" | tr ' ' .)"
	fi
}

# put <mode> <file> <path below PREFIX>
# A rename, because a program that runs can't be written to, and a hook may run at any time. What is renamed is made in
# a new directory of our own: somebody else may have put a link, or a file of theirs, where a name can be guessed.
put() {
	make_dir "$(dirname -- "$3")"
	[ ! -d "$root/$3" ] || fail "$root/$3 is a directory"
	new=$(mktemp -d "$root/$(dirname -- "$3")/.git-agent.XXXXXX")
	cp -- "$2" "$new/new"
	chmod "$1" "$new/new"
	mv -f -- "$new/new" "$root/$3"
	rmdir -- "$new"
	new=
	printf 'f %s\n' "$3" >>"$work/manifest"
}

# make_dir <path below PREFIX>
make_dir() {
	[ ! -d "$root/$1" ] || return 0
	if [ "$1" = . ]; then
		mkdir -p -- "$root"
	else
		make_dir "$(dirname -- "$1")"
		mkdir -- "$root/$1"
	fi
	printf 'd %s\n' "$1" >>"$work/manifest"
}

# listed <letter> <manifest>
# The paths of a manifest below PREFIX, and none that leads elsewhere or nowhere: anybody may have written it who could
# once write there.
listed() {
	sed -n "s/^$1 //p" "$2" | grep -v -e '^/' -e '^$' -e '^\.\.$' -e '^\.\./' -e '/\.\./' -e '/\.\.$' || :
}

# finish removes what an earlier version installed and this one does not, and keeps the manifest.
finish() {
	make_dir "$(dirname -- "$manifest")"
	if [ -f "$root/$manifest" ]; then
		listed f "$root/$manifest" | while IFS= read -r path; do
			grep -qxF -e "f $path" "$work/manifest" || rm -f -- "$root/$path"
		done
		# The deepest first. A directory that is empty now is not needed.
		listed d "$root/$manifest" | sort -ru | while IFS= read -r path; do
			rmdir -- "$root/$path" 2>/dev/null || printf 'd %s\n' "$path" >>"$work/manifest"
		done
	fi
	put 644 "$work/manifest" "$manifest"
}

advise() {
	printf 'installed %s in %s\n' "$(printf '%s' "$programs" | sed 's/ /, /g')" "$PREFIX/bin"
	[ -z "${DESTDIR-}" ] || return 0
	case :$PATH: in
	*:"$PREFIX"/bin:*) ;;
	*) printf 'git finds them once %s is on PATH\n' "$PREFIX/bin" ;;
	esac
	case ${SHELL-} in
	*/zsh) printf 'zsh completes them with this before compinit in .zshrc: fpath+=(%s)\n' "'$PREFIX/share/zsh/site-functions'" ;;
	esac
}

uninstall() {
	[ -f "$root/$manifest" ] || fail "nothing is installed in $root"
	files=$(listed f "$root/$manifest")
	dirs=$(listed d "$root/$manifest")
	printf '%s\n' "$files" | while IFS= read -r path; do
		[ -z "$path" ] || rm -f -- "$root/$path"
	done
	rm -f -- "$root/$manifest"
	# The deepest first. A directory that holds something else by now stays.
	printf '%s\n' "$dirs" | sort -ru | while IFS= read -r path; do
		[ -n "$path" ] || continue
		[ "$path" = . ] && path=
		rmdir -- "$root/$path" 2>/dev/null || :
	done
	printf 'removed git-agent from %s\n' "$PREFIX"
	kept=${XDG_CONFIG_HOME:-${HOME-}/.config}/git-agent
	if [ -z "${DESTDIR-}" ] && [ -d "$kept" ]; then
		printf 'your settings and your key stay; to remove them, too: rm -r "%s"\n' "$kept"
	fi
}

main "$@"
