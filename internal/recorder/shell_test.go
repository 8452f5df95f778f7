package recorder

import (
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
)

// TestDeedOf: what is known of commands that agents run.
func TestDeedOf(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]deed{
		// These write nothing.
		`ls -la`: {idle: true},
		`pwd; ls *.go && cat "a b" 2>/dev/null | head -20`: {idle: true},
		`cd internal && rg -n 'foo|bar' . 2>&1`:            {idle: true},
		`git status --short`:                               {idle: true},
		`git -C sub --no-pager log --oneline -5 HEAD~2`:    {idle: true},
		"git diff\ngit show HEAD:a.go":                     {idle: true},
		`git branch -vv`:                                   {idle: true},
		`git stash list`:                                   {idle: true},
		`find . -name '*.go' -not -path "./x/*"`:           {idle: true},
		`sed -n '10,20p' a.go`:                             {idle: true},
		`echo done # > a`:                                  {idle: true},
		`test -f a && [ -d b ] || echo $HOME`:              {idle: true},
		`grep -rn "TODO: \$x" src > /dev/null`:             {idle: true},
		`sort a | wc -l`:                                   {idle: true},
		"cat \\\n  a":                                      {idle: true},
		`cat < a`:                                          {idle: true},

		// These are known, but not to write nothing.
		``:                           {},
		`echo hi > a`:                {names: []string{"a"}},
		`echo hi >a 2>>b`:            {names: []string{"a", "b"}},
		`echo hi > 1`:                {names: []string{"1"}},
		`cat a &> b`:                 {names: []string{"b"}},
		`cat a >& b`:                 {names: []string{"b"}},
		`ls >`:                       {},
		`git log | tee a`:            {names: []string{"a"}},
		`cat $(ls)`:                  {},
		"cat `ls`":                   {},
		`cat "$(touch a)"`:           {},
		`echo '$(touch a)'`:          {idle: true},
		`cat 'a`:                     {},
		`cat "a`:                     {},
		`diff <(ls) <(touch a)`:      {},
		`cat <<< "$(x)"`:             {},
		`ls; make`:                   {},
		`ls & touch a`:               {aside: true, names: []string{"a"}},
		`make all 2>&1 & `:           {aside: true, names: []string{"all"}},
		`ls | sort { rm a }`:         {names: []string{"rm", "a", "}"}},
		`find . -name a -delete`:     {names: []string{".", "a"}},
		`find . $X`:                  {names: []string{"."}},
		`rg --pre=x a`:               {names: []string{"a"}},
		`sort -uoa b`:                {names: []string{"b"}},
		`sed -n 'w a' b`:             {names: []string{"b"}},
		`sed -n 1p -i a`:             {names: []string{"1p", "a"}},
		`echo $'it\'s' > f; echo \'`: {},
		`go test a |& tail -5`:       {names: []string{"test", "a"}},
		`x=$((a & 3)); make a`:       {names: []string{"a"}},
		`sed -i 's/a/b/' a.go "b c"`: {names: []string{"a.go"}},
		`git diff --output=a`:        {names: []string{"diff"}},
		`git log --outp a`:           {names: []string{"log", "a"}},
		`git branch new`:             {names: []string{"branch", "new"}},
		`git -c core.pager=x log`:    {names: []string{"core.pager=x", "log"}},
		`FOO=1 ls`:                   {},
		`./ls`:                       {},
		`"ls"`:                       {},
		`$X a`:                       {names: []string{"a"}},
		`if true; then ls; fi`:       {},
		`bash -c 'git reset --hard'`: {},

		// These are git commands that write the worktree.
		`git checkout -- a b`:                      {git: true, names: []string{"checkout", "a", "b"}},
		`git stash`:                                {git: true, names: []string{"stash"}},
		`cd sub && git -C .. stash pop`:            {git: true, names: []string{".", "sub/stash", "sub/pop"}},
		`true && (FOO=1 git reset --hard)`:         {git: true, names: []string{"reset"}},
		`if git pull; then ls; fi`:                 {git: true, names: []string{"pull"}},
		`sudo git clean -fd`:                       {git: true, names: []string{"clean"}},
		`git commit -am "git reset"`:               {names: []string{"commit"}},
		`git --git-dir=x rm a`:                     {git: true, names: []string{"rm", "a"}},
		`echo git reset`:                           {idle: true},
		`git stash show`:                           {idle: true},
		`mv a.go b/c.go`:                           {names: []string{"a.go", "b/c.go"}},
		`cd sub; rm -rf /abs ../d e*`:              {names: []string{"/abs", "d"}},
		`cd "$X" && rm a`:                          {},
		`cd a b && rm a`:                           {},
		"cat > a <<'EOF'\nrm b\n$(x)\nEOF\nrm c":   {names: []string{"a", "c"}},
		"cat <<-EOF >a; rm b\n\trm c\n\tEOF\nrm d": {names: []string{"a", "b", "d"}},
		"cat <<EOF":                                {},
		"go test ./... 2>&1 | tail -20":            {names: []string{"test", "./..."}},
		"gofmt -w a.go {b,c}.go ~/d ?.go":          {names: []string{"a.go"}},
	} {
		got := deedOf(command)
		if got.idle != want.idle || got.git != want.git || got.aside != want.aside || !slices.Equal(got.names, want.names) {
			t.Errorf("%s: got %+v, want %+v", command, got, want)
		}
	}
}

// FuzzDeedOf checks that any command is read to its end, and that none is idle to which a writing one is added.
func FuzzDeedOf(f *testing.F) {
	f.Add(`cd a && git -C b show "x y" 2>&1 | head <<E > c`)
	f.Add("cat <<'E'\na\nE\n$(ls) `x` \\")
	f.Fuzz(func(t *testing.T, command string) {
		d := deedOf(command)
		if d.idle && d.git {
			t.Fatalf("%q is %+v", command, d)
		}
		if strings.ContainsAny(command, "'\"\\#<") { // they may hide what follows
			return
		}
		if d := deedOf(command + "\ntouch a"); d.idle {
			t.Fatalf("%q and another are idle", command)
		}
	})
}

// TestMayDestroy: before which commands the worktree is looked at. Those that a client tells apart must be among them.
func TestMayDestroy(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		`git reset --hard`:                      true,
		`git stash`:                             true,
		`git stash list`:                        false,
		`cd d && git checkout -- a`:             true,
		`(git restore .)`:                       true,
		`FOO=1 git clean -fd`:                   true,
		`git -C . switch -f main`:               true,
		`for f in *; do rm $f; done`:            true,
		`ls | xargs rm`:                         true,
		`echo $(rm a)`:                          true,
		`echo $'\'' > f; rm x; echo \'`:         true,
		"echo `rm a`":                           true,
		`bash -c 'git reset --hard'`:            true,
		`sudo /bin/rm -rf a`:                    true,
		`find . -name x -exec rm {} +`:          true,
		`mv a b; cp c d`:                        true,
		`if true; then mv a b; fi`:              true,
		`echo rm`:                               false,
		`grep -rn 'git reset' .`:                false,
		`git status && git log --oneline | cat`: false,
		`go test ./...`:                         false,
		`npm run build > out`:                   false,
		`./rm-old.sh`:                           false,
		`git commit -am x`:                      false,
		``:                                      false,
	} {
		if got := MayDestroy([]hooks.Call{{}, {Command: command}}); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
	if !MayDestroy([]hooks.Call{{Command: "ls", Cut: true}}) {
		t.Error("what is behind a command's end is taken for harmless")
	}
}
