package purgerewrite

import (
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/scrub"
)

// unsigned drops the headers that vouch for a commit as it was.
func unsigned(c *object.Raw) {
	c.Others = slices.DeleteFunc(slices.Clone(c.Others), func(header string) bool {
		name, _, _ := strings.Cut(header, " ")
		return slices.Contains([]string{"gpgsig", "gpgsig-sha256", "agent-ledger", "mergetag"}, name)
	})
}

// cleanWho cleans the name and address of an identity, and keeps its time.
func (r *Rewrite) cleanWho(at Place, who string) string {
	end := strings.LastIndexByte(who, '>') + 1
	if !r.holds([]byte(who[:end])) {
		return who
	}
	at.Kind = Identity
	r.find(at, Redacted, 1)
	name, email, _ := strings.Cut(strings.TrimSuffix(who[:end], ">"), "<")
	clean := func(s string) string {
		return strings.NewReplacer("<", "", ">", "").Replace(r.cleanText(s))
	}
	to := clean(strings.TrimSuffix(name, " ")) + " <" + clean(email) + ">"
	if r.holds([]byte(to)) {
		to = scrub.Mark + " <" + scrub.Mark + ">"
	}
	return to + who[end:]
}

// cleanMessage cleans a commit message, but for our trailers.
func (r *Rewrite) cleanMessage(at Place, message string) string {
	if !r.holds([]byte(message)) {
		return message
	}
	at.Kind = Message
	text, trailers := message, ""
	if i := strings.LastIndex(message, "\n\nAgent-Mission: "); i >= 0 {
		text, trailers = message[:i+1], message[i+1:]
	}
	out := r.cleanText(text)
	if r.holds([]byte(out)) {
		out = scrub.Mark + "\n"
	}
	if out != text {
		r.find(at, Redacted, 1)
	}
	if r.holds([]byte(out + trailers)) {
		r.find(at, Kept, 1)
	}
	return out + trailers
}
