//go:build e2e

package page

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

var (
	turns  = flag.Int("turns", 1000, "turns of the large page")
	amount = flag.Int("bytes", 50_000_000, "bytes of their transcript, about")
)

// TestPageLarge: a thousand turns with 50 MB of transcript make a page of less than 10 MB, which few elements show.
// What tools answer in it is this project's source.
func TestPageLarge(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	w := newWorld(t)
	w.Write("file", "first\n")
	w.Commit("init")
	c := w.client(w.Dir)
	c.Hook = nil
	source := sources(t)
	random := rand.New(rand.NewPCG(1, 2))
	each := max(1, *amount / *turns)
	for i := range *turns {
		c.Context = 20_000 + i*37%150_000
		c.Prompt(fmt.Sprintf("Prompt %d: change the parser so that it reads line %d", i+1, random.IntN(10_000)))
		for c.Size() < int64((i+1)*each) {
			from := random.IntN(len(source) - 20_000)
			c.Say("Now the next part: " + strings.Join(strings.Fields(source[from:from+300]), " "))
			from = random.IntN(len(source) - 20_000)
			c.Use("Read", map[string]any{"file_path": fmt.Sprintf("internal/part%d.go", random.IntN(400))}, source[from:from+min(each/3, 500+random.IntN(8000))], false)
		}
		c.Stop(fmt.Sprintf("line-%d is read. %s", i+1, source[random.IntN(len(source)-1000):][:600]))
		c.Flush()
	}
	transcript := size(t, c.Path)
	c.Esc()
	imported := time.Now()
	w.run("git", "agent-turn", "import")
	t.Logf("%d turns, %d kB of transcript, imported in %.1f s", *turns, transcript/1000, time.Since(imported).Seconds())
	file := filepath.Join(place(t), "page.html")
	mission := c.Session[len(c.Session)-8:]
	began := time.Now()
	w.run("git", "agent-turn", "page", mission, "--out", file)
	t.Logf("written in %.1f s", time.Since(began).Seconds())
	measured := drive(t, file, map[string]any{
		"scenarios": scenarios("large"), "mission": mission, "last": fmt.Sprintf("%s/%d", mission, *turns),
		"word": fmt.Sprintf("line-%d", *turns), "found": "1 turn",
	})
	t.Logf("%v", measured)
	if got := size(t, file); *amount == 50_000_000 && got > 10_000_000 {
		t.Errorf("the page has %d bytes", got)
	}
}

// sources are the Go files of this project, in one text.
func sources(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
