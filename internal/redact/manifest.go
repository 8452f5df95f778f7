package redact

import "strings"

// maxManifest is how far before and after its kind a manifest reaches.
const maxManifest = 64 << 10

// manifest records the values in a Kubernetes Secret's data, under any name.
// "kind" begins at s[at]; the data may stand before or after it.
func (c *scanner) manifest(at int) {
	s := c.s
	if !c.asked { // once: it may be a text of nothing but kinds
		c.asked = true
		c.needLines(s)
	}
	kind := lineAt(s, lineBegin(s, at, maxLine))
	if strings.Trim(s[min(kind.text, at):at], `"`) != "" {
		c.compactManifest(at)
		return
	}
	first := kind
	for !first.item && first.begin > 0 && at-first.begin < maxManifest {
		above := lineAt(s, lineBegin(s, first.begin-1, maxValue))
		if kind.bounds(s, above) && !above.item || above.begin == first.begin {
			break
		}
		first = above
	}
	in := false
	block := -1 // the indentation of an entry with its value in the lines below
	for l := first; l.begin < len(s) && l.begin-at < maxManifest; {
		switch {
		case l.text == l.end: // blank
		case l.begin > kind.begin && (l.item && l.indent == kind.indent || kind.bounds(s, l)):
			return
		case l.indent <= kind.indent:
			name := strings.TrimLeft(s[l.text:l.end], `"\`)
			in, block = strings.HasPrefix(name, "data") || strings.HasPrefix(name, "stringData"), -1
		case in && block >= 0 && l.indent > block:
			c.found(ruleSecret, l.text, l.end)
		case in:
			if block = -1; c.entry(l) {
				block = l.indent
			}
		}
		next := lineNext(s, l.end)
		if next == l.end {
			return
		}
		l = lineAt(s, next)
	}
}

// bounds reports whether the line l is outside the manifest with the kind k.
func (k line) bounds(s string, l line) bool {
	text := s[l.text:l.end]
	return text != "" && l.indent < k.indent || strings.HasPrefix(text, "---") ||
		l.indent == k.indent && strings.HasPrefix(strings.TrimLeft(text, `"\`), "kind")
}

// entry records a value in the data; block says it is in the lines below.
func (c *scanner) entry(l line) (block bool) {
	n := strings.IndexByte(c.s[l.text:l.end], ':')
	if n < 0 {
		return false
	}
	v, ok := c.valueAfter(l.text+n+1, 0)
	if !ok {
		return strings.ContainsAny(c.s[l.text+n:l.end], "|>")
	}
	text := c.s[v.start:v.end]
	switch {
	case !v.quoted && (text[0] == '|' || text[0] == '>'):
		return true
	case placeholder(text), text == "null":
	case v.quoted:
		c.found(ruleSecret, v.start, v.end)
	case strings.IndexByte(text, '\\') < 0:
		c.found(ruleSecret, v.start, max(v.end, textLine(c.s, v.start, `"\`)))
	}
	return false
}

// compactManifest is [scanner.manifest] for JSON on one line.
func (c *scanner) compactManifest(at int) {
	s := c.s
	begin := max(c.kind, lineBegin(s, at, min(at-c.kind, maxManifest)))
	c.kind = at
	end := lineStop(s, at, min(c.next(`"kind":`, at)-at, maxManifest))
	for _, name := range []string{`"data":`, `"stringData":`} {
		i := skipByte(s, min(c.next(name, begin)+len(name), end), ' ')
		if i >= end || s[i] != '{' {
			continue
		}
		for i = skipByte(s, i+1, ' '); i < end && s[i] == '"'; {
			n := closing(s[i+1:end], '"', 0)
			if n < 0 {
				break
			}
			v, ok := c.valueAfter(min(i+1+n+2, end), 0)
			if !ok || !v.quoted {
				break
			}
			if !placeholder(s[v.start:v.end]) {
				c.found(ruleSecret, v.start, v.end)
			}
			i = skipByte(s, skipByte(s, v.end+1, ','), ' ')
		}
	}
}
