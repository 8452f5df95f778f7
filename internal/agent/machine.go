package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/session"
	"gitagent/internal/terminal"
)

// Running lists the sessions that clients of all agents have registered. After
// an error there may be more. getenv is [os.Getenv] or a stand-in.
func Running(getenv func(string) string) ([]session.Registration, error) {
	var list []session.Registration
	var unread []error
	for _, a := range all {
		if config := a.ConfigDir(getenv); config != "" && a.Running != nil {
			some, err := a.Running(config)
			list = append(list, some...)
			unread = append(unread, err)
		}
	}
	return list, errors.Join(unread...)
}

// Registered reports whether a process is a client that has registered. It
// reads what the process has, however many others there are.
func Registered(getenv func(string) string, pid int) bool {
	return slices.ContainsFunc(all, func(a *Agent) bool {
		config := a.ConfigDir(getenv)
		if config == "" || a.Registered == nil {
			return false
		}
		r, err := a.Registered(config, pid)
		return err == nil && r.Here() && r.Runs()
	})
}

// Installed returns the agents with a program or configuration here.
func Installed(getenv func(string) string) []*Agent {
	return slices.DeleteFunc(All(), func(a *Agent) bool {
		config := a.ConfigDir(getenv)
		if info, err := os.Stat(config); config != "" && err == nil && info.IsDir() {
			return false
		}
		return terminal.Find(a.Program) != nil
	})
}

// Started returns the agent of the client that a command starts, if any.
func Started(command []string) (a *Agent, ok bool) {
	name := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	i := slices.IndexFunc(all, func(a *Agent) bool { return a.Program == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Reads returns the variables that f asks for if none is set.
func Reads(f func(getenv func(string) string)) []string {
	var names []string
	f(func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}
