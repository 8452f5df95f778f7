//go:build unix

package same

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A place is a home directory in which walks are taken.
type place struct {
	name   string
	kept   string   // where the one lies that both builds get copies of
	dirs   []string // to stand in, below the home directory
	known  vocabulary
	before [2]map[string][]string // tips of all refs, by repository

	missions []string // ids
	files    []string // below the first of the directories
	revs     []string
}

// prelude has what the scripts of all places call. A turn is one of Claude Code's, with its hooks and its transcript.
const prelude = `
projects=$HOME/.claude/projects
said=${said-0} prompt=${prompt-0} stood=
stand() {
	test "$stood" = "$PWD" || { stood=$PWD; d=$projects/$(echo "$PWD" | tr -c 'A-Za-z0-9\n' -); mkdir -p $d; }
	s=5b603d06-0000-4000-8000-0000$1
}
payload() { # <program> <id> <event> [<fields>]
	stand $2
	CLAUDE_PID=4194000 git-agent-$1 hook >/dev/null <<-end
	{"session_id":"$s","transcript_path":"$d/$s.jsonl","cwd":"$PWD","hook_event_name":"$3","permission_mode":"default"$4}
	end
}
said() { # <id> <fields>
	stand $1; parent=null; test ! -s $d/$s.jsonl || parent=$(printf '"%08d-0000-4000-8000-00000000000a"' $said); said=$((said+1))
	printf '{"parentUuid":%s,"isSidechain":false,"uuid":"%08d-0000-4000-8000-00000000000a","timestamp":"2026-11-20T12:%02d:%02d.000Z","cwd":"%s","sessionId":"%s","version":"2.1.329","promptId":"p%s",%s}\n' \
		"$parent" $said $((said/60%60)) $((said%60)) "$PWD" $s $prompt "$2" >>$d/$s.jsonl
}
model() { # <id> <content> <stop>
	said $1 '"type":"assistant","requestId":"r'$prompt'","message":{"id":"m'$prompt$3'","type":"message","role":"assistant","model":"claude-opus-4-8","stop_reason":"'$3'","content":['"$2"'],"usage":{"input_tokens":100,"cache_creation_input_tokens":20,"cache_read_input_tokens":3000,"output_tokens":7}}'
}
turn() { # <id> <prompt> <what it does> [<reply>]
	prompt=$((prompt+1))
	payload turn $1 UserPromptSubmit ',"prompt_id":"p'$prompt'","prompt":"'"$2"'"'
	said $1 '"type":"user","message":{"role":"user","content":"'"$2"'"}'
	eval "$3"
	model $1 '{"type":"tool_use","id":"t'$prompt'","name":"Bash","input":{"command":"make test"}}' tool_use
	said $1 '"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t'$prompt'","content":"ok  '"$2"'","is_error":false}]},"toolUseResult":{"stdout":"ok"}'
	payload handoff $1 PostToolBatch ',"prompt_id":"p'$prompt'","tool_calls":[{"tool_name":"Bash","tool_use_id":"t'$prompt'","tool_input":{"command":"make test"},"tool_response":"ok"}]'
	model $1 '{"type":"text","text":"'"${4-done: $2}"'"}' end_turn
	payload turn $1 Stop ',"prompt_id":"p'$prompt'","stop_hook_active":false,"last_assistant_message":"'"${4-done: $2}"'","background_tasks":[],"session_crons":[]'
}
ends() { payload turn $1 SessionEnd ',"reason":"other"'; }
mkdir -p $HOME/.claude
`

// work is a repository in which much has been recorded: turns with commits of the user's between them, missions with branches,
// forks and forks of forks, an adoption, a finish, handoffs, linked worktrees, a host and a clone.
const work = `
git init -q -b main repo; cd repo
mkdir -p src 'odd dir'; seq -f 'line %g' 40 >a.txt; seq 20 >b.txt; printf 'x\0y\n' >bin; printf '*.ignored\nbuild/\n' >.gitignore
seq -f 'func f%g() {}' 12 >src/main.go; echo ü >'odd dir/ünï "q".txt'; ln -s a.txt link
git add .; git commit -qm first
git agent-turn init --agent claude >/dev/null
turn a1b2c3d4 'Fix the login form' 'sed -i "s/^line 3$/line three/" a.txt; echo new >new.txt'
turn a1b2c3d4 'Say what is wrong' 'sed -i "s/^line 5$/line five/" a.txt' 'The error says it; flibbertigibbet.'
git add -A; git commit -qm 'take up the login form'
turn a1b2c3d4 'Count the attempts' 'printf "func g() {}\n" >>src/main.go; git mv b.txt c.txt; touch x.ignored'
turn a1b2c3d4 'Say nothing' ''
git commit -qam 'by hand and by turn'; git tag v1
echo hand >>a.txt; git commit -qam 'by hand'
turn 0000beef 'Look at ünï' 'cat "odd dir/ünï \"q\".txt" >>src/main.go'
ends 0000beef
git agent-turn start --title 'with a branch' >$HOME/started
turn 00c0ffee 'On a branch' 'echo branch >branch.txt'
turn 00c0ffee 'On a branch again' 'echo again >>branch.txt; git rm -q --cached bin; rm bin'
ends 00c0ffee
git checkout -q -f main; git clean -qfd
git checkout -q -b side; echo side >side.txt; git add .; git commit -qm 'on the side'; git checkout -q main; git merge -q --no-ff -m merged side
git agent-fork --no-conversation --worktree ../f1 a1b2c3d4/2 >/dev/null
cd ../f1; turn 11111111 'Another way' 'sed -i "s/^line 8$/line eight/" a.txt; echo one >f1.txt'; turn 11111111 'and on' 'echo two >>f1.txt'; ends 11111111
 git agent-fork --no-conversation --worktree ../f2 1 >/dev/null
cd ../f2; turn 22222222 'A fork of a fork' 'echo f2 >f2.txt'; cd ../repo
git agent-fork --title 'third' --no-worktree a1b2c3d4/2 >/dev/null
git agent-fork adopt $(basename $(git -C ../f2 symbolic-ref HEAD)) >/dev/null || :
printf 'what is next:\n- the form in a.txt\n' | git agent-handoff write - >/dev/null
git agent-handoff write --exit-type crash --mission a1b2c3d4 >/dev/null || :
git add -A; git commit -qm 'adopted'
git agent-turn restore 1 >/dev/null; git agent-turn undo >/dev/null
git worktree add -q ../linked -b linked; cd ../linked; turn 33333333 'In a linked worktree' 'echo linked >linked.txt'; cd ../repo
echo unsaved >>a.txt
git init -q --bare -b main ../up.git; git remote add origin $HOME/up.git; git push -q origin main side
git config agent.$HOME/up.git.push all; git agent-turn push origin >/dev/null 2>&1
cd ..; git clone -q up.git clone; cd clone; git agent-turn init --agent claude >/dev/null; git agent-turn fetch >/dev/null 2>&1
`

// A making is how a place comes to be.
type making struct {
	env    []string
	script string
	then   func(p *making, home string, env []string, dir string) // may be nil
	dirs   []string
}

var makings = map[string]making{
	"work":   {script: work, dirs: []string{"repo", "repo", "repo", "repo/src", "f1", "f2", "linked", "clone", "up.git", "repo/.git", "."}},
	"sha256": {script: work, env: []string{"GIT_DEFAULT_HASH=sha256"}, dirs: []string{"repo", "repo", "f1", "linked", "clone"}},
	"kept": {script: work + `
cd $HOME/repo
turn 44444444 'Log in with hunter2-secret' 'echo hunter2-secret >>a.txt'; turn 44444444 'And out' 'echo out >out.txt'; ends 44444444
turn 55555555 'Throw this away' 'echo away >away.txt'; ends 55555555
turn 66666666 'One more with hunter2-secret' 'echo more >more.txt'; ends 66666666
git agent-turn archive 66666666 >/dev/null || :
printf hunter2-secret | git agent-turn purge --fixed --yes >/dev/null || :
git agent-turn purge --turn 44444444/2 --yes >/dev/null || :
git agent-turn purge --mission 55555555 --yes >/dev/null || :
turn a1b2c3d4 'After the purge' 'echo after >>a.txt'
git agent-turn archive 0000beef 11111111 >/dev/null || :
git agent-turn push origin >/dev/null 2>&1 || :
git gc -q
`, dirs: []string{"repo", "repo", "f1", "linked", "clone"}},
	"damaged": {script: work, then: damage, dirs: []string{"repo", "repo", "f1", "linked"}},
	"strange": {script: work + `
cd $HOME; git clone -q up.git theirs; cd theirs
export XDG_CONFIG_HOME=$HOME/colleague/.config
git agent-turn init --agent claude >/dev/null; git config agent.$HOME/up.git.push all
turn b2c3d4e5 'Let users log out' 'echo logout >logout.go'; turn b2c3d4e5 'and in' 'echo login >>logout.go'; ends b2c3d4e5
turn c3d4e5f6 'Something \u001b[31mred\u202e and long, in two\nlines' 'echo red >red.go'
printf 'their handoff\n' | git agent-handoff write - >/dev/null
turn e5f6a7b8 'To be accepted' 'echo yes >yes.go'; ends e5f6a7b8
git agent-turn fetch >/dev/null 2>&1
git agent-fork --no-conversation --no-worktree b2c3d4e5/1 >/dev/null
git agent-turn push origin >/dev/null 2>&1
git commit -q --allow-empty -m theirs
unset XDG_CONFIG_HOME
cd $HOME/repo; git agent-turn fetch >/dev/null 2>&1; git config merge.x y
git fetch -q $HOME/theirs main; git merge -q --no-edit FETCH_HEAD >/dev/null 2>&1 || git merge --abort
`, then: accept, dirs: []string{"repo", "repo", "repo", "clone", "theirs", "linked"}},
	"odd": {script: `
mkdir none empty; git init -q -b main empty; (cd empty; git agent-turn init --agent claude >/dev/null)
` + strings.ReplaceAll(work, "cd ..; git clone -q up.git clone", "cd ..; git clone -q up.git clone; git clone -q --mirror repo bare.git") + `
cd $HOME; git init -q -b main lib; (cd lib; echo one >lib.txt; git add .; git commit -qm lib)
git init -q -b main super; cd super; echo s >s.txt; git -c protocol.file.allow=always submodule --quiet add $HOME/lib lib; git add .; git commit -qm super
git agent-turn init --agent claude >/dev/null; turn 77777777 'With a submodule' 'echo two >>lib/lib.txt; echo t >>s.txt'
cd lib; git agent-turn init --agent claude >/dev/null; turn 88888888 'In the submodule' 'echo three >>lib.txt'; cd ..
cd $HOME; git clone -q repo detached 2>/dev/null; cd detached; git checkout -q --detach HEAD~1; git agent-turn init --agent claude >/dev/null; turn 99999999 'On no branch' 'echo d >d.txt'
cd $HOME; mkdir off; git init -q -b main off; cd off; echo o >o.txt; git add .; git commit -qm off
git agent-turn record --mission 0000000a --prompt 'by hand' --reply 'in a repository that is off' >/dev/null || :
`, dirs: []string{"none", "empty", "bare.git", "super", "super/lib", "detached", "off", "repo/.git/refs", "/"}},
	"agents": {script: `
git init -q -b main repo; cd repo; echo a >a.txt; git add .; git commit -qm first; git agent-turn init --agent claude --agent codex >/dev/null 2>&1
n=10
for file in $SOURCE/internal/agent/*/testdata/*.jsonl $SOURCE/testdata/transcripts/*.jsonl; do
	agent=$(basename $(dirname $(dirname $file))); case $agent in gitagent|testdata|compare) agent=claude;; esac
	n=$((n+1)); echo $n >>a.txt
	git agent-turn record --agent $agent --session 5b603d06-0000-4000-8000-0000abcdef$n --transcript $file --prompt "as $agent says" --reply "$n" >/dev/null 2>&1 || :
	test $((n%5)) -gt 0 || git commit -qam $n
done
for file in $SOURCE/testdata/transcripts/*.jsonl; do
	d=$projects/$(pwd | tr -c 'A-Za-z0-9\n' -); mkdir -p $d; sed 's|"cwd":"[^"]*"|"cwd":"'$(pwd)'"|g' $file >$d/$(basename $file)
done
`, dirs: []string{"repo"}},
	"many": {script: `
git init -q -b main repo; cd repo; for i in $(seq 30); do echo $i >f$i.txt; done; git add .; git commit -qm first
git agent-turn init --agent claude >/dev/null
`, then: many, dirs: []string{"repo", "repo", "lone"}},
}

// placeNames has the places in the order in which walks are taken in them: those first that have most in them.
var placeNames = []string{"work", "strange", "kept", "many", "work", "sha256", "odd", "damaged", "agents"}

// place makes a place, or finds it. The older build makes it.
func (a *arena) place(name string) *place {
	if p := a.places[name]; p != nil {
		return p
	}
	m := makings[name]
	p := &place{name: name, kept: filepath.Join(a.top, "kept-"+name), dirs: m.dirs}
	source, err := filepath.Abs("../..")
	gittest.Must(a.t, err)
	a.on(0, func() {
		gittest.Must(a.t, os.RemoveAll(a.home()))
		gittest.Must(a.t, os.MkdirAll(filepath.Join(a.live, "tmp"), 0o777))
		gittest.Must(a.t, os.Mkdir(a.home(), 0o777))
		env := append(append(a.env(a.home()), "SOURCE="+source), m.env...)
		gittest.Key(filepath.Join(a.home(), "colleague"), "colleague")
		a.must(a.home(), env, "sh", "-ex", "-c", prelude+m.script)
		if m.then != nil {
			m.then(&m, a.home(), env, filepath.Join(a.home(), "repo"))
		}
		a.learn(p, env)
		gittest.Must(a.t, os.Rename(a.home(), p.kept))
	})
	a.places[name] = p
	return p
}

// learn finds out what can be named in a place.
func (a *arena) learn(p *place, env []string) {
	dir := filepath.Join(a.home(), p.dirs[0])
	s := a.look(env, nil)
	p.before[0], p.before[1] = s.tips, s.tips
	p.known = a.vocabulary(env, s)
	for _, dir := range s.repositories {
		for line := range strings.Lines(a.run(dir, env, "", "git", "for-each-ref", "--format=%(refname)", "refs/agent/missions").stdout) {
			p.missions = append(p.missions, strings.TrimPrefix(strings.TrimSpace(line), "refs/agent/missions/"))
		}
	}
	for line := range strings.Lines(a.run(dir, env, "", "git-agent-turn", "missions", "--archived", "--json").stdout) {
		if _, rest, ok := strings.Cut(line, `"mission":"`); ok {
			id, _, _ := strings.Cut(rest, `"`)
			p.missions = append(p.missions, id)
		}
	}
	slices.Sort(p.missions)
	p.missions = slices.Compact(p.missions)
	p.files = strings.FieldsFunc(a.run(dir, env, "", "git", "ls-files", "-z").stdout, func(r rune) bool { return r == 0 })
	p.revs = append(strings.Fields(a.run(dir, env, "", "git", "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags").stdout),
		strings.Fields(a.run(dir, env, "", "git", "rev-list", "-n", "12", "--abbrev-commit", "--all").stdout)...)
}

// accept trusts a key and accepts a mission, as a person does on a terminal.
func accept(_ *making, home string, _ []string, dir string) {
	ctx := context.Background()
	keys := trust.ReadKeys(filepath.Join(home, ".config", "git-agent"), "")
	_ = keys
	repo, err := git.Find(dir)
	check(err)
	w := workspace.New(repo, config.Default())
	refs, err := repo.Refs(ctx, record.ID("e5f6a7b8").Ref())
	check(err)
	check(w.Trust.Accept(refs[record.ID("e5f6a7b8").Ref()], "e5f6a7b8"))
}

// damage damages the records of some missions, and loses objects of others.
func damage(_ *making, home string, env []string, dir string) {
	script := `
plant() { # <mission> <path> <content>
	export GIT_INDEX_FILE=$HOME/index; git read-tree refs/agent/missions/$1
	if test "$3" = -; then git rm -q --cached "$2"; else git update-index --add --cacheinfo 100644,$(printf "$3" | git hash-object -w --stdin),"$2"; fi
	git update-ref refs/agent/missions/$1 $(git commit-tree -m "turn 1" -p refs/agent/missions/$1 $(git write-tree)); unset GIT_INDEX_FILE; rm $HOME/index
}
plant 0000beef turns/0000/000001.json '{"v":1,"kind":"turn","mission":"0000beef","turn":1,'
fork=$(basename $(git -C ../f1 symbolic-ref HEAD))
plant $fork mission.json '{"v":2,"id":"'$fork'","created":"2026-11-20T12:00:00Z"}\n'
plant 33333333 turns/0000/000001.json -
plant 33333333 turns/0000/000007.json '{"v":1,"kind":"turn","mission":"33333333","turn":7,"at":"2026-11-20T12:00:00Z","outcome":"done","prompt":"a \\u001b[2J prompt","code":"'$(git rev-parse HEAD)'","base":"'$(git rev-parse HEAD~1)'","files":-3,"paths":["../x","a.txt"]}\n'
git update-ref refs/agent/missions/deadbeef $(git commit-tree -m 'no ledger' $(git mktree </dev/null))
git update-ref refs/agent/missions/nonsense HEAD
git update-ref refs/agent/missions/12345678 HEAD
git update-ref refs/notes/agent/87654321 HEAD
git symbolic-ref refs/agent/missions/abcdabcd refs/agent/missions/a1b2c3d4
lost=$(git rev-parse a1b2c3d4 2>/dev/null || git rev-parse refs/agent/missions/a1b2c3d4:turns/0000/000002.json)
git unpack-objects -q </dev/null 2>/dev/null || :
for p in .git/objects/pack/*.pack; do mv $p $HOME/p; rm -f ${p%.pack}.*; git unpack-objects -q <$HOME/p; done; rm -f $HOME/p
rm -f .git/objects/$(echo $lost | cut -c1-2)/$(echo $lost | cut -c3-)
cut=$(git rev-parse refs/notes/agent/0000beef^{tree}); f=.git/objects/$(echo $cut | cut -c1-2)/$(echo $cut | cut -c3-); chmod u+w $f; : >$f
echo garbage >.git/agent/trust/0000beef
`
	command := gitRun(dir, env, script)
	check(command)
}

// many makes a repository with missions that were never recorded: half of them signed by nobody, some of them forks, and
// turns of all times. What is of this clone, it is told so.
func many(_ *making, home string, env []string, dir string) {
	r := rand.New(rand.NewPCG(*seed, 77))
	var in strings.Builder
	head := strings.TrimSpace(output(dir, env, "git", "rev-parse", "HEAD"))
	put := func(path, content string) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	var ids []string
	turns := make(map[string]int)
	for i := range 160 {
		id := fmt.Sprintf("%08x", uint32(i+1)*2654435761)
		at := 1700000000 + r.IntN(60_000_000)
		stamp := func(s int) string { return rfc3339(int64(s)) }
		forked, first := "", 1
		if i > 3 && r.IntN(3) == 0 {
			from := ids[r.IntN(len(ids))]
			first = 1 + r.IntN(turns[from])
			forked = fmt.Sprintf(`"forked_from":{"mission":%q,"turn":%d},`, from, first)
			first++
		}
		event := func(at int, subject string) {
			fmt.Fprintf(&in, "commit refs/agent/missions/%s\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\n", id, at, len(subject), subject)
		}
		event(at, "mission "+id)
		put("mission.json", fmt.Sprintf(`{"v":1,"id":%q,"title":"number %d","created":%q,"agent":"claude-code","base":%q,%s"sessions":["5b603d06-0000-4000-8000-0000%s"]}`+"\n", id, i, stamp(at), head, forked, id))
		n := 1 + r.IntN(5)
		if i%40 == 0 {
			n = 130
		}
		for k := range n {
			number := first + k
			at += 60 + r.IntN(5000)
			event(at, fmt.Sprintf("turn %d", number))
			file := fmt.Sprintf("f%d.txt", 1+r.IntN(30))
			said := fmt.Sprintf(`{"type":"user","sessionId":"s","message":{"role":"user","content":"prompt %d of %d"}}`+"\n"+`{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"text","text":"reply flibbertigibbet %d"}]}}`+"\n", number, i, i%17)
			put(fmt.Sprintf("turns/%04d/%06d.json", number/100, number), fmt.Sprintf(`{"v":1,"kind":"turn","mission":%q,"turn":%d,"at":%q,"outcome":%q,"agent":"claude-code","model":"claude-opus-4-8","session":"5b603d06-0000-4000-8000-0000%s","prompt":"prompt %d of %d: change %s","reply":"reply %d","code":%q,"base":%q,"head":%q,"branch":"main","files":1,"insertions":%d,"deletions":%d,"paths":[%q],"context":1234,"output":%d,"compactions":0,"transcript":{"path":"transcript/%04d/%06d.jsonl","after":%d,"bytes":%d,"from":0,"to":%d}}`+"\n",
				id, number, stamp(at), []string{"done", "done", "failed", "interrupted"}[r.IntN(4)], id, number, i, file, i%9, head, head, head, r.IntN(9), r.IntN(9), file, r.IntN(5000), number/100, number, number-1, len(said), len(said)))
			put(fmt.Sprintf("transcript/%04d/%06d.jsonl", number/100, number), said)
		}
		ids = append(ids, id)
		turns[id] = first + n - 1
	}
	check(feed(dir, env, in.String(), "git", "fast-import", "--quiet", "--force"))
	repo, err := git.Find(dir)
	check(err)
	w := workspace.New(repo, config.Default())
	for i, id := range ids {
		if i%2 == 0 {
			tip := strings.TrimSpace(output(dir, env, "git", "rev-parse", "refs/agent/missions/"+id))
			check(w.Trust.Own(record.ID(id), object.NewHash(tip), object.Hash{}))
		}
	}
	check(gitRun(dir, env, "git-agent-turn archive "+strings.Join(ids[10:30], " ")+" >/dev/null\ncp -a "+dir+" "+home+"/lone; git -C "+home+"/lone repack -qad"))
}
