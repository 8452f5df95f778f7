//go:build unix

package same

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gitagent/test/gittest"
)

var (
	seed        = flag.Uint64("seed", 1, "what the walks are drawn from")
	invocations = flag.Int("invocations", 0, "how many steps there are; by default a small sample, or 3,000 with -before")
	before      = flag.String("before", "", "a `directory` with the older programs")
	now         = flag.String("now", "", "a `directory` with the programs that are compared with them; by default those of this source")
	only        = flag.Int("walk", -1, "only the walk with this number")
	where       = flag.String("place", "", "only walks in this place")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}

// A difference is what was found in a walk.
type difference struct {
	walk   int
	place  string
	step   int
	text   string
	harmed []string // derived files that were harmed before
	again  bool     // the walk was taken once more, and it was there again
}

// TestSame takes walks with both builds.
func TestSame(t *testing.T) {
	gittest.Check(t)
	builds := builds(t)
	known := readGrammar(t, builds[1])
	count := *invocations
	switch {
	case count > 0:
	case *before != "":
		count = 3000
	default:
		count = gittest.Size(600, 60)
	}
	walks := (count + steps - 1) / steps
	var next atomic.Int64
	var mu sync.Mutex
	total, found, told, harmed, used, ends := 0, 0, 0, 0, make(map[string]int), make(map[int]int)
	workers := min(runtime.GOMAXPROCS(0), walks)
	if *only >= 0 {
		next.Store(int64(*only))
		walks, workers = *only+1, 1
	}
	t.Run("walks", func(t *testing.T) {
		for i := range workers {
			t.Run(fmt.Sprint("worker ", i), func(t *testing.T) {
				t.Parallel()
				a := newArena(t, builds, known)
				for n := int(next.Add(1)) - 1; n < walks; n = int(next.Add(1)) - 1 {
					w := a.walk(n)
					if w == nil {
						continue
					}
					d := w.found
					if d != nil {
						if w = a.walk(n); w.found != nil {
							d = w.found
							d.again = true
						}
					}
					mu.Lock()
					total += w.taken
					told, harmed = told+w.told, harmed+len(w.harmed)
					for status, n := range w.ends {
						ends[status] += n
					}
					for _, use := range w.uses {
						used[use]++
					}
					if d != nil {
						found++
						t.Error(d)
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%d invocations in %d walks, %d walks differ", total, walks, found)
	t.Logf("exit statuses %v, %d commands have printed something, %d derived files were harmed", ends, told, harmed)
	if *only < 0 && *where == "" && total >= 3000 {
		for _, use := range known.uses() {
			if used[use] == 0 {
				t.Errorf("nothing has used %s", use)
			}
		}
	}
}

func (d difference) String() string {
	how := "it was not there when the walk was taken again"
	if d.again {
		how = "it was there again"
	}
	args := fmt.Sprintf("-seed %d -walk %d", *seed, d.walk)
	if *before != "" {
		args = "-before " + *before + " " + args
	}
	if *now != "" {
		args += " -now " + *now
	}
	if len(d.harmed) > 0 {
		d.text += "\nharmed before: " + strings.Join(d.harmed, "; ")
	}
	return fmt.Sprintf("walk %d, place %s, step %d; %s\n%s\nagain: GIT_AGENT_TESTS=check go test ./test/same -v %s", d.walk, d.place, d.step, how, d.text, args)
}

// builds returns the directories of the older programs and of those that are compared with them: the same one, if there is no
// older one.
func builds(t *testing.T) [2]string {
	t.Helper()
	path, err := exec.LookPath("git-agent-turn")
	gittest.Must(t, err)
	both := [2]string{filepath.Dir(path), filepath.Dir(path)}
	if *before != "" {
		both[0] = *before
		if both[1] = *now; *now == "" {
			both[1] = gittest.TempDir(t)
			build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w",
				"-o", both[1]+"/", "gitagent/cmd/...")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("build the programs: %v\n%s", err, out)
			}
		}
	}
	return both
}

// draw is what a walk is drawn from.
func draw(walk int) *rand.Rand { return rand.New(rand.NewPCG(*seed, uint64(walk))) }

// shell spells a command line as one would type it.
func shell(words ...string) string {
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"$\\*?[](){}<>|&;`~#!") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}
