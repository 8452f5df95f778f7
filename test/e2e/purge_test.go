//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// picture is a PNG that says something in its metadata.
func picture(t *testing.T, says string) string {
	t.Helper()
	var b bytes.Buffer
	gittest.Must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
	chunk := append([]byte("tEXtComment\x00"), says...)
	head := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	chunk = binary.BigEndian.AppendUint32(append(head, chunk...), crc32.ChecksumIEEE(chunk))
	const header = 8 + 25 // the signature and the first chunk
	return string(slices.Concat(b.Bytes()[:header], chunk, b.Bytes()[header:]))
}

// valid fails the test unless the service would take a conversation: thoughts are as they were signed, pictures can be
// decoded, each call has its result, and the secret is nowhere.
func (r *rig) valid(what string, s sent, secret string, thoughts []string) (signed, pictures int) {
	r.t.Helper()
	type block struct {
		Type, Thinking, Signature, ID string
		Call                          string `json:"tool_use_id"`
		Content                       json.RawMessage
		Source                        struct{ Data string }
	}
	called := map[string]bool{}
	var look func(content json.RawMessage)
	look = func(content json.RawMessage) {
		var list []block
		if json.Unmarshal(content, &list) != nil {
			return
		}
		for _, b := range list {
			switch b.Type {
			case "thinking":
				if signed++; b.Signature == "" || !slices.Contains(thoughts, b.Thinking) {
					r.t.Errorf("%s: the thought %q is not as it was signed", what, b.Thinking)
				}
			case "image":
				pictures++
				if data, err := base64.StdEncoding.DecodeString(b.Source.Data); err != nil || len(data) == 0 || bytes.Contains(data, []byte(secret)) {
					r.t.Errorf("%s: a picture is %.100q: %v", what, b.Source.Data, err)
				}
			case "tool_use":
				called[b.ID] = true
			case "tool_result":
				if !called[b.Call] {
					r.t.Errorf("%s: the result of %q has no call", what, b.Call)
				}
				delete(called, b.Call)
				look(b.Content)
			}
		}
	}
	for _, m := range s.Messages {
		var message struct{ Content json.RawMessage }
		gittest.Must(r.t, json.Unmarshal(m, &message))
		if strings.Contains(string(m), secret) {
			r.t.Errorf("%s: the secret is in %s", what, m)
		}
		look(message.Content)
	}
	if len(called) > 0 {
		r.t.Errorf("%s: the calls %v have no result", what, called)
	}
	return signed, pictures
}

// A conversation from which a secret was purged is taken up again: in forks of the turn and of a later one, and in
// the mission itself. What the model thought is sent as it was signed, or not at all.
func TestPurged(t *testing.T) {
	r := newNightly(t)
	const secret = "hunter2-secret-key"
	r.repo.Write("clean.png", picture(t, "harmless"))
	r.repo.Write("tagged.png", picture(t, "by "+secret))
	read := func(name string) reply {
		return reply{"tool": "Read", "input": map[string]any{"file_path": "${CWD}/" + name}}
	}
	r.mock.play(
		on("TSECRET",
			reply{"thinking": "It must be " + secret + ".", "tool": "Bash", "input": map[string]any{"command": "echo it is " + secret + " > conf; cat conf", "description": "run"}},
			reply{"thinking": "Now the pictures.", "tool": "Read", "input": map[string]any{"file_path": "${CWD}/clean.png"}},
			read("tagged.png"), say("It is "+secret+".")),
		on("TNEXT", reply{"thinking": "Nothing of it here.", "text": "Fine."}),
	)
	session := r.claude(r.repo.Dir, "TSECRET is "+secret).ok().quiet().session()
	r.claude(r.repo.Dir, "TNEXT go on", "--resume", session).ok().quiet()
	mission := passive(session)
	before := r.first("TNEXT")

	cmd := exec.Command("git", "agent-turn", "purge", "--fixed", "--yes")
	cmd.Dir, cmd.Env, cmd.Stdin = r.repo.Dir, r.env(), strings.NewReader(secret)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), secret) {
		t.Fatalf("purge: %v\n%s", err, out)
	}
	thoughts := []string{"Now the pictures.", "Nothing of it here."}
	for i, turn := range []string{mission + "/1", mission + "/2"} {
		f := r.fork(r.repo.Dir, turn)
		if strings.Contains(string(f.placed), secret) || !strings.Contains(string(f.placed), "[redacted:purged]") {
			t.Errorf("fork of %s: the conversation that was placed is\n%s", turn, f.placed)
		}
		word := []string{"TFIRST", "TSECOND"}[i]
		request := r.goOn(turn, f, append([]string{"TSECRET", "TNEXT"}[:i+1:i+1], word)...)
		signed, pictures := r.valid(turn, request, secret, thoughts)
		if signed != i+1 || pictures != 1 {
			t.Errorf("fork of %s: %d thoughts and %d pictures were sent, want %d and 1", turn, signed, pictures, i+1)
		}
		if want := len(before.before().Messages); len(request.Messages) < want {
			t.Errorf("fork of %s: %d messages were sent, want %d and more", turn, len(request.Messages), want)
		}
	}

	// The client's own file and the worktree are not ours: they say what they said, and nothing of that is recorded again.
	if told := r.claude(r.repo.Dir, "TAGAIN hello", "--resume", session).ok().heard(""); !strings.Contains(told, "conf, tagged.png are not recorded as they are") {
		t.Errorf("the user is told %q", told)
	}
	r.holds("the mission itself", r.first("TAGAIN"), "TSECRET", "TNEXT", "TAGAIN")
	if turns := r.turns(mission); len(turns) != 3 || turns[2].Outcome != "done" || turns[2].Transcript.After != 2 {
		t.Errorf("the mission went on with %v", turns)
	}
	f := r.fork(r.repo.Dir, mission+"/3")
	r.claude(f.Worktree, "TTHIRD hello", f.Command[1:]...).ok().quiet()
	r.holds("the fork of what went on", r.first("TTHIRD"), "TSECRET", "TNEXT", "TAGAIN", "TTHIRD")
	r.valid("the fork of what went on", r.first("TTHIRD"), secret, thoughts)
	if out := r.repo.Git("cat-file", "--batch-all-objects", "--batch", "--unordered"); strings.Contains(out, secret) {
		t.Error("the secret is in the repository again")
	}
}
