package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A series is one thing measured again and again.
type series []sample

func (s series) wall(quantile float64) time.Duration {
	return pick(s, quantile, func(x sample) time.Duration { return x.wall })
}

func (s series) cpu() time.Duration {
	return pick(s, 0.5, func(x sample) time.Duration { return x.cpu })
}

func pick(s series, quantile float64, of func(sample) time.Duration) time.Duration {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b sample) int { return cmp.Compare(of(a), of(b)) })
	return of(s[int(quantile*float64(len(s)-1)+0.5)])
}

// Rounds are what the hooks and the baseline took, round by round.
type rounds struct{ prompts, stops, bases series }

func (r *rounds) add(prompt, stop, base sample) {
	r.prompts, r.stops, r.bases = append(r.prompts, prompt), append(r.stops, stop), append(r.bases, base)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

const rowFormat = "%-50s %4v  %31s  %31s  %5s %5s %5s  %s\n"

// heading prints the head of a table that compares.
func heading() {
	fmt.Printf(rowFormat, "ms", "n", "hook     p10     p90     cpu", "base     p10     p90     cpu", "ratio", "p10", "cpu", "target")
}

// compare prints a row: what against base. target may be empty.
func compare(name string, what, base series, target string) {
	fmt.Printf(rowFormat, name, len(what), what.figures(), base.figures(),
		ratio(what.wall(0.5), base.wall(0.5)), ratio(what.wall(0.1), base.wall(0.1)), ratio(what.cpu(), base.cpu()), target)
}

// alone prints a row without a baseline.
func alone(name string, what series, target string) {
	fmt.Printf(rowFormat, name, len(what), what.figures(), "", "", "", "", target)
}

func (s series) figures() string {
	return fmt.Sprintf("%7.2f %7.2f %7.2f %7.2f", ms(s.wall(0.5)), ms(s.wall(0.1)), ms(s.wall(0.9)), ms(s.cpu()))
}

func ratio(a, b time.Duration) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}
