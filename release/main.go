// Release makes the files of a release, from a commit and nothing else:
//
//	go run ./release -out dist
//
// They are, for each platform, an archive with the programs, manual pages,
// completions and install.sh; Debian packages; a Homebrew formula and a Nix
// expression for these archives; the source; a bill of materials; SHA256SUMS,
// and with -key its signature.
//
// The same Go and a umask of 022 make the same bytes anywhere. Uncommitted
// files are left out; files are sorted, belong to root, have one of two modes,
// and the time of the commit or SOURCE_DATE_EPOCH; builds' environment is set.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing/fstest"
)

type platform struct{ goos, goarch string }

func (p platform) String() string { return p.goos + "/" + p.goarch }

var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// A release is a release being made.
type release struct {
	source
	out        string // directory for the results
	work       string // temporary directory; the source is in src
	site       string // the address that archives will be below
	maintainer string // of packages: a name and an address

	modules map[string]*debug.Module // of the programs, by path; Go is std
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release: error:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := &release{modules: map[string]*debug.Module{}}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	only := flags.String("only", "", "make what is for these platforms alone: `<os>/<arch>[,...]`")
	key := flags.String("key", "", "sign SHA256SUMS with the SSH key in this `file`")
	out := flags.String("out", "dist", "`directory` to make")
	flags.StringVar(&r.site, "site", "https://example.invalid/git-agent", "`address` of the project; a release is in releases/<version> below")
	flags.StringVar(&r.maintainer, "maintainer", "git-agent <git-agent@example.invalid>", "`name` and address for packages")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := platforms
	if *only != "" {
		chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
			if i < 0 {
				return fmt.Errorf("platform %q: it is one of %v", name, platforms)
			}
			chosen = append(chosen, platforms[i])
		}
	}

	var err error
	if r.out, err = filepath.Abs(*out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "git-agent-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := r.readSource(ctx); err != nil {
		return err
	}
	if *key != "" { // fails before everything is built
		probe := filepath.Join(r.work, "probe")
		if err := errors.Join(os.WriteFile(probe, nil, 0o666), r.sign(ctx, *key, probe)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(r.out, 0o777); err != nil {
		return fmt.Errorf("make a directory for the release: %w", err)
	}
	if err := r.make(ctx, chosen); err != nil {
		return err
	}
	return r.addSums(ctx, *key)
}

func (r *release) make(ctx context.Context, chosen []platform) error {
	if err := r.addArchive("", r.files); err != nil {
		return err
	}
	for _, p := range chosen {
		fmt.Fprintln(os.Stderr, "release:", p)
		files, err := r.build(ctx, p)
		if err != nil {
			return fmt.Errorf("build for %s: %w", p, err)
		}
		if err := r.addArchive("-"+p.goos+"-"+p.goarch, files); err != nil {
			return err
		}
		if p.goos != "linux" {
			continue
		}
		if err := r.addDebian(ctx, p, files); err != nil {
			return fmt.Errorf("package for %s: %w", p, err)
		}
	}
	if len(chosen) == len(platforms) {
		if err := r.fillTemplates(); err != nil {
			return err
		}
	}
	return r.addMaterials()
}

// addArchive makes an archive. Its name and its directory's name end with end.
func (r *release) addArchive(end string, files fstest.MapFS) error {
	pack, extension := tarball, ".tar.gz"
	if strings.HasPrefix(end, "-windows-") {
		pack, extension = zipped, ".zip"
	}
	name := "git-agent-" + r.version + end
	packed, err := pack(below(name, files, r.time))
	if err != nil {
		return err
	}
	return r.add(name+extension, packed)
}

func (r *release) add(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o666)
}

// sums returns the SHA-256 of each file of the release so far, by name.
func (r *release) sums() (map[string]string, error) {
	sums := map[string]string{}
	made := os.DirFS(r.out)
	names, err := fs.Glob(made, "*")
	for _, name := range names {
		content, err := fs.ReadFile(made, name)
		if err != nil {
			return nil, err
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return sums, err
}

func (r *release) addSums(ctx context.Context, key string) error {
	sums, err := r.sums()
	if err != nil {
		return err
	}
	var lines []byte
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		lines = fmt.Appendf(lines, "%s  %s\n", sums[name], name)
	}
	if err := r.add("SHA256SUMS", lines); err != nil || key == "" {
		return err
	}
	return r.sign(ctx, key, filepath.Join(r.out, "SHA256SUMS"))
}

// sign signs a file, and verifies it with the repository's keys, as users will.
func (r *release) sign(ctx context.Context, key, path string) error {
	const namespace, signer = "git-agent-release", "release@git-agent"
	if _, err := output(exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-n", namespace, "-f", key, path)); err != nil {
		return fmt.Errorf("sign %s: %w", path, err)
	}
	signed, err := os.Open(path)
	if err != nil {
		return err
	}
	defer signed.Close()
	verify := exec.CommandContext(ctx, "ssh-keygen", "-Y", "verify", "-n", namespace, "-I", signer,
		"-f", filepath.Join(r.work, "src", "release", "allowed_signers"), "-s", path+".sig")
	verify.Stdin = signed
	if _, err := output(verify); err != nil {
		return fmt.Errorf("what %s signs can't be verified: is its public key committed, in release/allowed_signers? %w", key, err)
	}
	return nil
}

// output runs a command and returns its output. The error has its stderr.
func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if err != nil {
		said := ""
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			said = strings.TrimSpace(string(exit.Stderr))
		}
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args[:min(3, len(cmd.Args))], " "), err, said)
	}
	return out, nil
}
