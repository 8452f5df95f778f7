package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
)

// displaysNotes tells, with a remedy, if git log shows our notes beside the
// user's, though they are JSON for programs.
func displaysNotes(ctx context.Context, repo *git.Repo, conf git.Config) (text, remedy string) {
	if list, ok := os.LookupEnv("GIT_NOTES_DISPLAY_REF"); ok { // instead of the configuration
		if slices.ContainsFunc(strings.Split(list, ":"), displaysOurs) {
			return fmt.Sprintf(displayed, "GIT_NOTES_DISPLAY_REF="+list), "export GIT_NOTES_DISPLAY_REF='" + others + "'"
		}
		return "", ""
	}
	const key = "notes.displayRef"
	for _, value := range conf[strings.ToLower(key)] {
		if !displaysOurs(value) {
			continue
		}
		text = fmt.Sprintf(displayed, key+"="+value)
		if scope := scopeOf(ctx, repo, key); scope != "" {
			remedy = cmdline.Shell([]string{"git", "config", "--" + scope, "--fixed-value", "--replace-all", key, others, value})
		}
		return text, remedy
	}
	return "", ""
}

const displayed = "%s shows the notes of missions, which are JSON, in git log"

// others are the notes that begin with another letter than ours: git has no
// pattern for all but some, and shows refs/notes/commits anyway.
const others = "refs/notes/[!a]*"

// displaysOurs reports whether git shows our notes for a pattern that is not
// about them alone. For git a "*" matches a "/", too.
func displaysOurs(pattern string) bool {
	ours := record.ID("").NotesRef()
	if !strings.HasPrefix(pattern, "refs/") {
		pattern = "refs/" + pattern
	}
	if !strings.ContainsAny(pattern, "*?[") || strings.HasPrefix(pattern, ours) {
		return false
	}
	plain := strings.NewReplacer("/", "\x01", "[!", "[^").Replace
	matches, err := path.Match(plain(pattern), plain(ours+"0"))
	return err == nil && matches
}
