package recorder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// ImportOptions bring conversations that agents' clients have on disk into
// ledgers, if they began in a worktree of the repository. Each becomes a
// passive mission, the one that hooks would have recorded to, with a turn for
// each turn of the client's file.
//
// It can be repeated, and then adds only what is new. Sessions that hooks have
// recorded, or are recording, are left to them. A client's copy of a
// conversation becomes a fork of the original's mission.
type ImportOptions struct {
	Getenv func(string) string // finds the clients' directories; [os.Getenv] or a stand-in
	At     time.Time
	Dry    bool // only look
	// Withheld also imports turns of which nothing was to be recorded.
	Withheld bool
	// Report is called with each session's result, the n-th; may be nil.
	Report func(n, of int, i Imported)
}

// An Imported is the result for one session.
type Imported struct {
	Session string      `json:"session"`
	Mission record.ID   `json:"mission,omitempty"`
	State   ImportState `json:"state"`
	Why     string      `json:"why,omitempty"` // it was skipped
	Turns   int         `json:"turns"`         // number of the mission's last turn
	Added   int         `json:"added"`         // turns imported, or to be imported in a dry run
	Title   string      `json:"title,omitempty"`
}

// An ImportState says what became of a session.
type ImportState string

// The states.
const (
	New      ImportState = "new"        // the mission was made
	Grown    ImportState = "grown"      // it was imported before, and has gone on
	UpToDate ImportState = "up to date" // it was imported before
	Recorded ImportState = "recorded"   // by hooks
	Skipped  ImportState = "skipped"    // see Why
)

// Import imports sessions, the oldest first. One that fails is skipped; an
// error means that nothing more could be done, or names unreadable places.
func Import(ctx context.Context, w *workspace.Workspace, i ImportOptions) error {
	im, err := newImporter(ctx, w, i)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	for n, c := range im.list {
		done := im.one(ctx, c)
		if err := ctx.Err(); err != nil {
			return err
		}
		if i.Report != nil {
			i.Report(n+1, len(im.list), done)
		}
		if ((n+1)%manyPacks == 0 || n+1 == len(im.list)) && !i.Dry {
			if err := git.Gather(ctx, w.Repo); err != nil {
				w.Store.Log(time.Now(), err.Error())
			}
		}
	}
	if im.unread != nil {
		return fmt.Errorf("import: %w", im.unread)
	}
	return nil
}

// manyPacks is how many sessions, with a pack each, are imported before packs
// are gathered: a reader opens one pack after the other.
const manyPacks = 50

// Importable returns how many sessions [Import] would make a mission of; those of
// which something is withheld do not count. It reads only the beginnings of files,
// except for copies that a client made, packed ones, and those that began in a
// directory that is gone. getenv is that of [Import]. With an error, some could not
// be read.
func Importable(ctx context.Context, w *workspace.Workspace, getenv func(string) string) (int, error) {
	im, err := newImporter(ctx, w, ImportOptions{Getenv: getenv, Dry: true})
	if err != nil {
		return 0, fmt.Errorf("look for sessions to import: %w", err)
	}
	n, noted := 0, places.Of(getenv)
	for _, c := range im.list {
		if len(noted.Withheld(c.Session)) > 0 {
			continue
		}
		id, err := record.OfSession(c.Session, 8)
		if err != nil || c.err != nil || c.Size > transcript.MaxSegment || len(im.missions[c.Session]) > 0 || w.Store.Load(c.Session).Last != nil || im.mere(ctx, c) {
			continue
		}
		n++
		im.missions[c.Session] = append(im.missions[c.Session], id) // as if imported, for its copies
	}
	if im.unread != nil {
		err = fmt.Errorf("look for sessions to import: %w", im.unread)
	}
	return n, err
}

func (im *importer) one(ctx context.Context, c *candidate) Imported {
	done := Imported{Session: c.Session, Title: im.title(c.first.Prompt)}
	err := c.err
	switch t, known := im.known(c); {
	case err != nil:
	case known: // without waiting for a lock
		t.say(&done, t.other)
	case im.Dry:
		err = im.look(ctx, c, &done)
	default:
		// Its hooks wait. Their state stays; the ledger will have the turns.
		err = im.Store.Update(ctx, c.Session, func(st *session.Known) error {
			for {
				more, err := im.some(ctx, c, st, &done)
				if err != nil || !more {
					return cmp.Or(err, session.ErrUnchanged)
				}
			}
		})
	}
	if errors.Is(err, transcript.ErrTooLarge) {
		err = fmt.Errorf("it has more than %d MiB", transcript.MaxSegment>>20)
	}
	if err != nil {
		done.State, done.Why = Skipped, err.Error()
	}
	if done.State == New && !slices.Contains(im.missions[c.Session], done.Mission) {
		im.missions[c.Session] = append(im.missions[c.Session], done.Mission)
	}
	return done
}

// title returns what to call a session, whose file has what was purged here.
func (im *importer) title(prompt string) string {
	if im.Purged().IsPrompt(prompt) {
		return scrub.Mark
	}
	return turns.Title(im.Settings.Rules(), string(im.Purged().Replace([]byte(prompt))))
}

// known returns the result for a session with nothing to do.
func (im *importer) known(c *candidate) (importPlan, bool) {
	for _, id := range im.missions[c.Session] {
		last := im.last[id]
		switch {
		case last == nil || last.Mission != id || last.Session != c.Session:
		case last.Imported == "":
			return im.recorded(id), true
		case last.To == c.Size:
			return importPlan{state: UpToDate, other: id, last: last.Turn}, true
		}
	}
	return importPlan{}, false
}

func (im *importer) recorded(id record.ID) importPlan {
	t := importPlan{state: Recorded, other: id}
	if last := im.last[id]; last != nil {
		t.last = last.Turn
	}
	return t
}

// mission returns the mission of a session. guess leaves it to [owns], within the
// transaction, to find that another session has it.
func (im *importer) mission(ctx context.Context, c *candidate, guess bool) (record.ID, error) {
	for _, digits := range []int{8, 12} {
		if id, err := record.OfSession(c.Session, digits); err == nil && slices.Contains(im.missions[c.Session], id) {
			return id, nil
		}
	}
	if guess {
		return record.OfSession(c.Session, 8)
	}
	return ownMission(ctx, im.Workspace, c.Session, c.Session)
}

func (im *importer) look(ctx context.Context, c *candidate, done *Imported) error {
	id, err := im.mission(ctx, c, false)
	if err != nil {
		return err
	}
	objects := im.Repo.Objects(ctx)
	defer objects.Close()
	tip, err := ledger.Tip(ctx, im.Repo, id)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return err
	}
	var l *ledger.Ledger
	if err == nil {
		if l, err = im.Usable(ctx, objects, id, tip); err != nil && !errors.Is(err, workspace.ErrUntrusted) {
			return err
		}
	}
	t, err := im.planImport(ctx, id, l, c, im.Store.Load(c.Session))
	if err == nil {
		t.say(done, id)
	}
	return err
}

// maxAtOnce is about how many bytes of a file one transaction imports.
const maxAtOnce = 32 << 20

// some imports the next part of a session, and reports whether there is more.
func (im *importer) some(ctx context.Context, c *candidate, st *session.Known, done *Imported) (more bool, err error) {
	tries := 0
	choose := func(ctx context.Context) (ledgertx.Job, error) {
		tries++
		id, err := im.mission(ctx, c, tries == 1)
		return ledgertx.Job{Mission: id, At: im.At, What: "import", Config: im.config}, err
	}
	err = ledgertx.Run(ctx, im.Workspace, choose, func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			if tries == 1 && git.Lost(err) { // another one may be its own
				return errors.Join(err, git.ErrConflict)
			}
			return err
		}
		t, err := im.planImport(ctx, tx.ID, tx.Ledger, c, st)
		if err != nil {
			return err
		}
		if len(t.ends) == 0 {
			t.say(done, tx.ID)
			return nil
		}
		more = t.shorten()
		if err := im.record(ctx, tx, c, t); err != nil {
			return err
		}
		t.say(done, tx.ID)
		return nil
	})
	return more, err
}

func (im *importer) record(ctx context.Context, tx *ledgertx.Tx, c *candidate, t importPlan) error {
	tx.Prepare()
	if err := im.code(tx); err != nil {
		return err
	}
	switch {
	case tx.Ledger != nil:
	case t.source != nil:
		if err := im.fork(ctx, tx, c, t.source); err != nil {
			return err
		}
	default:
		tx.Begin(&record.Mission{Created: created(c.first.At, im.At), Agent: c.agent.Name})
	}
	for i, e := range t.ends {
		segment := flushed{from: t.from, NewLines: transcript.NewLines{Bytes: t.bytes}}
		reader := transcript.Remember(c.reader)
		if i == 0 && t.begins > e.start {
			e.summary = transcript.Summarise(c.reader(), t.bytes[t.begins:e.end])
		} else {
			e.summary = transcript.Summarise(reader(), t.bytes[e.start:e.end])
		}
		if _, err := im.turn(ctx, tx, c, reader, segment, e, i == 0 && t.again); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	if tx.Quarantined != "" {
		im.Store.Log(im.At, fmt.Sprintf("mission %s contained turns that are not signed by a key you trust; they are now mission %s", tx.ID, tx.Quarantined))
	}
	if tx.Unnoted != nil {
		im.Store.Log(im.At, fmt.Sprintf("the notes of mission %s were left as they are: %v", tx.ID, tx.Unnoted))
	}
	return nil
}

// date sets the next event's time: when it happened, but not before the
// previous event nor after the import, since ledgers' tips date missions.
func (im *importer) date(tx *ledgertx.Tx, tip object.Hash, at time.Time) error {
	if at.After(im.At) {
		at = im.At
	}
	before := time.Unix(0, 0)
	if !tip.IsZero() {
		c, err := tx.Objects.Commit(tip)
		if err != nil {
			return err
		}
		before = c.Committer.When
	}
	if at.Before(before) {
		at = before
	}
	tx.At = at.UTC()
	return nil
}

func lastSaid(sum transcript.Summary) time.Time {
	if sum.Ended.IsZero() {
		return sum.Started
	}
	return sum.Ended
}

func created(at, now time.Time) time.Time {
	if at.IsZero() {
		at = now
	}
	return at.UTC().Truncate(time.Millisecond)
}

// code makes a commit for turns whose code is unknown, if HEAD has none.
func (im *importer) code(tx *ledgertx.Tx) error {
	if !im.head.IsZero() {
		return nil
	}
	tree, err := tx.Objects.EmptyTree()
	if err != nil {
		return err
	}
	head, err := tx.CommitTree(tree, nil, ledger.CodeMessage("before the first commit", tx.ID, 0, ""))
	if err != nil {
		return err
	}
	if err := tx.Objects.Flush(); err != nil { // further missions begin there, too
		return err
	}
	im.head = head
	return nil
}

// turn adds a turn of a segment to the ledger and, if its code is known, to the
// notes. again says that it replaces the one with its number.
func (im *importer) turn(ctx context.Context, tx *ledgertx.Tx, c *candidate, reader func() transcript.Reader, segment flushed, e ending, again bool) (*turns.Turn, error) {
	rec := &recording{Workspace: im.Workspace, tx: tx, inputs: inputs{
		Signal: Signal{
			Event: Ended, At: created(lastSaid(e.summary), im.At), Agent: c.agent.Name,
			Session: c.Session, Transcript: c.Path,
		},
		id: tx.ID, top: im.Repo.Top, rules: im.Settings.Rules(), segment: segment,
	}}
	if e.summary.Answered {
		rec.Event = Stopped
	}
	e.seen = true // as far as anything of it is known
	raw := segment.Bytes[e.start:e.end]
	at, err := im.findCode(ctx, tx.Objects, c, e.summary, func() []string { return transcript.Commits(reader(), raw) })
	if err != nil {
		return nil, err
	}
	rec.head = at.head
	t := describe(&rec.inputs, e, start{base: at.base}, new(snapshot.Snapshot))
	t.Code, t.Imported = at.code, at.by
	var old *turns.Turn
	if again {
		old, err = turns.ReadIn(tx.Ledger, e.number)
		if err == nil {
			err = t.Replaces(old)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Base != t.Code || im.compared != t.Code {
		if err := rec.compare(ctx, t); err != nil {
			return nil, err
		}
		im.compared = t.Code
	}
	rec.prove(t, reader, raw, sides{})
	files := make(map[string][]byte)
	segmentFile(t, files, raw, rec.rules, im.Purged())
	line, err := t.Encode()
	if err != nil {
		return nil, err
	}
	files[ledger.TurnPath("turns", e.number, ".json")] = append(bytes.Clone(line), '\n')
	rec.spend(t, old)
	if m := tx.Ledger.Mission; m.Title == "" {
		m.Title = ledger.Head(turns.FirstLine(t.Prompt), turns.MaxSubject)
	}
	if err := im.date(tx, tx.Ledger.Tip, t.At); err != nil {
		return nil, err
	}
	if err := rec.append(fmt.Sprintf("turn %d", e.number), files, at.code); err != nil {
		return nil, err
	}
	if t.CodeKnown() != nil {
		return t, nil
	}
	return t, rec.note(t, line)
}

// fork begins a copied conversation's mission at the turn that it continues.
func (im *importer) fork(ctx context.Context, tx *ledgertx.Tx, c *candidate, source *turns.Turn) error {
	l, err := source.LedgerAt(ctx, im.Repo, tx.Objects, false)
	if err != nil {
		return err
	}
	name, at := source.ID(), created(c.first.At, im.At)
	if err := im.date(tx, l.Tip, at); err != nil {
		return err
	}
	return tx.Fork(ctx, &record.Mission{
		V: record.Version, ID: tx.ID, Title: l.Mission.Title, Created: at,
		Agent: c.agent.Name, Base: source.Code.String(), ForkedFrom: &name,
	}, l, source.Code)
}
