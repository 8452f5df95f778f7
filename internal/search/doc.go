// Package search finds the lines of texts that match words or patterns.
//
//	q, err := search.Words([]string{"login", "form"})
//	m := q.Matches()
//	m.Add("prompt", "Fix the login form")
//	m.Complete() // all words were found
//
// # Words
//
// All words must be there, in any order, though not in one text. A word in
// lower case matches in any case, others only as written. Case is Unicode's: k
// matches the Kelvin sign. Words match inside others, and never across lines.
//
// # Speed
//
// Conversations are JSON lines, and decoding takes ten times as long as
// scanning. So [Query.Lines] skips lines that can't match, in the raw text or
// in escapes, and [Matches.AddJSON] the same within a line's texts.
package search
