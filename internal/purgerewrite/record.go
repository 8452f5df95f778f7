package purgerewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

// An evidence is the sizes of what is stored beside a record, which it repeats.
type evidence struct {
	segment int64            // of the turn's segment, -1 if it is as it was
	agents  map[string]int64 // of the subagents' segments that changed
	clean   bool             // the record was searched, and nothing found
}

var asItWas = evidence{segment: -1}

// named reports whether a program gave a name in a record, not a tool or a
// model. Such a name stays, or its value would be lost.
func (s *shape) named(v scrub.Token) bool {
	for n := 1; n < len(v.Path); n++ {
		if s.rule(scrub.Token{Path: v.Path[:n]}.Name()).Is(record.Names) {
			return false
		}
	}
	return !strings.ContainsFunc(v.Key(), func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
}

// A shape is what must be known of a record or mission.json to rewrite it.
type shape struct {
	Kind        string           `json:"kind"`
	ID          record.ID        `json:"id"`
	Mission     record.ID        `json:"mission"`
	Turn        int              `json:"turn"`
	Handoff     int              `json:"handoff"`
	Prompt      string           `json:"prompt"`
	LastTurn    int              `json:"last_turn"`
	LastOutcome string           `json:"last_outcome"`
	Written     string           `json:"written"`
	Title       string           `json:"title"`
	Code        string           `json:"code"`
	Base        string           `json:"base"`
	Stash       string           `json:"stash_ref"`
	Skipped     *json.RawMessage `json:"skipped"`
}

// rule returns what a purge may do with a member of the record.
func (s *shape) rule(name string) record.PurgeRule { return record.PurgeRuleOf(s.Kind, name) }

// place returns where a record's texts are, but for their kind.
func (s *shape) place() Place {
	at := Place{Mission: s.Mission, Kind: Record}
	switch {
	case s.Kind == record.KindTurn:
		at.Turn = s.Turn
	case s.Kind == record.KindHandoff:
		at.Handoff, at.Kind = s.Handoff, Handoff
	default:
		at.Mission, at.Kind = s.ID, Mission
	}
	return at
}

// kind returns the kind of text of a member.
func (s *shape) kind(name string) Kind {
	rule := s.rule(name)
	for _, kind := range []Kind{Prompt, Reply, Title, Patch} {
		if rule.Is(string(kind)) {
			return kind
		}
	}
	return s.place().Kind
}

// purged reports whether a text of a record goes because its whole turn does.
func (r *Rewrite) purged(s *shape, name string) bool {
	turn := func(n int) bool { return r.Target.turn(record.TurnID{Mission: s.Mission, Turn: n}) }
	switch copied := s.rule(name).Is(record.Copied); {
	case s.Kind == record.KindTurn:
		return turn(s.Turn)
	case !copied:
		return false
	case s.Kind == record.KindHandoff:
		last := s.LastTurn
		if s.LastOutcome == string(record.Running) {
			last++
		}
		return turn(last) && (name != "progress_summary" || s.Written == "") // which the agent has written
	}
	return slices.ContainsFunc(r.prompts, func(prompt string) bool { // a title is the beginning of one, or given
		begin := strings.TrimSuffix(s.Title, "…")
		return begin != "" && strings.HasPrefix(strings.TrimSpace(prompt), begin)
	})
}

func (t *Target) turn(id record.TurnID) bool { return slices.Contains(t.Turns, id) }

// record returns what replaces a record: clean texts, the new hashes, names and
// sizes, and what its state leaves out. All other bytes stay.
func (r *Rewrite) record(at Place, content []byte, with evidence) []byte {
	if !json.Valid(content) {
		out, _ := r.Target.Finder.Clean(content)
		if !bytes.Equal(out, content) {
			r.find(at, Redacted, 1)
		}
		return out
	}
	var s shape
	_ = json.Unmarshal(content, &s) // members of other types stay unknown
	if where := s.place(); where.Mission != "" {
		at = where
	}
	found := map[Find]int{}
	kept := map[Find]int{}
	out := content
	whole := false // strings of which anything is found go as a whole
	for range scrub.Rounds {
		var edits []edit
		t := touched{}
		if r.Target.Finder != nil && !with.clean {
			t.spans = r.Target.Finder.Spans(out)
		}
		clear(kept)
		agent := ""
		purging := s.Kind == record.KindTurn && r.purged(&s, "")
		scrub.Tokens(out, func(v scrub.Token) {
			name := v.Name()
			put := func(with string) { edits = append(edits, edit{v.From, v.To, with}) }
			where := Find{at, Redacted}
			where.Kind = s.kind(name)
			hit := t.is(v.From, v.To)
			switch {
			case v.Kind == '0':
				switch size, changed := with.agents[agent]; {
				case name == "transcript.bytes" && with.segment >= 0:
					put(strconv.FormatInt(with.segment, 10))
				case name == "agents.bytes" && changed:
					put(strconv.FormatInt(size, 10))
				case purging && s.rule(name).Is(record.Count):
					put("0")
				case hit:
					where.Fate = Kept
					kept[where]++
				}
			case v.Kind == 'n':
				if !hit {
					break
				}
				if s.named(v) {
					where.Fate = Kept
					kept[where]++
					break
				}
				found[where]++
				if inner, ok := r.Target.Finder.Clean(out[v.From+1 : v.To-1]); ok && !whole {
					put(`"` + string(inner) + `"`)
				} else {
					put(marked)
				}
			default:
				text := string(out[v.From+1 : v.To-1])
				if name == "agents.id" {
					agent = text
				}
				if to, is := r.followed(text, v.Key()); is {
					if to != text {
						put(`"` + to + `"`)
					}
				} else if s.rule(name).Is(record.Formal) {
					if hit {
						where.Fate = Kept
						kept[where]++
					}
				} else if r.purged(&s, name) {
					if text != "" && text != scrub.Mark {
						found[where]++
						put(marked)
					}
				} else if hit {
					found[where]++
					inner, ok := r.Target.Finder.Clean([]byte(text))
					if with := `"` + string(inner) + `"`; ok && !whole && json.Valid([]byte(with)) {
						put(with)
					} else {
						put(marked)
					}
				}
			}
		})
		if len(edits) == 0 {
			break
		}
		next := apply(out, edits)
		if bytes.Equal(next, out) {
			break
		}
		out, whole = next, true
		if r.Target.Finder == nil || with.clean || len(r.Target.Finder.Spans(out)) == 0 {
			break
		}
	}
	for f, n := range found {
		r.find(f.Place, f.Fate, n)
	}
	for f, n := range kept {
		r.find(f.Place, f.Fate, n)
	}
	return skipped(out, &s, r.left(s.state()))
}

// left returns what the successor of a state leaves out.
func (r *Rewrite) left(state object.Hash) []string {
	if s := r.states[state]; s != nil {
		return s.left
	}
	to, known := r.done[state]
	if !known || to.IsZero() {
		return nil
	}
	list, err := LacksPaths(r.Objects, to, state)
	if err != nil {
		return nil // it is gone: who has replaced it has named them
	}
	return list[:min(len(list), record.MaxSkipped)]
}

// followed returns the successor of a hash or mission. is is true for any hash.
func (r *Rewrite) followed(text, key string) (to string, is bool) {
	if hash, err := object.ParseHash(text); err == nil {
		if next := r.Successor(hash); next != hash && !next.IsZero() {
			return next.String(), true
		}
		return text, true
	}
	switch key {
	case "id", "mission", "predecessor":
		if id, ok := r.renamed(record.ID(text)); ok {
			return string(id), true
		}
	case "branch":
		end := strings.LastIndexByte(text, '/') + 1
		if id, ok := r.renamed(record.ID(text[end:])); ok {
			return text[:end] + string(id), true
		}
	}
	return text, false
}

// state returns the commit of the record's state, or zero.
func (s *shape) state() object.Hash {
	if s.Kind == record.KindHandoff {
		return object.NewHash(s.Stash)
	}
	return object.NewHash(s.Code)
}

// skipped adds what was left out of a record's state to its own list.
func skipped(content []byte, s *shape, left []string) []byte {
	if len(left) == 0 {
		return content
	}
	var list []record.Skip
	if s.Skipped != nil {
		_ = json.Unmarshal(*s.Skipped, &list)
	}
	var more bytes.Buffer
	enc := json.NewEncoder(&more)
	enc.SetEscapeHTML(false)
	for _, path := range left {
		if next := (record.Skip{Path: strings.ToValidUTF8(path, "�"), Why: record.WhyPurged}); len(list) < record.MaxSkipped && !slices.Contains(list, next) {
			list = append(list, next)
			_ = enc.Encode(next) // of strings: there is no error
			more.Truncate(more.Len() - 1)
			more.WriteByte(',')
		}
	}
	add := strings.TrimSuffix(more.String(), ",")
	if add == "" {
		return content
	}
	at := 0 // behind the last member that goes before the list
	open := -1
	scrub.Tokens(content, func(v scrub.Token) {
		if v.Kind != 'n' || len(v.Path) != 1 {
			return
		}
		if name := v.Name(); name == "skipped" {
			open = v.To
		} else if s.rule(name).Is(record.BeforeSkipped) {
			at = v.To + valueEnd(content[v.To:])
		}
	})
	if open >= 0 {
		end := open + valueEnd(content[open:])
		if content[end-1] == ']' {
			if s.Skipped != nil && len(bytes.TrimSpace((*s.Skipped)[1:len(*s.Skipped)-1])) > 0 {
				add = "," + add
			}
			return apply(content, []edit{{end - 1, end - 1, add}})
		}
		begin := open + bytes.IndexByte(content[open:], ':') + 1
		return apply(content, []edit{{begin, end, "[" + add + "]"}})
	}
	return apply(content, []edit{{at, at, `,"skipped":[` + add + `]`}})
}

// valueEnd returns the end of a member's value, given the text after its name.
func valueEnd(text []byte) int {
	depth, inString := 0, false
	i := bytes.IndexByte(text, ':') + 1
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']' || c == ',') && depth == 0:
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return i
}
