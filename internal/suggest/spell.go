// Package suggest finds the word that a person probably meant, for errors about
// unknown flags, commands and configuration keys.
package suggest

import "github.com/xrash/smetrics"

// Nearest returns the most similar of words, or "" if none is similar.
func Nearest(word string, words []string) string {
	// 0.8 keeps a swapped, missing or doubled letter in words of four letters
	// and drops what merely shares an initial.
	best, nearest := 0.8, ""
	for _, w := range words {
		// 0.7 and 4 are Winkler's figures for the bonus of a common beginning.
		if d := smetrics.JaroWinkler(word, w, 0.7, 4); d > best {
			best, nearest = d, w
		}
	}
	return nearest
}
