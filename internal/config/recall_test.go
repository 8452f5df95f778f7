package config

import "testing"

// TestSetRecall: all else stays byte for byte.
func TestSetRecall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, want string }{
		{"no file", "", "[recall]\nedits = true\n"},
		{"others", "# mine\n[capture]\nexclude = [\"*.iso\"] # images", "# mine\n[capture]\nexclude = [\"*.iso\"] # images\n[recall]\nedits = true\n"},
		{"it is off", "[recall] # why\nedits = false\n[company]\ntell = false\n", "[recall] # why\nedits = true\n[company]\ntell = false\n"},
		{"it is on", "[recall]\n  edits = true # please\n", "[recall]\n  edits = true # please\n"},
		{"dotted", "recall.edits = false\n", "[recall]\nedits = true\n"},
	} {
		if got, err := SetRecall([]byte(tt.before)); err != nil || string(got) != tt.want {
			t.Errorf("%s: %v, %q; want %q", tt.name, err, got, tt.want)
		}
	}
	for _, before := range []string{"recall = 1\n", "x", "[[recall]]\n"} {
		if text, err := SetRecall([]byte(before)); err == nil {
			t.Errorf("%q became %q", before, text)
		}
	}
}
