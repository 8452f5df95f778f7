package handoffstore

import (
	"errors"
	"strings"
	"testing"
)

func TestReadDocument(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	for _, tt := range []struct {
		name, text, want string
		truncated        bool
		err              error
	}{
		{"text", "# State\n", "# State\n", false, nil},
		{"no last newline", "# State", "# State\n", false, nil},
		{"not UTF-8", "a\xffb\n", "a\ufffdb\n", false, nil},
		{"empty", "", "", false, ErrEmpty},
		{"blank", " \n\t\r\n\u00a0", "", false, ErrEmpty},
		{"much", strings.Repeat(line, 20_000), strings.Repeat(line, MaxDocument/100), true, nil},
	} {
		d, err := ReadDocument(nil, strings.NewReader(tt.text), "d")
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.err)
		}
		if err == nil && (string(d.Text) != tt.want || d.Truncated != tt.truncated) {
			t.Errorf("%s: %d bytes, truncated %t; want %d, %t", tt.name, len(d.Text), d.Truncated, len(tt.want), tt.truncated)
		}
	}
	for name, text := range map[string]string{"binary": "a\x00b", "one endless line": strings.Repeat("x", MaxDocument+1)} {
		if _, err := ReadDocument(nil, strings.NewReader(text), "d"); err == nil || errors.Is(err, ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
	}
	token := "gh" + "p_" + strings.Repeat("A1b2C3d4", 4) + "E5f6"
	if d, err := ReadDocument(nil, strings.NewReader("the token is "+token), "d"); err != nil || strings.Contains(string(d.Text), token) {
		t.Errorf("a secret stays: %s, %v", d.Text, err)
	}
}
