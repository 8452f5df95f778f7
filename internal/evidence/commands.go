package evidence

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/match"
)

// Patterns are the user's own checks by kind: patterns of whole normalised
// commands in which * stands for anything.
type Patterns map[Kind][]string

// kind returns what a command without its wrappers checks, "" for nothing.
func (p Patterns) kind(words []string) Kind {
	whole := strings.Join(words, " ")
	if kind := p.listed(whole); kind != "" {
		return kind
	}
	if slices.ContainsFunc(words[1:], func(w string) bool { return asks.has(w) }) {
		return ""
	}
	name, args := base(words[0]), words[1:]
	switch {
	case name == "go" && slices.Contains(args, "test") && (slices.ContainsFunc(args, func(w string) bool { return goLists.has(w) }) || noneRun().MatchString(whole)),
		slices.ContainsFunc(args, func(w string) bool {
			return flagged(name, w, "make gmake", "nqpt") || flagged(name, w, "gradle gradlew", "m")
		}):
		return ""
	case name == "cargo" && slices.Contains(args, "--no-run"):
		return Build
	case python(name):
		return pythonKind(args)
	case name == "node" || name == "deno" || name == "bun" || name == "tsx" || name == "ruby" || name == "perl":
		if kind := toolKind(name, args); kind != "" {
			return kind
		}
		return fileKind(args)
	}
	if kind := toolKind(name, args); kind != "" {
		return kind
	}
	if targets, ok := taskRunners()[name]; ok {
		return targetKind(name, args, targets)
	}
	if isPath(words[0]) {
		return named(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".sh"), ".bash"), ".py"), Test)
	}
	return ""
}

// listed returns the kind of a command that the user has a pattern for.
func (p Patterns) listed(whole string) Kind {
	for _, kind := range Kinds {
		if slices.ContainsFunc(p[kind], func(pattern string) bool { return match.Match(whole, pattern) }) {
			return kind
		}
	}
	return ""
}

// many reports whether a check is a script, which may run any number of others.
func (p Patterns) many(words []string) bool {
	name := base(words[0])
	return p.listed(strings.Join(words, " ")) != "" || isPath(words[0]) && toolKind(name, words[1:]) == "" && taskRunners()[name] == nil
}

// forgives reports whether a command is told to succeed whatever comes of it.
func forgives(words []string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return forgiving.has(w) || flagged(words[0], w, "make gmake", "i")
	})
}

// flagged reports whether a word of one of the programs has one of the flags.
func flagged(program, word, programs, flags string) bool {
	return slices.Contains(strings.Fields(programs), base(program)) && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, flags)
}

var forgiving = set("--if-present --ignore-errors --exit-zero --exit-code=0 --issues-exit-code=0 -fn --fail-never -Dmaven.test.failure.ignore -Dmaven.test.failure.ignore=true -DtestFailureIgnore=true")

func base(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func isPath(word string) bool { return strings.Contains(word, "/") }

// asks are options with which a tool tells something, and checks nothing.
var (
	asks    = set("--version --help -h --collect-only --co --listTests --list-tests --list --print-config --showConfig --init --dry-run --dryrun --just-print --setup-plan --fixtures --touch --question")
	goLists = set("-list -c -n")
)

// noneRun are arguments of go test by which only benchmarks run.
var noneRun = lazy(`-run[= ](\^?\$|\^\$|(?i:none|xxx))( |$)`)

// tools are commands by their first words.
var tools = sync.OnceValue(func() map[string]Kind {
	return table(map[Kind]string{
		Test: `pytest|py.test|nose2|nosetests|tox|nox|go test|gotestsum|ginkgo|richgo test|cargo test|cargo nextest run|cargo t|cargo miri test|cargo llvm-cov|
jest|vitest|mocha|ava|tap|jasmine|karma start|playwright test|cypress run|node --test|deno test|bun test|ng test|ng e2e|react-scripts test|vue-cli-service test:unit|wdio|c8|nyc|lab|uvu|
web-test-runner|wtr|phpunit|pest|codecept run|behat|rspec|cucumber|minitest|rails test|rails spec|rake|swift test|xcodebuild test|mix test|sbt test|lein test|stack test|cabal test|zig test|zig build test|
ctest|meson test|bazel test|bazelisk test|buck2 test|buck test|pants test|please test|plz test|flutter test|dart test|gleam test|elm-test|bats|busted|shellspec|prove|
dotnet test|vstest.console|nunit3-console|xunit.console|mvn test|mvn verify|mvn integration-test|ant test|artisan test|manage.py test|django-admin test|crystal spec|nim test|nimble test|
dub test|raco test|lua-test|robot|newman run|k6 run|terraform test|tofu test|helm unittest|opa test|conftest test|forge test|hardhat test|truffle test|anchor test|molecule test|kitchen test|rebar3 eunit|rebar3 ct|pub run test|hurl --test|twister`,
		Lint: `golangci-lint run|golangci-lint|go vet|staticcheck|revive|gofumpt|gofmt|goimports|eslint|prettier|biome check|biome lint|biome ci|oxlint|standard|xo|stylelint|tslint|ng lint|next lint|deno lint|
deno fmt|ruff check|ruff format|ruff|flake8|pylint|black|isort|bandit|pydocstyle|pycodestyle|yamllint|ansible-lint|cargo clippy|cargo fmt|rustfmt|rubocop|standardrb|reek|erb_lint|brakeman|
phpcs|php-cs-fixer|pint|phpmd|shellcheck|shfmt|hadolint|actionlint|markdownlint|markdownlint-cli2|mix credo|mix format|swiftlint|swift-format|ktlint|detekt|checkstyle|clang-tidy|clang-format|cppcheck|cpplint|
dart analyze|flutter analyze|dart format|tflint|terraform validate|terraform fmt|tofu validate|helm lint|buf lint|sqlfluff lint|pre-commit run|lefthook run|luacheck|stylua|scalafmt|scalafix|hlint|ormolu|nixfmt|statix check|deadnix|vale|proselint|codespell|
typos|cspell|commitlint|semgrep|trivy|gosec|govulncheck|mandoc|checkov|solhint|knip|depcheck|madge|xmllint|djlint|dotnet format`,
		Types: `tsc|vue-tsc|tsgo|mypy|pyright|basedpyright|pyre check|pytype|ty check|cargo check|cargo c|deno check|flow check|flow|svelte-check|astro check|phpstan|phpstan analyse|psalm|mix dialyzer|sorbet tc|srb tc|steep check|gleam check|glint`,
		Build: `go build|go install|cargo build|cargo b|npm pack|vite build|webpack|rollup|esbuild|parcel build|next build|nuxt build|astro build|ng build|react-scripts build|tsup|swift build|xcodebuild|xcodebuild build|mix compile|sbt compile|sbt assembly|
lein compile|lein uberjar|stack build|cabal build|zig build|cmake --build|ninja|meson compile|bazel build|bazelisk build|buck2 build|pants package|flutter build|dart compile|gleam build|elm make|dotnet build|dotnet publish|msbuild|mvn compile|mvn package|mvn install|ant|
docker build|docker buildx build|docker compose build|podman build|nix build|nix-build|gcc|g++|clang|clang++|javac|kotlinc|rustc|crystal build|nim c|nimble build|dub build|forge build|hardhat compile|latexmk|hugo|mkdocs build|sphinx-build|jekyll build`,
	})
})

// checkOnly are tools that check only with one of the options or words, and else
// change files.
var checkOnly = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"prettier": {"--check", "-c", "--list-different", "-l"}, "black": {"--check", "--diff"}, "isort": {"--check", "--check-only", "-c", "--diff"},
		"cargo fmt": {"--check"}, "ruff format": {"--check", "--diff"}, "gofmt": {"-l", "-d"}, "gofumpt": {"-l", "-d"}, "goimports": {"-l", "-d"},
		"rustfmt": {"--check"}, "clang-format": {"--dry-run", "-n", "--Werror"}, "terraform fmt": {"-check"}, "mix format": {"--check-formatted"}, "deno fmt": {"--check"},
		"shfmt": {"-d", "-l"}, "stylua": {"--check"}, "pint": {"--test"}, "php-cs-fixer": {"--dry-run"}, "dart format": {"--set-exit-if-changed"}, "scalafmt": {"--check", "--test"},
		"swift-format": {"lint"}, "dotnet format": {"--verify-no-changes"}, "nixfmt": {"--check", "-c"}, "mandoc": {"lint"}, "rake": {"test", "spec"}, "ormolu": {"check"}, "ruff": {"."},
	}
})

// table returns the kinds by the words of tools.
func table(kinds map[Kind]string) map[string]Kind {
	m := make(map[string]Kind)
	for kind, list := range kinds {
		for tool := range strings.SplitSeq(list, "|") {
			m[strings.TrimSpace(tool)] = kind
		}
	}
	return m
}

// toolKind looks a command up by its name and up to three words, without options:
// the longest that is known counts.
func toolKind(name string, args []string) Kind {
	key, found := name, ""
	if tools()[key] != "" {
		found = key
	}
	for i, n := 0, 0; i < len(args) && n < 3; i++ {
		if strings.HasPrefix(args[i], "-") && tools()[key+" "+args[i]] == "" {
			if valued.has(args[i]) {
				i++
			}
			continue
		}
		n++
		if key += " " + args[i]; tools()[key] != "" {
			found = key
		}
	}
	if only, ok := checkOnly()[found]; ok && !slices.ContainsFunc(args, func(a string) bool { return slices.Contains(only, a) }) {
		return ""
	}
	if name == "mvn" {
		return targetsOf(args, tools()[found])
	}
	return tools()[found]
}

// targetsOf returns the kind of Maven's words: tests that run on the way count.
func targetsOf(args []string, kind Kind) Kind {
	skip := slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "-DskipTests") || strings.HasPrefix(a, "-Dmaven.test.skip")
	})
	tests := slices.ContainsFunc(args, func(a string) bool { return a == "test" || a == "verify" || a == "package" || a == "install" })
	switch {
	case skip && kind == Test:
		return Build
	case !skip && tests:
		return Test
	}
	return kind
}

// valued are options whose value is the next word.
var valued = set("-C -f -F --prefix --filter --workspace -w --cwd --dir --project --manifest-path -pl -p --package -c --config --directory -n --name -k --env-file -m --module -e --env -u --user --file --profile --timeout -j --jobs --target-dir --features -S -s --session -x -v --volume --network --entrypoint --workdir --group --extra --with --python")

// taskRunners run what a project calls by a name; the words say behind what such
// a name comes.
var taskRunners = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"npm": {"run", "run-script", "rum"}, "pnpm": {"run", "run-script", ""}, "yarn": {"run", ""}, "bun": {"run"}, "deno": {"task"}, "composer": {"run", "run-script", ""}, "npm-run-all": {""}, "run-s": {""}, "run-p": {""},
		"make": {""}, "gmake": {""}, "just": {""}, "task": {""}, "go-task": {""}, "mage": {""}, "rake": {""}, "nx": {"run", "affected", "run-many", ""}, "turbo": {"run", ""}, "lerna": {"run"}, "rush": {""}, "moon": {"run", ""}, "wireit": {""},
		"gradle": {""}, "gradlew": {""}, "mvnw": {""}, "inv": {""}, "invoke": {""}, "poe": {""}, "hatch": {"run", ""}, "pdm": {"run", ""}, "mise": {"run", "r"}, "rtk": {""}, "lein": {""}, "bb": {""}, "grunt": {""}, "gulp": {""}, "cmake": {"--target"}, "ninja": {""}, "rails": {""}, "earthly": {""}, "dagger": {"call"}, "tox": {""}, "ant": {""}, "b": {""}, "x.py": {""}, "vp": {""},
	}
})

// several are task runners that take more than one name.
var several = set("make gmake ninja just task go-task rake gradle gradlew mvnw nx turbo run-s run-p npm-run-all")

// targetKind returns the kind of what a task runner is told to run: tests before
// all else.
func targetKind(name string, args, behind []string) Kind {
	var found Kind
	begun := slices.Contains(behind, "")
	any := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			i = len(args)
			continue
		case (a == "-t" || a == "--target" || a == "--targets") && i+1 < len(args):
			a, begun = args[i+1], true
			i++
		case strings.HasPrefix(a, "--target=") || strings.HasPrefix(a, "--targets="):
			_, a, _ = strings.Cut(a, "=")
			begun = true
		case strings.HasPrefix(a, "-"):
			if valued.has(a) {
				i++
			}
			continue
		case strings.Contains(a, "=") || a == "" || strings.Trim(a, "0123456789") == "":
			continue
		case slices.Contains(behind, a), name == "yarn" && (a == "workspaces" || a == "foreach"):
			begun = true
			continue
		case !begun && (name == "npm" || name == "bun") && (a == "test" || a == "t" || a == "tst") && !any:
			return Test
		}
		any = true
		if !begun {
			return ""
		}
		if name == "yarn" && a == "workspace" {
			i++
			continue
		}
		check := Lint
		if name == "make" || name == "gmake" || name == "ninja" || strings.HasPrefix(name, "gradle") || name == "ant" {
			check = Test
		}
		kind := named(a[strings.LastIndexByte(a, '/')+1:], check)
		if rank(kind) > rank(found) {
			found = kind
		}
		if !several.has(name) {
			break // the rest are words for what is run
		}
	}
	if !any && (name == "make" || name == "gmake" || name == "ninja") {
		return Build
	}
	return found
}

func rank(kind Kind) int { return len(Kinds) - slices.Index(append(slices.Clone(Kinds), ""), kind) }

// named returns the kind of a script or target by its name. check is what the
// name check means.
func named(name string, check Kind) Kind {
	pieces := strings.FieldsFunc(strings.ToLower(split(name)), func(r rune) bool { return strings.ContainsRune(":-_./ ", r) })
	if len(pieces) == 0 || slices.ContainsFunc(pieces, func(p string) bool { return prepares.has(p) }) {
		return ""
	}
	if len(pieces) > 1 && (pieces[0] == "type" && strings.HasPrefix(pieces[1], "check") || pieces[0] == "check" && strings.HasPrefix(pieces[1], "type")) {
		return Types
	}
	for _, piece := range []string{pieces[0], pieces[len(pieces)-1]} {
		if kind, ok := meanings()[piece]; ok {
			return kind
		}
	}
	if pieces[0] == "check" {
		return check
	}
	return ""
}

// split puts a dash between the words of a name in camel case.
func split(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String()
}

var meanings = sync.OnceValue(func() map[string]Kind {
	return map[string]Kind{
		"test": Test, "tests": Test, "unit": Test, "unittest": Test, "runtests": Test, "e2e": Test, "integration": Test, "spec": Test, "specs": Test, "jest": Test, "vitest": Test, "pytest": Test,
		"lint": Lint, "eslint": Lint, "vet": Lint, "clippy": Lint, "stylelint": Lint, "ruff": Lint, "golangci": Lint, "detekt": Lint, "ktlint": Lint,
		"build": Build, "compile": Build, "bundle": Build, "assemble": Build,
		"typecheck": Types, "types": Types, "tsc": Types, "mypy": Types, "pyright": Types,
	}
})

// prepares are words in names of what only gets a check ready, or tidies up.
var prepares = set("setup deps dep install clean fixtures fixture data up down init docs doc image env seed serve server dev list help generate gen db create logs open report coverage-report debug start stop pull push publish deploy release version bump tools update watch fix prepare")

func python(name string) bool {
	return strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") || name == "py"
}

func pythonKind(args []string) Kind {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-m" && i+1 < len(args):
			if args[i+1] == "unittest" {
				return Test
			}
			return toolKind(args[i+1], args[i+2:])
		case a == "-c":
			return ""
		case a == "-W" || a == "-X":
			i++
		case !strings.HasPrefix(a, "-"):
			if base(a) == "manage.py" || base(a) == "setup.py" {
				return toolKind("manage.py", args[i+1:])
			}
			return fileKind(args[i:])
		}
	}
	return ""
}

// fileKind tells whether an interpreter is given a file with tests.
func fileKind(args []string) Kind {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			if a == "-e" || a == "-c" {
				return ""
			}
			continue
		}
		name := base(a)
		stem, _, _ := strings.Cut(name, ".")
		if a == "artisan" || strings.HasSuffix(a, "/artisan") {
			return toolKind("artisan", args[1:])
		}
		if strings.HasPrefix(name, "test_") || strings.HasSuffix(stem, "_test") || strings.Contains(name, ".test.") || strings.Contains(name, ".spec.") ||
			stem == "test" || stem == "tests" || stem == "runtests" || stem == "run_tests" || strings.HasSuffix(stem, "_spec") {
			return Test
		}
		return ""
	}
	return ""
}

// A set is words with blanks between them. Nothing is made of it when a program
// starts, as every hook would pay for that.
type set string

func (s set) has(word string) bool {
	for w := range strings.FieldsSeq(string(s)) {
		if w == word {
			return true
		}
	}
	return false
}
