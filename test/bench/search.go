package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/turns"
)

const (
	searchedBytes    = 2 << 30 // of transcripts
	searchedMissions = 100

	rare      = "Flibbertigibbet" // in one turn of each mission
	rareLower = "flibbertigibbet"
)

// searching searches 2 GB of conversations. They are made of the captured ones, whose texts were taken
// out and are made up again, and of the writer's turns.
func searching(l *lab) {
	r := l.newRepository("search", smallFiles)
	pool := l.conversations()
	var total int64
	turns := 0
	for i := range searchedMissions {
		n, bytes := r.converse(pool, i, searchedBytes/searchedMissions)
		turns, total = turns+n, total+bytes
	}
	fmt.Printf("%d missions, %d turns, %d MB of transcripts in %d MB of packs\n", searchedMissions, turns, total>>20, r.size().bytes>>20)
	fmt.Printf(searchFormat, "", "n", "s", "MB/s", "cpu s", "MB/cpu s", "first ms", "MB", "git MB")
	for _, c := range []struct {
		name string
		hits int // at least
		args []string
	}{
		{"a word that is rare", searchedMissions, []string{rareLower}},
		{"as it is written", searchedMissions, []string{rare}},
		{"that is not there", 0, []string{"zyzzyva"}},
		{"with letters beyond ASCII", 0, []string{"übergröße"}},
		{"three words", 0, []string{"error", "session", "zyzzyva"}},
		{"a pattern", searchedMissions, []string{"--regexp", `flibb\w+bet\b`}},
		{"a pattern without a text", 0, []string{"--regexp", `[xyz]{9}`}},
		{"a word that is everywhere", turns, []string{"error"}},
		{"the same, 10 turns", 10, []string{"-n", "10", "error"}},
		{"a rare word in prompts", 0, []string{"--in", "prompt", rareLower}},
		{"in paths", 0, []string{"--in", "paths", rareLower}},
	} {
		for range l.times(3) {
			x := r.lines(r.program, append([]string{"search", "--json"}, c.args...)...)
			if x.hits < c.hits {
				check(fmt.Errorf("%s: %d turns, not %d", c.name, x.hits, c.hits))
			}
			mb := float64(total) / (1 << 20)
			fmt.Printf(searchFormat, c.name, x.hits, fmt.Sprintf("%.2f", x.wall.Seconds()), fmt.Sprintf("%.0f", mb/x.wall.Seconds()),
				fmt.Sprintf("%.2f", x.cpu.Seconds()), fmt.Sprintf("%.0f", mb/x.cpu.Seconds()), fmt.Sprintf("%.0f", ms(x.first)), x.own>>20, x.gits>>20)
		}
	}
	if l.before != "" {
		r.searchedSides()
	}
}

// searchedSides compares what is searched with the build before.
func (r *repository) searchedSides() {
	contestHeading()
	for _, c := range []struct {
		name, target string
		first        bool // only the first hit counts
		args         []string
	}{
		{"search, a word that is in every turn", "0.4 of its time", false, []string{"error"}},
		{"a pattern without a literal", "0.4 of its time", false, []string{"--regexp", `[xyz]{9}`}},
		{"a word that is rare", "no slower", false, []string{rareLower}},
		{"the first hit", "0.6 of its time", true, []string{"-n", "1", "error"}},
	} {
		r.play(contest{name: c.name, target: c.target, ours: func(b build) sample {
			x := r.lines(b.program("git-agent-turn"), append([]string{"search", "--json"}, c.args...)...)
			if x.peak = x.own + x.gits; c.first {
				x.wall = x.first
			}
			return x.sample
		}})
	}
}

const searchFormat = "%-28s %6v %7v %7v %7v %9v %9v %5v %7v\n"

// conversations are some turns' parts of conversations, of 10 KB to 1 MB.
func (l *lab) conversations() [][]byte {
	files := must(filepath.Glob("internal/agent/claude/testdata/*.jsonl"))
	if len(files) == 0 {
		check(fmt.Errorf("no captured conversations; run this at the top of the repository"))
	}
	w := newWriter(l.dir, "5b603d06-8528-4d54-8275-dcebec74b87f", 7)
	elided := regexp.MustCompile(`<elided (\d+) chars>`)
	var pool [][]byte
	for i := range 120 {
		var b bytes.Buffer
		if i%4 == 0 {
			captured := must(os.ReadFile(files[i/4%len(files)]))
			b.Write(elided.ReplaceAllFunc(captured, func(m []byte) []byte {
				n := must(strconv.Atoi(string(elided.FindSubmatch(m)[1])))
				text := quote(w.prose(n + 1))
				return []byte(text[1 : len(text)-1])
			}))
		}
		for range 1 + rand.IntN(6) {
			w.begin(i + 1)
			b.Write(w.turn(10<<10 + rand.IntN(150<<10)))
		}
		pool = append(pool, b.Bytes())
	}
	return pool
}

// converse makes a mission with turns of that many bytes.
func (r *repository) converse(pool [][]byte, nth int, size int64) (count int, total int64) {
	head := r.git("rev-parse", "HEAD")
	code := object.NewHash(head)
	id := record.ID(fmt.Sprintf("5ea4c4%02x", nth))
	w := newWriter(r.dir, "5b603d06-8528-4d54-8275-dceb"+string(id), nth)
	at := time.Now().Add(-time.Duration(searchedMissions-nth) * 24 * time.Hour).UTC().Truncate(time.Millisecond)
	mission := record.Mission{V: record.Version, ID: id, Title: "to be searched", Created: at, Agent: "claude-code", Base: head, Sessions: []string{w.session}}
	var in bytes.Buffer
	commit(&in, id.Ref(), "mission "+string(id))
	put(&in, "mission.json", string(must(mission.Encode())))
	for total < size {
		count++
		w.begin(count)
		segment := bytes.Clone(pool[w.random.IntN(len(pool))])
		if count == 1 {
			w.reply = "It was the " + rare + ", as I said."
		}
		segment = append(segment, w.turn(10<<10)...)
		total += int64(len(segment))
		path := ledger.TurnPath("transcript", count, ".jsonl")
		t := turns.Turn{
			V: record.Version, Kind: "turn", Mission: id, Turn: count, At: at.Add(time.Duration(count) * time.Minute), Started: at,
			Outcome: record.Done, Agent: "claude-code", Model: "claude-opus-4-8", Session: w.session,
			PromptID: w.promptID, Prompt: w.prompt, Reply: w.reply, Code: code, Base: code, Head: code, Branch: "main",
			Files: 1, Paths: []string{"README.md"}, Transcript: &record.Segment{Path: path, After: count - 1, Bytes: len(segment)},
		}
		commit(&in, id.Ref(), fmt.Sprintf("turn %d", count))
		put(&in, ledger.TurnPath("turns", count, ".json"), string(must(t.Encode()))+"\n")
		put(&in, path, string(segment))
	}
	r.feed(r.dir, in.Bytes(), "git", "-c", "core.compression=1", "fast-import", "--quiet", "--depth=0") // our packs have no deltas
	return count, total
}

// A listed is what a command took that prints lines as it finds them.
type listed struct {
	sample
	first     time.Duration // to the first byte of the output
	hits      int           // lines
	own, gits int64         // bytes of memory at most: of the program, and of all its gits
}

// lines runs a command that prints lines as it finds them.
func (r *repository) lines(program string, args ...string) (x listed) {
	cmd := exec.CommandContext(r.ctx, program, args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out := must(cmd.StdoutPipe())
	var talk strings.Builder
	cmd.Stderr = &talk
	began := time.Now()
	check(cmd.Start())
	peaks := watchMemory(cmd.Process.Pid)
	buffer := make([]byte, 1<<16)
	for {
		n, err := out.Read(buffer)
		if n > 0 && x.first == 0 {
			x.first = time.Since(began)
		}
		x.hits += bytes.Count(buffer[:n], []byte{'\n'})
		if err == io.EOF {
			break
		}
		check(err)
	}
	x.own, x.gits = peaks()
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 3 {
		check(fmt.Errorf("%s: %w\n%s", args[0], err, talk.String()))
	}
	x.wall = time.Since(began)
	x.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return x
}
