package gitnotes_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"gitagent/gitnotes"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// Two clones append to the note of one commit, and the notes are merged.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := exec.Command("git", "init", "-q", "--object-format=sha1", dir).Run(); err != nil {
		log.Fatal(err)
	}
	repo, err := git.Find(dir)
	if err != nil {
		log.Fatal(err)
	}
	store := repo.Objects(context.Background()) // to be flushed before the ref moves
	defer store.Close()
	dev := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1795176000, 0).UTC()}
	head := object.NewHash("09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4")

	add := func(notesCommit object.Hash, line string) object.Hash {
		notes, err := gitnotes.Open(store, notesCommit)
		if err != nil {
			log.Fatal(err)
		}
		if err := notes.Append(head, []byte(line)); err != nil {
			log.Fatal(err)
		}
		next, err := notes.Commit(dev, dev, "Turn recorded\n")
		if err != nil {
			log.Fatal(err)
		}
		return next // for: git update-ref refs/notes/agent/<mission> <next> <notesCommit>
	}

	first := add(object.Hash{}, `{"turn":1}`)
	ours := add(first, `{"turn":2}`)
	theirs := add(first, `{"turn":3}`)

	merged, err := gitnotes.Merge(store, ours, theirs, dev, dev, "Notes merged\n")
	if err != nil {
		log.Fatal(err)
	}
	notes, err := gitnotes.Open(store, merged)
	if err != nil {
		log.Fatal(err)
	}
	for note, err := range notes.All() {
		if err != nil {
			log.Fatal(err)
		}
		text, err := notes.Get(note.Object)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.7s\n%s", note.Object, text)
	}

	_, err = notes.Get(object.NewHash("000000000000000000000000000000000000dead"))
	fmt.Println(errors.Is(err, gitnotes.ErrNotFound))

	// Output:
	// 09aa8f2
	// {"turn":1}
	// {"turn":2}
	// {"turn":3}
	// true
}
