package agent

import (
	"io"

	"gitagent/hooks"
)

// Other returns an agent that has no folder here, by its name in records. Its
// client's hooks tell of a session in the common words, see package hooks: that
// is recorded, with what was said as far as they have it. No file of such a
// client is read. The name is a valid id, see [hooks.ValidID].
func Other(name string) *Agent {
	return &Agent{
		Name: name, Program: name, Title: name,
		ConfigDir: func(func(string) string) string { return "" },
		Event: func(r io.Reader) (*hooks.Payload, error) {
			e, err := hooks.Parse(r)
			if err == nil {
				e.TranscriptPath = "" // in a form that nobody here knows
			}
			return e, err
		},
		Client: func(func(string) string) hooks.Environment { return hooks.Environment{} },
		Reader: Default().Reader, Quoter: Default().Quoter,
	}
}
