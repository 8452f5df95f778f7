// Package search finds the lines of texts that match words or patterns.
//
//	q, err := search.Words([]string{"login", "form"})
//	m := q.Matches()
//	m.Add("prompt", "Fix the login form")
//	m.Complete() // all words were found
//
// # Words
//
// All words must be there, in any order, though not in the same text. A word in
// lower case matches in any case, one with an upper-case letter only as
// written. Case is Unicode's: k matches the Kelvin sign too. Words match in the
// middle of others, and never across lines.
//
// # Speed
//
// Conversations are JSON lines, and decoding takes ten times as long as
// scanning. So [Query.Lines] skips lines that can't match, in the raw text or
// in escapes.
package search
