// Six is go-git 6:
//
//	read <repository> <prefix of refs>...
//	clone <url> <directory>
//	collect <repository>
package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/go-git/go-git/v6"
	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/filemode"
	"github.com/go-git/go-git/v6/plumbing/object"
)

func main() {
	switch verb := os.Args[1]; verb {
	case "read":
		read(open(os.Args[2]), os.Args[3:])
	case "clone":
		must(git.PlainClone(os.Args[3], &git.CloneOptions{URL: os.Args[2]}))
	case "collect":
		check(open(os.Args[2]).RepackObjects(&git.RepackConfig{}))
		repo := open(os.Args[2]) // one that has seen the packs from before reads them no more
		check(repo.Prune(git.PruneOptions{Handler: repo.DeleteObject}))
	default:
		log.Fatalf("what is %q?", verb)
	}
}

func open(dir string) *git.Repository {
	return must(git.PlainOpen(dir))
}

func read(repo *git.Repository, prefixes []string) {
	var todo []plumbing.Hash
	check(must(repo.References()).ForEach(func(ref *plumbing.Reference) error {
		name := ref.Name().String()
		ours := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if ref.Type() == plumbing.HashReference && slices.ContainsFunc(prefixes, ours) {
			fmt.Println("ref", name, ref.Hash())
			todo = append(todo, ref.Hash())
		}
		return nil
	}))
	seen := make(map[plumbing.Hash]bool)
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		o := must(repo.Storer.EncodedObject(plumbing.AnyObject, id))
		fmt.Println("object", id, o.Type(), digest(o))
		switch o.Type() {
		case plumbing.CommitObject:
			commit := must(repo.CommitObject(id))
			todo = append(append(todo, commit.TreeHash), commit.ParentHashes...)
			if signature := cmp.Or(commit.Signature, commit.SignatureSHA256); signature != "" {
				fmt.Printf("signature %s %x\n", id, sha256.Sum256([]byte(strings.TrimRight(signature, "\n"))))
				payload := &plumbing.MemoryObject{}
				check(commit.EncodeWithoutSignature(payload))
				fmt.Println("signed", id, digest(payload))
			}
		case plumbing.TreeObject:
			for _, e := range must(object.GetTree(repo.Storer, id)).Entries {
				if e.Mode != filemode.Submodule {
					todo = append(todo, e.Hash)
				}
			}
		}
	}
}

func digest(o plumbing.EncodedObject) string {
	r := must(o.Reader())
	defer r.Close()
	return fmt.Sprintf("%x", sha256.Sum256(must(io.ReadAll(r))))
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
