package recorder

import (
	"path/filepath"
	"strings"

	"gitagent/hooks"
)

// Named returns the absolute paths that calls name, which an agent made in the
// directory cwd: those of tools, and of a shell's commands the directories that
// they enter, and the words that look like paths. home is the user's directory,
// or "". It looks at no file.
func Named(cwd, home string, calls []hooks.Call) (names []string) {
	seen := make(map[string]bool)
	add := func(dir, name string) {
		if name = filepath.Clean(absolute(dir, expand(name, home))); !seen[name] && len(names) < maxWords {
			seen[name] = true
			names = append(names, name)
		}
	}
	add("", cwd)
	for _, call := range calls {
		for _, name := range call.Paths {
			add(cwd, name)
		}
		parts, _, _ := parseShell(call.Command)
		dir := cwd
		for _, p := range parts {
			words := p.words
			for len(words) > 0 && (wrappers.has(words[0].text) || assignment(words[0])) {
				words = words[1:]
			}
			if len(words) > 1 && (words[0].text == "cd" || words[0].text == "pushd") {
				if name := words[1].path(); name != "" && name != "-" {
					add(dir, name)
					dir = absolute(dir, expand(name, home))
				}
				continue
			}
			at := dir
			for i, w := range words {
				if i > 0 && words[0].text == "git" && words[i-1].text == "-C" {
					if name := w.path(); name != "" {
						add(at, name)
						at = absolute(at, expand(name, home))
					}
				} else if name := w.path(); strings.Contains(name, "/") || name == ".." {
					add(at, name)
				}
			}
			for _, w := range p.targets {
				if name := w.path(); name != "" {
					add(dir, name)
				}
			}
		}
	}
	return names
}

func expand(name, home string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return name
}

// path returns the part of a word that may be a path, "" for none: behind an
// option's name, and up to what the shell makes something else of.
func (w word) path() string {
	text := w.text
	if strings.HasPrefix(text, "-") && len(text) > 1 {
		_, text, _ = strings.Cut(text, "=")
	}
	if strings.ContainsRune(text, 0) || strings.Contains(text, "://") {
		return ""
	}
	if i := strings.IndexAny(text, "*?[{$`"); w.open && i >= 0 {
		text = text[:strings.LastIndexByte(text[:i], '/')+1]
	}
	return text
}
