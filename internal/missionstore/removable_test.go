package missionstore

import (
	"errors"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/session"
	"gitagent/turns"
)

const (
	itsBranch  = "refs/heads/agent/mission/a1b2c3d4"
	mainBranch = "refs/heads/main"
)

// TestCheckedOut: worktrees are written as their paths, "/w" for the main one; "*" means that the mission's branch is
// checked out there, and "-" that the directory is gone.
func TestCheckedOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		worktrees string
		top       string // the present one
		path      string
		linked    bool
		err       string // its end
	}{
		{worktrees: "/w /a", top: "/w"},
		{worktrees: "/w /a*", top: "/w", path: "/a", linked: true},
		{worktrees: "/w /a /b*", top: "/a", path: "/b", linked: true},
		{worktrees: "/w /a*-", top: "/w", path: "/a"},
		{worktrees: "/w /a*- /b*", top: "/w", path: "/b", linked: true},
		{worktrees: "/w /a* /b*-", top: "/w", path: "/a", linked: true},
		{worktrees: "/w*", top: "/w", err: "in /w: "},
		{worktrees: "/w* /a", top: "/a", err: "in /w: "},
		{worktrees: "/w /a*", top: "/a", err: "in /a: "},
		{worktrees: "/w /a* /b*", top: "/w", err: "in /a, and in /b as well: "},
		{worktrees: "/w /a* /b*-  /c*", top: "/w", err: "in /a, and in /c as well: "},
		{worktrees: "/w* /a*", top: "/w", err: "in /w: "},
	} {
		var list []git.Worktree
		repos := make(map[string]*git.Repo)
		for word := range strings.FieldsSeq(tt.worktrees) {
			w := git.Worktree{Path: strings.TrimRight(word, "*-"), Branch: mainBranch}
			if strings.Contains(word, "*") {
				w.Branch = itsBranch
			}
			if list = append(list, w); !strings.HasSuffix(word, "-") {
				repos[w.Path] = new(git.Repo)
			}
		}
		path, linked, err := checkedOut("a1b2c3d4", itsBranch, tt.top, list, func(path string) *git.Repo { return repos[path] })
		if path != tt.path || linked != repos[path] || (linked != nil) != tt.linked {
			t.Errorf("%s: it is in %q, there: %t; want %q", tt.worktrees, path, linked != nil, tt.path)
		}
		if tt.err == "" && err != nil || tt.err != "" && (!errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.worktrees, err, tt.err)
		}
	}
}

// TestBusy: who works on a mission, or where git does.
func TestBusy(t *testing.T) {
	t.Parallel()
	its := occupied{path: "/w", gitDir: "/g/w", branch: itsBranch}
	with := func(w occupied, change func(w *occupied)) []occupied {
		change(&w)
		return []occupied{{path: "/m", gitDir: "/g"}, w}
	}
	still := with(its, func(*occupied) {})
	open := new(session.OpenTurn)
	for _, tt := range []struct {
		name      string
		worktrees []occupied
		sessions  []turns.Live
		want      []error
	}{
		{"nobody", still, nil, nil},
		{"a merge", with(its, func(w *occupied) { w.operation = "merge" }), nil, []error{errUnderWay, ErrInUse}},
		{"a merge elsewhere", with(its, func(w *occupied) { w.branch, w.operation = mainBranch, "merge" }), nil, nil},
		{"a rebase, or a bisect, that goes back to it", with(its, func(w *occupied) { w.branch, w.operation, w.returns = "", "rebase", []string{"", itsBranch} }), nil, []error{errUnderWay, ErrInUse}},
		{"a rebase of another branch", with(its, func(w *occupied) { w.branch, w.operation, w.returns = "", "rebase", []string{mainBranch, ""} }), nil, nil},
		{"what an old bisect has left", with(its, func(w *occupied) { w.branch, w.returns = mainBranch, []string{"", itsBranch} }), nil, nil},
		{"locked", with(its, func(w *occupied) { w.locked = true }), nil, []error{ErrInUse}},
		{"another one is locked", with(its, func(w *occupied) { w.branch, w.locked = mainBranch, true }), nil, nil},
		{"its turn runs", still, []turns.Live{{Mission: "a1b2c3d4", Number: 5, Open: open}}, []error{ErrAtWork}},
		{"its turn runs elsewhere", still, []turns.Live{{Mission: "a1b2c3d4", Number: 5, Open: open, Worktree: "/g"}}, []error{ErrAtWork}},
		{"its agent waits", still, []turns.Live{{Mission: "a1b2c3d4", Number: 5}}, []error{ErrAtWork}},
		{"another mission's turn runs there", still, []turns.Live{{Mission: "00000000", Number: 5, Open: open, Worktree: "/g/w"}}, []error{ErrAtWork}},
		{"another mission's agent waits there", still, []turns.Live{{Mission: "00000000", Number: 5, Worktree: "/g/w"}}, []error{ErrAtWork}},
		{"another mission's agent is elsewhere", still, []turns.Live{{Mission: "00000000", Number: 5, Open: open, Worktree: "/g"}}, nil},
		{"another mission's agent is nobody knows where", still, []turns.Live{{Mission: "00000000", Number: 5, Open: open}}, nil},
		{"it is checked out nowhere, and another's agent is in a worktree", nil, []turns.Live{{Mission: "00000000", Number: 5, Worktree: "/g/w"}}, nil},
	} {
		err := busy("a1b2c3d4", itsBranch, tt.worktrees, tt.sessions)
		if (err != nil) != (tt.want != nil) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		for _, want := range tt.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", tt.name, err, want)
			}
		}
	}
}

// TestOnlyDeleted: what git status says of a worktree that git was removing.
func TestOnlyDeleted(t *testing.T) {
	t.Parallel()
	deleted := "1 .D N... 100644 100644 000000 aaaa aaaa kept.txt"
	for _, tt := range []struct {
		status []string
		want   bool
	}{
		{[]string{deleted}, true},
		{[]string{deleted, "1 .D N... 100644 100644 000000 aaaa aaaa dir/edited.txt"}, true},
		{[]string{deleted, "? new"}, false},
		{[]string{"1 .M N... 100644 100644 100644 aaaa aaaa kept.txt", deleted}, false},
		{[]string{deleted, "1 D. N... 100644 000000 000000 aaaa 0000 staged.txt"}, false},
		{[]string{"1 MD N... 100644 100644 000000 aaaa bbbb both.txt"}, false},
		{[]string{"2 R. N... 100644 100644 100644 aaaa aaaa R100 1 .D new", "1 .D old"}, false},
		{[]string{"u UU N... 100644 100644 100644 100644 aaaa bbbb cccc kept.txt"}, false},
		{nil, false}, // it has all of its files
	} {
		var status strings.Builder
		for _, line := range tt.status {
			status.WriteString(line + "\x00")
		}
		if got := onlyDeleted([]byte(status.String())); got != tt.want {
			t.Errorf("%q: %t, want %t", tt.status, got, tt.want)
		}
	}
}

// TestUnmergedError: the commits that would be lost are named, but not all of many.
func TestUnmergedError(t *testing.T) {
	t.Parallel()
	commits := []branchCommit{{hash: "1111111111", subject: "one"}, {hash: "2222222222", subject: "two\x1b"}, {hash: "3333333333", subject: "three"}, {hash: "4444444444"}, {hash: "5555555555"}}
	for n, want := range map[int]string{
		1: "has 1 commit of yours in no other branch: 1111111 one",
		3: "has 3 commits of yours in no other branch: 1111111 one, 2222222 two",
		4: "3333333 three and 1 more",
		5: "3333333 three and 2 more",
	} {
		if err := unmergedError(itsBranch, commits[:n]); !errors.Is(err, ErrUnmerged) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "branch agent/mission/a1b2c3d4 ") {
			t.Errorf("%d: %v, want %q", n, err, want)
		}
	}
}

// TestParseHidden: which entries of git ls-files git does not look at.
func TestParseHidden(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]bool{
		"S 100644 aaaa 0\tkept.txt":      true, // out of a sparse checkout
		"h 100644 aaaa 0\tkept.txt":      true, // assumed to be unchanged
		"s 100644 aaaa 0\tkept.txt":      true, // both
		"H 100644 aaaa 0\tkept.txt":      false,
		"M 100644 aaaa 1\tkept.txt":      false, // unmerged
		"H 100644 aaaa 0\tS 1 aaaa 0\ts": false,
		"S 100644 aaaa":                  false,
		"":                               false,
	} {
		name, hash, hidden := parseHidden(entry)
		if hidden != want || want && (name != "kept.txt" || hash != "aaaa") {
			t.Errorf("%q: %q is %s, hidden %t", entry, name, hash, hidden)
		}
	}
	if name, _, hidden := parseHidden("S 100644 aaaa 0\tan odd\tname"); !hidden || name != "an odd\tname" {
		t.Errorf("an odd name is %q", name)
	}
}
