package evidence

import (
	"path"
	"slices"
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
	in      string // where: see [Check]
	program string
	status  status
	code    int  // its exit status, if the command itself told it, and it is not 0
	aside   bool // it goes on in the background
	limited bool // by timeout
	muted   bool // what it says on standard error is lost
	then    bool // what came behind it may have changed files
	many    bool // it may run any number of checks, so that its last words are of one
}

// A reading finds the checks of a command, and what its status and what it
// printed say of each.
type reading struct {
	names Patterns
	lines []string // the last that were printed
	runs  []run

	functions map[string]*syntax.Stmt
	tells     map[tell]int    // how often the command tells a status so
	told      map[tell]int    // and how many of these are read
	holds     map[string]bool // files that have what a check printed, and nothing else
	piped     *status         // of the first command of the pipe that comes next

	options
	place
	filtered bool // what was printed is not all there, or others printed, too
	maybe    bool // it is not sure that this part runs
	limited  bool
	muted    bool
	aside    bool
	depth    int
	steps    int
	writers  int // commands so far that may have changed files
}

// options are a shell's own.
type options struct{ errexit, pipefail bool }

// A place is where commands run.
type place struct{ host, dir string }

func (p place) String() string {
	if p.host != "" && p.dir != "" {
		return p.host + ":" + p.dir
	}
	return p.host + p.dir
}

// cd returns the place after a change of the directory.
func (p place) cd(dir string) place {
	switch {
	case strings.HasPrefix(dir, "/"), strings.HasPrefix(dir, "~"), strings.HasPrefix(dir, "$"), dir == "-":
		p.dir = dir
	default:
		if p.dir = path.Join(p.dir, dir); p.dir == "." {
			p.dir = ""
		}
	}
	return p
}

// maxStmts bounds the commands within one, each of which is compared with those
// before it.
const maxStmts = 500

// maxSteps bounds what functions and scripts within a command make of it.
const maxSteps = 2000

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
		if stmt, ok := n.(*syntax.Stmt); ok {
			count++
			if t, _, ok := tells(stmt); ok {
				r.tells[t]++
			}
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
	from := len(r.runs)
	for i, stmt := range stmts {
		r.set(stmt)
		own := hidden
		switch rest := stmts[i+1:]; {
		case len(rest) == 0:
			own = s
		case r.after(stmt, rest, s):
			continue
		case stmt.Background && waits(rest[0]):
			awaited := *stmt
			awaited.Background = false
			if stmt = &awaited; len(rest) == 1 && len(callOf(rest[0])) == 2 {
				own = s
			}
		case s == zero && (r.errexit && !shrugs(stmt) || guards(stmt)):
			own = zero
		case s == nonzero && len(rest) == 1 && exits(rest[0]) == nonzero && r.errexit:
			own = nonzero
		}
		r.follow(from, func() { r.stmt(stmt, own) })
		if leaves(stmt) { // perhaps, and what follows does not run
			if words := callOf(stmt); len(words) > 0 && words[0] != "trap" {
				return
			}
			if s == zero {
				s = hidden
			}
		}
	}
}

// set follows `set -e` and `set -o pipefail`.
func (r *reading) set(stmt *syntax.Stmt) {
	words := callOf(stmt)
	if len(words) < 2 || words[0] != "set" {
		return
	}
	on := true
	for _, w := range words[1:] {
		switch {
		case w == "errexit":
			r.errexit = on
		case w == "pipefail":
			r.pipefail = on
		case strings.HasPrefix(w, "-"), strings.HasPrefix(w, "+"):
			if on = w[0] == '-'; strings.Contains(w, "e") {
				r.errexit = on
			}
		}
	}
}

func (r *reading) stmt(stmt *syntax.Stmt, s status) {
	if r.steps++; r.steps > maxSteps {
		return
	}
	if stmt.Negated {
		s = s.inverted()
	}
	from, muted, aside := len(r.runs), r.muted, r.aside
	r.muted = muted || mutes(stmt.Redirs)
	if r.aside = aside || stmt.Background || stmt.Coprocess; r.aside {
		s = hidden
	}
	r.command(stmt.Cmd, s)
	r.muted, r.aside = muted, aside
	if len(r.runs) == from && writes(stmt.Redirs) {
		r.writers++
	}
	for _, d := range stmt.Redirs {
		r.fills(from, d.Word, d.Op == syntax.RdrOut || d.Op == syntax.RdrAll || d.Op == syntax.RdrClob)
	}
}

// fills notes that a file has what the checks from a number on printed.
func (r *reading) fills(from int, file *syntax.Word, anew bool) {
	if file != nil && len(r.runs) > from {
		r.holds[text(file)] = anew && !r.maybe
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

// writes reports whether redirections fill a file.
func writes(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(d *syntax.Redirect) bool {
		switch d.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob, syntax.RdrInOut:
			return text(d.Word) != "/dev/null"
		}
		return false
	})
}

func (r *reading) command(cmd syntax.Command, s status) {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		r.call(c, s)
	case *syntax.BinaryCmd:
		r.binary(c, s)
	case *syntax.Subshell:
		r.within(func() { r.list(c.Stmts, s) })
	case *syntax.Block:
		r.list(c.Stmts, s)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, s)
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			r.assigned(a, hidden)
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			r.functions[c.Name.Value] = c.Body
		}
	case *syntax.IfClause:
		from, cond := len(r.runs), hidden
		if s == zero && guards(&syntax.Stmt{Cmd: c}) {
			cond = nonzero
		} else if otherwise := c.Else; s == zero && otherwise != nil && len(otherwise.Cond) == 0 && exits(otherwise.Then[len(otherwise.Then)-1]) == nonzero {
			cond = zero
		} else if c.Else != nil && len(c.Else.Cond) == 0 && len(c.Then) == 1 && len(c.Else.Then) == 1 {
			cond = r.said(c.Then[0], c.Else.Then[0])
		}
		r.list(c.Cond, cond)
		r.perhaps(func() {
			r.follow(from, func() { r.list(c.Then, hidden) })
			for c := c.Else; c != nil; c = c.Else {
				r.list(c.Cond, hidden)
				r.list(c.Then, hidden)
			}
		})
		r.filtered = true
	case *syntax.WhileClause:
		r.loop(c.Cond, c.Do)
	case *syntax.ForClause:
		r.loop(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.loop(item.Stmts)
		}
	}
}

// within reads what has options and a place of its own.
func (r *reading) within(read func()) {
	options, place := r.options, r.place
	read()
	r.options, r.place = options, place
}

// follow reads what comes behind the checks from a number on.
func (r *reading) follow(from int, read func()) {
	to, writers := len(r.runs), r.writers
	if read(); r.writers > writers {
		for i := range r.runs[from:to] {
			r.runs[from+i].then = true
		}
	}
}

// perhaps reads what may not run.
func (r *reading) perhaps(read func()) {
	maybe := r.maybe
	r.maybe = true
	read()
	r.maybe = maybe
}

// loop reads what runs any number of times.
func (r *reading) loop(lists ...[]*syntax.Stmt) {
	r.perhaps(func() {
		for _, list := range lists {
			r.list(list, hidden)
		}
	})
	r.filtered = true
}

func (r *reading) binary(b *syntax.BinaryCmd, s status) {
	from := len(r.runs)
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
		if succeeds(b.X) {
			r.follow(from, func() { r.stmt(b.Y, right) })
			return
		}
		r.perhaps(func() { r.follow(from, func() { r.stmt(b.Y, right) }) })
	case syntax.OrStmt:
		left, right := s, s
		switch {
		case s == zero && exits(b.Y) == nonzero:
			left, right = zero, skipped
		case s == zero:
			left, right = hidden, hidden
		}
		if s != nonzero {
			r.filtered = r.filtered || !succeeds(b.Y) && exits(b.Y) == hidden
		}
		if left == hidden {
			if and, ok := b.X.Cmd.(*syntax.BinaryCmd); ok && and.Op == syntax.AndStmt && r.said(and.Y, b.Y) != hidden {
				r.stmt(and.X, r.said(and.Y, b.Y))
				return
			}
			left = r.said(nil, b.Y)
		}
		r.stmt(b.X, left)
		r.perhaps(func() { r.follow(from, func() { r.stmt(b.Y, right) }) })
	case syntax.Pipe, syntax.PipeAll:
		left := hidden
		switch {
		case r.piped != nil:
			if x, ok := b.X.Cmd.(*syntax.BinaryCmd); !ok || x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
				left, r.piped = *r.piped, nil
			}
		case r.pipefail && s == zero:
			left = zero
		case r.pipefail && s == nonzero && keeps(b.Y):
			left = nonzero
		}
		r.filtered = r.filtered || !keeps(b.Y)
		r.stmt(b.X, left)
		if c, ok := b.Y.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 1 && text(c.Args[0]) == "tee" {
			for _, file := range c.Args[1:] {
				r.fills(from, file, text(c.Args[1]) != "-a")
			}
		}
		r.stmt(b.Y, s)
	}
}

func (r *reading) call(c *syntax.CallExpr, s status) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns { // its status is that of the last command in it
			r.assigned(a, s)
		}
		return
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = text(w)
		r.substituted(w.Parts, hidden)
	}
	r.within(func() { r.words(words, s) })
	if kind := base(words[0]); kind == "cd" || kind == "pushd" || kind == "popd" {
		to := slices.DeleteFunc(words[1:], func(w string) bool { return w != "-" && strings.HasPrefix(w, "-") })
		if len(to) == 0 {
			to = []string{map[string]string{"cd": "~", "pushd": "-", "popd": "-"}[kind]}
		}
		r.place = r.cd(to[0])
	}
}

func (r *reading) assigned(a *syntax.Assign, s status) {
	if a.Value != nil {
		r.substituted(a.Value.Parts, s)
	}
}

func (r *reading) substituted(parts []syntax.WordPart, s status) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.CmdSubst:
			r.within(func() { r.list(p.Stmts, s) })
		case *syntax.DblQuoted:
			r.substituted(p.Parts, s)
		}
	}
}

// words reads a simple command.
func (r *reading) words(words []string, s status) {
	limited, aside := r.limited, r.aside
	defer func() { r.limited, r.aside = limited, aside }()
	if body, ok := r.functions[words[0]]; ok {
		delete(r.functions, words[0]) // it may call itself
		if body != nil {
			r.stmt(body, s)
		}
		r.filtered = true
		r.functions[words[0]] = body
		return
	}
	if words[0] == "alias" {
		for _, w := range words[1:] {
			name, _, _ := strings.Cut(w, "=")
			r.functions[name] = nil
		}
	}
	for range maxWrappers {
		in, ok := unwrapped(words)
		if !ok {
			break
		}
		r.limited = r.limited || isTimeout(words[0])
		r.aside = r.aside || in.aside
		if in.aside || in.loose && s == zero {
			s = hidden
		}
		if in.host != "" {
			r.place = place{host: in.host}
		}
		for _, dir := range in.dirs {
			r.place = r.cd(dir)
		}
		if in.script != "" {
			r.options = options{errexit: hasFlag(words, 'e')}
			r.read(in.script, s)
			return
		}
		words = in.words
	}
	if len(words) == 0 {
		return
	}
	kind := r.names.kind(words)
	if kind == "" {
		if !still.has(base(words[0])) || base(words[0]) == "sed" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in-place") }) {
			r.writers++
		}
		r.filtered = r.filtered || !quiet.has(base(words[0])) && !plain.has(base(words[0])) || prints.has(base(words[0])) && !r.printsOf(words[1:])
		return
	}
	if s == zero && forgives(words) {
		s = hidden
	}
	r.runs = append(r.runs, run{
		kind: kind, command: strings.Join(words, " "), in: r.place.String(), program: words[0], status: s,
		aside: r.aside, limited: r.limited, muted: r.muted, many: r.names.many(words),
	})
}

// printsOf reports whether all files that are named have what a check printed.
func (r *reading) printsOf(args []string) bool {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") && !(i > 0 && counts.has(args[i-1])) && !r.holds[a] {
			return false
		}
	}
	return true
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
