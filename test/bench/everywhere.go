package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gitagent/internal/places"
)

// everywhere lists and searches the missions of all repositories of a user, beside the same in one of them.
func everywhere(l *lab) {
	const missions = 10
	r := l.newRepository("everywhere", smallFiles)
	r.populate(missions, missions)
	known := places.Of(func(name string) string { return map[string]string{"HOME": filepath.Join(l.dir, "home")}[name] })
	format := "%-40s %5v %8s %8s %8s %8s\n"
	fmt.Printf(format, "", "n", "first ms", "whole ms", "cpu ms", "per repo")
	row := func(name string, repositories, hits int, args ...string) {
		var first, whole series
		for range warmUp + l.times(10) {
			x := r.lines(r.program, args...)
			if x.hits != hits {
				check(fmt.Errorf("%s: %d lines, not %d", name, x.hits, hits))
			}
			first, whole = append(first, sample{wall: x.first}), append(whole, x.sample)
		}
		first, whole = first[warmUp:], whole[warmUp:]
		figure := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		fmt.Printf(format, name, len(whole), figure(ms(first.wall(0.5))), figure(ms(whole.wall(0.5))), figure(ms(whole.cpu())), figure(ms(whole.wall(0.5))/float64(repositories)))
	}
	list, search := []string{"missions", "--json"}, []string{"search", "--json", "--max-count", "1000000", "done"}
	row("missions", 1, missions, list...)
	found := r.lines(r.program, search...).hits
	row("search", 1, found, search...)
	noted := 0
	for _, n := range []int{1, 50, 500} {
		for ; noted < n; noted++ {
			dir := fmt.Sprintf("%s-%d", r.dir, noted)
			check(os.CopyFS(dir, os.DirFS(r.dir)))
			check(known.NoteRepository(filepath.Join(dir, ".git")))
		}
		row(fmt.Sprintf("missions --everywhere, %d repositories", n), n, n*missions, append(list, "--everywhere")...)
		row(fmt.Sprintf("search --everywhere, %d repositories", n), n, n*found, append([]string{"search", "--everywhere"}, search[1:]...)...)
	}
}
