//go:build unix

package same

import (
	"compress/flate"
	"encoding/base64"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A vocabulary is sorted hashes and ids.
type vocabulary []string

// has reports whether a token is one, or the beginning of one.
func (v vocabulary) has(token string) bool {
	i, _ := slices.BinarySearch(v, token)
	return i < len(v) && strings.HasPrefix(v[i], token)
}

var (
	hexes  = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
	tokens = regexp.MustCompile(`\b(?:` + strings.Join([]string{
		`(?P<time>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[ ]?[+-]\d\d:?\d\d)?)?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ \d\d:\d\d:\d\d \d{4}(?: \+\d{4})?|\d{8}-\d{6}|\d\d:\d\d(?::\d\d)?)`,
		`(?P<uuid>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`,
		`(?P<age>\d+(?:\.\d+)?(?:ms|s|m|h|d|mo|y))`,
		`(?P<size>\d+(?:\.\d+)? (?:[KMG]i)?B)`,
		`(?P<random>[A-Z2-7]{26})`,
		`(?P<temp>\d{7,10})`,
		`(?P<hex>[0-9a-f]{4,64})`,
	}, "|") + `)\b`)
	blanks = regexp.MustCompile(`  +|──+|--+`) // a column is as wide as what is in it
)

// A token is what may be another one in the other copy.
type token struct{ kind, text string }

// tear takes a text apart into tokens and what is between them.
func tear(text string) (between []string, list []token) {
	at := 0
	for _, m := range tokens.FindAllStringSubmatchIndex(text, -1) {
		for i, kind := range tokens.SubexpNames() {
			if kind != "" && m[2*i] >= 0 {
				between = append(between, text[at:m[2*i]])
				list = append(list, token{kind, text[m[2*i]:m[2*i+1]]})
				at = m[2*i+1]
			}
		}
	}
	return append(between, text[at:]), list
}

// Twins are hashes, ids and names that came up in a walk: one of each build's that mean the same.
type twins struct {
	known vocabulary
	began time.Time
	fresh bool // something was written in the walk that need not be the same
	pairs [][2]string
	of    [2]map[string]string // by the first seven characters
}

func newTwins(known vocabulary) *twins {
	return &twins{known: known, began: time.Now().Add(-time.Second), of: [2]map[string]string{{}, {}}}
}

func short(s string) string { return s[:min(7, len(s))] }

// alike compares what both have printed.
func (w *twins) alike(before, now string) bool {
	if before == now {
		return true
	}
	texts, a := tear(unpacked(before))
	others, b := tear(unpacked(now))
	if len(a) != len(b) {
		return false
	}
	for i := range texts {
		if texts[i] != others[i] && blanks.ReplaceAllString(texts[i], "  ") != blanks.ReplaceAllString(others[i], "  ") {
			return false
		}
	}
	for i := range a {
		if !w.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (w *twins) same(a, b token) bool {
	switch {
	case a.text == b.text:
		return true
	case a.kind == "age" && b.kind == "age":
		return near(a.text, b.text)
	case shortened(a, b):
		return true
	case w.moment(a.text) && w.moment(b.text):
		return true
	case !w.fresh || a.kind != b.kind && (a.kind != "hex" && a.kind != "temp" || b.kind != "hex" && b.kind != "temp"):
		return false
	case a.kind == "time":
		return true
	case a.kind == "size":
		return true
	}
	if len(a.text) != len(b.text) && (a.kind != "temp" || b.kind != "temp") || w.known.has(a.text) || w.known.has(b.text) {
		return false
	}
	if len(a.text) < 7 {
		for _, p := range w.pairs {
			if strings.HasPrefix(p[0], a.text) && strings.HasPrefix(p[1], b.text) {
				return true
			}
		}
		return true // nothing is known of it
	}
	x, seen := w.of[0][short(a.text)]
	y, met := w.of[1][short(b.text)]
	if seen || met {
		return x == short(b.text) && y == short(a.text)
	}
	w.of[0][short(a.text)], w.of[1][short(b.text)] = short(b.text), short(a.text)
	w.pairs = append(w.pairs, [2]string{a.text, b.text})
	return true
}

// shortened reports whether two tokens may be one hash: how far git shortens one depends on how many objects are in packs,
// and so on whether something has just put packs together in the background.
func shortened(a, b token) bool {
	hash := func(t token) bool { return (t.kind == "hex" || t.kind == "temp") && len(t.text) >= 7 }
	return hash(a) && hash(b) && (strings.HasPrefix(a.text, b.text) || strings.HasPrefix(b.text, a.text))
}

// moment reports whether a number is the time of something in this walk, in seconds or milliseconds.
func (w *twins) moment(digits string) bool {
	n, err := strconv.ParseInt(digits, 10, 64)
	if len(digits) == 13 {
		n /= 1000
	}
	return err == nil && n >= w.began.Unix() && n <= time.Now().Unix()+1
}

// near reports whether two ages may be of one thing, looked at one after the other.
func near(a, b string) bool {
	x, y := seconds(a), seconds(b)
	return max(x, y)-min(x, y) <= 15 || a[len(a)-1] == b[len(b)-1] && max(x, y)-min(x, y) <= max(x, y)/10+unit(a)
}

func unit(age string) float64 {
	i := strings.IndexFunc(age, func(r rune) bool { return r > '9' })
	return map[string]float64{"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "mo": 30 * 86400, "y": 365 * 86400}[age[i:]]
}

func seconds(age string) float64 {
	i := strings.IndexFunc(age, func(r rune) bool { return r > '9' })
	n, _ := strconv.ParseFloat(age[:i], 64)
	return n * unit(age)
}

// canonical is an item of a state with words in the place of what need not be the same. side says whose it is.
func (w *twins) canonical(side int, item string) string {
	texts, list := tear(item)
	var b strings.Builder
	for i, text := range texts {
		b.WriteString(text)
		if i == len(list) {
			break
		}
		t := list[i]
		switch {
		case !w.fresh:
		case t.kind == "time" && w.recent(t.text), w.moment(t.text):
			t.text = "TIME"
		case t.kind == "age":
			t.text = "AGE"
		case (t.kind == "hex" || t.kind == "temp" || t.kind == "uuid" || t.kind == "random") && len(t.text) >= 7 && !w.known.has(t.text):
			twin, ok := w.of[side][short(t.text)]
			switch {
			case !ok:
				t.text = "#"
			case side == 0:
				t.text = "#" + twin
			default:
				t.text = "#" + short(t.text)
			}
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// recent reports whether a time is one of this walk: of today or yesterday, as one may be written in any zone.
func (w *twins) recent(text string) bool {
	for _, day := range []time.Time{w.began, time.Now()} {
		for _, layout := range []string{"2006-01-02", "20060102", "Jan _2 15:04", "Jan 2 15:04"} {
			if strings.Contains(text, day.UTC().Format(layout)) {
				return true
			}
		}
	}
	return len(text) <= 8
}

// differ compares two states, and returns what is only in one of them.
func (w *twins) differ(before, now state) string {
	var list [2][]string
	for side, s := range []state{before, now} {
		for _, item := range s.items {
			item = unpacked(item)
			if w.fresh { // what is signed has another time in it
				item = signatures.ReplaceAllString(item, "SIGNED")
			}
			list[side] = append(list[side], w.canonical(side, item))
		}
		slices.Sort(list[side])
	}
	var gone, come []string
	x, y := list[0], list[1]
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(x) > 0 && len(y) > 0 && x[0] == y[0]:
			x, y = x[1:], y[1:]
		case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
			gone, x = append(gone, x[0]), x[1:]
		default:
			come, y = append(come, y[0]), y[1:]
		}
	}
	if len(gone) == 0 && len(come) == 0 {
		return ""
	}
	return unlike(strings.Join(gone, "\n"), strings.Join(come, "\n"))
}

var signatures = regexp.MustCompile(`(?s)-----BEGIN SSH SIGNATURE-----.*?-----END SSH SIGNATURE-----`)

var took = regexp.MustCompile(`("took":\d+)`)

var packets = regexp.MustCompile(`>[A-Za-z0-9+/]{40,}={0,2}<`)

// unpacked is a text with what is compressed in a page as it is: there is a time in it.
func unpacked(text string) string {
	if !strings.Contains(text, "<!DOCTYPE html>") {
		return text
	}
	return packets.ReplaceAllStringFunc(text, func(packet string) string {
		data, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packet[1:len(packet)-1]))))
		if err != nil {
			return packet
		}
		return ">" + strings.ReplaceAll(took.ReplaceAllString(string(data), "${1}ms"), ",", ",\n") + "<"
	})
}

// TestAlike: what two builds have printed, in a walk that has written something.
func TestAlike(t *testing.T) {
	t.Parallel()
	known := vocabulary{"1111111aaa"}
	for _, tt := range []struct {
		before, now string
		want        bool
	}{
		{"as it was", "as it was", true},
		{"one", "two", false},
		{"index 0000000..9df7dba", "index 00000000..9df7dbab", true}, // one hash, shortened in two ways
		{"index 0000000..9df7dba", "index 00000000..8df7dbab", false},
		{"at 9df7dba", "at 8df7dba", true}, // made in the walk
		{"at 9df7dba, 9df7dba", "at 8df7dba, 7df7dba", false},
		{"at 1111111", "at 8df7dba", false}, // it was there before
		{"12s ago", "13s ago", true},
		{"12s ago", "13m ago", false},
	} {
		w := newTwins(known)
		w.fresh = true
		if got := w.alike(tt.before, tt.now); got != tt.want {
			t.Errorf("alike(%q, %q) = %t, want %t", tt.before, tt.now, got, tt.want)
		}
	}
}
