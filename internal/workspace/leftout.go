package workspace

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/record"
)

// A LeftOut is what states leave out for one reason.
type LeftOut struct {
	Why    string // safe in a file's name
	Text   string // for the user
	Remedy string // a command after which nothing is left out for it; "" if a person has to do something
	// Asked says that nobody needs to be warned of it: the settings or git's own
	// rules say so, and it is a matter of single files.
	Asked bool
}

// reasons are the reasons that [Workspace.LeftOut] knows, those first that
// matter most, with what is said of one path and of several.
var reasons = []struct{ why, one, many string }{
	{record.WhyPurged, "it has what was purged, which is cut out, or else the file is left out", "they have what was purged, which is cut out, or else the file is left out"},
	{record.WhyUnreadable, "it can't be read", "they can't be read"},
	{record.WhyFilter, "its filter failed", "their filter failed"},
	{record.WhySize, "it is larger than capture.max_file_size", "they are larger than capture.max_file_size"},
	{record.WhyTooMany, "there are more new files than capture.max_untracked_files", "there are more new files than capture.max_untracked_files"},
	{record.WhyTooMuch, "new files have more bytes than capture.max_untracked_size", "new files have more bytes than capture.max_untracked_size"},
	{record.WhySecret, "its name is one of files with credentials", "their names are those of files with credentials"},
	{record.WhyRepository, "it is a repository of its own", "they are repositories of their own"},
	{record.WhySubmodule, "it is a submodule with changes that are not committed there", "they are submodules with changes that are not committed there"},
	{record.WhyRefused, "git refuses such a name", "git refuses such names"},
}

const (
	maxNamed    = 3    // paths that are named
	maxIgnored  = 50   // that a remedy names
	maxCompared = 1000 // that are compared with the repository's patterns, of which there may be thousands
)

// LeftOut returns what a snapshot leaves out, but for what patterns exclude; see
// [Workspace.ShutOut].
func (w *Workspace) LeftOut(skipped []record.Skip) (list []LeftOut) {
	for _, r := range reasons {
		var paths []string
		for _, s := range skipped {
			if s.Why == r.why {
				paths = append(paths, s.Path)
			}
		}
		if len(paths) == 0 {
			continue
		}
		l := LeftOut{Why: strings.ReplaceAll(r.why, " ", "-"), Asked: r.why != record.WhyPurged && r.why != record.WhyUnreadable && r.why != record.WhyFilter}
		var names []string
		for _, path := range paths[:min(len(paths), maxNamed)] {
			names = append(names, cmdline.OneLine(path))
		}
		l.Text = fmt.Sprintf("%s is not recorded as it is: %s", names[0], r.one)
		if n := len(paths); n > 1 {
			l.Text = fmt.Sprintf("%s are not recorded as they are: %s", strings.Join(names, ", "), r.many)
			if n > maxNamed {
				l.Text = strings.Replace(l.Text, " are not", fmt.Sprintf(" and %d more are not", n-maxNamed), 1)
			}
		}
		switch r.why {
		case record.WhyPurged:
			l.Text += "; if it is a secret, take it out there, and if it is none, forget what was purged here"
			l.Remedy = cmdline.Shell([]string{"rm", w.Store.Dir().Path("purged")})
		case record.WhySize, record.WhyTooMany, record.WhyTooMuch, record.WhySecret, record.WhyRepository:
			l.Remedy = w.ignore(paths)
		}
		list = append(list, l)
	}
	return list
}

// ignore returns the command after which git ignores paths, or "".
func (w *Workspace) ignore(paths []string) string {
	if len(paths) > maxIgnored {
		return ""
	}
	words := []string{"printf", `%s\n`}
	for _, path := range paths {
		if strings.ContainsAny(path, "\r\n") || strings.HasSuffix(path, " ") {
			return ""
		}
		words = append(words, "/"+strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path))
	}
	return cmdline.Shell(words) + " >>" + cmdline.Shell([]string{filepath.Join(w.Repo.CommonDir, "info", "exclude")})
}

// ShutOut returns that the patterns of the repository's own file would leave out
// most of what there is, or nil: the recording of new files has ended then. It
// looks only if a snapshot left something out for them, and of many files at some.
func (w *Workspace) ShutOut(ctx context.Context, skipped []record.Skip) (*LeftOut, error) {
	left := 0
	for _, s := range skipped {
		if s.Why == record.WhyExcluded {
			left++
		}
	}
	if left == 0 || !w.Settings.OfRepository("capture.exclude") {
		return nil, nil
	}
	var names []byte
	for _, args := range [][]string{{"--cached"}, {"--others", "--exclude-standard"}} {
		var err error
		if names, err = w.Repo.Output(ctx, nil, append([]string{"-C", w.Repo.Top, "ls-files", "-z"}, args...)...); err != nil {
			return nil, fmt.Errorf("look for what is excluded: %w", err)
		}
		if len(names) > 0 {
			break
		}
	}
	excluded := w.Policy().Excludes()
	list := bytes.Split(bytes.TrimSuffix(names, []byte{0}), []byte{0})
	n, all := 0, 0
	for i := 0; i < len(list); i += 1 + len(list)/maxCompared {
		if all++; excluded(string(list[i])) {
			n++
		}
	}
	if 2*n <= all {
		return nil, nil
	}
	file := filepath.Join(w.Repo.Top, config.RepoFile)
	return &LeftOut{
		Why: record.WhyExcluded,
		Text: fmt.Sprintf("new files are not recorded: the patterns of capture.exclude in %s leave out files such as %d of the %d here, and now %s",
			config.RepoFile, n, all, cmdline.Plural(left, "new one")),
		Remedy: cmdline.Shell([]string{"mv", file, file + ".old"}),
	}, nil
}
