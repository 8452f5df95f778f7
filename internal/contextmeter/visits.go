package contextmeter

import (
	"cmp"
	"slices"
)

// MaxVisits is how many repositories a turn visits. Beyond, nothing is recorded.
const MaxVisits = 50

// A Visit is a repository that the session is not at home in, and acts in.
type Visit struct {
	Top      string `json:"top"`
	PromptID string `json:"prompt,omitempty"` // of the turn that visits it, or did last
	Begun    bool   `json:"begun,omitempty"`  // its start is kept there
	Over     bool   `json:"over,omitempty"`
	Off      bool   `json:"off,omitempty"` // nothing is recorded there
	Beyond   bool   `json:"-"`             // as it is one too many, which is not noted
}

// Runs reports whether the end of the turn has to be recorded there.
func (v Visit) Runs() bool { return !v.Over && !v.Off }

// Visit notes that a turn visits repositories, and returns these visits by their
// tops; they are off where there are too many. What earlier turns have visited is
// forgotten, unless that is to be recorded still.
func (s *Memory) Visit(prompt string, tops []string) map[string]Visit {
	s.Visits = slices.DeleteFunc(s.Visits, func(v Visit) bool {
		return !v.Runs() && (v.PromptID != prompt || v.Over && prompt == "")
	})
	now := make(map[string]Visit)
	for _, top := range tops {
		v := s.visit(top)
		switch {
		case v == nil && len(s.Visits) >= MaxVisits:
			now[top] = Visit{Top: top, Off: true, Beyond: true}
			continue
		case v == nil:
			s.Visits = append(s.Visits, Visit{Top: top, PromptID: prompt})
			v = &s.Visits[len(s.Visits)-1]
		case v.PromptID != prompt:
			*v = Visit{Top: top, PromptID: prompt}
		}
		v.Over = false
		now[top] = *v
	}
	return now
}

// SetVisit changes the visit of a repository, if there is one.
func (s *Memory) SetVisit(top string, change func(*Visit)) {
	if v := s.visit(top); v != nil {
		change(v)
	}
}

func (s *Memory) visit(top string) *Visit {
	i := slices.IndexFunc(s.Visits, func(v Visit) bool { return v.Top == top })
	if i < 0 {
		return nil
	}
	return &s.Visits[i]
}

// Missed returns which visits of a turn that has ended no hook has begun, by their
// tops, and the turn's id in the client, as far as that is known: hooks were killed
// at those that are noted, and not run at all for others of named, which the
// turn's calls name by its conversation.
func Missed(visits []Visit, named []string, prompt string) (tops []string, of string, killed bool) {
	tops, of = slices.Clone(named), prompt
	for _, v := range visits {
		i := slices.Index(tops, v.Top)
		switch {
		case v.Runs() && !v.Begun:
			killed, of = true, cmp.Or(of, v.PromptID)
			if i < 0 {
				tops = append(tops, v.Top)
			}
		case i >= 0 && (v.Runs() || v.PromptID != "" && v.PromptID == of): // a hook has
			tops = slices.Delete(tops, i, i+1)
		}
	}
	return tops, of, killed
}
