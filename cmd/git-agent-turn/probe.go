package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/pusher"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// remotes reports what may be sent where, and what waits to be pushed.
func (x *examination) remotes() {
	w, _ := workspace.Open(x.repo) // settings' errors are reported already
	names, err := remote.Names(x.ctx, x.repo)
	if err != nil {
		x.problem("remotes", err.Error(), "")
		return
	}
	for _, name := range names {
		if x.conf.Get("remote."+name+".url") == "" && x.conf.Get("remote."+name+".pushurl") == "" {
			continue // git lists it for any other setting, such as one in ~/.gitconfig
		}
		if text, remedy := movesRefs(x.conf, w, name); text != "" && x.records {
			x.warn("remote", text, remedy)
		}
		r, err := remote.Open(x.ctx, w, name)
		if err != nil {
			x.problem("remote", err.Error(), "")
			continue
		}
		for _, r := range r.Each() {
			x.remote(r, tryRemote(r))
		}
	}
	if len(x.repo.Glob("lfs/objects/*")) > 0 && !x.conf.Bool("lfs.pruneverifyremotealways") {
		x.warn("lfs", "git lfs prune takes the objects that only turns have, unless it asks the remote for each", "git config lfs.pruneVerifyRemoteAlways true")
	}
}

// movesRefs tells, with a remedy, if a fetch of a remote would move our refs.
func movesRefs(conf git.Config, w *workspace.Workspace, name string) (text, remedy string) {
	var add []string
	for _, guard := range remote.Guards(conf, name, w.Branch("")) {
		add = append(add, cmdline.Shell([]string{"git", "config", "--add", "remote." + name + ".fetch", guard}))
	}
	if add == nil {
		return "", ""
	}
	return fmt.Sprintf("%s: a fetch moves the refs of missions here to what the remote has, or deletes them, as its refspecs say", name), strings.Join(add, " && ")
}

// missions takes back missions that the user's git has moved, and says so.
func (x *examination) missions() {
	w, _ := workspace.Open(x.repo) // settings' errors are reported already
	w.Say = func(text, done string) { x.warn("missions", workspace.Said(text, done), "") }
	const repair = "git agent-turn doctor --repair"
	missions, err := ledger.List(x.ctx, w.Repo)
	if errors.Is(err, git.ErrDamaged) {
		x.problem("missions", err.Error(), repair)
	} else if err != nil {
		x.problem("missions", err.Error(), "")
	}
	for _, id := range slices.Sorted(maps.Keys(missions)) {
		if missions[id].IsZero() {
			x.problem("missions", fmt.Sprintf("the file of %s holds no hash", id.Ref()), repair)
		}
	}
}

// remote reports what may be sent to a remote and what waits for it. If it
// rejected the last push, the remedy is another one than to push again.
func (x *examination) remote(r *remote.Remote, rejected string) {
	text := fmt.Sprintf("%s: nothing is sent to %s", r.Name, plain(r.URLs))
	if r.Level != "" {
		text = fmt.Sprintf("%s: %s is sent to %s", r.Name, r.Level, plain(r.URLs))
	}
	state, err := r.QueueStatus()
	if err != nil {
		x.problem("remote", err.Error(), "")
		return
	}
	if state.Waiting > 0 {
		text += fmt.Sprintf("; %s to be pushed", cmdline.Plural(state.Waiting, "mission"))
	}
	push := "git agent-turn push " + shell(r.Name)
	if r.Learned().Again {
		remedy := push
		if r.Level != remote.All {
			remedy = ""
		}
		x.warn("remote", r.Name+": it has again what was purged, for all who can read it", remedy)
	}
	if r.Level == "" {
		x.say("remote", text)
		return
	}
	lacks, err := pusher.Outside(x.ctx, r)
	if e := (*remote.LFSError)(nil); errors.As(err, &e) {
		x.warn("remote", r.Name+": "+err.Error(), cmdline.Shell([]string{"git", "config", remote.ConsentKey(e.URL), string(r.Level)}))
	} else if err != nil {
		x.problem("remote", err.Error(), "")
	}
	if state.Failures > 0 {
		text += fmt.Sprintf("; %s in a row, the last one %s ago", cmdline.Plural(state.Failures, "failure"), cmdline.Age(time.Now(), state.Failed))
	}
	if state.Rejected {
		text += "; it rejected the last push"
		push = rejected
	}
	if lacks != (pusher.Lacks{}) {
		text += "; " + lacks.String()
	}
	if lacks.Objects != "" && state.Failures > 0 {
		text += "; missions may be refused until it has them"
		push = "" // would be refused again
	}
	switch {
	case state.Failures > 0:
		x.problem("remote", text, push)
	case state.Waiting > 0 || lacks != (pusher.Lacks{}):
		x.warn("remote", text, push)
	default:
		x.say("remote", text)
	}
}

// tryRemote returns the command that says what a remote takes.
func tryRemote(r *remote.Remote) string { return "git agent-turn doctor --remote " + shell(r.Name) }

// leave returns the command after which nothing is sent to a remote.
func leave(r *remote.Remote) string {
	var commands []string
	for _, u := range r.URLs {
		commands = append(commands, shell("git", "config", "--replace-all", remote.ConsentKey(u), "none"))
	}
	return strings.Join(commands, " && ")
}

// probe reports what a remote does with our refs.
func (x *examination) probe(name string) error {
	w, err := command.Workspace(x.ctx)
	if err != nil {
		return err
	}
	r, err := openRemote(x.ctx, w, name)
	if err != nil {
		return err
	}
	var problems []error
	for _, r := range r.Each() {
		problems = append(problems, x.try(r))
	}
	return errors.Join(problems...)
}

// try tries what a remote does with our refs.
func (x *examination) try(r *remote.Remote) error {
	p, err := pusher.Try(x.ctx, r)
	if err != nil {
		return err
	}
	inWay := (*git.InWayError)(nil)
	if errors.As(p.InWay, &inWay) {
		x.problem("refs", inWay.Error()+": so that is not sent; if nobody needs what is in the way, delete it there", command.DeleteAt(inWay))
	}
	if p.Refs != nil {
		if inWay != nil {
			x.remote(r, command.DeleteAt(inWay)) // and see then
			return nil
		}
		stop := ""
		if r.Level != "" {
			stop = leave(r)
		}
		x.remote(r, stop)
		x.problem("refs", "it does not take refs/agent and refs/notes/agent: "+p.Refs.Error()+"; name another remote with git agent-turn init --push <remote>", stop)
		return nil
	}
	x.remote(r, "git agent-turn push "+shell(r.Name)) // which says why
	if p.Hidden {
		x.problem("refs", "it takes refs/agent and refs/notes/agent, but does not list them, so nobody can fetch them; who runs it finds what hides them with: git config --get-all uploadpack.hideRefs", "")
	} else {
		x.say("refs", "it takes refs/agent and refs/notes/agent")
		x.say("archived", map[bool]string{
			true: "it gives an archived mission alone",
			false: "it gives only what its refs point at: an archived mission comes after its whole archive, each time; " +
				"who runs it changes that with: git config uploadpack.allowReachableSHA1InWant true; or for ssh, in sshd_config: AcceptEnv GIT_PROTOCOL",
		}[p.Alone == nil])
	}
	x.say("atomic", map[bool]string{true: "it takes ledger and notes together", false: "it takes ledger and notes only one after the other"}[p.Atomic])
	x.say("options", map[bool]string{true: "it takes push options: mission branches start no CI", false: "it takes no push options: mission branches may start CI"}[p.Options])
	if p.Replaces != nil {
		x.problem("purges", fmt.Sprintf("it does not replace refs: %v; what is purged stays there, and its archive as it is; that is a rule of its host, as RW without + in gitolite or receive.denyNonFastForwards for JGit", p.Replaces), "")
	} else {
		x.say("purges", "it replaces refs")
	}
	if p.Deletes != nil {
		x.problem("deletions", fmt.Sprintf("it does not delete refs: %v; what is left there: %s", p.Deletes, strings.Join(p.Left, " ")), "")
		return nil
	}
	x.say("deletions", "it deletes refs")
	return nil
}
