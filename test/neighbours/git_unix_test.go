//go:build unix

package neighbours

import (
	"fmt"
	"os"
	"strings"
)

// A script is what the user's git does: the same in the twin.
type script struct {
	weight int
	text   func(w *world) string
	// anytime says that it touches no file that an agent works on: it may run
	// during an event, and as the other user.
	anytime bool
	// own says that our refs are nothing to it, so it ends as in the twin.
	own bool
}

// refspecs are what a fetch may be told to bring where, if our refs are in it.
var refspecs = []string{
	"'+refs/*:refs/*'", "'+refs/agent/*:refs/agent/*'", "'refs/agent/*:refs/agent/*'", "'+refs/notes/*:refs/notes/*'", "'+refs/agent/missions/*:refs/agent/missions/*'",
	"--update-head-ok '+refs/*:refs/*'", "'+refs/*:refs/*' '^refs/heads/*'", "'+refs/agent/*:refs/agent/*' '^refs/agent/missions/*'",
}

// theirs are those of a user who has none of ours in mind.
var theirs = []string{
	"--update-head-ok '+refs/heads/*:refs/heads/*'", "'+refs/*:refs/remotes/origin/all/*'", "'refs/heads/*:refs/remotes/origin/*'", "'+refs/*:refs/*' '^refs/agent/*' '^refs/notes/*'",
	"main", "",
}

func (w *world) fetch(specs []string) string {
	flags := w.pick("", "", "--prune", "--force", "--tags", "--no-tags", "--prune --prune-tags", "--atomic", "--no-write-fetch-head")
	return strings.Join([]string{"git fetch -q", flags, w.pick("origin", "origin", "origin", "old", "none", "../else/.git"), w.pick(specs...)}, " ")
}

// ourRefs lists our refs, but for those that do nothing else than keep what the
// others lead to: who deletes these as well means it.
const ourRefs = `git for-each-ref --format='%(refname)' refs/agent refs/notes/agent | grep -v '^refs/agent/kept/'`

// scripts are the neighbours, but for settings.
var scripts = []script{
	// What is fetched, pushed and pruned.
	{weight: 14, anytime: true, text: func(w *world) string { return w.fetch(refspecs) }},
	{weight: 6, anytime: true, text: func(w *world) string { return w.fetch(theirs) }},
	{weight: 6, anytime: true, text: func(w *world) string {
		return "git config remote." + w.pick("origin", "old", "none") + ".fetch " + w.pick(refspecs[0], refspecs[1], refspecs[3], refspecs[4])
	}},
	{weight: 8, anytime: true, text: func(w *world) string {
		return w.pick("git fetch -q", "git fetch -q --all", "git fetch -q --prune --all", "git remote update --prune", "git remote prune old", "git remote prune origin",
			"git fetch -q --multiple origin old", "git fetch -q --prune --prune-tags origin", "git fetch -q --depth=1 none", "git fetch -q --unshallow origin")
	}},
	{weight: 4, anytime: true, text: func(w *world) string {
		return w.pick("git push -q --mirror old", "git push -q --mirror none", "git push -q --prune old 'refs/agent/*:refs/agent/*'", "git push -q origin 'refs/agent/*:refs/agent/*'",
			"git push -q --prune old 'refs/heads/*:refs/heads/*'", "git push -q --all old", "git push -q --follow-tags --tags origin", "git push -q --force origin 'refs/notes/*:refs/notes/*'")
	}},
	{weight: 3, anytime: true, text: func(w *world) string {
		return w.pick("git bundle create -q ../old.bundle --all", "git remote rename old older; git remote rename older old", "url=$(git config remote.old.url); git remote remove old; git remote add old $url",
			"git clone -q --mirror . ../copy.git; git fetch -q ../copy.git 'refs/agent/*:refs/agent/*'")
	}},
	{weight: 2, anytime: true, text: func(w *world) string {
		return w.pick("git fetch -q --update-head-ok ../old.bundle '+refs/*:refs/*'", "git fetch -q ../copy.git '+refs/agent/*:refs/agent/*'")
	}},
	// What packs and collects.
	{weight: 14, anytime: true, own: true, text: func(w *world) string {
		return w.pick("git pack-refs --all --prune", "git reflog expire --expire=now --all", "git reflog expire --expire=now --expire-unreachable=now --all; git gc -q --prune=now",
			"git gc -q", "git gc -q --prune=now", "git gc -q --aggressive", "git gc -q --auto", "git repack -qad", "git repack -qAd", "git repack -qd --geometric=2", "git repack -qad -f", "git repack -qadb",
			"git repack -qd", "git prune --expire=now", "git prune-packed -q", "git multi-pack-index write", "git commit-graph write --reachable",
			"git maintenance run -q", "git maintenance run -q --task=incremental-repack", "git maintenance run -q --task=loose-objects", "git maintenance run -q --task=commit-graph",
			"git repack -qd --cruft", "git gc -q --cruft --prune=now", "git repack -qad; git multi-pack-index write; git multi-pack-index expire; git multi-pack-index repack")
	}},
	// What moves our refs.
	{weight: 5, anytime: true, text: func(w *world) string {
		return fmt.Sprintf("%s | sed -n %dp | xargs -r -n 1 git update-ref -d", ourRefs, 1+w.IntN(6))
	}},
	{weight: 3, anytime: true, text: func(w *world) string {
		return ourRefs + " | sed 's/^/delete /' | git update-ref --stdin" + w.pick("", "; git reflog expire --expire=now --all; git gc -q --prune=now")
	}},
	{weight: 3, anytime: true, text: func(w *world) string {
		return "git for-each-ref --format='update %(refname) %(objectname)~' refs/agent/missions | git update-ref --stdin"
	}},
	{weight: 3, anytime: true, text: func(w *world) string {
		return fmt.Sprintf("for ref in $(git for-each-ref --format='%%(refname)' refs/agent/missions | sed -n %dp); do git update-ref $ref $ref~%d; done", 1+w.IntN(4), 1+w.IntN(3))
	}},
	{weight: 2, anytime: true, text: func(w *world) string {
		return w.pick("git notes --ref=agent/$(git for-each-ref --count=1 --format='%(refname:lstrip=3)' refs/notes/agent) prune",
			"git for-each-ref --format='%(refname)' refs/heads/agent | sed -n 1p | xargs -r -n 1 git update-ref -d",
			"git for-each-ref --format='%(refname:short)' refs/heads/agent | xargs -r git branch -q -D",
			"git for-each-ref --format='%(refname:short)' refs/heads/agent | sed -n 1p | xargs -r -I{} git branch -m {} renamed-{}")
	}},
	// What rewrites history.
	{weight: 1, text: func(w *world) string {
		return "git add -A; git commit -q -m all; git filter-branch -f " + w.pick("--msg-filter 'sed s/base/first/'", "--env-filter 'GIT_AUTHOR_NAME=other'") + " -- --all"
	}},
	{weight: 1, text: func(w *world) string {
		return "git add -A; git commit -q -m all; git filter-branch -f --msg-filter 'sed s/base/first/' HEAD"
	}},
	{weight: 2, text: func(w *world) string {
		return "git add -A; git commit -q -m all; url=$(git config remote.origin.url); printf 'base==>first\\n' >../said; git filter-repo --quiet --force " +
			w.pick("--path-rename old/:older/", "--replace-message ../said", "--invert-paths --path old/file", "--partial --refs HEAD --path-rename old/:older/") +
			"; git remote add origin $url 2>/dev/null"
	}},
	// The user's own work.
	{weight: 12, own: true, text: func(w *world) string {
		w.count++
		return fmt.Sprintf("echo %d >>user/file; ", w.count) + w.pick("git add -A; git commit -q -m 'mine %[1]d'", "git add -A; git commit -q --amend -m 'amended %[1]d'", "git commit -q -a -m 'mine %[1]d'",
			"git stash -q", "git stash -q -u; git stash pop -q", "git stash pop -q", "git switch -q -c b%[1]d", "git add user; git switch -q -", "git checkout -q --detach", "git switch -q main",
			"git rebase -q HEAD~2 || git rebase --abort", "git rebase -q main || git rebase --abort", "git merge -q -m merge main || git merge --abort", "git reset -q --hard", "git reset -q --soft HEAD~1",
			"git branch -q side-%[1]d HEAD~1; git cherry-pick side-%[1]d || git cherry-pick --abort", "git tag t%[1]d", "git revert -n HEAD; git revert --quit; git commit -qam reverted",
			"git branch -q -m renamed-%[1]d", "git clean -qfd user", "git bisect start HEAD HEAD~1; git bisect reset", "git rm -q --cached user/file; git add -A")
	}},
	{weight: 6, own: true, text: func(w *world) string {
		w.count++
		n := w.IntN(3)
		return w.pick(fmt.Sprintf("git worktree add -q -f -B wb%d ../w%[1]d", n), fmt.Sprintf("git worktree move ../w%d ../w%d", n, 3+n), fmt.Sprintf("git worktree remove --force ../w%d", n),
			fmt.Sprintf("git worktree lock ../w%d", n), fmt.Sprintf("git worktree unlock ../w%d", n), "git worktree prune --expire=now", fmt.Sprintf("mv ../w%d ../w%d; git worktree repair ../w%[2]d", n, 6+n),
			fmt.Sprintf("rm -rf ../w%d; git worktree prune", n), fmt.Sprintf("cd ../w%d && echo %d >>user/file && git commit -qam 'beside %[2]d'", n, w.count))
	}},
}

func (w *world) pick(from ...string) string {
	text := from[w.IntN(len(from))]
	if strings.Contains(text, "%[1]d") {
		text = fmt.Sprintf(text, w.count)
	}
	return text
}

// neighbours are steps of the user's git.
var neighbours = []step{
	{80, func(w *world) string {
		s := drawn(w.Rand, scripts, func(s script) int { return s.weight })
		return w.neighbour(s, s.text(w))
	}},
	{20, func(w *world) string { return w.neighbour(script{anytime: true, own: true}, w.setting()) }},
	{6, func(w *world) string { return w.neighbour(script{anytime: true, own: true}, w.hook()) }},
	{4, func(w *world) string { // the whole repository moves
		if w.mirror {
			return ""
		}
		w.count++
		text := fmt.Sprintf("cd ..; mv repo%[2]s repo%[1]d; cd repo%[1]d; git worktree repair", w.count, strings.TrimPrefix(w.ours.repo, "repo"))
		w.neighbour(script{own: true}, text)
		for _, s := range []*side{w.ours, w.twin} {
			s.repo = fmt.Sprintf("repo%d", w.count)
		}
		for _, c := range w.clients {
			c.Cwd = w.place(c)
		}
		return text
	}},
	{8, func(w *world) string { // the user works on a mission's branch, which the twin does not have
		c := w.client()
		if c.dir == "" {
			return ""
		}
		w.count++
		text := fmt.Sprintf("cd ../%s && echo %d >>user/file && ", c.dir, w.count) + w.pick("git commit -qam 'mine %[1]d'", "git commit -qa --amend -m 'amended %[1]d'", "git add -A; git stash -q && git stash drop -q",
			"git reset -q --hard HEAD~1", "git rebase -q main || git rebase --abort", "git switch -q --detach", "git switch -q -", "git switch -q -c other-agent/%[1]d", "git merge -q main || git merge --abort",
			"git cherry-pick main~1 || git cherry-pick --abort", "git checkout -q -f HEAD~1", "git branch -q -m moved-agent/%[1]d", "git clean -qfdx", "git worktree lock .", "git checkout -q -f -")
		r := w.ran(w.shell(w.ours, text))
		w.heard()
		return text + ": " + r.why()
	}},
	{2, func(w *world) string { // a mission's worktree goes
		c := w.client()
		if c.dir == "" {
			return ""
		}
		text := w.pick("rm -rf ../"+c.dir, "git worktree remove --force ../"+c.dir, "rm -rf ../"+c.dir+"; git worktree prune --expire=now")
		r := w.ran(w.shell(w.ours, text))
		w.heard()
		if _, err := os.Stat(w.place(c)); err != nil {
			w.end(c)
		}
		return text + ": " + r.why()
	}},
	{4, func(w *world) string { // a mission's worktree moves
		c := w.client()
		if c.dir == "" {
			return ""
		}
		w.count++
		to := fmt.Sprintf("moved-%d", w.count)
		r := w.ran(w.shell(w.ours, "git worktree move ../"+c.dir+" ../"+to))
		w.heard()
		if r.status == 0 {
			c.dir = to
			c.Cwd = w.place(c)
		}
		return fmt.Sprintf("git worktree move of %s to %s: %d", c.file, to, r.status)
	}},
}

// refused is what git says of a fetch that would move a branch which a mission
// has checked out, as it does of any other: from then on the twin has more.
const refused = "refusing to fetch into branch 'refs/heads/agent/"

// neighbour runs a script in both sides: now, as the other user perhaps, or
// during the next event, unless git itself takes then what others have just
// written and nothing leads to yet.
func (w *world) neighbour(s script, text string) string {
	if s.anytime && !strings.Contains(text, "prune=now") && !strings.Contains(text, "prune --expire=now") && w.IntN(4) == 0 {
		w.beside = text
		if what := turnOf(w); w.beside == "" {
			return what + ", and meanwhile: " + text
		}
		w.beside = ""
	}
	who := ""
	var did []result
	other := s.anytime && w.shared && w.IntN(3) == 0
	for _, side := range []*side{w.ours, w.twin} {
		cmd := w.shell(side, text)
		if other {
			who = "as the other user: "
			w.as(cmd)
		}
		did = append(did, w.ran(cmd))
	}
	w.apart = w.apart || strings.Contains(did[0].stderr, refused)
	w.heard()
	if s.own && !other && did[0].status != 0 && did[1].status == 0 {
		w.find("the user's git fails", "%s: %+v, in the twin %+v", text, did[0], did[1])
	}
	return who + text + ": " + did[0].why()
}

// why is the status, and of a failure its reason.
func (r result) why() string {
	if r.status == 0 {
		return "0"
	}
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	return fmt.Sprintf("%d, %s", r.status, lines[len(lines)-1])
}
