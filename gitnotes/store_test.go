package gitnotes

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// disk reads the objects of a repository, and writes each at once, for git.
type disk struct {
	*git.Objects
	dir string
}

func objects(t testing.TB, r *gittest.Repo) Store {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	o := repo.Objects(context.Background())
	t.Cleanup(o.Close)
	return disk{o, filepath.Join(repo.CommonDir, "objects")}
}

func (d disk) Write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	h := format.Object(t, content)
	var b bytes.Buffer
	w := objfile.NewWriter(&b)
	err := w.WriteHeader(t, int64(len(content)))
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	path := filepath.Join(d.dir, h.String()[:2], h.String()[2:])
	if _, e := os.Lstat(path); err != nil || e == nil {
		return h, err // it is there, and nobody but root may write it again
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o666)
	}
	return h, err
}

// memory is a store without a repository.
type memory map[object.Hash]git.Object

func (m memory) Format() object.Format { return format }

func (m memory) Read(t plumbing.ObjectType, h object.Hash, most int64) ([]byte, error) {
	if o, ok := m[h]; ok && o.Type == t {
		if int64(len(o.Content)) > most {
			return nil, git.ErrTooLarge
		}
		return o.Content, nil
	}
	return nil, plumbing.ErrObjectNotFound
}

func (m memory) Write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	h := format.Object(t, content)
	m[h] = git.Object{Hash: h, Type: t, Content: bytes.Clone(content)}
	return h, nil
}

// overlay reads from one store and writes to memory, where tens of thousands of trees take no time.
type overlay struct {
	memory
	under Store
}

func (o overlay) Read(t plumbing.ObjectType, h object.Hash, most int64) ([]byte, error) {
	if content, err := o.memory.Read(t, h, most); err == nil {
		return content, nil
	}
	return o.under.Read(t, h, most)
}

// counting counts what is read from and written to a store.
type counting struct {
	Store
	read, written map[plumbing.ObjectType]int
}

func count(s Store) *counting {
	return &counting{s, make(map[plumbing.ObjectType]int), make(map[plumbing.ObjectType]int)}
}

func (c *counting) Read(t plumbing.ObjectType, h object.Hash, most int64) ([]byte, error) {
	content, err := c.Store.Read(t, h, most)
	if err == nil {
		c.read[t]++
	}
	return content, err
}

func (c *counting) Write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	c.written[t]++
	return c.Store.Write(t, content)
}

// failing stores as many objects as are left.
type failing struct {
	Store
	left int
}

func (f *failing) Write(t plumbing.ObjectType, content []byte) (object.Hash, error) {
	if f.left--; f.left < 0 {
		return object.Hash{}, errFull
	}
	return f.Store.Write(t, content)
}
