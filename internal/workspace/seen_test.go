package workspace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/trust"
	"gitagent/test/gittest"
)

// A crowd is a repository with more missions than are looked at each time. Every third one is a stranger's.
type crowd struct {
	*gittest.Repo
	t    *testing.T
	tips map[record.ID]object.Hash
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{Repo: gittest.New(t), t: t, tips: make(map[record.ID]object.Hash)}
	c.Do("file=1; commit first")
	for i := range many + 20 {
		c.event(record.ID(fmt.Sprintf("%08x", i)), i%3 != 0, int64(1000+i%50))
	}
	return c
}

func (c *crowd) open() *Workspace {
	c.t.Helper()
	repo, err := git.Find(c.Dir)
	gittest.Must(c.t, err)
	return New(repo, config.Default())
}

// event adds one to a mission, which this clone writes or not, at a time.
func (c *crowd) event(id record.ID, own bool, at int64) {
	c.t.Helper()
	w := c.open()
	objects := w.Repo.Objects(c.t.Context())
	defer objects.Close()
	l, old := ledger.New(objects, &record.Mission{V: record.Version, ID: id}), c.tips[id]
	if !old.IsZero() {
		var err error
		l, err = ledger.At(objects, id, old)
		gittest.Must(c.t, err)
	}
	by := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(at, 0)}
	tip, err := l.Append(ledger.Event{Subject: "x", Author: by, Committer: by})
	gittest.Must(c.t, err)
	gittest.Must(c.t, objects.Flush())
	if own {
		gittest.Must(c.t, w.Trust.Own(id, tip, old))
	}
	gittest.Must(c.t, w.Repo.Watched(nil).UpdateRefs(c.t.Context(), "test", []git.Update{{Ref: id.Ref(), New: tip, Old: old}}))
	c.tips[id] = tip
}

// later is when all that was written in a test is settled.
func later() time.Time { return time.Now().Add(time.Hour) }

// look compares what a workspace says of all missions with what is so, and returns how many it had to look at.
func (c *crowd) look(w *Workspace, at time.Time) (anew int) {
	c.t.Helper()
	objects := w.Repo.Objects(c.t.Context())
	defer objects.Close()
	plain := c.open()
	if w.Trust.Keys() != plain.Trust.Keys() {
		plain.Trust = w.Trust
	}
	n, last := 0, record.ID("")
	w.seen.look(w, at, len(c.tips), func(id record.ID, left func() (object.Hash, error)) {
		if n++; id <= last {
			c.t.Errorf("%s comes after %s", id, last)
		}
		last = id
		got, err := left()
		gittest.Must(c.t, err)
		if want, err := plain.Trust.Left(id); err != nil || got != want.At {
			c.t.Errorf("%s was left at %s, want %s, %v", id, got, want.At, err)
		}
	})
	if n != len(plain.Trust.Missions()) {
		c.t.Errorf("looked at %d", n)
	}
	for id, tip := range c.tips {
		by, err := w.Writer(c.t.Context(), objects, id, tip)
		gittest.Must(c.t, err)
		if want, err := plain.TrustLevel(c.t.Context(), objects, id, tip); err != nil || by != want.By {
			c.t.Errorf("%s is by %q, want %q, %v", id, by, want.By, err)
		}
	}
	anew = w.seen.anew
	w.NoteSeen()
	return anew
}

// TestSeen: what was found out about missions is what would be found out now, and is found out once.
func TestSeen(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	began := time.Now()
	c := newCrowd(t)
	if n, strangers := c.look(c.open(), began), len(c.tips)-len(c.open().Trust.Missions()); n != strangers {
		t.Errorf("noted %d, and not only the %d missions of which nothing may just be written", n, strangers)
	}
	if n := c.look(c.open(), later()); n < len(c.tips) {
		t.Errorf("noted %d", n)
	}
	seen := c.Dir + "/.git/agent/" + session.SeenFile
	file, err := os.ReadFile(seen)
	gittest.Must(t, err)
	if n := c.look(c.open(), later()); n != 0 {
		t.Errorf("looked at %d again", n)
	}
	c.event("00000001", true, 5000)
	c.event("00000002", false, 5000)
	gittest.Must(t, c.open().Trust.Accept(c.tips["00000003"], "00000003"))
	gittest.Must(t, c.open().Trust.Forget("00000004"))
	gittest.Must(t, c.open().Trust.Leave("00000005", object.Hash{}, c.open().Repo.Format()))
	if n := c.look(c.open(), later()); n == 0 || n > 12 {
		t.Errorf("looked at %d where five have changed", n)
	}
	for name, content := range map[string][]byte{
		"damaged":                    bytes.Replace(file, []byte{0}, []byte{1}, 1),
		"cut off":                    file[:len(file)/2],
		"empty":                      nil,
		"of another version":         bytes.Replace(file, []byte(seenLine), []byte("git-agent seen 0"), 1),
		"of a mission that was then": file,
	} {
		gittest.Must(t, os.WriteFile(seen, content, 0o600))
		n := c.look(c.open(), later())
		if n < len(c.tips) && name[0] != 'o' || n > 20 && name == "of a mission that was then" {
			t.Errorf("%s: looked at %d", name, n)
		}
	}
	// A process that died as it wrote has left this.
	gittest.Must(t, os.WriteFile(seen+session.Fresh, file[:100], 0o600))
	gittest.Must(t, os.Remove(seen))
	c.look(c.open(), later())
	if n := c.look(c.open(), later()); n != 0 {
		t.Errorf("looked at %d again", n)
	}
}

// TestSeenKeys: once another key is trusted, nothing counts that was said of writers before.
func TestSeenKeys(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	c.look(c.open(), later())
	w := c.open()
	keys := t.TempDir()
	gittest.Must(t, os.WriteFile(keys+"/allowed_signers", []byte("anna ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPCjjBuSuxY6i43YuDiKWWwHIZHWx4T0lSVdfTTTmNTQ\n"), 0o600))
	others := trust.ReadKeys(keys, "")
	if len(others.Signers) != 1 {
		t.Fatalf("no key: %q", others.Ignored)
	}
	w.Trust = trust.New(w.Store.Dir(), func() *trust.Keys { return others })
	if n := c.look(w, later()); n != len(c.tips) {
		t.Errorf("looked at %d", n)
	}
}

// TestSeenTogether: processes that note at once leave a file that is whole.
func TestSeenTogether(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				c.look(c.open(), later())
				_ = os.Remove(c.Dir + "/.git/agent/" + session.SeenFile)
			}
		})
	}
	all.Wait()
	c.look(c.open(), later())
	if n := c.look(c.open(), later()); n != 0 {
		t.Errorf("looked at %d again", n)
	}
}

// TestNewest: the mission written last is the one that git would name, whatever was noted before.
func TestNewest(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	newest := func(when string) {
		t.Helper()
		want := c.Git("for-each-ref", "--sort=-committerdate", "--count=1", "--format=%(refname)", record.MissionRefs)
		w := c.open()
		id, n, err := w.Newest(t.Context())
		if wanted, _ := record.ParseID(strings.TrimPrefix(want, record.MissionRefs)); err != nil || id != wanted || n != len(c.tips) {
			t.Errorf("%s: %s of %d, %v, want %s of %d", when, id, n, err, want, len(c.tips))
		}
		w.NoteSeen()
	}
	newest("at first")
	newest("once noted")
	c.event("00000007", true, 9000)
	c.event("0000000c", true, 9000)
	newest("after two events of one second")
	c.Git("update-ref", "refs/agent/missions/x", c.tips["00000001"].String())
	newest("beside a ref that is of no mission")
	c.Git("update-ref", "refs/agent/missions/x", c.Git("commit-tree", "-m", "x", "HEAD:"))
	newest("beside a newer ref that is of no mission")
	c.Git("update-ref", "-d", "refs/agent/missions/x")
	var ids []record.ID
	for id := range c.tips {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		c.event(id, true, 100)
	}
	newest("after all have another date")
}
