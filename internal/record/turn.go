package record

import (
	"fmt"
	"time"

	"gitagent/internal/evidence"
	"gitagent/internal/git/object"
	"gitagent/internal/usage"
)

// An Outcome is how a turn ended.
type Outcome string

// The outcomes.
const (
	Done        Outcome = "done"
	Failed      Outcome = "failed"      // an error of the model's service
	Interrupted Outcome = "interrupted" // the user stopped it, or the client ended during it
	Running     Outcome = "running"     // a subagent that outlives the turn, or a turn with a handoff in it
)

// ParseOutcome parses an outcome that a person typed.
func ParseOutcome(s string) (Outcome, error) {
	switch o := Outcome(s); o {
	case Done, Failed, Interrupted:
		return o, nil
	}
	return "", fmt.Errorf("outcome %q: it is one of done, failed, interrupted", s)
}

// KindTurn is the kind of a turn's line in a note.
const KindTurn = "turn"

// KindReview is the kind of a line in a note that says that turns are reviewed.
const KindReview = "review"

// A Turn is the record of a turn: one line of JSON, in the ledger and in the
// note on Code.
type Turn struct {
	V       int       `json:"v" purge:"formal"`    // [Version]
	Kind    string    `json:"kind" purge:"formal"` // [KindTurn]
	Mission ID        `json:"mission" purge:"formal"`
	Turn    int       `json:"turn" purge:"formal"`              // from 1 within the mission; a fork counts on
	At      time.Time `json:"at" purge:"formal"`                // when it was recorded
	Started time.Time `json:"started,omitzero" purge:"formal"`  // when its prompt was given, if known
	Outcome Outcome   `json:"outcome" purge:"formal"`           //
	Agent   string    `json:"agent,omitempty" purge:"formal"`   // its name; see package agent
	Model   string    `json:"model,omitempty" purge:"text"`     // the one that wrote the last message
	Session string    `json:"session,omitempty" purge:"formal"` // the client's id of the conversation
	Program string    `json:"program,omitempty" purge:"text"`   // that wrote the record; see [version.Program]

	PromptID string `json:"prompt_id,omitempty" purge:"formal"`
	Prompt   string `json:"prompt,omitempty" purge:"prompt"` // redacted; its first 500 runes
	Reply    string `json:"reply,omitempty" purge:"reply"`   // redacted; the last 1000 runes

	Code   object.Hash `json:"code" purge:"hash"`             // commit whose tree is the worktree at the end
	Base   object.Hash `json:"base,omitzero" purge:"hash"`    // the same at the start: the diff is Base..Code
	Head   object.Hash `json:"head,omitzero" purge:"hash"`    // HEAD at the end; zero on an unborn branch
	Branch string      `json:"branch,omitempty" purge:"text"` // short name; "" when HEAD was detached

	Files      int      `json:"files" purge:"count"`          // changed between Base and Code
	Insertions int      `json:"insertions" purge:"count"`     // lines
	Deletions  int      `json:"deletions" purge:"count"`      // lines
	Paths      []string `json:"paths,omitempty" purge:"text"` // the first 20
	Skipped    []Skip   `json:"skipped,omitempty"`            // paths that Code lacks; the first 50

	Tools       map[string]int `json:"tools,omitempty" purge:"names"` // calls by name
	Context     int64          `json:"context" purge:"number"`        // tokens sent by the last request
	Output      int64          `json:"output" purge:"number"`         // tokens the model wrote
	Compactions int            `json:"compactions" purge:"number"`

	// Tokens counts all messages on the main chain, by model; nil if unknown,
	// as for older programs.
	Tokens usage.ByModel `json:"tokens,omitempty" purge:"names"`

	Agents     []Subagent `json:"agents,omitempty"`                     // subagents that ran in the turn
	AgentsLeft int        `json:"agents_left,omitempty" purge:"number"` // not recorded: there was too much

	Transcript *Segment `json:"transcript,omitempty"` // nil if the client keeps none

	// Home is the turn in the ledger that has the conversation, in another
	// repository; nil if it is this one. See docs/format.md.
	Home *TurnID `json:"home,omitempty"`

	// Imported is set if the turn was not recorded as it ended: "reflog" or
	// "transcript", which proves Code; else Code is not known.
	Imported string `json:"imported,omitempty" purge:"formal"`

	// Own is the turn's own change where somebody else worked in the worktree
	// too, and the steps that are kept; nil if Base..Code is its change.
	Own *Own `json:"own,omitempty"`

	// Worktrees are the others of the repository in which the session worked.
	Worktrees []Worktree `json:"worktrees,omitempty"`

	// Checks are those that ran, sub-agents' too, the oldest first; the newest
	// [MaxChecks], and those that stand before others; nil if nobody looked for them. ChangedAfter says whether files changed after the last test,
	// or check if no test ran; nil if that is not known. Unproven says that the
	// reply tells of tests that pass where none is recorded that did.
	Checks       []Check `json:"checks,omitzero"`
	ChecksLeft   int     `json:"checks_left,omitempty" purge:"number"`
	ChangedAfter *bool   `json:"changed_after,omitempty" purge:"number"`
	Unproven     bool    `json:"unproven,omitempty" purge:"number"`

	Text      Text        `json:"-"` // of the parsed record
	Ledger    ID          `json:"-"` // the mission whose ledger has the record; forks inherit records
	LedgerTip object.Hash `json:"-"` // the ledger's commit at which it was read
}

// An Own is a turn's share of the change from its base to its code commit, and
// its steps. It is valid for one code commit: see [Own.Holds].
type Own struct {
	Of object.Hash `json:"of" purge:"hash"` // the turn's Code
	// Others holds the turn's end without what the turn did, surely or not; it
	// is zero if nobody else worked. Shared is without what it surely did, and
	// zero if that is the same.
	Others object.Hash `json:"others,omitzero" purge:"hash"`
	Shared object.Hash `json:"shared,omitzero" purge:"hash"`

	// What the turn surely changed: files and lines between Shared, or Others,
	// and Code, and the first 20 of these files.
	Files      int      `json:"files,omitempty" purge:"count"`
	Insertions int      `json:"insertions,omitempty" purge:"count"`
	Deletions  int      `json:"deletions,omitempty" purge:"count"`
	Paths      []string `json:"paths,omitempty" purge:"text"`

	Commits []object.Hash `json:"commits,omitempty" purge:"hash"` // that HEAD moved to by the turn's calls
	With    []string      `json:"with,omitempty" purge:"formal"`  // the other sessions; "" is nobody known
	Steps   int           `json:"steps,omitempty" purge:"number"` // how many there were
	Kept    []int         `json:"kept,omitempty" purge:"number"`  // those that the ledger keeps, from 1
	Last    object.Hash   `json:"last,omitzero" purge:"hash"`     // the last kept step, whose first parent is the one before
}

// Holds reports whether the share is of the change that ends with a commit. One
// that is not must be ignored: an older program recorded the turn again.
func (o *Own) Holds(code object.Hash) bool { return o != nil && o.Of == code }

// Plausible reports whether the numbers can be those of a turn.
func (o *Own) Plausible() bool {
	last := 0
	for _, n := range o.Kept {
		if n <= last || n > o.Steps {
			return false
		}
		last = n
	}
	return o.Files >= 0 && o.Insertions >= 0 && o.Deletions >= 0 && o.Steps >= 0 && o.Steps <= MaxSteps
}

// A Worktree is what a turn's tools or sub-agents did in another worktree of the
// repository. It is no part of the turn's own change.
type Worktree struct {
	Name   string      `json:"name" purge:"text"`              // of its directory; unique in the turn
	Agent  string      `json:"agent,omitempty" purge:"formal"` // the sub-agent's id; "" for the session's own calls
	Branch string      `json:"branch,omitempty" purge:"text"`  // short name; "" when HEAD was detached
	Base   object.Hash `json:"base" purge:"hash"`              // commit whose tree it had when the turn found it
	Code   object.Hash `json:"code" purge:"hash"`              // the same at the turn's end, or before it was removed

	Files      int      `json:"files" purge:"count"` // changed between Base and Code
	Insertions int      `json:"insertions" purge:"count"`
	Deletions  int      `json:"deletions" purge:"count"`
	Paths      []string `json:"paths,omitempty" purge:"text"`     // the first 20
	Removed    bool     `json:"removed,omitempty" purge:"number"` // it was gone at the turn's end
}

// MaxWorktreeName is the most bytes of a worktree's name.
const MaxWorktreeName = 100

// A Check is a command that looked whether the work is right. Readers accept
// other kinds and outcomes.
type Check struct {
	Kind    evidence.Kind    `json:"kind" purge:"formal"`
	Command string           `json:"command" purge:"text"`      // without its wrappers; redacted, a line, its first 200 runes
	In      string           `json:"in,omitempty" purge:"text"` // where it ran, if not in the worktree's top directory: a directory in it, a container
	Outcome evidence.Outcome `json:"outcome" purge:"formal"`
	Exit    *int             `json:"exit,omitempty" purge:"number"`  // its status; nil if that is not known
	Call    string           `json:"call,omitempty" purge:"formal"`  // the client's id of the call
	Agent   string           `json:"agent,omitempty" purge:"formal"` // the sub-agent's id; "" for the session's own calls
}

// A Skip is a path that a state leaves out, and why.
type Skip struct {
	Path string `json:"path" purge:"text"`  // a directory ends in a slash
	Why  string `json:"why" purge:"formal"` // one of the reasons below
}

// Reasons to leave a path out; Policy is package snapshot's.
const (
	WhySize       = "size"       // larger than Policy.MaxFileSize
	WhySecret     = "secret"     // the name is typical of a file with credentials
	WhyExcluded   = "excluded"   // matches Policy.Exclude
	WhyTooMany    = "too many"   // a directory, to stay within Policy.MaxUntrackedFiles
	WhyTooMuch    = "too much"   // the same for Policy.MaxUntrackedSize
	WhyRepository = "repository" // a repository that is not a submodule
	WhySubmodule  = "submodule"  // a submodule with uncommitted changes
	WhyFilter     = "filter"     // git's filter failed or is missing
	WhyUnreadable = "unreadable" // the file could not be read
	WhyRefused    = "refused"    // git refuses such a name
	WhyPurged     = "purged"     // Policy.Purged finds something in it: it is missing, or marks are in its place
)

// A Subagent is a subagent's part in a turn, which it may precede and outlive.
type Subagent struct {
	ID      string        `json:"id" purge:"formal"`
	Type    string        `json:"type,omitempty" purge:"text"`   // the client's name of its kind; redacted
	Call    string        `json:"call,omitempty" purge:"formal"` // id of the call that started it
	Outcome Outcome       `json:"outcome" purge:"formal"`        // at the end of its part
	Calls   int           `json:"calls" purge:"number"`          // of tools
	Tokens  usage.ByModel `json:"tokens,omitempty" purge:"names"`
	Bytes   int           `json:"bytes" purge:"number"` // of its part, redacted
	From    int64         `json:"from" purge:"number"`  // where that begins in the client's file, bytes
	To      int64         `json:"to" purge:"number"`    // where it ends there
	Missing string        `json:"missing,omitempty" purge:"formal"`
}

// A Segment is the turn's part of the conversation, as stored.
type Segment struct {
	Path  string `json:"path,omitempty" purge:"formal"` // in the ledger; empty if there is none
	After int    `json:"after" purge:"number"`          // turn of the conversation's previous segment, or 0
	Bytes int    `json:"bytes" purge:"number"`          // of the segment, redacted
	From  int64  `json:"from" purge:"number"`           // where it begins in the client's file, bytes
	To    int64  `json:"to" purge:"number"`             // where it ends there
	// Missing is why there is no segment: "redaction", "size" or "unreadable".
	Missing string `json:"missing,omitempty" purge:"formal"`
}
