// House measures the product's code as somebody feels it who takes it over:
// how many names of others a file and a function ask one to know, how often
// the data of a Stop comes back to a file that it had left, and how long,
// wide and high things are. Tests and what is below test/ don't count.
//
// With -top it lists the largest of each kind, and with -walk the files of
// one walk in order.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	top := flag.Int("top", 0, "list this many of the largest of each kind")
	name := flag.String("walk", "", "print the files of one walk in order: stop, prime, fork or purge")
	flag.Parse()
	if err := run(os.Stdout, *top, *name); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, top int, name string) error {
	h, err := load(".", "./...")
	if err != nil {
		return err
	}
	if name == "" {
		h.sizes(w, top)
		h.names(w, top)
	}
	for _, s := range starts {
		if name != "" && s.name != name {
			continue
		}
		t, err := h.walk(s)
		if err != nil {
			return err
		}
		if name == "" {
			t.summary(w)
			continue
		}
		for _, path := range t.stays {
			fmt.Fprintln(w, path)
		}
	}
	return nil
}
