// Package spell finds the word that a person probably meant.
//
// It serves error messages: a flag, a command or a configuration key
// that does not exist is answered with the nearest one that does.
package spell

import "github.com/xrash/smetrics"

// Nearest returns the word of words that is most like the given one,
// or "" if none is like enough to be worth proposing.
func Nearest(word string, words []string) string {
	// 0.8 keeps a swapped, missing or doubled letter in words of four letters
	// and drops what merely shares an initial.
	best, nearest := 0.8, ""
	for _, w := range words {
		// 0.7 and 4 are Winkler's own figures for the bonus of a common beginning.
		if d := smetrics.JaroWinkler(word, w, 0.7, 4); d > best {
			best, nearest = d, w
		}
	}
	return nearest
}
