package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// touch moves a file's times, so that git has to read it again.
func touch(t testing.TB, r *gittest.Repo, name string) {
	t.Helper()
	path := filepath.Join(r.Dir, name)
	info, err := os.Stat(path)
	gittest.Must(t, err)
	gittest.Must(t, os.Chtimes(path, time.Time{}, info.ModTime().Add(-time.Hour)))
}

// setConfig sets several values at once: creating files is what tests spend their time on.
func setConfig(t testing.TB, r *gittest.Repo, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		r.Git("config", pairs[i], pairs[i+1])
	}
}

// Each case is checked with the attributes and settings in place before the files
// are committed, and with them added to files that are committed already.
func TestTakeConverts(t *testing.T) {
	t.Parallel()
	const lf, crlf, mixed, binary = "one\ntwo\n", "one\r\ntwo\r\n", "one\r\ntwo\n", "\x00\r\n\x01\r\n"
	utf16 := "\xff\xfeh\x00i\x00\r\x00\n\x00"
	contents := map[string]string{
		"lf.txt": lf, "crlf.txt": crlf, "mixed.txt": mixed, "bin.txt": binary, "id.c": "$Id$ $Id: stale $\n", "wide.utf16": utf16, "sub/crlf.txt": crlf, "sub/lf.bat": lf,
	}
	for _, tt := range []struct {
		name       string
		config     []string
		attributes map[string]string
	}{
		{"nothing", nil, nil},
		{"core.autocrlf=true", []string{"core.autocrlf", "true"}, nil},
		{"core.autocrlf=input", []string{"core.autocrlf", "input"}, nil},
		{"core.autocrlf=1", []string{"core.autocrlf", "1"}, nil},
		{"core.autocrlf=false", []string{"core.autocrlf", "false"}, nil},
		{"core.autocrlf=true and core.safecrlf=true", []string{"core.autocrlf", "true", "core.safecrlf", "true"}, nil},
		{"core.eol=crlf", []string{"core.eol", "crlf"}, nil},
		{"text=auto", nil, map[string]string{".gitattributes": "* text=auto\n"}},
		{"text", nil, map[string]string{".gitattributes": "*.txt text\n"}},
		{"eol=crlf", nil, map[string]string{".gitattributes": "*.txt eol=crlf\n"}},
		{"eol=lf", nil, map[string]string{".gitattributes": "*.txt eol=lf\n"}},
		{"crlf, the old name", nil, map[string]string{".gitattributes": "*.txt crlf=input\n"}},
		{"-text against autocrlf", []string{"core.autocrlf", "true"}, map[string]string{".gitattributes": "*.txt -text\n"}},
		{"binary macro", []string{"core.autocrlf", "true"}, map[string]string{".gitattributes": "*.txt binary\n"}},
		{"a macro of the user", nil, map[string]string{".gitattributes": "[attr]prose text eol=crlf\n*.txt prose\n"}},
		{"nested", nil, map[string]string{".gitattributes": "*.txt -text\n", "sub/.gitattributes": "*.txt text\n*.bat eol=crlf\n"}},
		{"nested only", nil, map[string]string{"sub/.gitattributes": "*.txt text\n"}},
		{"info/attributes", nil, map[string]string{".git/info/attributes": "*.txt text\n"}},
		{"core.attributesFile", []string{"core.attributesFile", ".git/mine"}, map[string]string{".git/mine": "*.txt text\n"}},
		{"ident", nil, map[string]string{".gitattributes": "*.c ident\n"}},
		{"working-tree-encoding", nil, map[string]string{".gitattributes": "*.utf16 text working-tree-encoding=UTF-16\n"}},
		{"clean filter", []string{"filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "tr A-Z a-z"}, map[string]string{".gitattributes": "*.txt filter=up\n"}},
		{"required clean filter", []string{"filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "tr A-Z a-z", "filter.up.required", "true"}, map[string]string{".gitattributes": "*.txt filter=up\n"}},
		{"filter without a driver", nil, map[string]string{".gitattributes": "*.txt filter=none\n"}},
		{"filter that is missing", []string{"filter.gone.clean", "no-such-filter-xyz"}, map[string]string{".gitattributes": "*.txt filter=gone\n"}},
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(tt.name+" "+when, func(t *testing.T) {
				t.Parallel()
				if tt.name != "clean filter" || when != "before" {
					gittest.Check(t)
					gittest.Sample(t)
				}
				r := gittest.New(t)
				apply := func() {
					setConfig(t, r, tt.config...)
					for name, content := range tt.attributes {
						r.Write(name, content)
					}
				}
				if when == "before" {
					apply()
				}
				for name, content := range contents {
					r.Write(name, content)
				}
				edit(t, r, "git -c core.safecrlf=false add -A; git commit -q -m one")
				if when == "after" {
					apply()
				}
				for name := range contents { // the same bytes, to be read again
					touch(t, r, name)
				}
				sameTree(t, passive(t, r), wantTree(t, r, nil))
				for name, content := range contents {
					r.Write(name, content+content)
					r.Write("new-"+strings.ReplaceAll(name, "/", "-"), content)
					r.Write("fresh/"+name, content)
				}
				check(t, r)
			})
		}
	}
}

// The attributes of a .gitattributes that is gone from the worktree are still the index's.
func TestTakeAttributesOnlyInIndex(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	edit(t, r, ".gitattributes=*.txt text; sub/.gitattributes=*.bat text")
	r.Write("a.txt", "one\r\n")
	r.Write("sub/a.bat", "one\r\n")
	edit(t, r, "commit one; rm .gitattributes sub/.gitattributes")
	r.Write("a.txt", "two\r\n")
	r.Write("new.txt", "two\r\n")
	r.Write("sub/a.bat", "two\r\n")
	check(t, r)
}

func TestTakeFilterFails(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	// setup commits a file with a filter that works then.
	setup := func(t *testing.T, pairs ...string) *gittest.Repo {
		r := base(t)
		edit(t, r, ".gitattributes=*.big filter=big; one.big=1; two.big=2")
		touch(t, r, "one.big") // into the past: git reads again what is as new as the index
		edit(t, r, "touch two.big; commit big")
		setConfig(t, r, pairs...)
		return r
	}
	missing := []string{"filter.big.clean", "no-such-filter-xyz %f", "filter.big.required", "true"}
	process := []string{"filter.big.process", "no-such-filter-xyz filter-process", "filter.big.clean", "no-such-filter-xyz clean", "filter.big.required", "true"}

	for name, pairs := range map[string][]string{"clean": missing, "process": process} {
		t.Run("required and missing, "+name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			r := setup(t, pairs...)
			edit(t, r, "one.big=changed; new.big=new; a=changed; z=new; rm b")
			check(t, r, record.Skip{Path: "new.big", Why: record.WhyFilter}, record.Skip{Path: "one.big", Why: record.WhyFilter})
		})
		t.Run("required and missing, and status needs it, "+name, func(t *testing.T) {
			t.Parallel()
			r := setup(t, pairs...)
			touch(t, r, "one.big")
			r.Write("two.big", "X\n") // the same size
			r.Write("a", "changed\n")
			if _, err := r.Try("status"); err == nil {
				t.Fatal("git's status does not need the filter, so this tests nothing")
			}
			setConfig(t, r, "filter.big.required", "false", "filter.big.process", "") // for git's own add
			want := wantTree(t, r, []record.Skip{{Path: "two.big", Why: record.WhyFilter}})
			setConfig(t, r, pairs...)
			for _, publish := range []bool{false, true, false} {
				s := take(t, r, publish)
				sameTree(t, s, want)
				// The bytes of the one that was only touched are those that were committed without
				// a filter.
				skips(t, s, record.Skip{Path: "two.big", Why: record.WhyFilter})
			}
			fsck(t, r)
		})
	}
	t.Run("fails for one path only", func(t *testing.T) {
		t.Parallel()
		r := setup(t, "filter.big.clean", "! grep -q poison >&2 && echo clean", "filter.big.required", "true")
		for i := range 40 {
			r.Write(fmt.Sprintf("%02d.big", i), "fine\n")
		}
		edit(t, r, "07.big=poison; one.big=poison; a=changed")
		check(t, r, record.Skip{Path: "07.big", Why: record.WhyFilter}, record.Skip{Path: "one.big", Why: record.WhyFilter})
	})
	t.Run("many paths whose filter is missing cost no other path", func(t *testing.T) {
		t.Parallel()
		r := setup(t, missing...)
		var skipped []record.Skip
		for i := range gittest.Size(300, 30) {
			name := fmt.Sprintf("%03d.big", i)
			r.Write(name, name)
			skipped = append(skipped, record.Skip{Path: name, Why: record.WhyFilter})
			r.Write(fmt.Sprintf("%03d.small", i), name)
		}
		check(t, r, skipped...)
	})
	t.Run("conflict", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, "git checkout -q -b other; a=other; commit other; git checkout -q main; a=main")
		r.Commit("main")
		if _, err := r.Try("merge", "other"); err == nil {
			t.Fatal("no conflict")
		}
		r.Write(".git/info/attributes", "a filter=big\n")
		setConfig(t, r, missing...)
		for _, publish := range []bool{false, true, false} {
			s := take(t, r, publish)
			holds(t, r, s, "a", "main") // our side of the merge
			skips(t, s, record.Skip{Path: "a", Why: record.WhyFilter})
		}
	})
	t.Run("the encoding does not fit", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		r.Write(".gitattributes", "*.utf16 text working-tree-encoding=UTF-16LE-BOM\n")
		r.Write("good.utf16", "\xff\xfeh\x00i\x00")
		r.Write("bad.utf16", "odd")
		check(t, r, record.Skip{Path: "bad.utf16", Why: record.WhyFilter})
	})
}

// A filter that removes the file it is asked about stands for everything that can
// happen to a file between git's look at the worktree and ours.
func TestTakeFileVanishes(t *testing.T) {
	t.Parallel()
	t.Run("through git", func(t *testing.T) {
		t.Parallel()
		r := base(t)
		edit(t, r, ".gitattributes=a filter=eat; commit two")
		setConfig(t, r, "filter.eat.clean", "cat; rm -f z b")
		edit(t, r, "a=changed; b=changed; z=vanishes")
		s := take(t, r, true)
		sameTree(t, s, wantTree(t, r, nil))
		fsck(t, r)
	})
	t.Run("before policy looks", func(t *testing.T) {
		t.Parallel()
		for _, publish := range []bool{false, true} {
			r := base(t)
			edit(t, r, "a=changed; z=vanishes; x/y/z=vanishes with its directory; v/w=becomes a file")
			s, err := tryTake(t, r, func(o *Options) {
				o.Publish = publish
				inner := o.Config
				o.Config = func() (git.Config, error) { // it is called when status is done
					edit(t, r, "rm a z x v; v=a file now")
					return inner()
				}
			})
			gittest.Must(t, err)
			remove(t, r, "v") // nobody saw it
			if got, want := s.Tree, wantTree(t, r, nil); got != want {
				t.Errorf("publish %v: tree %s, want %s", publish, got, want)
			}
			fsck(t, r)
		}
	})
}

// A file that LFS stores counts as what git has of it. Where the filter would be skipped, git would store the file.
func TestTakeLargeLFS(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, required string
		most           int64 // bytes of all
		skipped        []record.Skip
	}{
		{"it is large", "true", 1 << 20, nil},
		{"all are large", "true", 1 << 11, nil},
		{"the filter may be missing", "false", 1 << 20, []record.Skip{{Path: "a.bin", Why: record.WhySize}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			setConfig(t, r, "filter.lfs.clean", "sed -n s/x.*/pointer/p", "filter.lfs.required", tt.required)
			r.Write(".gitattributes", "*.bin filter=lfs\n")
			r.Write("a.bin", strings.Repeat("x", 3000)+"\n")
			for range 2 { // the second time the private index has it
				s, err := tryTake(t, r, func(o *Options) { o.Policy.MaxFileSize, o.Policy.MaxUntrackedSize = 2000, tt.most })
				gittest.Must(t, err)
				skips(t, s, tt.skipped...)
				if tt.skipped == nil {
					holds(t, r, s, "a.bin", "pointer")
				}
			}
		})
	}
}
