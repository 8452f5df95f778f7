package transcript

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/evidence"
)

// A Deed is a call of a tool in a turn, and what came of it.
type Deed struct {
	At         time.Time // of the call
	Call, Tool string
	Command    string // that a shell was given, "" for other tools
	Dir        string // where it began, as the call or the client says; "" if neither does
	Ended      evidence.Ended
	Result     string // of a command
	Failed     bool
	// Asked and Told are where call and answer stand among the parts of what was
	// read; Told is 0 if there is none.
	Asked, Told int
}

// Deeds returns the calls of a turn in their order. A command that goes on in
// the background has the end that a later call or the client tells of.
func Deeds(r Reader, turn []byte) []Deed {
	var deeds []Deed
	calls, jobs := make(map[string]int), make(map[string]int)
	n, dir := 0, ""
	for at, line := range lines(turn) {
		e := r.Read(at, line)
		if e.Subagent {
			continue
		}
		dir = cmp.Or(e.Cwd, dir)
		for _, p := range e.Parts {
			n++
			switch i, called := calls[p.Call]; {
			case p.Kind == Call && (p.Call == "" || !called):
				calls[strings.Clone(p.Call)] = len(deeds)
				deeds = append(deeds, Deed{At: e.At, Call: strings.Clone(p.Call), Tool: strings.Clone(p.Name), Command: commandOf(p), Dir: dirOf(p, dir), Asked: n})
				for _, name := range jobNames {
					if job, ok := jobs[p.Input.Get(name).String()]; ok {
						calls[strings.Clone(p.Call)] = job // its answer is about that one
					}
				}
			case (p.Kind == Answer || p.Kind == Task) && called && p.Call != "":
				d := &deeds[i]
				if d.Told > 0 && p.Ended.How == evidence.Untold {
					continue
				}
				d.Ended, d.Failed, d.Told = p.Ended, p.Failed, n
				if d.Command != "" {
					d.Result += strings.Clone(p.Text)
				}
				if job := d.Ended.Job; job != "" {
					jobs[job] = i
				}
			}
		}
	}
	return deeds
}

// jobNames are the members of a tool's input that name a command in the
// background.
var jobNames = []string{"bash_id", "task_id", "shell_id", "shellId", "session_id"}

// dirOf returns the directory in which a call works: one that it names, from the
// client's.
func dirOf(p Part, from string) string {
	for _, name := range []string{"workdir", "dir_path", "directory", "cwd"} {
		switch dir := Kept(p.Input.Get(name)); {
		case dir == "":
		case filepath.IsAbs(dir) || from == "":
			return dir
		default:
			return filepath.Join(from, filepath.FromSlash(dir))
		}
	}
	return strings.Clone(from)
}

// commandOf returns the command that a call gives to a shell, or "".
func commandOf(p Part) string {
	command := p.Input.Get("command")
	if !command.Exists() {
		command = p.Input.Get("cmd")
	}
	if !command.IsArray() {
		return Kept(command)
	}
	words := command.Array()
	if n := len(words); n == 3 && strings.HasPrefix(words[1].Str, "-") && strings.HasSuffix(words[1].Str, "c") {
		return Kept(words[2])
	}
	var all []string
	for _, w := range words {
		all = append(all, "'"+strings.ReplaceAll(w.Str, "'", `'\''`)+"'")
	}
	return strings.Join(all, " ")
}
