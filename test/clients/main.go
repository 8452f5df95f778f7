//go:build unix

// Clients runs the end-to-end tests with the newest of each agent's client, and tells what these have written that our test
// data lacks.
//
//	go run ./test/clients [-run <pattern>]
//
// It prints a table of the tests, and for each client the types of records, fields and events of hooks that it wrote and
// that no fixture has, each with an example. A fixture is a file of test data of the agent's: of its folder, of hooks and,
// for the first agent, of testdata. What its folder's known.go names has been seen as well. See [shapes] for what is
// compared. Whoever brings a client's version up to date looks at each of these lines: does a reader need the field, must
// Rebuild keep it, does docs/clients.md say so? Then a line that has it becomes test data.
//
// The exit status is 1 if a client could not be installed, or a test failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"gitagent/test/e2e/npm"
)

func main() {
	run := flag.String("run", "", "only the tests that match `pattern`, see go help testflag")
	flag.Parse()
	ok, err := clients(context.Background(), *run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// clients does all of it, and reports whether all tests passed.
func clients(ctx context.Context, run string) (ok bool, err error) {
	names := slices.Sorted(maps.Keys(npm.Clients))
	versions := map[string]string{}
	for _, name := range names {
		if versions[name], err = newest(ctx, name); err != nil {
			return false, err
		}
	}
	dir, err := os.MkdirTemp("", "clients-")
	if err != nil {
		return false, err
	}
	fmt.Printf("%v; what is printed and written is in %s\n\n", versions, dir)
	results, broken := test(ctx, versions, run, dir) // of one that breaks off, too, there is something to see
	ok = broken == nil
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "client\tversion\tpassed\tfailed\tskipped\ttime")
	for _, name := range names {
		r := results[name]
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%s\n", name, versions[name], r.passed, len(r.failed), r.skipped, r.took.Round(time.Second))
		ok = ok && len(r.failed) == 0
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	for _, name := range names {
		for _, test := range results[name].failed {
			fmt.Println("failed:", test)
		}
	}
	for _, name := range names {
		seen, err := fixtures(".", name)
		if err != nil {
			return false, err
		}
		news := map[string]*novelty{}
		if err := documents(filepath.Join(dir, name), func(path string, record any) {
			seen.compare(record, filepath.Base(filepath.Dir(path)), news)
		}); err != nil {
			return false, err
		}
		fmt.Printf("\n%s %s: %d places that no fixture has\n", name, versions[name], len(news))
		table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, place := range slices.Sorted(maps.Keys(news)) {
			n := news[place]
			fmt.Fprintf(table, "  %s\t%d times\t%s\t%s\n", place, n.times, n.test, n.example)
		}
		if err := table.Flush(); err != nil {
			return false, err
		}
	}
	return ok, broken
}
