package evidence

import (
	"slices"
	"strings"
)

var (
	claim = lazy(`(?i)\b(tests?|specs?|suites?)\b:? ?(are |is |have |has |still |now |again |all )*(pass|passes|passed|passing|green|succeed|succeeds|succeeded)\b|\ball green\b|\b\d+ (tests? )?(passed|passing)\b`)

	// doubt is what denies, wants, puts off or ascribes something to others.
	doubt = lazy(`(?i)\b(should|would|will|might|may|can|could|if|whether|when|once|until|unless|or|not|no|none|never|nor|cannot|without|only|some|most|many|few|half|partly|except|` +
		`ensure|sure|verify|expect|before|earlier|previously|originally|used to|please|fail(s|ed|ing)?|failures?|have to|needs?|needed|to ?do|goals?|plan(s|ned)?|wants?|wanted|criteria|so that|checks? that|` +
		`to (make|get|have|see|let)|tests (that|which)|which|said|says?|told|wrote|writes|mention(s|ed)?|claim(s|ed)?|ask(s|ed)?|report(s|ed)?|according|readme|ci)\b|n['’]t\b|\?`)
	clean = lazy(`(?i)\b(with )?(no|without|0|zero) (fail(s|ed|ing|ures?)?|errors?|regressions?)\b`)

	// quoted is what the reply shows, and does not say.
	quoted  = lazy("(?ms)^ *```.*?(^ *```|\\z)|`[^`\\n]*`|\"[^\"\\n]*\"|“[^”\\n]*”|^ *>[^\\n]*|\\[ \\][^\\n]*")
	wrapped = lazy(`([^\n])\n([a-z])`)
	item    = lazy(`^ *([-*+]|\d+[.)]) `)
	share   = lazy(`\b(\d+) ?(?:/|of|out of) ?(?:the )?(\d+)\b`)
)

// Claims reports whether a reply says, in English, that tests pass. What it
// quotes, denies or wants is no such word, nor what it says of others or of some.
func Claims(reply string) bool {
	wanted := false // by the line before a list
	text := wrapped().ReplaceAllString(quoted().ReplaceAllString(reply, " "), "$1 $2")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", wanted && item().MatchString(line):
			continue
		case !item().MatchString(line):
			wanted = strings.HasSuffix(line, ":") && doubt().MatchString(line)
		}
		for _, sentence := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(".!", r) }) {
			if claim().MatchString(sentence) && !doubt().MatchString(clean().ReplaceAllString(sentence, "")) && !inPart(sentence) {
				return true
			}
		}
	}
	return false
}

// inPart reports whether a sentence tells of some of a number of things.
func inPart(sentence string) bool {
	return slices.ContainsFunc(share().FindAllStringSubmatch(sentence, -1), func(m []string) bool { return m[1] != m[2] })
}
