package page

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Limits on what is parsed of a text. goldmark has none: it fills a table to
// its header's width, nests lists without end, and looks for the end of each
// mark in all that follows it. What is beyond them is shown as it was written.
const (
	maxMarkdown = 256 << 10 // bytes
	maxProse    = 512 << 10 // of all texts of a turn but its reply
	maxLines    = 10_000    // each of them is kept for every list and quote around it
	maxNested   = 20        // lists and quotes within each other
	maxMarks    = 500       // of a paragraph, heading or cell, that may begin something
	maxPipes    = 500       // escaped ones in tables, each of which is compared with all
	minCells    = 1000      // of tables that a short text may have
)

// newParser returns a parser of GitHub's Markdown that keeps to the limits.
func newParser() parser.Parser {
	blocks := parser.DefaultBlockParsers()
	for i := range blocks {
		switch p := blocks[i].Value; p {
		case parser.NewListParser(), parser.NewBlockquoteParser():
			blocks[i].Value = nested{p.(parser.BlockParser)}
		}
	}
	inlines := append(
		parser.DefaultInlineParsers(),
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(extension.NewStrikethroughParser(), 500),
		util.Prioritized(extension.NewLinkifyParser(), 999),
	)
	for i := range inlines {
		inlines[i].Value = mark{inlines[i].Value.(parser.InlineParser)}
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(inlines...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(table{extension.NewTableParagraphTransformer()}, 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// nested parses lists or quotes, down to maxNested.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	around := 0
	for n := parent; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.List, *ast.Blockquote:
			around++
		}
	}
	if _, next := parent.(*ast.List); around > maxNested || around == maxNested && !next { // in a list comes its next item
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// mark parses what begins with a mark, at the first maxMarks of a block.
type mark struct{ parser.InlineParser }

// marks are how often a block was asked for what begins there.
type marks struct {
	block ast.Node
	n     int
}

var (
	marksKey = parser.NewContextKey()
	tableKey = parser.NewContextKey()
)

func (p mark) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	m, _ := pc.Get(marksKey).(*marks)
	if m == nil {
		m = new(marks)
		pc.Set(marksKey, m)
	}
	if m.block != parent {
		*m = marks{block: parent}
	}
	if m.n++; m.n > maxMarks {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements [parser.CloseBlocker] for what does.
func (p mark) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// table makes a table of a paragraph, unless tables would have a cell for less than
// two bytes of the text: then it is shown like code.
type table struct{ parser.ParagraphTransformer }

// tables are what those of a text have, so far.
type tables struct{ cells, pipes int }

func (t table) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := node.Lines(), reader.Source()
	columns, pipes := 0, 0
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(source)
		pipes += bytes.Count(line, []byte(`\|`))
		if len(bytes.Trim(line, " \t\r\n|:-")) == 0 { // it may be what is below a header
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
	}
	if columns > 1 {
		all, _ := pc.Get(tableKey).(tables)
		all.cells, all.pipes = all.cells+columns*lines.Len(), all.pipes+pipes
		if all.cells > max(len(source)/2, minCells) || all.pipes > maxPipes {
			code := ast.NewCodeBlock()
			code.SetLines(lines)
			node.Parent().ReplaceChild(node.Parent(), node, code)
			return
		}
		pc.Set(tableKey, all)
	}
	t.ParagraphTransformer.Transform(node, reader, pc)
}
