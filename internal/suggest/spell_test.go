package suggest

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"init", "start", "record", "missions", "list", "show", "diff", "restore", "doctor"}
	for _, tt := range []struct{ word, want string }{
		{"lst", "list"},
		{"shwo", "show"},
		{"sho", "show"},
		{"mission", "missions"},
		{"dif", "diff"},
		{"doktor", "doctor"},
		{"list", "list"},
		{"push", ""},
		{"x", ""},
		{"", ""},
	} {
		if got := Nearest(tt.word, words); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := Nearest("list", nil); got != "" {
		t.Errorf("Nearest(%q, nil) = %q, want nothing", "list", got)
	}
}
