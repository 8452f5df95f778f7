package page

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A node of Markdown is a string for text, or a list of a tag, its attributes
// and its nodes: p, h level, ul, ol start, li, q, pre language text, hr, br, c,
// em, st, de, a target, x done, tb, tr, th, td. Images are links, HTML is text.
type node = any

var markdownParser = newParser()

func markdown(source string) []node {
	if source == "" {
		return nil
	}
	cut := within(source)
	data := []byte(source[:cut])
	w := writer{data, 4096 + 4*len(data)}
	list := w.children(markdownParser.Parse(text.NewReader(data)), 0)
	if rest := source[cut:]; rest != "" {
		list = append(list, []node{"pre", "", rest})
	}
	return list
}

// prose makes trees of what was said in a turn, up to maxProse. Trees of
// tables take fifty times the text.
type prose struct{ made int }

func (p *prose) tree(text string) []node {
	if p.made+len(text) > maxProse {
		return []node{[]node{"pre", "", text}}
	}
	p.made += len(text)
	return markdown(text)
}

// within returns where the lines end that are parsed. More is plain text.
func within(source string) int {
	cut, lines := 0, 0
	for line := range strings.Lines(source) {
		if lines == maxLines || cut+len(line) > maxMarkdown {
			break
		}
		cut, lines = cut+len(line), lines+1
	}
	return cut
}

type writer struct {
	source  []byte
	targets int // bytes that links' targets may still take: many links may be to one
}

// maxDepth is how deep nodes are nested. Deeper ones are only text.
const maxDepth = 60

func (w *writer) children(n ast.Node, depth int) []node {
	var list []node
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		list = append(list, w.node(c, depth+1)...)
	}
	return joined(list)
}

// joined joins adjacent texts.
func joined(list []node) []node {
	out := list[:0]
	var texts []string
	for i, n := range list {
		s, ok := n.(string)
		if ok {
			texts = append(texts, s)
		}
		if len(texts) > 0 && (!ok || i == len(list)-1) {
			out, texts = append(out, strings.Join(texts, "")), texts[:0]
		}
		if !ok {
			out = append(out, n)
		}
	}
	return out
}

func (w *writer) node(n ast.Node, depth int) []node {
	if depth > maxDepth {
		return w.children(n, depth) // without a node around them
	}
	in := func(tag ...node) []node { return []node{append(tag, w.children(n, depth)...)} }
	switch n := n.(type) {
	case *ast.Paragraph:
		return in("p")
	case *ast.TextBlock:
		return append(w.children(n, depth), "\n")
	case *ast.Heading:
		return in("h", n.Level)
	case *ast.Blockquote:
		return in("q")
	case *ast.List:
		if n.IsOrdered() {
			return in("ol", n.Start)
		}
		return in("ul")
	case *ast.ListItem:
		return in("li")
	case *ast.ThematicBreak:
		return []node{[]node{"hr"}}
	case *ast.FencedCodeBlock:
		return []node{[]node{"pre", string(n.Language(w.source)), w.lines(n)}}
	case *ast.CodeBlock:
		return []node{[]node{"pre", "", w.lines(n)}}
	case *ast.HTMLBlock:
		text := w.lines(n)
		if n.HasClosure() {
			text += string(n.ClosureLine.Value(w.source))
		}
		return []node{[]node{"pre", "html", text}}
	case *ast.RawHTML:
		var b bytes.Buffer
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(w.source))
		}
		return []node{b.String()}
	case *ast.Text:
		return w.text(n)
	case *ast.String:
		return []node{string(n.Value)}
	case *ast.CodeSpan:
		return in("c")
	case *ast.Emphasis:
		if n.Level == 2 {
			return in("st")
		}
		return in("em")
	case *ast.Link:
		return in("a", w.target(n.Destination))
	case *ast.Image:
		return in("a", w.target(n.Destination), "image: ")
	case *ast.AutoLink:
		return []node{[]node{"a", string(n.URL(w.source)), string(n.Label(w.source))}}
	case *extast.Strikethrough:
		return in("de")
	case *extast.TaskCheckBox:
		return []node{[]node{"x", n.IsChecked}}
	case *extast.Table:
		return in("tb")
	case *extast.TableHeader:
		return []node{append([]node{"tr"}, w.cells(n, "th", depth)...)}
	case *extast.TableRow:
		return []node{append([]node{"tr"}, w.cells(n, "td", depth)...)}
	}
	return w.children(n, depth)
}

// target returns where a link leads, or nowhere if that takes too much.
func (w *writer) target(to []byte) string {
	if len(to) > w.targets {
		return ""
	}
	w.targets -= len(to)
	return string(to)
}

func (w *writer) cells(row ast.Node, tag string, depth int) []node {
	var list []node
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		list = append(list, append([]node{tag}, w.children(c, depth+1)...))
	}
	return list
}

func (w *writer) text(n *ast.Text) []node {
	value := n.Value(w.source)
	if !n.IsRaw() { // code has no escapes
		value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
	}
	text := string(value)
	switch {
	case n.HardLineBreak():
		return []node{text, []node{"br"}}
	case n.SoftLineBreak():
		return []node{text + "\n"}
	}
	return []node{text}
}

func (w *writer) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b.Write(s.Value(w.source))
	}
	return b.String()
}
