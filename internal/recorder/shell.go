package recorder

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"gitagent/hooks"
)

// A deed is what a shell's command is known to do to files, without running it.
type deed struct {
	idle  bool     // it writes none
	git   bool     // it is or has a git command that writes the worktree
	aside bool     // a part of it goes on when it has ended
	names []string // words of it that may name what it writes, from its directory or absolute
}

// deedOf reads a command as a POSIX shell would, as far as that is plain. It is
// idle only if each of its parts is known to be: see [idleCommands].
func deedOf(command string) deed {
	parts, plain, aside := parseShell(command)
	d := deed{idle: plain && len(parts) > 0, aside: aside}
	dir := ""
	for _, p := range parts {
		words, idle := p.words, p.idle()
		d.idle = d.idle && idle
		for len(words) > 0 && (wrappers.has(words[0].text) || assignment(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && words[0].text == "cd" {
			dir = entered(dir, words[1:])
			continue
		}
		if len(words) > 0 && words[0].text == "git" {
			d.git = d.git || gitWrites(words[1:])
		}
		if idle || dir == lost {
			continue
		}
		named := p.targets
		if len(words) > 0 && !idleCommands.has(words[0].text) {
			named = slices.Concat(words[1:], p.targets)
		}
		for _, w := range named {
			if w.plain() && !strings.HasPrefix(w.text, "-") {
				d.names = append(d.names, under(dir, w.text))
			}
		}
	}
	return d
}

// MayDestroy reports whether one of the calls may take away what is in files:
// by a command that names one that does, in whatever way. Not all clients can
// tell such calls from others.
func MayDestroy(calls []hooks.Call) bool {
	return slices.ContainsFunc(calls, func(c hooks.Call) bool { return c.Command != "" && (c.Cut || destroys(c.Command)) })
}

func destroys(command string) bool {
	if deedOf(command).idle {
		return false
	}
	words := strings.FieldsFunc(command, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.ContainsFunc(words, destroyers.has) ||
		slices.Contains(words, "git") && slices.ContainsFunc(words, gitWriters.has)
}

// destroyers are commands that take away files, or what is in them, without
// telling what was there.
const destroyers set = "rm mv cp"

// lost is the directory of a command behind a cd that can't be followed.
const lost = "\x00"

func entered(dir string, words []word) string {
	if dir == lost || len(words) != 1 || !words[0].plain() || strings.HasPrefix(words[0].text, "-") {
		return lost
	}
	return under(dir, words[0].text)
}

func under(dir, name string) string {
	if path.IsAbs(name) || dir == "" {
		return name
	}
	return path.Join(dir, name)
}

// wrappers come before the word that says what a command does.
const wrappers set = "if then else elif while until do ! { ( time env command sudo nohup exec"

// gitWriters are git's commands that write the worktree.
const gitWriters set = "checkout restore reset stash clean merge rebase pull switch cherry-pick revert apply am mv rm"

// gitReaders are git's commands that write nothing, unless a word is --output,
// which may be shortened.
const gitReaders set = "status log diff show blame rev-parse rev-list ls-files ls-tree cat-file describe shortlog merge-base name-rev for-each-ref"

var gitOutput = []string{"--ou"}

// gitCommand returns git's command and its words. plain is false if options
// before it could change what it does.
func gitCommand(words []word) (name string, rest []word, plain bool) {
	plain = true
	for len(words) > 0 {
		switch w := words[0].text; {
		case w == "-C" && len(words) > 1:
			words = words[2:]
			continue
		case w == "-c" && len(words) > 1:
			plain = false
			words = words[2:]
			continue
		case w == "--no-pager", w == "-P", w == "--no-optional-locks":
		case strings.HasPrefix(w, "-"):
			plain = false
		default:
			return w, words[1:], plain
		}
		words = words[1:]
	}
	return "", nil, plain
}

func gitWrites(words []word) bool {
	name, rest, _ := gitCommand(words)
	return gitWriters.has(name) && !listsStash(name, rest)
}

func listsStash(name string, rest []word) bool {
	return name == "stash" && len(rest) > 0 && (rest[0].text == "list" || rest[0].text == "show")
}

func gitIdle(words []word) bool {
	name, rest, plain := gitCommand(words)
	switch {
	case !plain:
		return false
	case name == "branch", name == "remote":
		return !slices.ContainsFunc(rest, func(w word) bool { return !listing.has(w.text) })
	}
	return (gitReaders.has(name) || listsStash(name, rest)) &&
		!slices.ContainsFunc(rest, func(w word) bool { return w.open || hasOption(w.text, gitOutput) })
}

// listing are the options with which `git branch` and `git remote` list.
const listing set = "-a -r -v -vv --all --remotes --verbose --list --show-current"

func hasOption(text string, options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(text, o) })
}

// idleCommands write nothing, whatever their words are. A guarded one does not,
// unless a word begins like one of those that make it write or run something.
const idleCommands set = "ls cat head tail wc pwd cd echo printf true false test [ : grep egrep fgrep which type stat du df cut tr nl tac " +
	"basename dirname realpath readlink cmp diff md5sum sha1sum sha256sum sleep seq ps uname id whoami jq strings"

var guarded = map[string][]string{
	"rg":   {"--pre", "--hostname-bin"},
	"find": {"-delete", "-exec", "-ok", "-fprint", "-fls"},
	"sort": {"-"}, // its -o may be within a word
	"tree": {"-"},
	"file": {"-"},
}

// A part is a simple command.
type part struct {
	words   []word
	targets []word // of redirections that write a file
}

func (p part) idle() bool {
	if len(p.targets) > 0 || len(p.words) == 0 || p.words[0].open || p.words[0].quoted {
		return false
	}
	name, rest := p.words[0].text, p.words[1:]
	switch options, ok := guarded[name]; {
	case idleCommands.has(name):
		return true
	case ok:
		return !slices.ContainsFunc(rest, func(w word) bool { return w.open || hasOption(w.text, options) })
	case name == "git":
		return gitIdle(rest)
	case name == "sed":
		return printsLines(rest)
	}
	return false
}

// printsLines reports whether the words of sed print lines by their numbers.
func printsLines(words []word) bool {
	return len(words) >= 2 && words[0].text == "-n" && !words[1].open && isLineRange(words[1].text) &&
		!slices.ContainsFunc(words[2:], func(w word) bool { return w.open || strings.HasPrefix(w.text, "-") })
}

// A word is one of a command, without its quotes.
type word struct {
	text   string
	quoted bool // a part of it was
	open   bool // the shell makes something else of it: a variable, a pattern
}

func (w word) plain() bool { return !w.quoted && !w.open && w.text != "" }

func isLineRange(script string) bool {
	lines, prints := strings.CutSuffix(script, "p")
	first, last, several := strings.Cut(lines, ",")
	number := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return prints && number(first) && (!several || last == "$" || number(last))
}

func assignment(w word) bool {
	name, _, ok := strings.Cut(w.text, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// A set is words with a blank between each two: nothing is made of it when a
// program starts.
type set string

func (s set) has(word string) bool {
	for w := range strings.FieldsSeq(string(s)) {
		if w == word {
			return true
		}
	}
	return false
}
