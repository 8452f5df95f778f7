package recorder

import "strings"

// parseShell splits a command into simple commands, in the order in which they
// are written. plain is false if it runs what is not among them, or is not
// complete; aside says that one goes on while the next begins.
func parseShell(command string) (parts []part, plain, aside bool) {
	s := shellReader{rest: command, plain: true}
	for s.rest != "" {
		s.next()
	}
	s.endPart()
	return s.parts, s.plain && len(s.documents) == 0, s.aside
}

type shellReader struct {
	rest      string
	parts     []part
	now       part
	word      strings.Builder
	begun     bool // there is a word, perhaps an empty one
	is        word // what is known of it
	into      string
	documents []string // the ends of the texts that begin behind the line
	plain     bool
	aside     bool
}

// next reads a character, an operator or a quoted text.
func (s *shellReader) next() {
	c := s.rest[0]
	switch {
	case strings.HasPrefix(s.rest, "\\\n"):
		s.rest = s.rest[2:]
	case c == '\\' && len(s.rest) > 1:
		s.add(s.rest[1:2])
		s.is.quoted = true
		s.rest = s.rest[2:]
	case c == '\'', c == '"':
		s.quote(c)
	case c == '#' && !s.begun:
		line, _, _ := strings.Cut(s.rest, "\n")
		s.rest = s.rest[len(line):]
	case c == '\n':
		s.endPart()
		s.rest = s.rest[1:]
		s.skipDocuments()
	case c == ' ', c == '\t', c == '\r':
		s.endWord()
		s.rest = s.rest[1:]
	case strings.HasPrefix(s.rest, "&>"), c == '<', c == '>':
		s.redirect()
	case strings.HasPrefix(s.rest, "&&"), strings.HasPrefix(s.rest, "|&"):
		s.endPart()
		s.rest = s.rest[2:]
	case c == ';', c == '|', c == '&', c == '(', c == ')':
		s.aside = s.aside || c == '&'
		s.endPart()
		s.rest = s.rest[1:]
	case c == '`':
		s.plain = false
		s.rest = s.rest[1:]
	case c == '$':
		s.dollar()
	default:
		s.is.open = s.is.open || strings.IndexByte("*?[{", c) >= 0 || c == '~' && !s.begun
		s.add(s.rest[:1])
		s.rest = s.rest[1:]
	}
}

func (s *shellReader) add(text string) {
	s.word.WriteString(text)
	s.begun = true
}

// dollar reads the beginning of what the shell replaces.
func (s *shellReader) dollar() {
	if len(s.rest) > 1 && (s.rest[1] == '(' || s.rest[1] == '\'') { // the latter ends by rules of its own
		s.plain = false
	}
	if _, rest, ok := strings.Cut(s.rest, "))"); ok && strings.HasPrefix(s.rest, "$((") {
		s.rest = ")" + rest // no operator in it is the shell's
	}
	s.add("$")
	s.is.open = true
	s.rest = s.rest[1:]
}

func (s *shellReader) quote(c byte) {
	text := s.rest[1:]
	end := 0
	for end < len(text) && text[end] != c {
		if c == '"' {
			switch text[end] {
			case '\\':
				end++
			case '`':
				s.plain = false
			case '$':
				s.is.open = true
				s.plain = s.plain && !strings.HasPrefix(text[end:], "$(")
			}
		}
		end++
	}
	if end >= len(text) {
		s.plain = false
		end = len(text) - 1
	}
	s.add(text[:max(0, end)])
	s.is.quoted = true
	s.rest = text[end+1:]
}

// redirections are the operators, those first that begin as others do.
var redirections = []string{"&>>", "&>", ">>", ">|", ">&", ">(", ">", "<<<", "<<-", "<<", "<&", "<>", "<(", "<"}

// redirect reads the operator of a redirection. Only those that write a file
// matter, and neither /dev/null nor another descriptor is one.
func (s *shellReader) redirect() {
	if strings.Trim(s.word.String(), "0123456789") == "" && !s.is.quoted { // the descriptor
		s.word.Reset()
		s.begun = false
	}
	s.endWord()
	for _, operator := range redirections {
		if rest, ok := strings.CutPrefix(s.rest, operator); ok {
			s.rest, s.into = rest, operator
			break
		}
	}
	switch s.into {
	case "<<", "<<-", "<<<", "<>", "<(", ">(": // what it is given may run something
		s.plain = false
	}
}

func (s *shellReader) endWord() {
	if !s.begun {
		return
	}
	s.is.text = s.word.String()
	switch s.is.text {
	case "[":
		s.is.open = false
	case "{", "}": // a group, or in another shell a function
		s.plain = false
	}
	switch s.into {
	case "":
		s.now.words = append(s.now.words, s.is)
	case "<<", "<<-":
		s.documents = append(s.documents, s.is.text)
	case ">", ">>", ">|", ">&", "&>", "&>>":
		descriptor := s.into == ">&" && strings.Trim(s.is.text, "0123456789-") == ""
		if !descriptor && s.is.text != "/dev/null" {
			s.now.targets = append(s.now.targets, s.is)
		}
	}
	s.word.Reset()
	s.begun, s.is, s.into = false, word{}, ""
}

func (s *shellReader) endPart() {
	s.endWord()
	if s.into != "" { // nothing follows the operator
		s.plain, s.into = false, ""
	}
	if len(s.now.words) > 0 || len(s.now.targets) > 0 {
		s.parts = append(s.parts, s.now)
	}
	s.now = part{}
}

func (s *shellReader) skipDocuments() {
	for _, end := range s.documents {
		for s.rest != "" {
			line, rest, _ := strings.Cut(s.rest, "\n")
			s.rest = rest
			if strings.TrimLeft(line, "\t") == end {
				break
			}
		}
	}
	s.documents = nil
}
