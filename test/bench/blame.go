package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// The sizes of a long history.
const (
	longCommits = 10_000
	longTurns   = 1000
	longLines   = 1000
)

const longFile = "src/long.go"

// blames asks who wrote the lines of a file, where a turn comes with each commit or with few of them, and of large ones,
// against an older build and git.
func blames(l *lab) {
	contestHeading()
	ask := func(name, target string, r *repository) {
		l.play(contest{
			name: name, target: target,
			ours: func(b build) sample { return r.printing(b.program("git-agent-turn"), "blame", longFile) },
			git:  func() sample { return r.printing("git", "blame", "--porcelain", longFile) },
		})
	}
	for _, every := range []int{1, longCommits / longTurns, 20} {
		r := l.newRepository(fmt.Sprintf("blames-%d", every), smallFiles)
		r.longHistory("a1b2c3d4", every*longTurns, every)
		ask(fmt.Sprintf("blame, 1,000 turns in %d commits", every*longTurns), "2 x git", r)
	}
	for _, of := range []struct {
		name, target string
		lines, width int
	}{
		{"blame of a file of 200 MB", "0.2 of before's memory", 2_000_000, 100},
		{"blame of one line of 100 MB", "", 1, 100 << 20},
	} {
		r := l.newRepository(fmt.Sprintf("blames-%d", of.width), smallFiles)
		r.largeFile("a1b2c3d4", of.lines, of.width)
		ask(of.name, of.target, r)
	}
}

// blame asks who wrote the lines of a file with a long history, against plain git blame. Every tenth
// commit takes up what a turn has written, with a line by hand; one more in ten changes the file, too.
func blame(l *lab) {
	r := l.newRepository("blame", smallFiles)
	r.longHistory("a1b2c3d4", longCommits, longCommits/longTurns)
	heading()
	var with, plain, one, plainOne series
	for range l.times(10) {
		_, p := l.timed(r.dir, nil, nil, "git", "blame", "--porcelain", longFile)
		out, w := l.timed(r.dir, nil, nil, l.program, "blame", longFile)
		if lines, of := bytes.Count(out, []byte("\n")), bytes.Count(out, []byte("a1b2/")); lines < longLines || of < longLines/2 {
			check(fmt.Errorf("blame: %d lines, %d of turns", lines, of))
		}
		_, q := l.timed(r.dir, nil, nil, "git", "blame", "--porcelain", path(7))
		_, o := l.timed(r.dir, nil, nil, l.program, "blame", path(7))
		with, plain, one, plainOne = append(with, w), append(plain, p), append(one, o), append(plainOne, q)
	}
	compare(fmt.Sprintf("blame, %d lines, %d commits, %d turns", longLines, longCommits, longTurns), with, plain, "3")
	compare("blame of a file that no turn changed", one, plainOne, "")
}

// A story is a history that is being made up, with one mission whose turns changed the long file.
type story struct {
	*repository
	id    record.ID
	w     writer
	began time.Time
	in    bytes.Buffer // for git fast-import
	marks int
	head  string // the last commit, for the stream
	turns []toldTurn
}

// A toldTurn is a turn, and its two states.
type toldTurn struct {
	code, base string
	at         time.Time
}

func (r *repository) newStory(id record.ID, began time.Time) *story {
	return &story{
		repository: r, id: id, began: began.UTC().Truncate(time.Second), head: "refs/heads/main^0",
		w: newWriter(r.dir, "5b603d06-8528-4d54-8275-dcebec74b87e", 1),
	}
}

func (s *story) add(ref string, at time.Time, message, file, content string) (mark string) {
	s.marks++
	fmt.Fprintf(&s.in, "commit %s\nmark :%d\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\nfrom %s\n", ref, s.marks, at.Unix(), len(message), message, s.head)
	put(&s.in, file, content)
	return fmt.Sprintf(":%d", s.marks)
}

// commit is the user's.
func (s *story) commit(at time.Time, message, file, content string) {
	s.head = s.add("refs/heads/main", at, message, file, content)
}

// turn ends with the long file as it says.
func (s *story) turn(at time.Time, content string) {
	n := len(s.turns) + 1
	code := s.add("refs/made/code", at, ledger.CodeMessage(fmt.Sprintf("turn %d", n), s.id, n, s.w.session), longFile, content)
	s.turns = append(s.turns, toldTurn{code, s.head, at})
}

// end writes the commits, and the mission, which the user relies on.
func (s *story) end() {
	marks := filepath.Join(s.lab.dir, "marks")
	s.feed(s.dir, s.in.Bytes(), "git", "fast-import", "--quiet", "--export-marks="+marks)
	hashes := make(map[string]string)
	for line := range strings.Lines(string(must(os.ReadFile(marks)))) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[mark] = hash
	}
	mission := record.Mission{
		V: record.Version, ID: s.id, Title: "a long history", Created: s.began,
		Agent: "claude-code", Base: hashes[s.turns[0].base], Sessions: []string{s.w.session},
	}
	s.in.Reset()
	event := func(at time.Time, subject string) {
		fmt.Fprintf(&s.in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\n", s.id.Ref(), at.Unix(), len(subject), subject)
	}
	event(s.began, "mission "+string(s.id))
	put(&s.in, "mission.json", string(must(mission.Encode())))
	for i, t := range s.turns {
		s.w.begin(i + 1)
		base := object.NewHash(hashes[t.base])
		record := turns.Turn{
			V: record.Version, Kind: "turn", Mission: s.id, Turn: i + 1, At: t.at, Started: t.at.Add(-20 * time.Second),
			Outcome: record.Done, Agent: "claude-code", Session: s.w.session, PromptID: s.w.promptID, Prompt: s.w.prompt, Reply: s.w.reply,
			Code: object.NewHash(hashes[t.code]), Base: base, Head: base, Branch: "main",
			Files: 1, Insertions: 3, Deletions: 3, Paths: []string{longFile},
		}
		event(t.at, fmt.Sprintf("turn %d", i+1))
		fmt.Fprintf(&s.in, "merge %s\n", hashes[t.code])
		put(&s.in, ledger.TurnPath("turns", i+1, ".json"), string(must(record.Encode()))+"\n")
	}
	s.load(&s.in)
	s.git("update-ref", "-d", "refs/made/code")
	s.git("reset", "-q", "--hard")
	s.git("repack", "-qad")
	s.accept(s.id)
}

// longHistory writes a file of many commits: one takes up what a turn has written, every so many.
func (r *repository) longHistory(id record.ID, commits, every int) {
	s := r.newStory(id, time.Now().Add(-time.Duration(commits)*time.Minute))
	lines := make([]string, longLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("var first%04d = compute(%d)", i, i)
	}
	long := func() string { return strings.Join(lines, "\n") + "\n" }
	s.commit(s.began, "the file", longFile, long())
	for i := 1; i < commits; i++ {
		at := s.began.Add(time.Duration(i) * time.Minute)
		switch i % every {
		case 0:
			n := len(s.turns) + 1
			for k := range 3 {
				lines[(n*7+k)%longLines] = fmt.Sprintf("var turn%04dx%d = compute(%d)", n, k, i)
			}
			s.turn(at.Add(-20*time.Second), long())
			lines[(n*7+500)%longLines] = fmt.Sprintf("var hand%05d = compute(%d)", i, i)
			s.commit(at, "take it up", longFile, long())
		case 5:
			lines[i*3%longLines] = fmt.Sprintf("var hand%05d = compute(%d)", i, i)
			s.commit(at, "by hand", longFile, long())
		default:
			s.commit(at, "another file", path(i%smallFiles), source(i%smallFiles, i))
		}
	}
	s.end()
}

// largeFile writes a file of so many lines, of so many bytes each, that a commit took up from a turn: which changed
// each hundredth line.
func (r *repository) largeFile(id record.ID, lines, width int) {
	s := r.newStory(id, time.Now().Add(-time.Hour))
	text := func(name string, every int) string {
		var b strings.Builder
		for i := range lines {
			end := b.Len() + width - 1
			by := "first"
			if i%every == 0 {
				by = name
			}
			fmt.Fprintf(&b, "var %s%07d =", by, i)
			for n := i; b.Len() < end; n += 7 {
				fmt.Fprintf(&b, " %d", n)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	s.commit(s.began, "the file", longFile, text("first", 1))
	content := text("turn", 100)
	s.turn(s.began.Add(time.Minute), content)
	s.commit(s.began.Add(2*time.Minute), "take it up", longFile, content)
	s.end()
}

// accept lets the user rely on a mission that is not signed, as if he had looked at it.
func (r *repository) accept(id record.ID) {
	repo := must(git.Find(r.dir))
	check(workspace.New(repo, config.Default()).Trust.Accept(object.NewHash(r.git("rev-parse", id.Ref())), id))
}
