package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

// turnsLanded compares what tells which turns are in the user's commits.
func turnsLanded(l *lab) {
	contestHeading()
	r := l.newRepository("work", smallFiles)
	r.work(worked{commits: 100_000, every: 5, missions: 20})
	for _, args := range [][]string{{"summary", "HEAD~5000.."}, {"log", "-n", "20"}} {
		l.play(contest{
			name: fmt.Sprintf("%s, 100,000 commits, 20,000 turns", strings.Join(args, " ")), target: "0.1 of before",
			ours: func(b build) sample { return r.printing(b.program("git-agent-turn"), args...) },
			git:  func() sample { return r.printing("git", "log", "--numstat", "-n", "5000") },
		})
	}
}

// turnsListed compares lists of many turns: the first one, and others, for which they were read before, as mostly.
func turnsListed(l *lab) {
	contestHeading()
	for _, size := range []struct {
		turns  int
		target string
		lists  [][]string
	}{
		{listedTurns, "0.35 of before", [][]string{{"list"}, {"list", "--json"}, {"list", "--grep", "there is none"}}},
		{200_000, "0.15 of before", [][]string{{"list", "--all"}, {"list"}}},
	} {
		r := l.newRepository(fmt.Sprintf("turns-%d", size.turns), smallFiles)
		r.enable()
		const id = record.ID("a1b2c3d4")
		r.fill(id, size.turns)
		l.play(contest{
			name: fmt.Sprintf("the first list of %d turns", size.turns), target: "1.03 of before",
			ours: func(b build) sample {
				check(os.RemoveAll(filepath.Join(r.dir, ".git", "agent", "records")))
				return r.printing(b.program("git-agent-turn"), "list", "--mission", string(id))
			},
		})
		for _, args := range size.lists {
			name := strings.Join(args, " ")
			if args[len(args)-1] != "--all" {
				args = append(args[:len(args):len(args)], "--mission", string(id))
			}
			l.play(contest{
				name: fmt.Sprintf("%s of %d turns", name, size.turns), target: size.target,
				ours: func(b build) sample { return r.printing(b.program("git-agent-turn"), args...) },
				git:  func() sample { return r.printing("git", "log", "--format=%H %s", id.Ref()) },
			})
		}
		check(os.RemoveAll(r.dir))
	}
}

// turnsPage compares the page of a mission.
func turnsPage(l *lab) {
	contestHeading()
	r := l.newRepository("page", smallFiles)
	r.work(worked{commits: listedTurns, every: 1, missions: 1, told: true})
	l.play(contest{
		name: fmt.Sprintf("page of %d turns", listedTurns), target: "0.4 of before, memory too",
		ours: func(b build) sample {
			return r.printing(b.program("git-agent-fork"), "page", "--out="+filepath.Join(l.dir, "page.html"), string(missionID(0)))
		},
		git: func() sample { return r.printing("git", "log", "--patch") },
	})
}

// A worked is a history in which every so many commits take up what a turn has done to one of the files: every second
// of these as it is, the others with a line by hand. Missions follow one another.
type worked struct {
	commits, every, missions int
	told                     bool // turns have conversations
}

// work makes the history, and accepts the missions.
func (r *repository) work(h worked) {
	began := time.Now().Add(-time.Duration(h.commits) * time.Minute).UTC().Truncate(time.Second)
	marks := filepath.Join(r.lab.dir, "marks")
	var in bytes.Buffer
	next, head := 0, "refs/heads/main^0"
	add := func(ref string, at time.Time, message, parent string) string {
		next++
		fmt.Fprintf(&in, "commit %s\nmark :%d\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\nfrom %s\n", ref, next, at.Unix(), len(message), message, parent)
		return fmt.Sprintf(":%d", next)
	}
	type took struct {
		code, base, path string
		at               time.Time
	}
	var list []took
	each := h.commits / h.every / h.missions
	id := func(turn int) record.ID { return missionID(turn / each) }
	for i := range h.commits {
		at := began.Add(time.Duration(i) * time.Minute)
		name, content := path(i*7%r.files), source(i*7%r.files, i/r.files+1)
		if i%h.every > 0 {
			head = add("refs/heads/main", at, "by hand", head)
			put(&in, name, content)
			continue
		}
		n := len(list)
		content += fmt.Sprintf("// turn %d\n", n)
		code := add("refs/made/code", at.Add(-20*time.Second), ledger.CodeMessage(fmt.Sprintf("turn %d", n%each+1), id(n), n%each+1, string(id(n))), head)
		put(&in, name, content)
		list = append(list, took{code, head, name, at.Add(-20 * time.Second)})
		head = add("refs/heads/main", at, "take it up", head)
		if n%2 > 0 {
			content += "// by hand\n"
		}
		put(&in, name, content)
	}
	r.feed(r.dir, in.Bytes(), "git", "fast-import", "--quiet", "--depth=10", "--export-marks="+marks)
	hashes := make(map[string]string)
	for line := range strings.Lines(string(must(os.ReadFile(marks)))) {
		mark, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
		hashes[mark] = hash
	}
	hashes["refs/heads/main^0"] = r.git("rev-list", "--max-parents=0", "main")
	hex := func(mark string) object.Hash { return object.NewHash(hashes[mark]) }
	in.Reset()
	event := func(of record.ID, at time.Time, subject string) {
		fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\n", of.Ref(), at.Unix(), len(subject), subject)
	}
	w := newWriter(r.dir, "", 1)
	for i, t := range list {
		number := i%each + 1
		w.session = fmt.Sprintf("5b603d06-8528-4d54-8275-0000%s", id(i))
		if number == 1 {
			mission := record.Mission{
				V: record.Version, ID: id(i), Title: "a long history", Created: t.at,
				Agent: "claude-code", Base: hashes[t.base], Sessions: []string{w.session},
			}
			event(id(i), t.at, "mission "+string(id(i)))
			put(&in, "mission.json", string(must(mission.Encode())))
		}
		w.begin(number)
		one := turns.Turn{
			V: record.Version, Kind: "turn", Mission: id(i), Turn: number, At: t.at, Started: t.at.Add(-20 * time.Second),
			Outcome: record.Done, Agent: "claude-code", Session: w.session, PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply,
			Code: hex(t.code), Base: hex(t.base), Head: hex(t.base), Branch: "main",
			Files: 1, Insertions: 3, Deletions: 3, Paths: []string{t.path},
		}
		event(id(i), t.at, fmt.Sprintf("turn %d", number))
		fmt.Fprintf(&in, "merge %s\n", hashes[t.code])
		if h.told {
			segment := w.turn(0)
			one.Transcript = &record.Segment{Path: ledger.TurnPath("transcript", number, ".jsonl"), After: number - 1, Bytes: len(segment)}
			put(&in, one.Transcript.Path, string(segment))
		}
		put(&in, ledger.TurnPath("turns", number, ".json"), string(must(one.Encode()))+"\n")
	}
	r.load(&in)
	r.git("update-ref", "-d", "refs/made/code")
	r.git("reset", "-q", "--hard")
	for i := 0; i < len(list); i += each {
		r.accept(id(i))
	}
}
