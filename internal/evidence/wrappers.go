package evidence

import (
	"slices"
	"strings"
	"sync"
)

// A wrapper is a command that runs another one, which its words say.
type wrapper struct {
	valued string // its options whose value is the next word
	skip   int    // words before the command
	until  string // the command is behind this word, if it is set
	host   bool   // the word before the command is another machine or container
	detach string // options with which the command goes on in the background
	loose  bool   // it may succeed where the command failed, or did not run
}

// detachable are the options that put a container in the background.
const detachable = "-d --detach"

// wrappers by their first words.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"env": {valued: "-u -C -S"}, "command": {}, "exec": {valued: "-a"}, "nohup": {}, "time": {valued: "-f -o"}, "sudo": {valued: "-u -g -C -D"}, "nice": {valued: "-n"}, "ionice": {valued: "-c -n"},
		"timeout": {valued: "-s -k --signal --kill-after", skip: 1}, "gtimeout": {valued: "-s -k", skip: 1}, "stdbuf": {valued: "-i -o -e"}, "setsid": {detach: "-f --fork"}, "unbuffer": {}, "caffeinate": {valued: "-t"},
		"xvfb-run": {valued: "-n -s"}, "taskset": {skip: 1, valued: "-c"}, "xargs": {valued: "-n -P -I -L -d -a -s", loose: true}, "builtin": {}, "rtk": {}, "strace": {valued: "-o -e"}, "faketime": {skip: 1}, "cross-env": {}, "dotenv": {valued: "-e -f"}, "noglob": {}, "chronic": {}, "retry": {valued: "-t"},

		"uv run": {valued: "--with --python -p --extra --group --project --directory --package --env-file"}, "uvx": {valued: "--from --with --python"}, "uv tool run": {valued: "--from --with"}, "poetry run": {valued: "-C"}, "pipenv run": {}, "pdm run": {valued: "-p"}, "rye run": {}, "hatch run": {valued: "-e"}, "pixi run": {valued: "-e"},
		"pipx run": {valued: "--spec"}, "conda run": {valued: "-n -p"}, "mamba run": {valued: "-n -p"}, "micromamba run": {valued: "-n -p"}, "bundle exec": {}, "bin/spring": {}, "spring": {},
		"npx": {valued: "-p --package -w --workspace"}, "bunx": {}, "bun x": {}, "pnpx": {}, "npm exec": {valued: "-w --workspace -p --package"}, "npm x": {}, "pnpm exec": {valued: "--filter -F"}, "pnpm dlx": {valued: "--package"}, "yarn exec": {}, "yarn dlx": {}, "corepack": {},
		"go run": {valued: "-C -tags -ldflags"}, "go tool": {}, "mise exec": {until: "--"}, "mise x": {until: "--"}, "asdf exec": {}, "direnv exec": {skip: 1}, "devbox run": {}, "nix develop": {until: "-c --command"}, "nix shell": {until: "-c --command"}, "nix-shell": {until: "--command --run"},
		"docker compose run": {valued: "-e -u -w -v -p --name --entrypoint --user --workdir --env", skip: 1, host: true, detach: detachable}, "docker compose exec": {valued: "-e -u -w --user --workdir --env --index", skip: 1, host: true, detach: detachable}, "docker-compose run": {valued: "-e -u -w -v --name --user --workdir", skip: 1, host: true, detach: detachable}, "docker-compose exec": {valued: "-e -u -w --user --workdir", skip: 1, host: true, detach: detachable},
		"docker run": {valued: "-e -u -w -v -p --name --network --entrypoint --user --workdir --volume --env --env-file --mount --platform -m --memory --cpus --pull", skip: 1, host: true, detach: detachable}, "docker exec": {valued: "-e -u -w --user --workdir --env", skip: 1, host: true, detach: detachable}, "podman run": {valued: "-e -u -w -v -p --name --network --user --workdir --volume --env", skip: 1, host: true, detach: detachable}, "podman exec": {valued: "-e -u -w", skip: 1, host: true, detach: detachable},
		"podman compose run": {valued: "-e -u -w -v", skip: 1, host: true, detach: detachable}, "nerdctl run": {valued: "-e -u -w -v --name", skip: 1, host: true, detach: detachable}, "kubectl exec": {until: "--"}, "ssh": {valued: "-i -p -o -l -F -J", skip: 1, host: true, detach: "-f"}, "doppler run": {until: "--"}, "op run": {until: "--"}, "infisical run": {until: "--"}, "dotenvx run": {until: "--"}, "ddev exec": {}, "lando": {}, "sail": {}, "vagrant ssh": {until: "-c"}, "script": {until: "-c -qc -qec -qefc", loose: true},
	}
})

// shells are given a script as a word.
var shells = set("bash sh zsh dash ash ksh fish")

// An inner is a command within another one.
type inner struct {
	words  []string
	script string // instead of words
	host   string // where it runs
	dirs   []string
	aside  bool // in the background
	loose  bool // see [wrapper]
}

// moves are options that say in which directory to work.
var moves = set("-C --directory --cwd --workdir -w --workspace --project --package")

// unwrapped returns the command within another one.
func unwrapped(words []string) (in inner, ok bool) {
	for len(words) > 0 && assigns(words[0]) {
		words, ok = words[1:], true
	}
	if ok {
		return inner{words: words}, true
	}
	if len(words) < 2 {
		return in, false
	}
	name := base(words[0])
	switch {
	case shells.has(name):
		return ofShell(words)
	case name == "eval":
		return inner{script: strings.Join(words[1:], " ")}, true
	case name == "command" && strings.EqualFold(words[1], "-v"):
		return in, false
	}
	w, n := wrapperOf(name, words)
	if n == 0 {
		return in, false
	}
	in.loose = w.loose
	rest := words[n:]
	if w.until != "" {
		i := slices.IndexFunc(rest, func(word string) bool { return slices.Contains(strings.Fields(w.until), word) })
		if i < 0 || i+1 == len(rest) {
			return in, false
		}
		flags := rest[i]
		if rest = rest[i+1:]; len(rest) == 1 || w.until != "--" && strings.Contains(rest[0], " ") || name == "script" {
			in.script, in.loose = rest[0], w.loose && !strings.Contains(flags, "e")
			return in, true
		}
		in.words = rest
		return in, true
	}
	values := strings.Fields(w.valued)
	for len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || assigns(rest[0])) {
		if rest[0] == "--" {
			rest = rest[1:]
			break
		}
		for _, option := range strings.Fields(w.detach) {
			short := len(option) == 2 && !strings.HasPrefix(rest[0], "--") && strings.Contains(rest[0], option[1:]) && !slices.Contains(values, rest[0])
			in.aside = in.aside || short || rest[0] == option
		}
		if slices.Contains(values, rest[0]) && len(rest) > 1 {
			if moves.has(rest[0]) {
				in.dirs = append(in.dirs, rest[1])
			}
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) <= w.skip {
		return in, false
	}
	if w.host {
		in.host = rest[w.skip-1]
	}
	rest = rest[w.skip:]
	if len(rest) == 1 && strings.Contains(rest[0], " ") {
		in.script = rest[0]
		return in, true
	}
	in.words = slices.Clone(rest)
	in.words[0] = versionless(rest[0])
	return in, true
}

// wrapperOf returns the wrapper with the most words, options between them aside,
// and how many words it takes.
func wrapperOf(name string, words []string) (found wrapper, n int) {
	key := name
	for i := 1; ; i++ {
		if w, ok := wrappers()[key]; ok {
			found, n = w, i
		}
		if i >= len(words) || i > 5 {
			return found, n
		}
		for i < len(words)-1 && strings.HasPrefix(words[i], "-") && n == 0 {
			if valued.has(words[i]) {
				i++
			}
			i++
		}
		if i >= len(words) {
			return found, n
		}
		key += " " + words[i]
	}
}

func ofShell(words []string) (in inner, ok bool) {
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-o" || w == "+o":
			i++
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c"):
			if i+1 < len(words) {
				return inner{script: words[i+1]}, true
			}
			return in, false
		case strings.HasPrefix(w, "-"):
		default:
			if isPath(w) {
				return inner{words: words[i:]}, true
			}
			return inner{words: append([]string{"./" + w}, words[i+1:]...)}, true
		}
	}
	return in, false
}

// versionless drops the version of a program that is named as a package:
// eslint@9, honnef.co/go/tools/cmd/staticcheck@v0.8.2.
func versionless(word string) string {
	if at := strings.LastIndexByte(word, '@'); at > 0 {
		return word[:at]
	}
	return word
}

func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func isTimeout(word string) bool { return base(word) == "timeout" || base(word) == "gtimeout" }
