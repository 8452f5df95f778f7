package redact

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Limits of a user's own rules. Go's regular expressions take time in
// proportion to the text and to their size, so these bound it: see
// BenchmarkOwn.
const (
	MaxPatterns = 100
	MaxPattern  = 1000 // bytes
	MaxNames    = 1000
	MaxName     = 100 // bytes

	// maxProgram is the size of all patterns together, in instructions, and
	// maxSize that of one. A pattern of letters has one for each.
	maxProgram = 2_000
	maxSize    = 500
)

// Marks of a user's own rules. A pattern's group may have a name of its own.
const (
	rulePattern   = "pattern"
	ruleName      = "name"
	ruleEmail     = "email"
	rulePhone     = "phone"
	ruleUnchecked = "unchecked" // the rules are not valid
)

// Own are rules of a user's own, beside the built-in ones.
type Own struct {
	// Patterns are regular expressions. What the first group takes that takes
	// part in a match is replaced, or all of it without a group. The group's
	// name, if any, is the rule's.
	Patterns []string
	Names    []string // of people, customers, projects: whole words, in any case
	People   bool     // e-mail addresses and telephone numbers
}

// Rules are what a text is searched for. Nil has the built-in rules. Rules are
// safe for concurrent use, and compile nothing before the first text.
type Rules struct {
	own     func() (*own, error)
	invalid error
}

// New returns the built-in rules and a user's own.
func New(o Own) *Rules {
	if len(o.Patterns) == 0 && len(o.Names) == 0 && !o.People {
		return nil
	}
	return &Rules{own: sync.OnceValues(func() (*own, error) { return compile(o) })}
}

// Invalid returns rules of which an error says why they are not known. They let
// no text through: [Rules.String] returns only a mark, [Rules.JSONLines] an
// error.
func Invalid(err error) *Rules { return &Rules{invalid: err} }

// Err reports what is wrong with the user's own rules. It compiles them.
func (r *Rules) Err() error {
	_, err := r.compiled()
	return err
}

// compiled returns the user's own rules, nil if there are none.
func (r *Rules) compiled() (*own, error) {
	switch {
	case r == nil:
		return nil, nil
	case r.invalid != nil:
		return nil, r.invalid
	}
	return r.own()
}

// own are a user's own rules, compiled; nil finds nothing.
type own struct {
	patterns []pattern
	names    names
	people   bool
}

type pattern struct {
	*regexp.Regexp
	literal string // without which nothing matches; "" if unknown
}

func compile(o Own) (*own, error) {
	c := &own{names: newNames(o.Names), people: o.People}
	size := 0
	for i, pattern := range o.Patterns {
		pattern, _ = composed(pattern)
		re, n, err := compilePattern(pattern, min(maxSize, maxProgram-size))
		if err != nil { // which must not quote it: it may be a secret itself
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		c.patterns = append(c.patterns, re)
		size += n
	}
	return c, nil
}

// compilePattern returns a pattern and its size, which most bounds.
func compilePattern(text string, most int) (p pattern, size int, err error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) {
		return p, 0, errors.New(string(bad.Code)) // the rest of it quotes
	}
	tree = tree.Simplify()
	p.literal = required(tree)
	prog, err := syntax.Compile(tree)
	if err != nil {
		return p, 0, errors.New("not a regular expression")
	}
	if size = len(prog.Inst); size > most {
		return p, 0, errors.New("it, or the patterns up to it, are too large to be fast")
	}
	if p.Regexp, err = regexp.Compile(text); err != nil {
		return p, 0, errors.New("not a regular expression")
	}
	for _, name := range p.SubexpNames()[1:] {
		if rule := ruleOf(name); len(rule) > maxRule || rule == "purged" {
			return p, 0, fmt.Errorf("a group's name has at most %d letters, and is not purged", maxRule)
		}
	}
	if p.MatchString("") {
		return p, 0, errors.New("it matches the empty text")
	}
	cut := 0
	for _, sp := range p.find(ordinary, nil) {
		cut += sp.end - sp.start
	}
	if cut*4 > len(ordinary) {
		return p, 0, errors.New("it matches nearly everything")
	}
	return p, size, nil
}

// required returns the longest text that is in all that a pattern matches, as
// far as that is easily told: looking for it first is a hundred times faster.
func required(tree *syntax.Regexp) (longest string) {
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			return string(tree.Rune)
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range tree.Sub {
			if l := required(sub); len(l) > len(longest) {
				longest = l
			}
		}
	}
	return longest
}

// ordinary is a text of which a pattern may take a quarter.
const ordinary = `The test of the login form failed again, so I looked at what the server sends back when
the session is over: it answers with 302 and an empty body. Two callers rely on that. I'll add a
check before the redirect, run the tests, and tell you which of the 14 cases were wrong.

func (s *Server) expired(w http.ResponseWriter, r *http.Request) bool {
	if time.Since(s.last) < 30*time.Minute { // see docs/sessions.md
		return false
	}
	http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusFound)
	return true
}
{"type":"text","lines":[12,48],"status":"completed","path":"internal/server/login_test.go"}
`

// maxRule is the length of a rule's name that [Count] knows.
const maxRule = 30

// ruleOf returns the rule of a group's name, as marks spell it.
func ruleOf(group string) string {
	return strings.ReplaceAll(strings.ToLower(group), "_", "-")
}

// find appends what a pattern takes of s, without line ends around it: these
// hold a text's lines apart.
func (p pattern) find(s string, spans []span) []span {
	if !strings.Contains(s, p.literal) {
		return spans
	}
	add := func(start, end int, rule string) {
		for start < end && (s[start] == '\n' || s[start] == '\r') {
			start++
		}
		for start < end && (s[end-1] == '\n' || s[end-1] == '\r') {
			end--
		}
		if start < end {
			spans = append(spans, span{start: start, end: end, rule: rule})
		}
	}
	if p.NumSubexp() == 0 {
		for _, m := range p.FindAllStringIndex(s, -1) {
			add(m[0], m[1], rulePattern)
		}
		return spans
	}
	names := p.SubexpNames()
	for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
		of := 0
		for of = 1; of < len(names) && m[2*of] < 0; of++ {
		}
		if of == len(names) {
			of = 0
		}
		rule := rulePattern
		if names[of] != "" {
			rule = ruleOf(names[of])
		}
		add(m[2*of], m[2*of+1], rule)
	}
	return spans
}

// all returns what the built-in rules and a user's own find in s, in order and
// apart.
func (o *own) all(s string) []span {
	spans := find(s, 0)
	if o == nil {
		return spans
	}
	return merge(append(spans, o.find(s, 0)...))
}

// called returns what text is as the value of a name.
func (o *own) called(name, text string) []span {
	if o == nil || !o.people || !telephone(name) || text == "" {
		return nil
	}
	digits := len(text) - len(strings.TrimLeft(text, "+("))
	if n := numberAt(text, min(digits, len(text)-1)); n.end == len(text) && len(n.digits) >= minPhone && len(n.digits) <= maxPhone {
		return []span{{end: len(text), rule: rulePhone}}
	}
	return nil
}

// find returns the parts of s to replace, layer by layer of escapes as [find]
// does, but through all of them: \n may stand before a name.
func (o *own) find(s string, depth int) []span {
	if o == nil {
		return nil
	}
	spans := o.search(s)
	if text, at := composed(s); at != nil {
		for _, sp := range o.search(text) {
			sp.start, _ = at(sp.start)
			_, sp.end = at(sp.end - 1)
			spans = append(spans, sp)
		}
	}
	for i := range spans {
		spans[i].start, _ = unitAround(s, spans[i].start)
		_, spans[i].end = unitAround(s, spans[i].end)
	}
	if depth < maxDepth && strings.IndexByte(s, '\\') >= 0 {
		if u := unescape(s); len(u) < len(s) {
			spans = append(spans, origin(s, merge(o.find(u, depth+1)))...)
		}
	}
	return spans
}

// search returns what the rules find in s as it is.
func (o *own) search(s string) (spans []span) {
	text := uncoloured(s)
	for _, p := range o.patterns {
		spans = p.find(text, spans)
	}
	spans = o.names.find(text, spans)
	if o.people {
		spans = people(text, spans)
	}
	if len(spans) == 0 {
		return nil
	}
	return spared(s, merge(spans))
}

// uncoloured returns s with blanks for a terminal's colours, which would be one
// word with what follows them.
func uncoloured(s string) string {
	const begin = "\x1b["
	if !strings.Contains(s, begin) {
		return s
	}
	b := []byte(s)
	for i := 0; ; {
		n := strings.Index(s[i:], begin)
		if n < 0 {
			return view(b)
		}
		i += n
		end := i + len(begin)
		for end < len(s) && (is(s[end], digit) || s[end] == ';') {
			end++
		}
		if end < len(s) && is(s[end], alpha) {
			end++
		}
		for ; i < end; i++ {
			b[i] = ' '
		}
	}
}

// spared returns spans, in order and apart, without those that lie in a mark or
// in data such as an image, where any pattern matches by chance. A span that
// goes beyond a mark takes all of it.
func spared(s string, spans []span) []span {
	var out []span
	fixed := slices.Concat(marks(s), blobs(s))
	slices.SortFunc(fixed, func(a, b span) int { return a.start - b.start })
	for _, sp := range spans {
		for len(fixed) > 0 && fixed[0].end <= sp.start {
			fixed = fixed[1:]
		}
		within := false
		for _, f := range fixed {
			if f.start >= sp.end {
				break
			}
			switch {
			case f.start <= sp.start && sp.end <= f.end:
				within = true
			case f.rule != "":
				sp.start, sp.end = min(sp.start, f.start), max(sp.end, f.end)
			}
		}
		if !within {
			out = append(out, sp)
		}
	}
	return merge(out)
}

// marks returns where s has marks.
func marks(s string) (spans []span) {
	for i := 0; ; {
		n := strings.Index(s[i:], mark)
		if n < 0 {
			return spans
		}
		start := i + n
		i = run(s, start+len(mark), alnum|dash, maxRule)
		if i < len(s) && s[i] == ']' {
			spans = append(spans, span{start: start, end: i + 1, rule: mark})
		}
	}
}

// blobs returns where s has data in base64.
func blobs(s string) (spans []span) {
	start := 0
	var seen uint8
	for i := 0; i <= len(s); i++ {
		if i < len(s) && class[s[i]] != 0 {
			seen |= class[s[i]]
			continue
		}
		if i-start >= minBlob && (seen&^std64 == 0 || seen&^url64 == 0) {
			spans = append(spans, span{start: start, end: i})
		}
		start, seen = i+1, 0
	}
	return spans
}
