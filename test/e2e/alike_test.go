//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// alike fails the test unless the blocks of two requests are the same, one by one: of the client's own fork, and of ours.
// They may differ in names, such as the two sessions' ids and directories, and in what is [madeAnew].
func (r *rig) alike(what string, native, ours []string, names ...string) {
	r.t.Helper()
	for _, blocks := range [][]string{native, ours} {
		for i, b := range blocks {
			for _, name := range names {
				b = strings.ReplaceAll(b, name, "NAME")
			}
			blocks[i] = madeAnew.ReplaceAllString(b, "NEW")
		}
	}
	for i := 0; i < max(len(native), len(ours)); i++ {
		theirs, own := "nothing", "nothing"
		if i < len(native) {
			theirs = native[i]
		}
		if i < len(ours) {
			own = ours[i]
		}
		if theirs != own {
			r.t.Errorf("%s: block %d: %s", what, i+1, around(theirs, own))
		}
	}
}

// madeAnew is what each session has its own of: Codex's ids of the messages that it adds, Gemini CLI's name of a directory,
// and what it lists of its place; the day; Kilo's time of a message, and the id of a sub-agent, whose session its own fork copies: in ours
// it is the source's.
var madeAnew = regexp.MustCompile(`Today's date[^\\]+|Message time: [^\\]+|task id=\\"ses_\w+|msg_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|/\.gemini/tmp/[a-z0-9-]+|Showing up to 200 items[^"]*`)

// blocks are all parts of a request, in order, each with whose it is.
func (s sent) blocks() []string {
	all := slices.Concat(listed("system", s.System), listed("tool", s.Tools))
	for _, m := range s.Messages {
		var one struct {
			Role    string
			Content json.RawMessage
		}
		json.Unmarshal(m, &one)
		all = append(all, listed(one.Role, one.Content)...)
	}
	return all
}

// blocks are the parts of a request in any of the protocols of mock.mjs: what is in a list of its body, one by one. It is
// without tools: whether an MCP server's are among them depends on when the server was there.
func (q request) blocks() []string {
	var body struct{ Instructions, SystemInstruction, Input, Messages, Contents json.RawMessage }
	json.Unmarshal(q.Body, &body)
	return slices.Concat(listed("instructions", body.Instructions), listed("system", body.SystemInstruction),
		listed("input", body.Input), listed("message", body.Messages), listed("content", body.Contents))
}

// listed are the elements of a list, or the value itself.
func listed(name string, value json.RawMessage) []string {
	if len(value) == 0 {
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(value, &parts) != nil {
		parts = []json.RawMessage{value}
	}
	var all []string
	for _, p := range parts {
		var v any
		json.Unmarshal(p, &v)
		text, _ := json.Marshal(v) // in one form
		all = append(all, fmt.Sprintf("%s %s", name, text))
	}
	return all
}

// picture puts a picture into the repository.
func (r *rig) picture() {
	r.t.Helper()
	picture, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	gittest.Must(r.t, err)
	r.repo.Write("picture.png", string(picture))
	r.repo.Commit("a picture")
}
