package turns_test

import (
	"context"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/turns"

	"github.com/go-git/go-git/v5/plumbing"
)

// start begins an attached mission at HEAD and checks its branch out.
func (l *lab) start() ledger.ID {
	l.t.Helper()
	id, err := ledger.NewID()
	if err != nil {
		l.t.Fatal(err)
	}
	return l.begin(turns.Beginning{ID: id, At: time.Now()})
}

func (l *lab) begin(b turns.Beginning) ledger.ID {
	l.t.Helper()
	if b.From.IsZero() {
		b.From = plumbing.NewHash(l.Git("rev-parse", "HEAD"))
	}
	if _, err := l.recorder(l.Dir).Begin(context.Background(), b); err != nil {
		l.t.Fatal(err)
	}
	return b.ID
}

// branch is the short name of a mission's branch.
func (l *lab) branch(id ledger.ID) string {
	return strings.TrimPrefix(id.Branch(l.capture.BranchPrefix), "refs/heads/")
}

var _ = git.Hex{}
