package gitnotes_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"gitagent/gitnotes"
)

// Two clones append to the note of one commit, and the notes are merged.
func Example() {
	store := memory.NewStorage() // or that of a repository
	dev := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1795176000, 0).UTC()}
	head := plumbing.NewHash("09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4")

	add := func(notesCommit plumbing.Hash, line string) plumbing.Hash {
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

	first := add(plumbing.ZeroHash, `{"turn":1}`)
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
		fmt.Printf("%s\n%s", note.Object, text)
	}

	_, err = notes.Get(plumbing.NewHash("000000000000000000000000000000000000dead"))
	fmt.Println(errors.Is(err, gitnotes.ErrNotFound))

	// Output:
	// 09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4
	// {"turn":1}
	// {"turn":2}
	// {"turn":3}
	// true
}
