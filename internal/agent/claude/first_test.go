package claude

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/transcript"
)

func TestFirst(t *testing.T) {
	t.Parallel()
	const (
		prompt = `{"type":"user","uuid":"u","turnOrigin":"human","cwd":"/here","message":{"content":"go"}}` + "\n"
		noise  = `{"type":"mode","mode":"default"}` + "\n"
	)
	bulk := `{"type":"attachment","text":"` + strings.Repeat("x", 100<<10) + `"}` + "\n"
	for _, tt := range []struct {
		name, content string
		err           error
	}{
		{"at once", prompt, nil},
		{"after what the client notes", noise + bulk + bulk + prompt + bulk, nil},
		{"the second is another one", prompt + strings.ReplaceAll(prompt, `"u"`, `"v"`), nil},
		{"none", noise + bulk, transcript.ErrNoTurn},
		{"empty", "", transcript.ErrNoTurn},
		{"a torn line", prompt[:len(prompt)/2], transcript.ErrNoTurn},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		write(t, path, tt.content)
		got, err := transcript.First(Reader, path)
		if !errors.Is(err, tt.err) || err == nil && (got.UUID != "u" || got.Cwd != "/here" || got.Prompt != "go") {
			t.Errorf("%s: First = %+v, %v; want %v", tt.name, got, err, tt.err)
		}
	}
	if _, err := transcript.First(Reader, filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}
