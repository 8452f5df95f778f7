package agent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Version returns the part of a client's output like "2.1.329", or "".
func Version(printed string) string {
	for _, word := range strings.FieldsFunc(printed, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) {
		if word = strings.Trim(word, "."); strings.Contains(word, ".") {
			return word
		}
	}
	return ""
}

// Newer reports whether one version is newer than another.
func Newer(a, b string) bool {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, _ := strconv.Atoi(a) // a number out of range counts as the largest
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	}) > 0
}
