package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A module is one that programs were built from.
type module struct{ path, version, sum string }

// build builds the programs for a platform and returns the files of its archive. It adds to the release's
// modules.
func (r *release) build(ctx context.Context, p platform) ([]file, error) {
	var files []file
	var modules []module
	for _, f := range r.files {
		if inArchive(f.path) {
			files = append(files, f)
		}
	}
	dir := filepath.Join(r.work, p.goos+"-"+p.goarch, "bin")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags", "urfave_cli_no_docs", "-o", dir + string(filepath.Separator)}
	for _, program := range programs {
		args = append(args, "./cmd/"+program)
	}
	if _, err := output(r.goCommand(ctx, p, args...)); err != nil {
		return nil, err
	}
	for _, program := range programs {
		name := program + p.extension()
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: "bin/" + name, mode: 0o755, data: data})
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		r.std = info.GoVersion
		for _, dep := range info.Deps {
			modules = append(modules, module{dep.Path, dep.Version, dep.Sum})
		}
	}
	modules = each(modules)
	r.modules = each(append(r.modules, modules...))
	notices, err := r.notices(ctx, p, modules)
	return append(files, file{path: "THIRD-PARTY", mode: 0o644, data: notices}), err
}

// inArchive reports whether a file of the source is in the archives: what install.sh installs, and what a
// person reads.
func inArchive(path string) bool {
	top, _, below := strings.Cut(path, "/")
	if below {
		return slices.Contains([]string{"docs", "completions", "plugin", ".claude-plugin"}, top)
	}
	return slices.Contains([]string{"install.sh", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}, top)
}

// goCommand runs the go command in the source, for a platform. What the environment could change in its
// output is fixed; where it gets modules from, and where it keeps them, is not.
func (r *release) goCommand(ctx context.Context, p platform, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.work, "src")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	return cmd
}

// each returns modules by their paths, each once.
func each(modules []module) []module {
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return slices.Compact(modules)
}

// notices are the licenses of what the programs consist of, which copies of them have to come with.
func (r *release) notices(ctx context.Context, p platform, modules []module) ([]byte, error) {
	var all strings.Builder
	fmt.Fprintf(&all, "The programs of git-agent are under the license in LICENSE. They contain parts of the following.\n")
	add := func(name, dir string) error {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("license of %s: %w", name, err)
		}
		found := false
		for _, e := range entries {
			upper := strings.ToUpper(e.Name())
			is := func(word string) bool { return strings.HasPrefix(upper, word) }
			if e.IsDir() || strings.HasSuffix(upper, ".GO") || !is("LICENSE") && !is("LICENCE") && !is("COPYING") && !is("NOTICE") && !is("PATENTS") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			found = true
			fmt.Fprintf(&all, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("-", 80), name, e.Name(), strings.TrimSpace(string(text)))
		}
		if !found {
			return fmt.Errorf("license of %s: there is none in %s", name, dir)
		}
		return nil
	}
	root, err := output(r.goCommand(ctx, p, "env", "GOROOT"))
	if err == nil {
		err = add("Go "+r.std, strings.TrimSpace(string(root)))
	}
	for _, m := range modules {
		if err != nil {
			break
		}
		var out []byte
		var listed struct{ Dir string }
		if out, err = output(r.goCommand(ctx, p, "list", "-m", "-json", m.path)); err == nil {
			err = json.Unmarshal(out, &listed)
		}
		if err == nil {
			err = add(m.path+" "+m.version, listed.Dir)
		}
	}
	return []byte(all.String()), err
}
