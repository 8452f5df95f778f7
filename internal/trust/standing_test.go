package trust

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

const mission = record.ID("a1b2c3d4")

// A lab is a repository with a mission's ledger, and people who write it.
type lab struct {
	*gittest.Repo
	t       *testing.T
	repo    *git.Repo
	objects *git.Objects
	*Trust
	me, anna, eve sshsig.Key
	n             int // events
}

// newLab makes a user who has a key of his own and trusts Anna's. He does not know Eve.
func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	l := &lab{Repo: r, t: t, repo: repo}
	for _, k := range []*sshsig.Key{&l.me, &l.anna, &l.eve} {
		*k, err = sshsig.NewKey(rand.Reader)
		gittest.Must(t, err)
	}
	l.reopen()
	t.Cleanup(func() { l.objects.Close() })
	l.know(l.me, Signer{"anna", l.anna.Public()})
	return l
}

// know sets the user's keys.
func (l *lab) know(own sshsig.Key, list ...Signer) {
	l.t.Helper()
	dir := l.t.TempDir()
	file, err := own.Encode("")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, keyFile), file, 0o600)
	}
	lines := ""
	for _, s := range list {
		lines += s.Name + " " + s.Key.String() + "\n"
	}
	gittest.Must(l.t, err)
	gittest.Must(l.t, os.WriteFile(filepath.Join(dir, listFile), []byte(lines), 0o600))
	l.Trust = New(statedir.Of(l.repo.CommonDir), func() *Keys { return ReadKeys(dir, "") })
}

// reopen forgets what was read.
func (l *lab) reopen() {
	if l.objects != nil {
		l.objects.Close()
	}
	l.objects = l.repo.Objects(l.t.Context())
}

// add adds an event to a ledger, or begins one. Everybody has the same name.
func (l *lab) add(id record.ID, tip object.Hash, key *sshsig.Key) object.Hash {
	l.t.Helper()
	on := ledger.New(l.objects, &record.Mission{V: record.Version, ID: id})
	if !tip.IsZero() {
		var err error
		on, err = ledger.At(l.objects, id, tip)
		gittest.Must(l.t, err)
	}
	l.n++
	who := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(int64(1795176000+l.n), 0).UTC()}
	path := ledger.TurnPath("turns", l.n, ".json")
	next, err := on.Append(ledger.Event{
		Subject: fmt.Sprintf("turn %d", l.n), Files: map[string][]byte{path: fmt.Appendf(nil, "%d\n", l.n)},
		Author: who, Committer: who, Key: key,
	})
	gittest.Must(l.t, err)
	gittest.Must(l.t, l.objects.Flush())
	return next
}

// own is add by this clone.
func (l *lab) own(tip object.Hash, key *sshsig.Key) object.Hash {
	l.t.Helper()
	next := l.add(mission, tip, key)
	gittest.Must(l.t, l.Own(mission, next, tip))
	return next
}

func (l *lab) standing(id record.ID, tip object.Hash) Level {
	l.t.Helper()
	s, err := l.Of(l.t.Context(), l.repo, l.objects, id, tip)
	gittest.Must(l.t, err)
	again, err := l.Of(l.t.Context(), l.repo, l.objects, id, tip) // from what was noted, perhaps
	if err != nil || again != s {
		l.t.Errorf("asked again: %+v, %v; before %+v", again, err, s)
	}
	untrusted, err := l.Untrusted(l.t.Context(), l.repo, l.objects, map[record.ID]object.Hash{id: tip})
	if err != nil || untrusted[id] && !s.Commit.IsZero() {
		l.t.Errorf("nothing of %s counts at a glance, %v, and it is %+v", tip, err, s)
	}
	return s
}

// want checks how far a ledger may be used: up to a commit, zero for nothing.
func (l *lab) want(tip, usable object.Hash, by string) {
	l.t.Helper()
	s := l.standing(mission, tip)
	if s.Commit != usable || s.By != by || s.Whole != (tip == usable) {
		l.t.Errorf("standing of %s is %+v, want it usable up to %s, by %s", tip, s, usable, by)
	}
	if s.Whole {
		return
	}
	chain := strings.Fields(l.Git("rev-list", "--first-parent", "--reverse", tip.String()))
	foreign := chain[0]
	for i, commit := range chain {
		if commit == usable.String() {
			foreign = chain[i+1]
		}
	}
	if s.Untrusted.String() != foreign {
		l.t.Errorf("the first foreign commit is %s, want %s", s.Untrusted, foreign)
	}
}

var none object.Hash

func TestOwn(t *testing.T) {
	l := newLab(t)
	a := l.own(none, nil)
	l.want(a, a, Clone)
	b := l.own(a, nil)
	l.want(b, b, Clone)
	if s := l.standing(mission, b); !s.Here {
		t.Error("what this clone wrote was not written here")
	}
	for range 400 { // the record is shortened on the way
		b = l.own(b, nil)
	}
	l.want(b, b, Clone)
	if info, err := l.dir.Lstat(file(mission)); err != nil || info.Size() > 2*longRecord {
		t.Errorf("the record has %d bytes, %v", info.Size(), err)
	}
	gittest.Must(t, l.Forget(mission))
	l.want(b, none, Unknown)
}

// TestUntrusted: where others began a mission, its first event tells, and not where it may count, however it goes on.
func TestUntrusted(t *testing.T) {
	l := newLab(t)
	tips := make(map[record.ID]object.Hash)
	grow := func(id record.ID, keys ...*sshsig.Key) {
		for _, key := range keys {
			tips[id] = l.add(id, tips[id], key)
		}
	}
	l.own(none, nil)
	grow("00000001", nil, nil, nil)
	grow("00000002", &l.eve, &l.eve)
	grow("00000003", &l.eve, &l.me)
	grow("00000004", nil, &l.anna, &l.anna)
	grow("00000005", &l.anna, &l.eve)
	grow("00000006", &l.me, nil)
	grow("00000007", nil, nil)
	gittest.Must(t, l.Accept(tips["00000007"], "00000007"))
	grow("00000008", nil)
	gittest.Must(t, l.Own("00000008", tips["00000008"], none))
	untrusted, err := l.Untrusted(t.Context(), l.repo, l.objects, tips)
	if got, want := slices.Sorted(maps.Keys(untrusted)), []record.ID{"00000001", "00000002", "00000003", "00000004"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("untrusted are %q, %v, want %q", got, err, want)
	}
	for id, tip := range tips {
		if s := l.standing(id, tip); s.Commit.IsZero() != untrusted[id] {
			t.Errorf("%s: %+v", id, s)
		}
	}
	tips["00000009"] = object.NewHash(gittest.Hash("ab"))
	if untrusted, err := l.Untrusted(t.Context(), l.repo, l.objects, tips); err != nil || len(untrusted) > 0 {
		t.Errorf("with one that is not here, %v are untrusted, %v", untrusted, err)
	}
}

func TestSigned(t *testing.T) {
	l := newLab(t)
	a := l.add(mission, none, &l.me)
	l.want(a, a, Machine)
	b := l.add(mission, a, &l.anna)
	l.want(b, b, "anna")
	if s := l.standing(mission, b); s.Here {
		t.Error("what Anna wrote was written here")
	}
	for range 50 {
		b = l.add(mission, b, &l.anna)
	}
	l.reopen()
	l.want(b, b, "anna")
	on := l.own(b, &l.me)
	l.want(on, on, Clone)

	// Her key is taken out of the list: all that she signed is a stranger's, and what comes after it.
	l.know(l.me)
	l.want(b, a, Unknown)
	l.want(l.add(mission, b, &l.me), a, Unknown)
}

func TestForeign(t *testing.T) {
	l := newLab(t)
	a := l.add(mission, none, &l.eve)
	l.want(a, none, Unknown)
	long := a
	for range 100 {
		long = l.add(mission, long, &l.eve)
	}
	l.reopen()
	l.want(long, none, Unknown)
	l.want(l.add(mission, long, &l.eve), none, Unknown)
	l.want(l.add(mission, long, &l.me), none, Unknown)
	gittest.Must(t, l.Accept(long, mission))
	l.want(long, long, Unknown)
	later := l.add(mission, long, &l.eve)
	l.want(later, long, Unknown)
	on := l.own(long, &l.me)
	l.want(on, on, Clone)
}

// The attacks on simpler rules.
func TestAttacks(t *testing.T) {
	for name, attack := range map[string]func(l *lab, ours object.Hash) object.Hash{
		"an event in our name":      func(l *lab, ours object.Hash) object.Hash { return l.add(mission, ours, nil) },
		"an event with another key": func(l *lab, ours object.Hash) object.Hash { return l.add(mission, ours, &l.eve) },
		"only the segment of turn 1 is changed": func(l *lab, ours object.Hash) object.Hash {
			on, err := ledger.At(l.objects, mission, ours)
			gittest.Must(l.t, err)
			tip, err := on.Append(ledger.Event{Subject: "turn 9", Files: map[string][]byte{"transcript/0000/000001.jsonl": []byte("{}\n")}, Key: &l.eve})
			gittest.Must(l.t, err)
			gittest.Must(l.t, l.objects.Flush())
			return tip
		},
		"between two of ours": func(l *lab, ours object.Hash) object.Hash {
			return l.add(mission, l.add(mission, ours, &l.eve), &l.me)
		},
		"a signature without our header": rewritten(func(l *lab, content []byte) []byte {
			return l.resign(bytes.Replace(unsigned(content), []byte("agent-ledger "+mission+"\n"), nil, 1))
		}),
		"a header before ours": rewritten(func(l *lab, content []byte) []byte {
			return l.resign(bytes.Replace(unsigned(content), []byte("agent-ledger "), []byte("encoding x\nagent-ledger "), 1))
		}),
		"two signatures": rewritten(func(l *lab, content []byte) []byte {
			i := bytes.Index(content, []byte(tested.SignatureHeader()+" "))
			header := content[i : bytes.Index(content, []byte("\n\n"))+1]
			return append(append(bytes.Clone(content[:i]), header...), content[i:]...)
		}),
		"junk in a second signature header": rewritten(func(l *lab, content []byte) []byte {
			return bytes.Replace(content, []byte("\n\n"), []byte("\n"+otherHeader+" something else\n\n"), 1)
		}),
		"junk after the end of the signature": rewritten(func(l *lab, content []byte) []byte {
			return bytes.Replace(content, []byte("\n\n"), []byte("\n junk\n\n"), 1)
		}),
		"another message": rewritten(func(l *lab, content []byte) []byte { return append(content, "more\n"...) }),
		"a NUL":           rewritten(func(l *lab, content []byte) []byte { return append(content, "\x00more\n"...) }),
		"capital letters in a hash": rewritten(func(l *lab, content []byte) []byte {
			end := len("tree ") + gittest.Digits()
			return l.resign(append([]byte("tree "+strings.ToUpper(string(content[5:end]))), unsigned(content)[end:]...))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"signed", "written here"} {
				t.Run(kind, func(t *testing.T) {
					l := newLab(t)
					first := l.add(mission, none, &l.me)
					ours := l.add(mission, first, &l.me)
					if kind == "written here" {
						gittest.Must(t, l.Own(mission, ours, none))
					}
					tip := attack(l, ours)
					l.reopen()
					usable := ours
					if l.Git("rev-parse", tip.String()+"^") == first.String() { // it took the place of ours
						usable = first
					}
					if kind == "written here" && usable == first {
						return // what is before was written in a run whose end this chain lacks; see TestSigned
					}
					s := l.standing(mission, tip)
					if s.Commit != usable || s.Whole || s.By != Unknown {
						t.Errorf("%+v, want it usable up to %s", s, usable)
					}
				})
			}
		})
	}
}

// rewritten is an attack that puts a changed copy in the place of our commit.
func rewritten(change func(l *lab, content []byte) []byte) func(*lab, object.Hash) object.Hash {
	return func(l *lab, ours object.Hash) object.Hash {
		return l.rewrite(ours, func(content []byte) []byte { return change(l, content) })
	}
}

// otherHeader is where signatures are with the other object format.
var otherHeader = map[object.Format]object.Format{object.SHA1: object.SHA256, object.SHA256: object.SHA1}[tested].SignatureHeader()

var tested = object.NewHash(gittest.Hash("1")).Format()

// rewrite puts a changed copy in the place of a commit.
func (l *lab) rewrite(commit object.Hash, change func([]byte) []byte) object.Hash {
	l.t.Helper()
	content, err := l.objects.Read(plumbing.CommitObject, commit, maxCommit)
	gittest.Must(l.t, err)
	changed := change(bytes.Clone(content))
	if bytes.Equal(changed, content) {
		l.t.Fatal("nothing was changed")
	}
	hash, err := l.objects.Write(plumbing.CommitObject, changed)
	gittest.Must(l.t, err)
	gittest.Must(l.t, l.objects.Flush())
	return hash
}

// unsigned is a commit without its signature.
func unsigned(content []byte) []byte {
	i, j := bytes.Index(content, []byte(tested.SignatureHeader()+" ")), bytes.Index(content, []byte("\n\n"))
	return append(bytes.Clone(content[:i]), content[j+1:]...)
}

// resign is a commit with a signature of the user's own key, made by a program that does not look at
// what it signs.
func (l *lab) resign(plain []byte) []byte {
	armored := sshsig.Sign(l.me, plain)
	header := tested.SignatureHeader() + " " + strings.ReplaceAll(strings.TrimSuffix(string(armored), "\n"), "\n", "\n ") + "\n"
	i := bytes.Index(plain, []byte("\n\n")) + 1
	return append(append(bytes.Clone(plain[:i]), header...), plain[i:]...)
}

// A pull request brings the files of a ledger, somebody merges it with a signature of his, and pushes
// the commit as a mission.
func TestSignedForAnotherPurpose(t *testing.T) {
	l := newLab(t)
	ours := l.add(mission, none, &l.me)
	merged := l.rewrite(ours, func(content []byte) []byte {
		return l.resign(bytes.Replace(unsigned(content), []byte("agent-ledger "+mission+"\n"), nil, 1))
	})
	s := l.standing(mission, merged)
	if s.Commit == merged {
		t.Error("a commit that is no ledger's counts")
	}
}

// The first commit holds mission.json alone: a commit of something else is no beginning.
func TestRoot(t *testing.T) {
	l := newLab(t)
	tip := l.add(mission, none, &l.me)
	root := l.rewrite(tip, func(content []byte) []byte { // without a parent, but with turns
		plain := unsigned(content)
		i := bytes.Index(plain, []byte("parent "))
		return l.resign(append(plain[:i:i], plain[i+48:]...))
	})
	l.want(root, none, Unknown)
}

// Our own signed ledger, put under another name by somebody.
func TestAnotherName(t *testing.T) {
	l := newLab(t)
	tip := l.add(mission, l.add(mission, none, &l.me), &l.me)
	if s := l.standing("deadbeef", tip); !s.Commit.IsZero() || s.By != Unknown {
		t.Errorf("standing under another name: %+v", s)
	}
	if s := l.standing("deadbeefdead", tip); !s.Commit.IsZero() {
		t.Errorf("standing under another name: %+v", s)
	}
	// A side of a mission that went on in two clones has such a name.
	if s := l.standing(record.OfCommit(tip), tip); !s.Whole {
		t.Errorf("standing of a side: %+v", s)
	}
	// A fork goes on from the ledger of another mission.
	fork := l.add("f0f0f0f0", tip, &l.me)
	if s := l.standing("f0f0f0f0", fork); !s.Whole {
		t.Errorf("standing of a fork: %+v", s)
	}
	if s := l.standing(mission, fork); s.Commit != tip || s.Whole {
		t.Errorf("a fork under the name of its source: %+v", s)
	}
	again := l.add("f1f1f1f1", l.add("f0f0f0f0", fork, &l.me), &l.me)
	if s := l.standing("f1f1f1f1", again); !s.Whole {
		t.Errorf("standing of a fork of a fork: %+v", s)
	}
	if s := l.standing("f1f1f1f1", l.add("f1f1f1f1", l.add("f0f0f0f0", fork, &l.eve), &l.me)); !s.Commit.IsZero() {
		t.Errorf("standing of a fork of a stranger's turn: %+v", s)
	}
}

// In a shallow clone nobody knows what came before; a replacement is not believed.
func TestHidden(t *testing.T) {
	l := newLab(t)
	foreign := l.add(mission, l.add(mission, none, &l.me), &l.eve)
	tip := l.add(mission, foreign, &l.me)
	good := l.add(mission, l.add(mission, none, &l.me), &l.me)
	l.Git("replace", tip.String(), good.String())
	l.reopen()
	if s := l.standing(mission, tip); s.Whole {
		t.Errorf("behind a replacement: %+v", s)
	}
	l.Git("update-ref", mission.Ref(), tip.String())
	shallow := gittest.New(t)
	shallow.Git("fetch", "-q", "--depth=1", "file://"+filepath.ToSlash(l.Dir), mission.Ref()+":"+mission.Ref())
	var err error
	l.repo, err = git.Find(shallow.Dir)
	gittest.Must(t, err)
	l.reopen()
	if s := l.standing(mission, tip); !s.Commit.IsZero() || s.By != Unknown {
		t.Errorf("in a shallow clone: %+v", s)
	}
}

// An old state of a mission passes for the present one: that can't be seen.
func TestRollback(t *testing.T) {
	l := newLab(t)
	old := l.add(mission, none, &l.anna)
	l.add(mission, old, &l.anna)
	l.want(old, old, "anna")
}

func TestInherit(t *testing.T) {
	l := newLab(t)
	a := l.own(none, nil)
	b := l.own(a, nil)
	c := l.add(mission, b, &l.anna)
	d := l.own(c, nil)
	e := l.own(d, nil)
	f := l.own(e, nil)
	contains := func(x, y object.Hash) (bool, error) { return l.repo.IsAncestor(t.Context(), y, x) }
	for i, from := range []object.Hash{a, b, c, d, e, f} {
		id := record.ID(fmt.Sprintf("f0f0f0%02x", i))
		gittest.Must(t, l.Inherit(id, mission, from, contains))
		fork := l.add(id, from, nil)
		gittest.Must(t, l.Own(id, fork, from))
		if s := l.standing(id, fork); !s.Whole || s.By != Clone {
			t.Errorf("a fork at event %d: %+v", i, s)
		}
		if s := l.standing(id, l.add(id, f, nil)); s.Commit == f && from != f {
			t.Errorf("a fork at event %d knows of later ones", i)
		}
	}
}

func TestWriters(t *testing.T) {
	l := newLab(t)
	a := l.own(none, &l.me) // turn 1
	b := l.own(a, nil)
	c := l.add(mission, b, &l.anna)
	d := l.own(c, &l.me)
	e := l.add(mission, d, &l.eve)
	for tip, want := range map[object.Hash][]string{
		b: {Clone, Clone, Unknown}, d: {Clone, Clone, "anna", Clone, Unknown}, e: {Clone, Clone, "anna", Clone, Unknown},
	} {
		w, err := l.Writers(t.Context(), l.repo, l.objects, mission, tip)
		gittest.Must(t, err)
		for i, who := range want {
			if got := w.Turn(i + 1); got != who && tip != b {
				t.Errorf("turn %d at %s was recorded by %s, want %s", i+1, tip, got, who)
			}
		}
	}
}

// Of the list, lines that mean more to ssh-keygen than to us don't count.
func TestList(t *testing.T) {
	t.Parallel()
	key, err := sshsig.NewKey(rand.Reader)
	gittest.Must(t, err)
	public := key.Public().String()
	for line, want := range map[string]bool{
		"anna " + public:                                       true,
		"anna " + public + " a comment":                        true,
		"\tanna@example.invalid   " + public:                   true,
		"# anna " + public:                                     false,
		"cert-authority " + public:                             false,
		"anna cert-authority " + public:                        false,
		`anna namespaces="git" ` + public:                      false,
		`anna valid-after="20300101" ` + public:                false,
		"*@example.invalid " + public:                          false,
		"!anna " + public:                                      false,
		"anna,eve " + public:                                   false,
		`"anna" ` + public:                                     false,
		"unknown " + public:                                    false,
		"\u202eanna " + public:                                 false,
		"anna " + strings.Replace(public, "ed25519", "rsa", 1): false,
		"anna " + public[:len(public)-4]:                       false,
		public:                                                 false,
	} {
		s, err := parseSigner(line)
		if got := s != nil && s.Key == key.Public(); got != want {
			t.Errorf("%q: %v, %v", line, s, err)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	k := ReadKeys(dir, "")
	if k.Own != nil {
		t.Fatal("a key from nowhere")
	}
	if made, err := k.MakeKey("dev@example.invalid"); !made || err != nil {
		t.Fatalf("MakeKey: %v, %v", made, err)
	}
	first := ReadKeys(dir, "")
	if first.Own == nil || first.Name(first.Own.Public()) != Machine {
		t.Fatalf("the key is not read again: %v", first.OwnError)
	}
	if made, err := first.MakeKey(""); made || err != nil {
		t.Errorf("it is made again: %v, %v", made, err)
	}
	other, err := sshsig.NewKey(rand.Reader)
	gittest.Must(t, err)
	gittest.Must(t, first.Add(ctx, "anna", other.Public()))
	second := ReadKeys(dir, "")
	if second.Name(other.Public()) != "anna" || second.digest == first.digest {
		t.Errorf("anna is %q", second.Name(other.Public()))
	}
	for name, key := range map[string]sshsig.Public{"anna": first.Own.Public(), "bob": other.Public(), "two words": {}, "unknown": {}, "": {}} {
		if err := second.Add(ctx, name, key); err == nil {
			t.Errorf("%q is added", name)
		}
	}
	gittest.Must(t, second.Remove(ctx, "anna"))
	if third := ReadKeys(dir, ""); third.Name(other.Public()) != Unknown || len(third.Ignored) > 0 {
		t.Errorf("after the removal: %+v", third)
	}
	if err := second.Remove(ctx, "anna"); err == nil {
		t.Error("removed twice")
	}
	gittest.Must(t, os.Chmod(filepath.Join(dir, keyFile), 0o644))
	if k := ReadKeys(dir, ""); k.Own != nil || k.OwnError == nil {
		t.Error("a key that others can read is used")
	}
}

// Plain git verifies what is signed.
func TestVerifyCommit(t *testing.T) {
	l := newLab(t)
	tip := l.add(mission, l.add(mission, none, &l.me), &l.me)
	list := filepath.Join(t.TempDir(), "allowed_signers")
	gittest.Must(t, os.WriteFile(list, []byte("dev "+l.me.Public().String()+"\n"), 0o600))
	for _, commit := range strings.Fields(l.Git("rev-list", "--first-parent", tip.String())) {
		l.Git("-c", "gpg.ssh.allowedSignersFile="+list, "verify-commit", commit)
	}
	changed := l.rewrite(tip, func(content []byte) []byte { return append(content, "more\n"...) })
	if _, err := l.Try("-c", "gpg.ssh.allowedSignersFile="+list, "verify-commit", changed.String()); err == nil {
		t.Error("git verifies a changed commit")
	}
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

func FuzzParseRecord(f *testing.F) {
	hash := func(digit string) string { return gittest.Hash(digit) }
	f.Add([]byte("own " + hash("3") + " " + hash("1") + "\nown " + hash("1") + " " + hash("2") + "\nown " + hash("2") + " " + hash("1") + "\n"))
	f.Add([]byte("own 4b825dc642cb6eb9a060e54bf8d69288fbee4904 0000000000000000000000000000000000000000\naccepted x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parseRecord(data)
		for at := range r.own { // a walk along the runs ends
			for range len(r.own) + 1 {
				at = r.own[at]
			}
			if _, on := r.own[at]; on {
				t.Error("runs make a circle")
			}
		}
		again := parseRecord([]byte(r.merged().lines()))
		if len(again.accepted) != len(r.accepted) {
			t.Error("an acceptance is lost")
		}
	})
}

// A chain that ends at what is not here ends there, however long it is.
func TestShallow(t *testing.T) {
	l := newLab(t)
	tip := l.add(mission, none, &l.me)
	for range 3 * 32 {
		tip = l.add(mission, tip, &l.me)
	}
	l.Git("update-ref", mission.Ref(), tip.String())
	for _, depth := range []string{"1", "20", "32", "33", "60"} {
		gittest.Must(t, l.Forget(mission))
		shallow := gittest.New(t)
		shallow.Git("fetch", "-q", "--depth="+depth, "file://"+filepath.ToSlash(l.Dir), mission.Ref()+":"+mission.Ref())
		var err error
		l.repo, err = git.Find(shallow.Dir)
		gittest.Must(t, err)
		l.reopen()
		if s := l.standing(mission, tip); !s.Commit.IsZero() || s.By != Unknown {
			t.Errorf("depth %s: %+v", depth, s)
		}
		if depth != "60" {
			continue
		}
		shallow.Git("fetch", "-q", "--unshallow", "file://"+filepath.ToSlash(l.Dir), mission.Ref()+":"+mission.Ref())
		l.reopen()
		if s := l.standing(mission, tip); !s.Whole {
			t.Errorf("no longer shallow: %+v", s)
		}
	}
}

// People keep their configuration elsewhere, and link to it.
func TestKeysBehindALink(t *testing.T) {
	t.Parallel()
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "git-agent")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err) // Windows lets few users make one
	}
	k := ReadKeys(link, "")
	if made, err := k.MakeKey(""); !made || err != nil {
		t.Fatalf("MakeKey: %v, %v", made, err)
	}
	gittest.Must(t, k.Add(t.Context(), "dev", k.Own.Public()))
	if again := ReadKeys(real, ""); len(again.Signers) != 1 {
		t.Errorf("the list has %+v", again.Signers)
	}
}
