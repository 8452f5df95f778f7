package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"gitagent/internal/git/object"
)

// A Call is a call of a tool that may have written in the worktree.
type Call struct {
	ID   string // the client's, or ""
	Tool string // the client's name of it
	Path string // from the worktree's top, with slashes; "" for any
}

// An Entry is what was seen at one moment. Times are in ms since 1970, paths
// from the worktree's top, with slashes.
type Entry struct {
	At   int64 `json:"at"`             // when the look at the worktree began that saw the state
	Took int64 `json:"took,omitempty"` // ms that it took at most: what was written meanwhile may be in the state; 0 if unknown
	From int64 `json:"from,omitempty"` // when its calls began; 0 if unknown

	Event    string `json:"event,omitempty"` // "" after calls; [Prompt], [Stop]: a turn began or ended with the state
	Session  string `json:"session,omitempty"`
	PromptID string `json:"prompt_id,omitempty"`
	Agent    string `json:"agent,omitempty"` // the sub-agent's id, "" for the session's own calls

	Before bool `json:"before,omitempty"` // the state was seen before a call, which has no claim yet

	Tree  object.Hash `json:"tree,omitzero"`   // zero for a claim without a state
	Base  object.Hash `json:"base,omitzero"`   // the state in which a turn began before others were seen that are older entries; then there is no Tree
	Head  object.Hash `json:"head,omitzero"`   // HEAD's commit; zero if unborn or unknown
	Plain bool        `json:"plain,omitempty"` // files of this worktree can be hashed in-process: neither filters nor conversion

	Calls  []Call           `json:"calls,omitempty"`
	Named  []string         `json:"named,omitempty"`  // files and directories that commands name
	Git    bool             `json:"git,omitempty"`    // a git command that writes the worktree was among them
	Open   bool             `json:"open,omitempty"`   // a call goes on in the background
	Ctimes map[string]int64 `json:"ctimes,omitempty"` // of the files that differ from the entry before

	Cost  int64 `json:"cost,omitempty"`  // ms that a look at the whole worktree took; 0 if there was none
	Steps int   `json:"steps,omitempty"` // new states in the session's turn, with this one
	Bytes int64 `json:"bytes,omitempty"` // of objects that they added
}

// The events of an [Entry].
const (
	Prompt = "prompt"
	Stop   = "stop"
)

// MarshalJSON returns [id, tool, path].
func (c Call) MarshalJSON() ([]byte, error) { return json.Marshal([3]string{c.ID, c.Tool, c.Path}) }

// UnmarshalJSON accepts only that.
func (c *Call) UnmarshalJSON(data []byte) error {
	var parts []string
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 3 {
		return errors.New("a call has an id, a tool and a path")
	}
	c.ID, c.Tool, c.Path = parts[0], parts[1], parts[2]
	return nil
}

const version = 1

// A line is an entry as stored.
type line struct {
	V int `json:"v"`
	*Entry
}

// maxLine is the most bytes of a line. What is read may be untrusted.
const maxLine = 128 << 10

// encode returns the line of e. One that would be too long says less: no
// ctimes, then that the calls may have written any file.
func encode(e *Entry) ([]byte, error) {
	short := *e
	for _, less := range []func(){
		func() {},
		func() { short.Ctimes = nil },
		func() { short.Named, short.Calls = nil, []Call{{Tool: "any"}} },
	} {
		less()
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(line{version, &short}); err != nil {
			return nil, err
		}
		if b.Len() <= maxLine {
			return b.Bytes(), nil
		}
	}
	return nil, errors.New("the entry is too long")
}

// decode returns nil for a line that is not an entry of ours.
func decode(text []byte) *Entry {
	l := line{Entry: new(Entry)}
	if len(text) > maxLine || json.Unmarshal(text, &l) != nil || l.V != version || l.Entry == nil || !l.valid() {
		return nil
	}
	return l.Entry
}

func (e *Entry) valid() bool {
	outside := func(p string) bool { return !inside(p) }
	for p := range e.Ctimes {
		if outside(p) {
			return false
		}
	}
	return e.At > 0 && e.From >= 0 && e.From <= e.At && e.Took >= 0 && e.Cost >= 0 && e.Steps >= 0 && e.Bytes >= 0 &&
		(e.Event == "" || e.Event == Prompt || e.Event == Stop) &&
		!slices.ContainsFunc(e.Named, outside) &&
		!slices.ContainsFunc(e.Calls, func(c Call) bool { return c.Path != "" && outside(c.Path) })
}

// inside reports whether a path names something below the worktree's top.
func inside(p string) bool {
	return p != "" && p != "." && p == path.Clean(p) && p[0] != '/' && p != ".." && !strings.HasPrefix(p, "../")
}
