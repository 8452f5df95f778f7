// Package search says which lines of a conversation match what a person looks for. It knows words,
// patterns and texts, and nothing of where the texts are.
//
//	q, err := search.Words([]string{"login", "form"})
//	m := q.Matches()
//	m.Add("prompt", "Fix the login form")
//	m.Complete() // all words were found
//
// # Words
//
// All words have to be there, in any order, but not in the same text. A word in lower case matches
// in any case; one with an upper-case letter matches as it is written. Cases are those of Unicode: k
// matches the Kelvin sign, too. Words match in the middle of others, and never across lines.
//
// # Speed
//
// A conversation is stored as JSON lines, and decoding them takes ten times as long as scanning
// them. So [Query.Lines] passes over the lines of raw JSON that can't match, whatever they decode to:
// a text is there as it is, or in escapes, which are looked for, too. Only the others are decoded.
package search
