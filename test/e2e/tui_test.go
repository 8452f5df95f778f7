//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A tui is a [player]'s client in a terminal of 80 by 24.
type tui struct {
	r    *rig
	term *terminal
	pid  int
}

// seat starts the client in a terminal and waits until it takes input; session is "" for a new one.
func (r *rig) seat(dir, session string) *tui {
	r.t.Helper()
	s := r.sit(dir, r.kind.(player).open(r, session)...)
	s.ready("the client's start")
	if session != "" { // OpenCode begins with another page, and forgets what is typed there
		r.await("the session's page", func() bool { return !s.shows("Ask anything") })
		s.ready("the session's page")
	}
	return s
}

// sit is seat for a command, and doesn't wait.
func (r *rig) sit(dir string, argv ...string) *tui {
	r.t.Helper()
	term := newTerminalOf(r.t, 80, 24, r.env(), dir, argv...)
	s := &tui{r: r, term: term, pid: term.pid()}
	r.t.Cleanup(s.kill)
	r.panes = append(r.panes, s)
	return s
}

// kill ends the client with SIGKILL, if it still runs, and waits until it is gone.
func (s *tui) kill() {
	if s.term.dead() {
		return
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.r.await("the end of the killed client", s.term.dead)
}

func (s *tui) shows(text string) bool { return strings.Contains(s.term.screen(), text) }

// box is the text in the input box, and whether the client waits for input.
func (s *tui) box() (text string, idle bool) { return s.r.kind.(player).box(s.term.screen()) }

// ready waits until the client takes input and runs no turn.
func (s *tui) ready(after string) {
	s.r.t.Helper()
	s.r.await("ready after "+after, func() bool {
		if s.term.dead() {
			s.r.t.Fatalf("the client ended: %s", s.r.report())
		}
		_, idle := s.box()
		return idle
	})
}

// enter types text, waits until the box shows it, and presses Enter. A client may lose a key that comes behind Esc, or
// while it draws anew: then the text is typed once more.
func (s *tui) enter(text string) {
	s.r.t.Helper()
	s.term.text(text)
	looks, before := 0, ""
	s.r.await("the typed text in the input box: "+text, func() bool {
		typed, _ := s.box()
		if looks++; typed != before {
			looks, before = 0, typed
		}
		if typed != text && looks > 250 {
			for range typed {
				s.term.keys("BSpace")
			}
			s.term.text(text)
			looks = 0
		}
		return typed == text
	})
	s.term.keys("Enter")
	s.r.await("the box without "+text, func() bool {
		typed, _ := s.box()
		return typed != text || s.term.dead()
	})
}

// prompt submits a prompt and waits until its turn has ended with a Stop hook and the client takes input.
func (s *tui) prompt(text string) {
	s.r.t.Helper()
	s.enter(text)
	var stop event
	s.r.await("Stop after "+text, func() bool {
		asked := false
		for _, e := range s.r.witness.events() {
			switch {
			case e.Name == "UserPromptSubmit" && e.Prompt == text:
				stop, asked = event{PromptID: e.PromptID}, true
			case asked && e.Name == "Stop" && e.PromptID == stop.PromptID:
				stop = e
			}
		}
		return stop.Name != ""
	})
	s.r.await("the end of "+text, func() bool { return s.r.kind.(player).over(s.r, stop) })
	s.ready(text)
}

// leave ends the client as a user does.
func (s *tui) leave() {
	s.r.t.Helper()
	s.enter(s.r.kind.(player).quit())
	s.r.await("the client's end", s.term.dead)
}

// interrupt presses Esc while a turn runs, and waits until the client takes input, and has told all that it tells: what came
// after the next prompt would be taken for its end.
func (s *tui) interrupt() {
	s.r.t.Helper()
	before := len(s.r.witness.named("Stop"))
	escape := s.r.kind.(player).escape()
	s.term.keys(escape[0])
	looks := 0
	s.r.await("the turn's stop", func() bool {
		_, idle := s.box()
		switch looks++; {
		case idle || len(escape) == 1:
			return true
		case looks > 10 && s.shows("again to interrupt"), looks > 100: // it is asked for a moment only
			s.term.keys(escape[1])
			looks = 0
		}
		return false
	})
	s.ready("Esc")
	if s.r.kind == (qwen{}) { // it may write the call that was ended only then
		s.r.await("the call in the client's file", func() bool {
			files, _ := filepath.Glob(filepath.Join(s.r.home, ".qwen", "projects", "*", "chats", "*.jsonl"))
			return slices.ContainsFunc(files, func(file string) bool {
				data, _ := os.ReadFile(file)
				return bytes.Contains(data, []byte(".gate'"))
			})
		})
	}
	s.r.await("the last event after Esc", func() bool {
		return len(s.r.witness.named("Stop")) >= before+s.r.kind.(player).stops()
	})
}

// compact runs /compact, or what the client calls it.
func (s *tui) compact() {
	s.r.t.Helper()
	command := "/compact"
	if slices.Contains([]kind{qwen{}, gemini{}}, s.r.kind) {
		command = "/compress"
	}
	before := len(s.r.witness.named("PostCompact"))
	s.enter(command)
	s.r.await("PostCompact after "+command, func() bool {
		return len(s.r.witness.named("PostCompact")) > before || s.shows("Compaction completed") || s.shows("Chat history compressed")
	})
	s.ready(command)
}

// A rewinder is a player whose client goes back in a conversation: to before the last prompt, with it in the box.
type rewinder interface{ rewind(s *tui, text string) }

// rewind goes back to before the last prompt, text.
func (s *tui) rewind(text string) {
	s.r.t.Helper()
	s.r.kind.(rewinder).rewind(s, text)
	s.r.await("the prompt in the box", func() bool {
		typed, _ := s.box()
		return typed == text
	})
	for range text {
		s.term.keys("BSpace")
	}
	s.r.await("an empty box", func() bool {
		typed, _ := s.box()
		return typed == ""
	})
}

// rewind presses Esc twice, and chooses the last prompt and that the conversation alone goes back. While the hooks of the
// turn's end run, Esc ends them.
func (qwen) rewind(s *tui, text string) {
	s.r.t.Helper()
	s.r.await("the record of "+text, func() bool {
		return slices.ContainsFunc(s.r.list(), func(t turn) bool { return t.Prompt == text })
	})
	const offered, cancelled = "again to rewind", "Request cancelled"
	s.term.keys("Escape")
	s.r.await("the client's answer to Esc", func() bool { return s.shows(offered) || s.shows(cancelled) })
	if !s.shows(offered) {
		s.term.keys("Escape")
		s.r.await(offered, func() bool { return s.shows(offered) })
	}
	for _, step := range []struct{ key, shows string }{
		{"Escape", "Rewind Conversation ("}, {"Enter", "Restore conversation"}, {"Enter", "Conversation rewound"},
	} {
		s.term.keys(step.key)
		s.r.await(step.shows, func() bool { return s.shows(step.shows) })
	}
}

// rewind presses Esc. The client, which has just said that a turn is over, may not heed the first one: it is pressed
// once more when nothing comes of it.
func (codex) rewind(s *tui, text string) {
	s.r.t.Helper()
	for !s.shows("↵ rewind") {
		offered := s.shows("esc again")
		s.term.keys("Escape")
		looks := 0
		s.r.await("the prompts to go back to", func() bool {
			looks++
			return s.shows("↵ rewind") || !offered && (s.shows("esc again") || looks > 100)
		})
	}
	s.term.keys("Enter")
	s.r.await("the prompt taken back", func() bool { return s.shows("reverted") })
}

// rewind chooses the last prompt, and to leave the files as they are.
func (copilot) rewind(s *tui, text string) {
	s.r.t.Helper()
	s.enter("/rewind")
	for _, question := range []string{"Rewind to a previous point", "Conversation only"} {
		s.r.await(question, func() bool { return s.shows(question) })
		s.term.keys("Enter")
	}
	s.r.await("the prompt taken back", func() bool { return s.shows("Rewound the conversation") })
}
