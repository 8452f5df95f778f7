package evidence

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// after reads a part of a list of which a later one tells the status, and
// reports whether there is one.
func (r *reading) after(stmt *syntax.Stmt, rest []*syntax.Stmt, s status) bool {
	name := "?"
	if c, ok := rest[0].Cmd.(*syntax.CallExpr); ok && len(c.Args) == 0 && len(c.Assigns) == 1 && c.Assigns[0].Value != nil {
		if value := text(c.Assigns[0].Value); value == "$?" || value == "$PIPESTATUS" {
			name, rest = c.Assigns[0].Name.Value, rest[1:]
			if value != "$?" {
				r.piped = new(status)
			}
		}
	} else if words := callOf(rest[0]); len(words) > 1 && strings.Contains(words[len(words)-1], "$PIPESTATUS") {
		name, r.piped = "PIPESTATUS", new(status)
	}
	first := r.piped
	from, own, code := len(r.runs), hidden, 0
	for i, later := range rest {
		if i > 0 && (name == "?" || name == "PIPESTATUS") {
			break
		}
		if i == len(rest)-1 && exitsAs(later, name) {
			own = s
			break
		}
		if c, ok := later.Cmd.(*syntax.CallExpr); ok && slices.ContainsFunc(c.Assigns, func(a *syntax.Assign) bool { return a.Name.Value == name }) {
			break
		}
		if t, of, ok := tells(later); ok && of == name {
			if own, code = r.tellsNow(t); own != hidden {
				break
			}
		}
	}
	if first != nil {
		*first, own = own, hidden
	}
	known := own != hidden || first != nil && *first != hidden
	if known {
		r.stmt(stmt, own)
		for i := range r.runs[from:] {
			r.runs[from+i].code = code
		}
	}
	r.piped = nil
	return known
}

// A tell is a line by which a command tells a status: what is before and behind it.
type tell struct{ prefix, suffix string }

// tells returns how `echo ...$?` tells a status, and the name of the variable.
func tells(stmt *syntax.Stmt) (t tell, name string, ok bool) {
	words := callOf(stmt)
	if len(words) < 2 || words[0] != "echo" || len(stmt.Redirs) > 0 {
		return t, "", false
	}
	prefix, rest, ok := strings.Cut(strings.Join(words[1:], " "), "$")
	if !ok || strings.Contains(rest, "$") {
		return t, "", false
	}
	if name, ok = "?", strings.HasPrefix(rest, "?"); !ok {
		end := strings.IndexFunc(rest+" ", func(r rune) bool {
			return r != '_' && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
		})
		name = rest[:end]
	}
	return tell{strings.TrimLeft(prefix, " "), strings.TrimRight(rest[len(name):], " ")}, name, true
}

// tellsNow returns the status that the next of equal lines tells, if all of them
// are there and no other.
func (r *reading) tellsNow(t tell) (status, int) {
	var codes []int
	for _, line := range r.lines {
		if rest, ok := strings.CutPrefix(line, t.prefix); ok {
			if rest, ok = strings.CutSuffix(rest, t.suffix); ok {
				if code, err := strconv.Atoi(rest); err == nil {
					codes = append(codes, code)
				}
			}
		}
	}
	n := r.told[t]
	if len(codes) != r.tells[t] || n >= len(codes) {
		return hidden, 0
	}
	r.told[t]++
	return known(Exit(codes[n])), codes[n]
}

// said returns the status of which the command prints one line or another; well
// may be nil.
func (r *reading) said(well, badly *syntax.Stmt) status {
	yes, no := says(well), says(badly)
	if yes == no {
		return hidden
	}
	for _, line := range slices.Backward(r.lines) {
		switch line {
		case yes:
			return zero
		case no:
			return nonzero
		}
	}
	return hidden
}

// exitsAs reports whether a command only passes on a status: of the one before, or
// the one in a variable.
func exitsAs(stmt *syntax.Stmt, name string) bool {
	words := callOf(stmt)
	return len(words) > 0 && words[0] == "exit" && (len(words) == 1 && name == "?" || len(words) == 2 && words[1] == "$"+name)
}

// says returns the line that a command prints, "" if that is not known.
func says(stmt *syntax.Stmt) string {
	if stmt == nil || len(stmt.Redirs) > 0 {
		return ""
	}
	words := callOf(stmt)
	line := strings.TrimSpace(strings.Join(words[min(1, len(words)):], " "))
	if line == "" || words[0] != "echo" || strings.Contains(line, "$") {
		return ""
	}
	return line
}
