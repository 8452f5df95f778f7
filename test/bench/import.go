package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gitagent/internal/agent/claude"
)

const importedSessions = 300

// imports measures the import of a project directory: 300 sessions that are made from captured ones,
// of 1 to 20 of them each, then the same again, then after each of them has gone on.
func imports(l *lab) {
	r := l.newRepository("import", smallFiles)
	p := newProject(r)
	for n := range importedSessions {
		p.grow(n, 1+n*7%20)
	}
	heading()
	p.run("dry run", "--dry-run")
	p.run("first")
	p.run("again")
	for n := range importedSessions {
		p.grow(n, 1)
	}
	p.run("grown")
	for range 2 { // at once
		for n := range importedSessions {
			p.grow(n, 1)
		}
	}
	first := r.timedAtOnce(2, "import")
	alone("two at once, grown", first, "")
	fmt.Printf("%d sessions, %.1f MB of files, %.1f MB in the repository\n", importedSessions, float64(p.size)/1e6, float64(sizeOf(filepath.Join(r.dir, ".git", "objects")))/1e6)
}

// A project is the client's directory of the sessions of a repository.
type project struct {
	repo     *repository
	captured [][]byte
	at       int // of captured, what is next
	size     int
}

func newProject(r *repository) *project {
	p := &project{repo: r}
	for _, path := range must(filepath.Glob("testdata/transcripts/*.jsonl")) {
		p.captured = append(p.captured, must(os.ReadFile(path)))
	}
	if len(p.captured) == 0 {
		check(fmt.Errorf("there are no captured sessions: run this in the top directory"))
	}
	return p
}

var (
	uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	cwds  = regexp.MustCompile(`"cwd":"[^"]*"`)
)

// grow adds captured conversations to a session, each with uuids of its own.
func (p *project) grow(session, times int) {
	id := fmt.Sprintf("5b603d06-8528-4d54-8275-dcec%08x", session)
	path := claude.Path(filepath.Join(p.repo.lab.dir, "home", ".claude"), p.repo.dir, id)
	check(os.MkdirAll(filepath.Dir(path), 0o700))
	f := must(os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))
	defer f.Close()
	cwd := append([]byte(`"cwd":`), must(json.Marshal(p.repo.dir))...)
	for range times {
		p.at++
		data := p.captured[p.at%len(p.captured)]
		data = uuids.ReplaceAllFunc(data, func(uuid []byte) []byte {
			h := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d %s", p.at, uuid)))
			return []byte(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:32]}, "-"))
		})
		data = cwds.ReplaceAllLiteral(data, cwd)
		if !bytes.HasSuffix(data, []byte("\n")) {
			data = append(data, '\n')
		}
		p.size += must(f.Write(data))
	}
}

// run imports.
func (p *project) run(name string, args ...string) {
	out, x := p.repo.timed(p.repo.dir, nil, nil, p.repo.program, append([]string{"import"}, args...)...)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	alone(name+": "+lines[len(lines)-1], series{x}, "")
}

// timedAtOnce runs the program several times at the same time.
func (r *repository) timedAtOnce(n int, args ...string) series {
	samples := make(chan sample)
	for range n {
		go func() {
			_, x := r.timed(r.dir, nil, nil, r.program, args...)
			samples <- x
		}()
	}
	var s series
	for range n {
		s = append(s, <-samples)
	}
	return s
}

func sizeOf(dir string) (size int64) {
	check(filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	}))
	return size
}
