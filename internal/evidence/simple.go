package evidence

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
		if index, ok := p.Index.(*syntax.Word); ok && text(index) != "0" {
			b.WriteString("[" + text(index) + "]")
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
	quiet   = set("cd pushd popd export set unset echo printf true : mkdir rm sleep date cat tail tee wait sync source . ulimit umask touch exit return trap clear pwd deactivate")
	keepers = set("cat tail tee")
	prints  = set("cat tail")
	counts  = set("-n -c") // their options with a value
	// still are commands that change no file of the worktree; of git its own reader knows more.
	still = set("cd pushd popd export set unset echo printf true false : sleep date cat tail head wait sync source . ulimit umask exit return trap clear pwd deactivate [ test [[ ls wc kill read shift basename dirname stat du grep egrep " +
		"fgrep rg jq sort uniq cut tr which type df ps less column diff alias sed awk git")
	plain = set("[ test [[ cp mv ln ls wc chmod kill read shift basename dirname stat du") // no last words either, but they may fail
)

func succeeds(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		words := callOf(stmt)
		return !stmt.Negated && (len(words) == 0 && len(c.Assigns) > 0 || len(words) > 0 && quiet.has(words[0]) && exits(stmt) != nonzero)
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
	return len(words) > 0 && keepers.has(words[0])
}

// waits reports whether a command waits for the last one in the background; with
// its number its status is that one's.
func waits(stmt *syntax.Stmt) bool {
	words := callOf(stmt)
	return len(words) > 0 && words[0] == "wait" && (len(words) == 1 || len(words) == 2 && words[1] == "$!")
}

// exits returns nonzero for commands that always fail.
func exits(stmt *syntax.Stmt) status {
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt && succeeds(c.X) {
			return exits(c.Y)
		}
	case *syntax.Subshell:
		return exits(c.Stmts[len(c.Stmts)-1])
	case *syntax.Block:
		return exits(c.Stmts[len(c.Stmts)-1])
	}
	switch words := callOf(stmt); {
	case len(words) == 1 && words[0] == "false":
		return nonzero
	case len(words) == 2 && (words[0] == "exit" || words[0] == "return") && words[1] != "0" && !strings.HasPrefix(words[1], "$"):
		return nonzero
	}
	return hidden
}

// shrugs reports whether `set -e` lets a list go on if a part of it fails.
func shrugs(stmt *syntax.Stmt) bool {
	and, ok := stmt.Cmd.(*syntax.BinaryCmd)
	return stmt.Negated || ok && and.Op == syntax.AndStmt && !succeeds(and.X)
}

// guards reports whether all ends with a failure if this part fails.
func guards(stmt *syntax.Stmt) bool {
	switch c := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.OrStmt && exits(c.Y) == nonzero
	case *syntax.IfClause:
		return c.Else == nil && len(c.Then) > 0 && exits(c.Then[len(c.Then)-1]) == nonzero
	}
	return false
}

// leaves reports whether a part may end all with success.
func leaves(stmt *syntax.Stmt) (found bool) {
	syntax.Walk(stmt, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.FuncDecl:
			return false
		case *syntax.Stmt:
			if words := callOf(n); len(words) > 0 && (words[0] == "exit" || words[0] == "return" || words[0] == "trap") && exits(n) != nonzero {
				found = true
			}
		}
		return !found
	})
	return found
}
