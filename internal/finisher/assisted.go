package finisher

import (
	"slices"
	"strings"
	"unicode"

	"gitagent/internal/ledger"
	"gitagent/internal/usage"
	"gitagent/turns"
)

// TrailerAssisted is the name by which the Linux kernel, Fedora, Ansible and
// others ask who helped: "Assisted-by: AGENT_NAME:MODEL_VERSION".
const TrailerAssisted = "Assisted-by"

// ValidTrailer reports whether trailers that say who helped may have a name. A
// sign-off is a person's word, and Agent- begins those by which a commit is found.
func ValidTrailer(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	lower := strings.ToLower(name)
	return strings.IndexAny(lower, letters) == 0 && len(name) <= 50 && strings.Trim(lower, letters+"0123456789-") == "" &&
		lower != "signed-off-by" && !strings.HasPrefix(lower, "agent-")
}

// assistants returns who helped in those of turns that changed something, once
// each: there are no more than a command may have arguments.
func (k *unfinished) assistants(turns ledger.Ranges) (list []string) {
	for _, t := range k.turns {
		if !t.changed || t.omitted() || !turns.Has(t.number) {
			continue
		}
		for _, who := range t.assistants {
			if !slices.Contains(list, who) {
				list = append(list, who)
			}
		}
	}
	return list
}

// assistants returns who helped in a turn, each as AGENT_NAME:MODEL_VERSION, or
// one of both if the record has no more: the models that wrote in it, sub-agents'
// too, the one of the last message first. One may be there twice.
func assistants(t *turns.Turn) (list []string) {
	models, sides := t.Tokens.Models(), usage.ByModel{}
	for _, a := range t.Agents {
		sides = sides.Plus(a.Tokens)
	}
	agent := word(t.Agent)
	for _, model := range slices.Concat([]string{t.Model}, models, sides.Models()) {
		if model = word(model); model != "" {
			list = append(list, strings.TrimPrefix(agent+":"+model, ":"))
		}
	}
	if len(list) == 0 && agent != "" {
		list = []string{agent}
	}
	return list
}

const maxWord = 100 // bytes of a name in a trailer

// word makes a name of the record one word, whatever it holds. It returns "" for
// what names nothing: a client's own messages, and the mark of what was purged.
func word(name string) string {
	if strings.HasPrefix(name, "<") || strings.HasPrefix(name, "[") {
		return ""
	}
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/@+:", r)
	}), "-")
	return name[:min(len(name), maxWord)]
}
