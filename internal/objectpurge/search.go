package objectpurge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Searched is the outcome of a search.
type Searched struct {
	Objects int   // that were read
	Bytes   int64 // of them
	Files   int   // of the git directory that were read

	Found   []Found
	Unsure  []object.Hash // objects that are large, or not as git writes them, of whose parts the search tells nothing
	Unread  []object.Hash // objects that are damaged
	Garbage []string      // files with objects of a running or dead git, of which all that is readable was read
}

// Found is what has the secret: an object, a file, or a stray file of an
// object.
type Found struct {
	Object    object.Hash
	Type      plumbing.ObjectType
	Path      string // of a file, absolute
	Elsewhere bool   // the object is another repository's, which this one borrows from
}

// Search reads every object, reachable or not, and every file of the git
// directory with our local state. It fetches nothing. has is called
// concurrently, for large contents with overlapping pieces.
func Search(ctx context.Context, repo *git.Repo, has func(content []byte) bool) (*Searched, error) {
	repo = quiet(repo)
	s := store{repo, filepath.Join(repo.CommonDir, "objects")}
	found := new(Searched)
	err := searchObjects(ctx, repo, has, found)
	if err != nil && ctx.Err() == nil { // it ended at a damaged one
		*found = Searched{}
		err = searchEach(ctx, repo, has, found)
	}
	if err == nil {
		err = s.elsewhere(ctx, found.Found)
	}
	if err == nil {
		found.Garbage, err = s.garbage()
	}
	if err == nil {
		err = s.searchGarbage(ctx, has, found)
	}
	if err == nil {
		err = searchFiles(ctx, repo, has, found)
	}
	if err != nil {
		return nil, fmt.Errorf("search all objects: %w", err)
	}
	return found, nil
}

// A searchedObject is an object, or a part of a large one.
type searchedObject struct {
	Found
	content []byte
	part    bool
}

// searchObjects has one git write all objects, in the order of packs.
func searchObjects(ctx context.Context, repo *git.Repo, has func([]byte) bool, found *Searched) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	out, ended, err := repo.Pipe(ctx, nil, "-c", "core.bigFileThreshold="+strconv.Itoa(piece), "cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
	if err != nil {
		return err
	}
	defer out.Close()
	pool := newSearchers(has, repo.Format())
	in := bufio.NewReaderSize(out, 1<<20)
	for err == nil {
		err = pool.next(in, found)
	}
	found.Found = pool.wait()
	found.Unsure = pool.unsure
	if !errors.Is(err, io.EOF) {
		stop()
	}
	_ = out.Close()
	if e := <-ended; e != nil {
		return e
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// searchers look into objects concurrently. Buffers are reused to bound memory.
type searchers struct {
	has   func([]byte) bool
	work  chan searchedObject
	spare chan []byte
	done  sync.WaitGroup

	mu     sync.Mutex
	found  []Found
	unsure []object.Hash
}

// maxSearchers are as many as one git keeps busy.
const maxSearchers = 4

func newSearchers(has func([]byte) bool, format object.Format) *searchers {
	n := min(runtime.GOMAXPROCS(0), maxSearchers)
	s := &searchers{has: has, work: make(chan searchedObject, n), spare: make(chan []byte, 2*n+1)}
	for range cap(s.spare) {
		s.spare <- nil
	}
	for range n {
		s.done.Go(func() {
			l := looker{has: has, format: format, names: make(map[string]bool)}
			for o := range s.work {
				held, sure := l.look(o)
				if held || !sure {
					s.mu.Lock()
					if held {
						s.found = append(s.found, o.Found)
					}
					if !sure {
						s.unsure = append(s.unsure, o.Object)
					}
					s.mu.Unlock()
				}
				s.spare <- o.content
			}
		})
	}
	return s
}

// A looker looks into objects. Of a tree it takes the names, of which most are
// in many trees, and of a commit what comes after the hashes.
type looker struct {
	has    func([]byte) bool
	format object.Format
	names  map[string]bool // of files, whether one has it
}

// maxNames bounds the names of files that are remembered.
const maxNames = 1 << 17

// look reports whether an object has the secret, and whether it is one of whose
// parts that is known.
func (l *looker) look(o searchedObject) (held, sure bool) {
	switch {
	case o.part:
		return l.has(o.content), false
	case o.Type == plumbing.TreeObject:
		if held, sure = l.tree(o.content); sure {
			return held, true
		}
		return l.has(o.content), false
	case o.Type == plumbing.CommitObject:
		c, sure := object.ParseRaw(o.content)
		if !sure {
			return l.has(o.content), false
		}
		said := func(header string) bool { return l.has([]byte(header)) } // a signature is no part of a longer text
		return said(c.Author+"\n"+c.Committer+"\n\n"+c.Message) || slices.ContainsFunc(c.Others, said), true
	}
	return l.has(o.content), true
}

func (l *looker) tree(content []byte) (held, sure bool) {
	for len(content) > 0 {
		end := bytes.IndexByte(content, 0)
		_, name, ok := bytes.Cut(content[:max(0, end)], []byte(" "))
		if !ok || len(content)-end-1 < l.format.Size() {
			return held, false
		}
		has, known := l.names[string(name)]
		if !known {
			if len(l.names) == maxNames {
				clear(l.names)
			}
			has = l.has(name)
			l.names[string(name)] = has
		}
		held = held || has
		content = content[end+1+l.format.Size():]
	}
	return held, true
}

// wait returns what was found, each once.
func (s *searchers) wait() []Found {
	close(s.work)
	s.done.Wait()
	slices.SortFunc(s.found, func(a, b Found) int {
		return cmp.Or(a.Object.Compare(b.Object), strings.Compare(a.Path, b.Path))
	})
	return slices.Compact(s.found)
}

// next passes on an object that git writes. The error at the end is [io.EOF].
func (s *searchers) next(in *bufio.Reader, found *Searched) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(string(line))
	if len(fields) != 3 {
		return fmt.Errorf("unexpected answer %q", line)
	}
	h, err0 := object.ParseHash(fields[0])
	t, err := plumbing.ParseObjectType(fields[1])
	size, err2 := strconv.ParseInt(fields[2], 10, 64)
	if err := errors.Join(err0, err, err2); err != nil {
		return fmt.Errorf("unexpected answer %q", line)
	}
	if err := s.object(Found{Object: h, Type: t}, in, size); err != nil {
		return err
	}
	found.Objects++
	found.Bytes += size
	if _, err = in.Discard(1); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// object passes on the content of an object or a file.
func (s *searchers) object(what Found, r io.Reader, size int64) error {
	if size <= piece {
		buffer := slices.Grow((<-s.spare)[:0], int(size))[:size]
		if _, err := io.ReadFull(r, buffer); err != nil {
			s.spare <- buffer
			return io.ErrUnexpectedEOF
		}
		s.work <- searchedObject{what, buffer, false}
		return nil
	}
	content := &io.LimitedReader{R: r, N: size}
	buffer, err := pieces(content, <-s.spare, func(part []byte) bool {
		s.work <- searchedObject{what, append((<-s.spare)[:0], part...), true}
		return false
	})
	s.spare <- buffer
	if err == nil && content.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// searchEach asks for single objects, and goes on after a damaged one.
func searchEach(ctx context.Context, repo *git.Repo, has func([]byte) bool, found *Searched) error {
	var all []git.Wanted
	err := repo.Split(ctx, nil, '\n', func(line []byte) error {
		h, err := object.ParseHash(line)
		if err != nil {
			return fmt.Errorf("unexpected line %q", line)
		}
		all = append(all, git.Wanted{Hash: h, Most: 1 << 40})
		return nil
	}, "cat-file", "--batch-all-objects", "--unordered", "--buffer", "--batch-check=%(objectname)")
	if err != nil {
		return err
	}
	objects := repo.Objects(ctx)
	defer objects.Close()
	pool := newSearchers(has, repo.Format())
	err = objects.Each(all, func(i int, obj *git.Object, err error) error {
		if err != nil {
			found.Unread = append(found.Unread, all[i].Hash)
			return nil
		}
		found.Objects++
		found.Bytes += int64(len(obj.Content))
		return pool.object(Found{Object: obj.Hash, Type: obj.Type}, bytes.NewReader(obj.Content), int64(len(obj.Content)))
	})
	found.Found = pool.wait()
	return err
}

// elsewhere marks the objects that only other repositories have.
func (s store) elsewhere(ctx context.Context, found []Found) error {
	others, err := s.alternates(ctx)
	if err != nil || len(others) == 0 || len(found) == 0 {
		return err
	}
	objects := make(map[object.Hash]bool)
	for _, f := range found {
		objects[f.Object] = true
	}
	ours, err := s.having(ctx, objects)
	for i, f := range found {
		found[i].Elsewhere = !ours[f.Object]
	}
	return err
}

func searchFiles(ctx context.Context, repo *git.Repo, has func([]byte) bool, found *Searched) error {
	pool := newSearchers(has, repo.Format())
	err := files(repo, func(dir, name string) error {
		path := filepath.Join(dir, name)
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		found.Files++
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if err := pool.object(Found{Path: path}, f, info.Size()); !errors.Is(err, io.ErrUnexpectedEOF) {
			return cmp.Or(err, ctx.Err())
		}
		return nil // it is being rewritten
	})
	found.Found = append(found.Found, pool.wait()...)
	return err
}
