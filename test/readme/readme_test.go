// Package readme runs what the README and the guide show.
package readme

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// TestReadme, TestGuide and TestAgents run every command line of a document, a line that
// begins with "$ ", in a project of their own, and compare what it prints with
// what the document shows of it.
func TestReadme(t *testing.T) {
	t.Parallel()
	text := document(t, "README.md")
	if lines := strings.Count(text, "\n"); lines > 90 {
		t.Errorf("the README has %d lines", lines)
	}
	text, _, _ = strings.Cut(text, "\n## Get rid of it\n") // test/install runs that
	perform(t, text)
}

func TestGuide(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	perform(t, document(t, "docs/guide.md"))
}

func TestAgents(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	perform(t, document(t, "docs/agents.md"))
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	gittest.Must(t, err)
	return string(text)
}

// perform runs the commands of a document.
func perform(t *testing.T, text string) {
	t.Helper()
	w := newWorld(t)
	for _, c := range commands(text) {
		printed := w.run(c.line)
		t.Logf("$ %s\n%s", c.line, printed)
		if c.shown != "" && !shows(c.shown, printed) {
			t.Errorf("%s\nprints\n%s\nand the document shows\n%s", c.line, printed, c.shown)
		}
	}
}

// A command is a command line of a document, and what it shows of what that
// prints. A line of three dots stands for some lines.
type command struct{ line, shown string }

// commands returns the command lines of a document, without their comments.
func commands(text string) (all []command) {
	shows := false
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(line, "    ")
		if rest, is := strings.CutPrefix(line, "$ "); indented && is {
			rest, _, _ = strings.Cut(rest, "   # ")
			all = append(all, command{line: strings.TrimSpace(rest)})
			shows = true
		} else if shows && (indented || line == "\n") {
			all[len(all)-1].shown += line
		} else {
			shows = false
		}
	}
	for i := range all {
		all[i].shown = strings.Trim(all[i].shown, "\n")
	}
	return all
}

// shows reports whether shown is what was printed, but for what it leaves out.
func shows(shown, printed string) bool {
	parts := strings.Split(same(shown)+"\n", "...\n")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern := "^" + strings.Join(parts, `(?s:.*)\n?`) + "$"
	return regexp.MustCompile(pattern).MatchString(same(strings.Trim(printed, "\n")) + "\n")
}

// same is a text without what differs from run to run: times, ids, hashes, and
// the width of columns that have them.
func same(text string) string {
	for _, r := range []struct{ differs, same string }{
		{`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`, "UUID"},
		{`\b([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{12})\b`, "HASH"},
		{`\b([0-9a-f]{7}|[0-9a-f]{8}) (\(Dev|[A-Z])`, "HASH $2"},
		{`\b[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:]+Z?)?`, "DATE"},
		{`\b[0-9]+(s|m|h|d|mo|y)( ago)?\b`, "AGE"},
		{`(?m)(\S) +| +$`, "$1 "},
	} {
		text = regexp.MustCompile(r.differs).ReplaceAllString(text, r.same)
	}
	return text
}
