//go:build unix

package same

import (
	"regexp"
	"slices"
	"strings"
)

// An allowance is a difference that is meant.
type allowance struct {
	why     string
	command *regexp.Regexp           // of the step, as one would type it
	change  func(text string) string // what each has printed comes to where the difference is left out; nil where all may differ
	wrong   *regexp.Regexp           // then: what the older one prints
	out     bool                     // it is on standard output, not on standard error
}

// allowed lists the differences that are meant, each with its reason.
var allowed = []allowance{
	{
		why:     "commits of a map of purges are looked at in no order, and the first that is wrong is named",
		command: regexp.MustCompile(`^(.* )?git-agent-turn (purge|fetch|push)\b`),
		change: func(text string) string {
			return regexp.MustCompile(`what \S+ says was purged of it is refused: .*`).ReplaceAllString(text, "...")
		},
	},
	{
		why:     "ledgers are read at once, and those that can't be are named as they come",
		command: regexp.MustCompile(`^(.* )?git-agent-handoff list\b`),
		change: func(text string) string {
			lines := strings.Split(strings.TrimPrefix(text, "git-agent-handoff: error: "), "\n")
			slices.Sort(lines)
			return strings.Join(lines, "\n")
		},
	},
	{
		why:     "what takes long says how far it is, on a terminal",
		command: regexp.MustCompile(`^(.* )?script -qec `),
		change: func(text string) string {
			text = regexp.MustCompile(`\x1b\[([0-9;]*m)`).ReplaceAllString(text, "<$1>") // an age begins a word then
			return regexp.MustCompile(`(?m)^.*\x1b\[K`).ReplaceAllString(text, "")
		},
		out: true,
	},
	{
		why:     "completion has crashed behind two names of one flag",
		command: regexp.MustCompile(`--generate-bash-completion`),
		wrong:   regexp.MustCompile(`(?s)^git-agent-\w+: error: panic: .*\(\*FlagSet\)\.Args`),
	},
	{
		why:     "--help in the place of a flag's value has crashed",
		command: regexp.MustCompile(`--help\b`),
		wrong:   regexp.MustCompile(`^git-agent-\w+: error: panic: runtime error: slice bounds out of range \[:-1\]`),
	},
	{
		why:     "a purge looks into derived files, too",
		command: regexp.MustCompile(`^(.* )?git-agent-turn purge\b`),
		change: func(text string) string {
			return regexp.MustCompile(`(?m)^(searched \d+ objects and )\d+( files: )`).ReplaceAllString(text, "${1}some${2}")
		},
		out: true,
	},
	{
		why:     "packs are joined, and what is derived has a size",
		command: regexp.MustCompile(`^(.* )?git-agent-turn doctor\b`),
		change: func(text string) string {
			return regexp.MustCompile(`"(bytes|packs)":\d+|\b\d+ packs`).ReplaceAllString(text, "some")
		},
		out: true,
	},
}

// mended reports whether what the older one has done was wrong.
func mended(s step, before result) bool {
	for _, a := range allowed {
		if a.wrong != nil && a.command.MatchString(s.what) && a.wrong.MatchString(before.stderr) {
			return true
		}
	}
	return false
}

// kept is what a step has printed on standard output or standard error, with what need not be the same left out.
func kept(s step, text string, out bool) string {
	for _, a := range allowed {
		if a.change != nil && a.out == out && a.command.MatchString(s.what) {
			text = a.change(text)
		}
	}
	return text
}
