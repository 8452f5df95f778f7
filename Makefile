# Build, test and install git-agent.
# Every line is one that a person could type.

# What a start costs: the tag leaves out a generator of manual pages (0.4 ms), no cgo means no dynamic linker (0.5 ms).
TAGS = urfave_cli_no_docs
FUZZTIME = 30s
KILLS = 2000
STEPS = 2000
# Another git than the one in PATH for make matrix, by the directory that has it, and the formats of its repositories:
# make matrix GIT=~/.cache/git-newest/bin REFS=reftable HASH=sha256
GIT =
REFS = files
HASH = sha1
# What of the matrix takes longest, too: WHOLE=yes
WHOLE =

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -tags $(TAGS) -o bin/ ./cmd/...

# What people run: rules and formats, and each command's and each hook event's way through git.
test:
	go run ./test/rings test

# Everything that a change must pass, besides make test: STAGE=<name> runs one stage.
check:
	go run ./test/rings check $(STAGE)

# The long forms: more kills, clones, rounds and sizes, and every client.
nightly:
	go run ./test/rings nightly $(STAGE)

MATRIX = go test -count=1 -timeout 0 -vet=off
# Of turns, missions, remotes, blame and the commands.
MATRIX_RUNS = \
	^Test(Attached|OperationsBetweenTurns|StopsAtOnce|SessionsAtOnce|OneMissionAtOnce|ArchiveAtOnce|LeftByTheDead|KilledPlanting)$$ \
	^Test(MigrateRefs|TablesLocked|ForkGoesOn|ForkPlaces|ForkOfStranger|Restore|FinishGoesOn|FinishStranger|TakePicks|Adopt|UndoComplete|Import|GarbageCollected)$$ \
	^Test(ThereAndBack|PushArchive|TwoPurges|HeldStays|Hosts|Branches|Variants)$$ \
	^TestScripts$$/^(archive|archive-kept|blame|first-turn|hook|hooks-configured|housekeep|init|moved-keepers|moved-refs|purge|purge-cut-off|purge-everywhere|push|record|refs-elsewhere|restore|start|submodule|why)$$ \
	^TestScripts$$/^(fork|several|adopt|include|restore|write)$$ \
	$(if $(WHOLE),^Test(ArchiveRace|HeldOneByOne|PurgesAtOnce)$$ ^TestScripts$$/^(purge-alias|purge-held|purge-returned|purge-share)$$)

# What depends on git, its ref format and its hash, in some minutes: refs, packs, notes, locks, worktrees, transport.
matrix: export PATH := $(if $(GIT),$(GIT):)$(PATH)
matrix: export GIT_DEFAULT_REF_FORMAT = $(REFS)
matrix: export GIT_DEFAULT_HASH = $(HASH)
matrix: export GIT_AGENT_TESTS = check
matrix:
	git version
	$(MATRIX) ./internal/ledger ./internal/objectpurge ./test/format ./test/settings
	$(MATRIX) ./internal/git ./gitnotes -run 'Refs|Lock|Tables|Operation|RollUp|OldPacks|Worktree|Flush|EveryTree|Merge|Foreign'
	$(MATRIX) $(addprefix ./internal/,recorder missionstore checkout finisher fetcher pusher blame) ./cmd/... -run '$(subst $() ,|,$(strip $(MATRIX_RUNS)))'
	$(MATRIX) ./test/kill -run '^TestKills$$' -kills $(if $(WHOLE),10,5)

# Record, list, show and diff a session in a throw-away repository.
demo: build
	PATH="$$PWD/bin:$$PATH" git agent-turn demo

lint:
	files=$$(go run mvdan.cc/gofumpt@v0.12.0 -l .) && echo "$$files" | { ! grep .; }
	go vet -tags lint,e2e ./...
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 -tags lint,e2e ./...
	shellcheck .ci/run .ci/git-newest .ci/tmux-newest $$(git ls-files '*.sh' '*.bash')
	mandoc -T lint -W warning docs/*.1
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 docs/ci/github.yml
	dir=$$(mktemp -d) && cp docs/ci/gitlab.yml "$$dir/.gitlab-ci.yml" && (cd "$$dir" && npx --yes gitlab-ci-local@4.61.1 --list) >/dev/null && rm -r "$$dir"
	go test -count=1 -tags lint ./test/lint

# How many names, lines and returns the code asks of one who takes it over: HOUSE='-top 20' names the largest, and
# HOUSE='-walk stop' the files of a walk.
house:
	go run ./test/house $(HOUSE)

cover:
	go test -coverprofile=cover.out -coverpkg=./... ./...
	go tool cover -func=cover.out | tail -n 1

# Figures, not tests: the hooks against what they replace, and with BEFORE, a directory of older programs, against those.
# CASES='^list$$' measures fewer, N=3 less often.
bench:
	CGO_ENABLED=0 go run -tags $(TAGS) ./test/bench $(if $(BEFORE),-before '$(BEFORE)') $(if $(N),-n $(N)) $(if $(CASES),-run '$(CASES)')

# How the cost grows, here and in the older programs of the directory BEFORE, into docs/growth.svg; hours. CURVES='^list$$'
# measures fewer of them, and leaves the others in the picture.
plot:
	CGO_ENABLED=0 go run -tags $(TAGS) ./test/bench -plot docs/growth.svg -before '$(BEFORE)' -n $(or $(N),5) -run '$(CURVES)'

# 100,000 missions, live and archived, and what 1,000 agents do to a host; MISSIONS=<number> for fewer.
bench-missions:
	CGO_ENABLED=0 go run -tags $(TAGS) ./test/bench -run '^missions$$' -missions $(or $(MISSIONS),100000)

# What only the real clients can show, against a mock of their services; it installs the clients.
e2e:
	GIT_AGENT_TESTS=check go test -tags e2e -count=1 -timeout 0 ./test/e2e/...

# The newest of each client from the registry: all tests with them, and what they write that no test data of ours has.
# RUN=<pattern> runs fewer tests.
clients:
	go run ./test/clients $(if $(RUN),-run '$(RUN)')

# Kill every command at every moment; SEED=<number> draws the moments of an earlier run.
kills:
	GIT_AGENT_TESTS=nightly go test -count=1 -timeout 0 -v ./test/kill -kills $(KILLS) $(SEED:%=-seed %)

# Let the user's git, another user and settings do what they may between events and during them, with the git and in the
# formats of make matrix; SEED=<number> draws the steps of an earlier run.
neighbours: export PATH := $(if $(GIT),$(GIT):)$(PATH)
neighbours: export GIT_DEFAULT_REF_FORMAT = $(REFS)
neighbours: export GIT_DEFAULT_HASH = $(HASH)
neighbours:
	git version
	GIT_AGENT_TESTS=nightly go test -count=1 -timeout 0 -v ./test/neighbours -steps $(STEPS) $(SEED:%=-seed %)

# Let every write of a Stop hook fail.
faults:
	GIT_AGENT_TESTS=nightly go test -count=1 -timeout 0 -v ./test/fault -every 1

# 300 untrusted ledgers, made to do harm. See test/hostile.
hostile:
	GIT_AGENT_TESTS=nightly go test -count=1 -timeout 0 -v ./test/hostile -ledgers 300 $(SEED:%=-seed %)

# 3,000 invocations of the older programs in the directory BEFORE and of this source's, in equal repositories: what differs.
same:
	GIT_AGENT_TESTS=check go test -count=1 -timeout 0 -v ./test/same -before '$(BEFORE)' $(SEED:%=-seed %)

# How many of N changes in the product, drawn by SEED, fail a test. It may remove files: in a worktree of its own.
mutants:
	go run ./test/mutants -seed $(or $(SEED),1) -n $(or $(N),80)

# The other platforms, compiled; make lint looks at their types alone.
cross:
	GOOS=darwin go vet ./...
	GOOS=darwin go build -o /dev/null ./cmd/...
	GOOS=windows go vet ./...
	GOOS=windows go build -o /dev/null ./cmd/...

# Every fuzz test in turn.
fuzz:
	grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r name; do \
			echo "$$name in $$file"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$(dirname "$$file")" || exit 1; \
		done || exit 1; \
	done

# What a release consists of, from HEAD, in dist/. ONLY=linux/amd64 makes less. RELEASE_KEY=<file> signs it. SITE and
# MAINTAINER are in the packages: who builds a release again needs the same.
SITE = https://example.invalid/git-agent
MAINTAINER = git-agent <git-agent@example.invalid>
dist:
	rm -rf dist
	umask 022 && go run ./release -site '$(SITE)' -maintainer '$(MAINTAINER)' $(ONLY:%=-only %) $(RELEASE_KEY:%=-key %)

# PREFIX and DESTDIR as in install.sh.
install:
	./install.sh

uninstall:
	./install.sh --uninstall

clean:
	rm -rf bin dist cover.out

.PHONY: build dist test check nightly matrix demo lint house cover bench plot bench-missions e2e clients kills neighbours faults hostile same mutants cross fuzz install uninstall clean
