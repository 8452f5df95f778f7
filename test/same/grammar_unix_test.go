//go:build unix

package same

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A flag is one of a command, as its help has it.
type option struct {
	name  string // with its dashes
	value string // what stands for its value; "" if it takes none
}

// A verb is a command of a program.
type verb struct {
	program string
	words   []string // the command, and that below it; none for the program itself
	options []option
}

func (v verb) String() string { return strings.Join(append([]string{v.program}, v.words...), " ") }

// A grammar is all that can be said to the programs, as they tell themselves: a new flag is in it without a word here.
type grammar struct {
	verbs []verb
	each  []use // every flag of every command once
}

// A use is a command and one of its flags; the flag may be missing.
type use struct {
	verb   verb
	option option
}

func (u use) String() string { return strings.TrimSpace(u.verb.String() + " " + u.option.name) }

// hidden are commands and flags that no help lists.
var hidden = []verb{
	{program: "git-agent-turn", words: []string{"hook"}},
	{program: "git-agent-turn", words: []string{"housekeep"}},
	{program: "git-agent-turn", words: []string{"tree"}, options: []option{{"--json", ""}}},
	{program: "git-agent-turn", words: []string{"prune"}, options: []option{{"--older-than", "<age>"}, {"--dry-run", ""}}},
	{program: "git-agent-turn", words: []string{"push"}, options: []option{{"--queued", ""}}},
	{program: "git-agent-handoff", words: []string{"hook"}},
	{program: "git-agent-handoff", words: []string{"gather"}, options: []option{{"--exit-type", "<type>"}}},
	{program: "git-agent-handoff", words: []string{"accept"}, options: []option{{"--mission", "<id>"}}},
	{program: "git-agent-handoff", words: []string{"context"}, options: []option{{"--calibrate", ""}, {"--write", ""}}},
	{program: "git-agent-fork", options: []option{{"--choose", "<verb>"}, {"--among", ""}}},
}

// untaken are flags whose effect is no answer: a client that is started, for instance, and what only a terminal has.
var untaken = map[string]bool{"--version": true}

func readGrammar(t *testing.T, dir string) *grammar {
	t.Helper()
	g := &grammar{}
	home := gittest.TempDir(t)
	help := func(program string, words ...string) string {
		cmd := exec.Command(filepath.Join(dir, program), append(words, "-h")...)
		cmd.Dir, cmd.Env = home, append(gittest.Env(home), "PATH="+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q -h: %v\n%s", program, words, err, out)
		}
		return string(out)
	}
	var read func(program string, words ...string)
	read = func(program string, words ...string) {
		text := help(program, words...)
		v := verb{program: program, words: words, options: options(text)}
		g.verbs = append(g.verbs, v)
		for _, name := range commands(text) {
			if name != "hook" {
				read(program, append(words[:len(words):len(words)], name)...)
			}
		}
	}
	for _, program := range programs {
		read(program)
	}
	g.verbs = append(g.verbs, hidden...)
	for _, v := range g.verbs {
		g.each = append(g.each, use{verb: v})
		for _, o := range v.options {
			if !untaken[o.name] {
				g.each = append(g.each, use{v, o})
			}
		}
	}
	if len(g.each) < 150 {
		t.Fatalf("the programs' help tells of %d flags", len(g.each))
	}
	return g
}

func (g *grammar) uses() (names []string) {
	for _, u := range g.each {
		names = append(names, u.String())
	}
	return names
}

var (
	optionLine  = regexp.MustCompile(`(?m)^   (--?[A-Za-z][-A-Za-z]*)(?: (<[^>]+>|\([^)]*\)|[a-z]+))?((?:, -[-A-Za-z]+(?: <[^>]+>)?)*)  `)
	commandLine = regexp.MustCompile(`(?m)^ +([a-z]+)  +\S`)
)

// options reads the flags that a command's help lists, each under its names.
func options(help string) (list []option) {
	_, text, _ := strings.Cut(help, "OPTIONS:\n")
	for _, m := range optionLine.FindAllStringSubmatch(text, -1) {
		list = append(list, option{m[1], m[2]})
		for _, other := range strings.Split(m[3], ", ")[1:] {
			name, _, _ := strings.Cut(other, " ")
			list = append(list, option{name, m[2]})
		}
	}
	return list
}

// commands reads the commands that a help lists.
func commands(help string) (list []string) {
	_, text, ok := strings.Cut(help, "COMMANDS:\n")
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "OPTIONS:\n")
	for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}
