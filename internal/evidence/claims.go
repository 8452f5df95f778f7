package evidence

import "strings"

var (
	claim = lazy(`(?i)\b(tests?|specs?|suites?)\b:? ?(are |is |have |has |still |now |again |all )*(pass|passes|passed|passing|green|succeed|succeeds|succeeded)\b|\ball green\b|\b\d+ (tests? )?(passed|passing)\b`)
	doubt = lazy(`(?i)\b(should|would|will|might|may|can|could|if|whether|when|once|until|unless|not|no|cannot|ensure|sure|verify|expect|before|please|fail(s|ed|ing)?|failures?)\b|n['’]t\b|\?`)
)

// Claims reports whether a reply says, in English, that tests pass.
func Claims(reply string) bool {
	for _, sentence := range strings.FieldsFunc(reply, func(r rune) bool { return strings.ContainsRune(".!\n", r) }) {
		if claim().MatchString(sentence) && !doubt().MatchString(strings.ReplaceAll(sentence, "0 fail", "")) {
			return true
		}
	}
	return false
}
