//go:build !windows

package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A root in a container works in a repository of the host's user, who could not
// change what root's git has made: a directory of refs, a reflog. What our git
// makes is therefore given to the owner of the directory that it is made in.
// Git itself gives nothing.

// owner returns the owner of the common directory if this process must give
// them what it makes: as root, in another user's repository.
func (r *Repo) owner() (uid, gid int, other bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	info, err := os.Stat(r.CommonDir)
	if err != nil {
		return 0, 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), int(stat.Gid), ok && stat.Uid != 0
}

// readable returns options of git with which the owner can read what root's git
// makes from the first moment, whatever root's umask is: a table that can't be
// read hides all refs. A group's directory has core.sharedRepository.
func (r *Repo) readable(args []string) []string {
	if _, _, other := r.owner(); !other || slices.Contains(args, "--list") {
		return nil
	}
	info, err := os.Stat(r.CommonDir)
	if err != nil || info.Mode().Perm()&0o020 != 0 {
		return nil
	}
	return []string{"-c", "core.sharedRepository=0644"}
}

// MakeWays makes the directories of files that git will make in the common
// directory, or where refs are, so that they are their owner's from the
// beginning, with the mode of the directory above.
func (r *Repo) MakeWays(files ...string) {
	if _, _, other := r.owner(); !other {
		return
	}
	for _, file := range files {
		dir := r.RefsDir()
		if _, within := Within(dir, file); !within {
			dir = r.CommonDir
		}
		way, ok := Within(dir, filepath.Dir(file))
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(way, "/") {
			above, err := os.Lstat(dir)
			dir = filepath.Join(dir, part)
			if err == nil && os.Mkdir(dir, 0o700) == nil {
				_ = os.Chmod(dir, above.Mode())
			}
		}
		r.handOver([]string{dir})
	}
}

// handOver gives files in the common directory, or where refs are, the
// directories that lead to them, and their reflogs to the owner of the
// repository, if they are root's and this process is. A name with a final slash
// stands for all files below it.
func (r *Repo) handOver(files []string) {
	uid, gid, other := r.owner()
	if !other {
		return
	}
	for _, dir := range slices.Compact([]string{r.CommonDir, r.RefsDir()}) {
		if in, err := os.OpenRoot(dir); err == nil {
			handOver(in, files, uid, gid)
			_ = in.Close()
		}
	}
}

func handOver(in *os.Root, files []string, uid, gid int) {
	give := func(name string) {
		info, err := in.Lstat(name)
		if err != nil {
			return
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && stat.Uid == 0 && (info.IsDir() || info.Mode().IsRegular() && stat.Nlink == 1) {
			_ = in.Lchown(name, uid, gid)
		}
	}
	for _, file := range files {
		name, ok := Within(in.Name(), file)
		if !ok {
			continue
		}
		log := filepath.Join("logs", name)
		if filepath.Base(name) == "HEAD" { // perhaps a linked worktree's
			log = filepath.Join(filepath.Dir(name), "logs", "HEAD")
		}
		for _, name := range []string{name, log} {
			for dir := name; dir != "."; dir = filepath.Dir(dir) {
				give(dir)
			}
			if filepath.Base(name) == tableList {
				name = filepath.Dir(name)
			} else if !strings.HasSuffix(file, "/") {
				continue
			}
			_ = fs.WalkDir(in.FS(), filepath.ToSlash(name), func(name string, _ fs.DirEntry, _ error) error {
				give(filepath.FromSlash(name))
				return nil
			})
		}
	}
}

// giveFile is handOver for an open file that this process has made.
func (r *Repo) giveFile(f *os.File) error {
	if uid, gid, other := r.owner(); other {
		return f.Chown(uid, gid)
	}
	return nil
}
