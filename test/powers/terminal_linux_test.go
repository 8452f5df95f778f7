package powers

import (
	"os/exec"
	"regexp"
	"testing"

	"gitagent/test/gittest"
)

// onTerminal runs a command on a terminal of its own, on which a person types something, and returns what is seen.
func onTerminal(t *testing.T, cmd *exec.Cmd, typed string) string {
	t.Helper()
	s := gittest.OnTerminal(t, cmd)
	s.Types(typed)
	_, said := s.End()
	return said
}

var (
	question = regexp.MustCompile(`\[[a-z]+(/[a-z]+)+\] $`)
	hidden   = regexp.MustCompile(`which is not shown: $`)
)

// atQuestions is onTerminal for a person who types a secret where one is asked for, and an answer at each question. asked
// says whether there was any.
func atQuestions(t *testing.T, cmd *exec.Cmd, secret, answer string) (said string, asked bool) {
	t.Helper()
	s := gittest.OnTerminal(t, cmd)
	for seen := 0; ; {
		said, more := s.Until(func(said []byte) bool {
			return len(said) > seen && (question.Match(said) || hidden.Match(said))
		})
		if !more {
			break
		}
		seen = len(said)
		if hidden.MatchString(said) {
			s.Types(secret)
		} else {
			asked = true
			s.Types(answer)
		}
	}
	_, said = s.End()
	return said, asked
}
