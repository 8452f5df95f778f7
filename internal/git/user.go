package git

import (
	"os"
	"slices"
	"strings"
)

// AsUser returns r with git running as if the user had typed the command: hooks
// and editors use their language and may ask.
func (r *Repo) AsUser() *Repo {
	s := *r
	s.env = slices.DeleteFunc(slices.Clone(r.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(notUsers, name)
	})
	for _, name := range notUsers {
		if value, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	return &s
}

// notUsers are the variables that we set for every git.
var notUsers = []string{"LC_ALL", "GIT_TERMINAL_PROMPT", "GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH"}
