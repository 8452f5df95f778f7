package gittest

import "testing"

func TestPassedPattern(t *testing.T) {
	list := "gitagent/a TestOne\ngitagent/b TestOne\ngitagent/a TestTwo/the_first_(of_two)\n"
	for pkg, want := range map[string]string{
		"gitagent/a": `^TestOne$|^TestTwo$/^the_first_\(of_two\)$`,
		"gitagent/b": `^TestOne$`,
		"gitagent/c": "",
	} {
		if got := passedPattern(list, pkg); got != want {
			t.Errorf("of %s: %s, want %s", pkg, got, want)
		}
	}
}
