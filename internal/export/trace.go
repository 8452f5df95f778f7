package export

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gitagent/turns"
)

const traceVersion = "0.1.0"

// A Trace is an Agent Trace 0.1.0 record: the lines of files that turns wrote,
// as numbered in one commit.
type Trace struct {
	Version  string      `json:"version"`
	ID       string      `json:"id"`
	At       string      `json:"timestamp"`
	VCS      traceVCS    `json:"vcs"`
	Files    []traceFile `json:"files"`
	Metadata struct {
		Ours traceMetadata `json:"git-agent"`
	} `json:"metadata"`
}

type traceVCS struct {
	Type     string `json:"type"`
	Revision string `json:"revision"`
}

type traceFile struct {
	Path          string              `json:"path"`
	Conversations []traceConversation `json:"conversations"`
}

// A traceConversation is the lines of a turn, or of one of several related
// turns.
type traceConversation struct {
	URL         string       `json:"url,omitempty"`
	Contributor contributor  `json:"contributor"`
	Ranges      []traceRange `json:"ranges"`
	Related     []related    `json:"related,omitempty"`
}

type contributor struct {
	Type  string `json:"type"`
	Model string `json:"model_id,omitempty"`
}

type traceRange struct {
	Start int `json:"start_line"`
	End   int `json:"end_line"`
}

type related struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

type traceMetadata struct {
	Turns map[string]traceTurn `json:"turns"` // by URL
}

type traceTurn struct {
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"` // as the client names it
	Session string    `json:"session,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Outcome string    `json:"outcome,omitempty"`
	Prompt  string    `json:"prompt,omitempty"`
}

// NewTrace returns a commit's record, or nil if it would have no lines. left
// lists the paths that JSON can't hold. The id only changes with the record's
// content.
func NewTrace(c CommitShare, prompts bool) (t *Trace, left []string, err error) {
	t = &Trace{Version: traceVersion, At: date(c.At).Format(time.RFC3339), VCS: traceVCS{"git", c.Hash.String()}}
	known := make(map[string]traceTurn)
	t.Metadata.Ours.Turns = known
	for _, f := range c.Files {
		if len(f.Lines) == 0 {
			continue
		}
		if !utf8.ValidString(f.Path) {
			left = append(left, f.Path)
			continue
		}
		file := traceFile{Path: f.Path}
		for _, s := range spans(f.Lines) {
			file.Conversations = append(file.Conversations, newConversation(s))
			for _, turn := range s.turns {
				known[traceURL(turn)] = newTraceTurn(turn, prompts)
			}
		}
		t.Files = append(t.Files, file)
	}
	if len(t.Files) == 0 {
		return nil, left, nil
	}
	text, err := json.Marshal(t)
	t.ID = uuid(text)
	return t, left, err
}

func newConversation(s *span) traceConversation {
	c := traceConversation{Contributor: contributor{Type: "ai", Model: modelID(s.turns[0].Model)}}
	for _, r := range s.ranges {
		c.Ranges = append(c.Ranges, traceRange{r[0], r[1]})
	}
	if slices.ContainsFunc(s.turns, anonymous) {
		c.Contributor = contributor{Type: "unknown"}
	}
	if len(s.turns) == 1 {
		t := s.turns[0]
		c.URL = traceURL(t)
		if isUUID(t.Session) {
			c.Related = []related{{"session", "urn:uuid:" + t.Session}}
		}
		return c
	}
	for _, t := range s.turns {
		if modelID(t.Model) != c.Contributor.Model {
			c.Contributor.Model = ""
		}
		c.Related = append(c.Related, related{"turn", traceURL(t)})
	}
	return c
}

func newTraceTurn(t *turns.Turn, prompts bool) traceTurn {
	turn := traceTurn{Agent: t.Agent, Model: modelName(t.Model), Session: t.Session, Started: t.Before().At.UTC(), Ended: t.At.UTC(), Outcome: string(t.Outcome)}
	if prompts {
		turn.Prompt = t.Prompt
	}
	return turn
}

// traceURL names a turn as `git agent-turn show` accepts it.
func traceURL(t *turns.Turn) string { return "git-agent-turn:" + t.ID().String() }

type maker struct{ prefix, provider string }

// makers maps prefixes of models' names to providers, as models.dev names both.
var makers = [...]maker{
	{"claude-", "anthropic"},
	{"gpt-", "openai"},
	{"codex-", "openai"},
	{"o1", "openai"},
	{"o3", "openai"},
	{"o4", "openai"},
	{"gemini-", "google"},
}

// maxModel is how many runes a model's id may have.
const maxModel = 250

// modelID returns "<provider>/<name>", or "" if the provider is unknown.
func modelID(model string) string {
	provider, _, named := strings.Cut(model, "/")
	switch {
	case named && (provider == "" || strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz0123456789-") != ""):
		return "" // a path, or a provider's own name
	case !named:
		i := slices.IndexFunc(makers[:], func(m maker) bool { return strings.HasPrefix(model, m.prefix) })
		if i < 0 {
			return ""
		}
		model = makers[i].provider + "/" + model
	}
	if utf8.RuneCountInString(model) > maxModel {
		return ""
	}
	return model
}

// isUUID reports whether s is a UUID, as most clients' conversation ids are.
func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	_, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	return err == nil
}

// uuid returns the version 5 UUID of text in this package's namespace.
func uuid(text []byte) string {
	ours := []byte("\x9d\x6a\x1c\x54\x07\xe3\x4b\x0f\x8f\x35\x6e\x21\xc0\xb8\x5a\x97")
	sum := sha1.Sum(bytes.Join([][]byte{ours, text}, nil))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	s := hex.EncodeToString(sum[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}
