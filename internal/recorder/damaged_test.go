package recorder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestDamaged: a mission whose newest objects are lost or damaged is left as it is. The turn is recorded as
// the session's own mission, the user hears of it, and once the object is back, all can be read.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, damage := range []struct {
		name string
		do   func(path string) error
	}{
		{"lost", os.Remove},
		{"cut", func(path string) error { return os.Truncate(path, 9) }},
		{"empty", func(path string) error { return os.Truncate(path, 0) }},
	} {
		for _, of := range []string{"", "^{tree}", ":mission.json", ":turns", ":turns/0000"} {
			for _, attached := range []bool{false, true} {
				t.Run(damage.name+of, func(t *testing.T) {
					t.Parallel()
					if damage.name+of != "lost" || attached {
						gittest.Check(t)
					}
					l := lab.New(t)
					c := l.Client()
					id := lab.Own(c)
					if attached {
						id = "deadbeef"
						l.Git("switch", "-q", "-c", "agent/mission/deadbeef")
					}
					l.Turn(c, "first", l.Writes("one", "1\n"))
					tip := l.Git("rev-parse", id.Ref())
					hash := l.Git("rev-parse", id.Ref()+of)
					path := loosen(l, hash)
					whole := l.Read(path)
					gittest.Must(t, damage.do(filepath.Join(l.Dir, path)))
					var damaged []record.ID
					hook := c.Hook
					c.Hook = func(e replay.Event) {
						result, err := l.TryRecord(e)
						if err != nil {
							t.Errorf("%s: %v", e.Name, err)
						} else if result != nil && result.Mission != "" {
							damaged = append(damaged, result.Damaged)
						}
					}
					l.Turn(c, "second", l.Writes("two", "2\n"))
					c.Hook = hook
					if len(damaged) == 0 || damaged[0] != id {
						t.Errorf("what the hook says is damaged: %q, want %s", damaged, id)
					}
					if now := l.Git("rev-parse", id.Ref()); now != tip {
						t.Errorf("the damaged ledger moved from %s to %s", tip, now)
					}
					want := lab.Own(c)
					if !attached {
						var err error
						want, err = record.OfSession(c.Session, 12)
						gittest.Must(t, err)
					}
					list, err := turns.List(t.Context(), l.GitRepo(), want)
					if err != nil || len(list) != 1 || list[0].Prompt != "second" {
						t.Errorf("mission %s has %v, %v", want, list, err)
					}
					if err := os.Remove(filepath.Join(l.Dir, path)); err != nil && !os.IsNotExist(err) {
						t.Fatal(err)
					}
					l.Write(path, whole)
					if list, err := turns.List(t.Context(), l.GitRepo(), id); err != nil || len(list) != 1 {
						t.Errorf("with the object back: %v, %v", list, err)
					}
					l.Fsck()
				})
			}
		}
	}
}

// TestDamagedRef: of a ref, a power cut may leave a file with nothing in it, or with zeros. The turn is recorded as
// that of a mission whose objects are lost is; without the notes, if it is theirs.
func TestDamagedRef(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, content := range []string{"", "0123456789", strings.Repeat("\x00", 41)} {
		l := lab.New(t)
		l.RefFiles()
		c := l.Client()
		id := lab.Own(c)
		l.Turn(c, "first", l.Writes("one", "1\n"))
		l.Write(".git/"+id.NotesRef(), content)
		l.Turn(c, "second", l.Writes("two", "2\n"))
		if list, err := turns.List(t.Context(), l.GitRepo(), id); err != nil || len(list) != 2 {
			t.Errorf("notes %q: %v, %v", content, list, err)
		}
		l.Write(".git/"+id.Ref(), content)
		l.Turn(c, "third", l.Writes("three", "3\n"))
		instead, err := record.OfSession(c.Session, 12)
		gittest.Must(t, err)
		if list, err := turns.List(t.Context(), l.GitRepo(), instead); err != nil || len(list) != 1 || list[0].Prompt != "third" {
			t.Errorf("ledger %q: mission %s has %v, %v", content, instead, list, err)
		}
		if now := l.Read(".git/" + id.Ref()); now != content {
			t.Errorf("the ref %q is %q now", content, now)
		}
	}
}

// TestDamagedArchive: where nobody knows what is archived, a turn is recorded all the same, in a mission of its own,
// and nothing takes the archive's place.
func TestDamagedArchive(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, damage := range []struct {
		name string
		file bool // of the ref
		do   func(l *lab.Lab) error
	}{
		{"empty", true, func(l *lab.Lab) error { return os.Truncate(filepath.Join(l.Dir, ".git", ledger.ArchiveRef), 0) }},
		{"zeros", true, func(l *lab.Lab) error {
			return os.WriteFile(filepath.Join(l.Dir, ".git", ledger.ArchiveRef), make([]byte, 41), 0o644)
		}},
		{"without its commit", false, func(l *lab.Lab) error {
			return os.Remove(filepath.Join(l.Dir, loosen(l, l.Git("rev-parse", ledger.ArchiveRef))))
		}},
		{"without its tree", false, func(l *lab.Lab) error {
			return os.Remove(filepath.Join(l.Dir, loosen(l, l.Git("rev-parse", ledger.ArchiveRef+"^{tree}"))))
		}},
	} {
		t.Run(damage.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			if damage.file {
				l.RefFiles()
			}
			c, d := l.Client(), l.Client()
			l.Turn(c, "first", l.Writes("one", "1\n"))
			l.Archive(lab.Own(c))
			keep := l.Git("rev-parse", ledger.ArchiveKeepRef)
			gittest.Must(t, damage.do(l))
			for _, c := range []*replay.Client{c, d} {
				l.Turn(c, "in the dark", l.Writes("two", c.Session))
				instead, err := record.OfSession(c.Session, 12)
				gittest.Must(t, err)
				if list, err := turns.List(t.Context(), l.GitRepo(), instead); err != nil || len(list) != 1 {
					t.Errorf("mission %s: %v, %v", instead, list, err)
				}
				if _, err := missionstore.Archive(t.Context(), l.Workspace(l.Dir), []record.ID{instead}, nil, false); !git.Lost(err) {
					t.Errorf("archive %s: %v", instead, err)
				}
			}
			if now := l.Git("rev-parse", ledger.ArchiveKeepRef); now != keep {
				t.Errorf("what was archived is kept by %s, not %s", now, keep)
			}
		})
	}
}

// TestArchiveWithoutIndex: what is archived stays kept, though the ref of its list is gone.
func TestArchiveWithoutIndex(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c, d := l.Client(), l.Client()
	l.Turn(c, "first", l.Writes("one", "1\n"))
	l.Turn(d, "second", l.Writes("one", "2\n"))
	l.Archive(lab.Own(c))
	l.Git("update-ref", "-d", ledger.ArchiveRef)
	if _, err := missionstore.Archive(t.Context(), l.Workspace(l.Dir), []record.ID{lab.Own(d)}, nil, false); !git.Lost(err) {
		t.Errorf("archive: %v", err)
	}
	l.Git("rev-parse", ledger.ArchiveKeepRef)
}

// loosen makes all objects loose, and returns the path of one of them.
func loosen(l *lab.Lab, hash string) string {
	l.T.Helper()
	packs, err := filepath.Glob(filepath.Join(l.Dir, ".git/objects/pack/*.pack"))
	gittest.Must(l.T, err)
	for _, pack := range packs {
		data, err := os.ReadFile(pack)
		gittest.Must(l.T, err)
		for _, ext := range []string{".pack", ".idx", ".rev"} {
			if err := os.Remove(pack[:len(pack)-len(".pack")] + ext); err != nil && !os.IsNotExist(err) {
				l.T.Fatal(err)
			}
		}
		if _, err := l.Feed(string(data), "unpack-objects", "-q"); err != nil {
			l.T.Fatal(err)
		}
	}
	path := filepath.Join(".git/objects", hash[:2], hash[2:])
	gittest.Must(l.T, os.Chmod(filepath.Join(l.Dir, path), 0o644))
	return path
}
