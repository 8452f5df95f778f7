package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing/fstest"
)

// build builds the programs for a platform and returns its archive's files. It
// adds to the release's modules.
func (r *release) build(ctx context.Context, p platform) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	for path, f := range r.files {
		if inArchive(path) {
			files[path] = f
		}
	}
	bin := filepath.Join(r.work, p.goos+"-"+p.goarch, "bin")
	if _, err := output(r.goCommand(ctx, p, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags", "urfave_cli_no_docs",
		"-o", bin+string(filepath.Separator), "./cmd/...")); err != nil {
		return nil, err
	}
	programs, err := os.ReadDir(bin)
	if err != nil {
		return nil, err
	}
	modules := map[string]*debug.Module{}
	for _, program := range programs {
		path := filepath.Join(bin, program.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files["bin/"+program.Name()] = &fstest.MapFile{Mode: 0o755, Data: data}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return nil, err
		}
		modules["std"] = &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, dep := range info.Deps {
			modules[dep.Path] = dep
		}
	}
	maps.Copy(r.modules, modules)
	notices, err := r.notices(ctx, p, modules)
	files["THIRD-PARTY"] = &fstest.MapFile{Mode: 0o644, Data: notices}
	return files, err
}

// inArchive reports whether the archives have a file of the source: install.sh
// installs it, or people read it.
func inArchive(path string) bool {
	top, _, below := strings.Cut(path, "/")
	if below {
		return slices.Contains([]string{"docs", "completions", "plugin", ".claude-plugin"}, top)
	}
	return slices.Contains([]string{"install.sh", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}, top)
}

// goCommand returns a go command in the source, for a platform. It fixes the
// environment that could change its output, but not where modules are.
func (r *release) goCommand(ctx context.Context, p platform, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.work, "src")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+p.goos, "GOARCH="+p.goarch,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off")
	return cmd
}

// notices are the licenses of what the programs consist of, which copies of
// them have to come with.
func (r *release) notices(ctx context.Context, p platform, modules map[string]*debug.Module) ([]byte, error) {
	// The names of files that have to come with a program that contains what
	// they are about.
	license := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
	all := []byte("The programs of git-agent are under the license in LICENSE. They contain parts of the following.\n")
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		name, where := path, []string{"list", "-m", "-f", "{{.Dir}}", path}
		if path == "std" {
			name, where = "Go", []string{"env", "GOROOT"}
		}
		out, err := output(r.goCommand(ctx, p, where...))
		if err != nil {
			return nil, err
		}
		dir := strings.TrimSpace(string(out))
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("license of %s: %w", name, err)
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || !license.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			all = fmt.Appendf(all, "\n%s\n%s %s, %s\n\n%s\n", strings.Repeat("-", 80), name, modules[path].Version, e.Name(), strings.TrimSpace(string(text)))
		}
		if !found {
			return nil, fmt.Errorf("license of %s: there is none in %s", name, dir)
		}
	}
	return all, nil
}
