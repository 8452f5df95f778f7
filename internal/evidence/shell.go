package evidence

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCommand is how much of a command is read, in bytes.
const maxCommand = 16 << 10

// A status is what is known of the exit status of a part of a command.
type status int

const (
	hidden status = iota
	zero
	nonzero
	skipped // it did not run
)

func (s status) inverted() status {
	switch s {
	case zero:
		return nonzero
	case nonzero:
		return zero
	}
	return s
}

// A run is a check in a command.
type run struct {
	kind    Kind
	command string
	program string
	status  status
	aside   bool      // it goes on in the background
	limited bool      // by timeout
	muted   bool      // what it says on standard error is lost
	ends    []endLine // lines by which the command itself tells how it ended
}

// An endLine is what a command prints if its check has ended so; with code set,
// the line has the exit status between prefix and suffix.
type endLine struct {
	prefix, suffix string
	code           bool
	status         status
}

// A reading finds the checks of a command, and what its status says of each.
type reading struct {
	names    Patterns
	runs     []run
	errexit  bool
	pipefail bool
	filtered bool // what was printed is not all there, or others printed, too
	limited  bool
	muted    bool
	depth    int
}

// maxStmts bounds the commands within one, each of which is compared with those
// before it.
const maxStmts = 500

// maxWrappers bounds what one command is wrapped in.
const maxWrappers = 50

// maxDepth bounds commands within words of commands.
const maxDepth = 8

func (r *reading) read(command string, s status) {
	if len(command) > maxCommand || r.depth > maxDepth {
		return
	}
	f, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return
	}
	count := 0
	syntax.Walk(f, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.Stmt); ok {
			count++
		}
		return count <= maxStmts
	})
	if count > maxStmts {
		return
	}
	r.depth++
	r.list(f.Stmts, s)
	r.depth--
}

func (r *reading) list(stmts []*syntax.Stmt, s status) {
	for i, stmt := range stmts {
		r.options(stmt)
		last := i == len(stmts)-1
		own := hidden
		switch {
		case last:
			own = s
		case r.errexit && s == zero:
			own = zero
		case s == nonzero && i == len(stmts)-2 && exits(stmts[i+1]) == nonzero && r.errexit:
			own = nonzero
		}
		if !last && i == len(stmts)-2 && exitsAs(stmts[i+1]) {
			own = s
		}
		from := len(r.runs)
		r.stmt(stmt, own)
		if !last && len(r.runs) == from+1 { // two in a list share a line of no use
			r.tell(from, told(stmts[i+1]))
		}
	}
}

// tell notes the line that a part of the command prints about the run at i.
func (r *reading) tell(i int, lines []endLine) {
	r.runs[i].ends = append(r.runs[i].ends, lines...)
}

// options follows `set -e` and `set -o pipefail`.
func (r *reading) options(stmt *syntax.Stmt) {
	words := callOf(stmt)
	if len(words) < 2 || words[0] != "set" {
		return
	}
	for _, w := range words[1:] {
		r.errexit = r.errexit || strings.HasPrefix(w, "-") && strings.Contains(w, "e")
		r.pipefail = r.pipefail || w == "pipefail"
	}
}

func (r *reading) stmt(stmt *syntax.Stmt, s status) {
	if stmt.Negated {
		s = s.inverted()
	}
	from, muted := len(r.runs), r.muted
	r.muted = muted || mutes(stmt.Redirs)
	if stmt.Background || stmt.Coprocess {
		s = hidden
	}
	r.command(stmt.Cmd, s)
	r.muted = muted
	for i := range r.runs[from:] {
		r.runs[from+i].aside = r.runs[from+i].aside || stmt.Background || stmt.Coprocess
	}
}

// mutes reports whether redirections take standard error away.
func mutes(redirs []*syntax.Redirect) bool {
	for _, d := range redirs {
		all := d.Op == syntax.RdrAll || d.Op == syntax.AppAll
		if (d.N != nil && d.N.Value == "2" && d.Op != syntax.DplOut || all) && d.Word != nil && text(d.Word) == "/dev/null" {
			return true
		}
	}
	return false
}

func (r *reading) command(cmd syntax.Command, s status) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		r.call(c, s)
	case *syntax.BinaryCmd:
		r.binary(c, s)
	case *syntax.Subshell:
		r.list(c.Stmts, s)
	case *syntax.Block:
		r.list(c.Stmts, s)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, s)
		}
	case *syntax.IfClause:
		for c := c; c != nil; c = c.Else {
			r.list(c.Cond, hidden)
			r.list(c.Then, hidden)
			r.filtered = true
		}
	case *syntax.WhileClause:
		r.loop(c.Cond, c.Do)
	case *syntax.ForClause:
		r.loop(nil, c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.loop(nil, item.Stmts)
		}
	}
}

// loop reads what runs any number of times.
func (r *reading) loop(lists ...[]*syntax.Stmt) {
	for _, list := range lists {
		r.list(list, hidden)
	}
	r.filtered = true
}

func (r *reading) binary(b *syntax.BinaryCmd, s status) {
	switch b.Op {
	case syntax.AndStmt:
		left, right := s, s
		switch {
		case s == nonzero && succeeds(b.X):
			left = zero
		case s == nonzero && succeeds(b.Y):
			right = skipped
		case s == nonzero:
			left, right = hidden, hidden
		}
		r.stmt(b.X, left)
		r.stmt(b.Y, right)
	case syntax.OrStmt:
		left, right := s, s
		switch {
		case s == zero && exits(b.Y) == nonzero:
			left, right = zero, skipped
		case s == zero:
			left, right = hidden, hidden
		}
		from := len(r.runs)
		r.stmt(b.X, left)
		if and, ok := b.X.Cmd.(*syntax.BinaryCmd); ok && and.Op == syntax.AndStmt && len(r.runs) == from+1 {
			r.tell(from, says(and.Y, zero))
			r.tell(from, says(b.Y, nonzero))
		}
		if s != nonzero {
			r.filtered = r.filtered || !succeeds(b.Y) && exits(b.Y) == hidden
		}
		r.stmt(b.Y, right)
	case syntax.Pipe, syntax.PipeAll:
		left := hidden
		switch {
		case r.pipefail && s == zero:
			left = zero
		case r.pipefail && s == nonzero && keeps(b.Y):
			left = nonzero
		}
		r.filtered = r.filtered || !keeps(b.Y)
		r.stmt(b.X, left)
		r.stmt(b.Y, s)
	}
}

func (r *reading) call(c *syntax.CallExpr, s status) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns { // its status is that of the last command in it
			if a.Value == nil || len(a.Value.Parts) == 0 {
				continue
			}
			r.substituted(a.Value.Parts, s)
		}
		return
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = text(w)
		r.substituted(w.Parts, hidden)
	}
	r.words(words, s)
}

func (r *reading) substituted(parts []syntax.WordPart, s status) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.CmdSubst:
			r.list(p.Stmts, s)
		case *syntax.DblQuoted:
			r.substituted(p.Parts, s)
		}
	}
}

// words reads a simple command.
func (r *reading) words(words []string, s status) {
	limited := r.limited
	defer func() { r.limited = limited }()
	for range maxWrappers {
		inner, script, ok := unwrapped(words)
		if !ok {
			break
		}
		r.limited = r.limited || isTimeout(words[0])
		if script != "" {
			errexit, pipefail := r.errexit, r.pipefail
			r.errexit, r.pipefail = hasFlag(words, 'e'), false
			r.read(script, s)
			r.errexit, r.pipefail = errexit, pipefail
			return
		}
		words = inner
	}
	if len(words) == 0 {
		return
	}
	kind := r.names.kind(words)
	if kind == "" {
		r.filtered = r.filtered || !quiet[base(words[0])]
		return
	}
	r.runs = append(r.runs, run{kind: kind, command: strings.Join(words, " "), program: words[0], status: s, limited: r.limited, muted: r.muted})
}

// hasFlag reports whether a shell was started with a flag of one letter.
func hasFlag(words []string, flag byte) bool {
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.IndexByte(w, flag) > 0 {
			return true
		}
	}
	return false
}

// text returns a word without its quotes; what the shell puts in stays as it is
// written.
func text(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		part(&b, p)
	}
	return b.String()
}

func part(b *strings.Builder, p syntax.WordPart) {
	switch p := p.(type) {
	case *syntax.Lit:
		b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
	case *syntax.SglQuoted:
		b.WriteString(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			part(b, q)
		}
	case *syntax.ParamExp:
		b.WriteByte('$')
		if p.Param != nil {
			b.WriteString(p.Param.Value)
		}
	default:
		b.WriteByte('$')
	}
}

// callOf returns the words of a simple command, nil for others.
func callOf(stmt *syntax.Stmt) []string {
	c, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return nil
	}
	var words []string
	for _, w := range c.Args {
		words = append(words, text(w))
	}
	return words
}

// quiet are commands that succeed as good as always, and print nothing that
// reads like the last words of a check; keepers are those of them that print the
// end of what they read.
var (
	quiet   = set("cd pushd popd export set unset echo printf true : mkdir rm sleep date cat tail tee wait sync source . ulimit umask touch exit return trap clear pwd")
	keepers = set("cat tail tee")
)

func succeeds(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		words := callOf(stmt)
		return !stmt.Negated && (len(words) == 0 && len(c.Assigns) > 0 || len(words) > 0 && quiet[words[0]] && exits(stmt) != nonzero)
	case *syntax.DeclClause:
		return true
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && succeeds(c.X) && succeeds(c.Y)
	}
	return false
}

// keeps reports whether what follows in a pipe prints the end of what it reads,
// and succeeds.
func keeps(stmt *syntax.Stmt) bool {
	words := callOf(stmt)
	return len(words) > 0 && keepers[words[0]]
}

// exits returns nonzero for commands that always fail.
func exits(stmt *syntax.Stmt) status {
	switch words := callOf(stmt); {
	case len(words) == 1 && words[0] == "false":
		return nonzero
	case len(words) == 2 && (words[0] == "exit" || words[0] == "return") && words[1] != "0" && !strings.HasPrefix(words[1], "$"):
		return nonzero
	}
	return hidden
}

// exitsAs reports whether a command only passes on the status of the one before.
func exitsAs(stmt *syntax.Stmt) bool {
	words := callOf(stmt)
	return len(words) > 0 && words[0] == "exit" && (len(words) == 1 || words[1] == "$?")
}

// told returns what `echo ...$?` prints about the command before it.
func told(stmt *syntax.Stmt) []endLine {
	words := callOf(stmt)
	if len(words) < 2 || words[0] != "echo" {
		return nil
	}
	prefix, suffix, ok := strings.Cut(strings.Join(words[1:], " "), "$?")
	if !ok || strings.ContainsAny(prefix+suffix, "$") {
		return nil
	}
	return []endLine{{prefix: prefix, suffix: suffix, code: true}}
}

// says returns the line that a command prints if it runs.
func says(stmt *syntax.Stmt, s status) []endLine {
	words := callOf(stmt)
	if len(words) < 2 || words[0] != "echo" || strings.Contains(strings.Join(words, ""), "$") {
		return nil
	}
	return []endLine{{prefix: strings.Join(words[1:], " "), status: s}}
}
