package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestDraw: a picture is small, whole XML, has all that it needs, and knows what it was drawn of.
func TestDraw(t *testing.T) {
	t.Parallel()
	full := make([]plot, 12)
	for i := range full {
		full[i] = plot{Name: fmt.Sprintf("plot <%d> & more", i), Of: "missions", Git: "git for-each-ref", Why: "more take hours"}
		for _, n := range []int{100, 1000, 10_000, 100_000} {
			full[i].Points = append(full[i].Points, point{n, float64(n) / 123, float64(n) / 7, float64(n) / 999})
		}
	}
	for _, tt := range []struct {
		name   string
		plots  []plot
		paths  int // with a class of their own
		points int
	}{
		{"none", nil, 0, 0},
		{"without an older build and git", []plot{{Name: "x", Of: "turns", Points: []point{{N: 100, Now: 0.5}, {N: 1000, Now: 7}}}}, 1, 2},
		{"one point of nothing", []plot{{Name: "x", Of: "turns", Points: []point{{N: 100}}}}, 0, 0},
		{"all", full, 36, 144},
	} {
		t.Run(tt.name, func(t *testing.T) {
			picture := draw(tt.plots, "a machine")
			d := xml.NewDecoder(bytes.NewReader(picture))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			text := string(picture)
			if len(text) > 60_000 {
				t.Errorf("%d bytes", len(text))
			}
			if n := len(regexp.MustCompile(`href|url\(|@import|http`).FindAllString(text, -1)); n != 1 { // the name space
				t.Errorf("it names %d things outside", n)
			}
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Error("a number is none")
			}
			_, drawn, _ := strings.Cut(text, `class="before" d="M134`) // behind the legend
			if n := len(regexp.MustCompile(`class="(now|before|git)" d="M[0-9.]+ [0-9.]+L`).FindAllString(drawn, -1)); n != tt.paths {
				t.Errorf("%d lines, want %d", n, tt.paths)
			}
			if n := strings.Count(text, "<circle"); n != tt.points {
				t.Errorf("%d points, want %d", n, tt.points)
			}
			if got := plotsIn(picture); len(got)+len(tt.plots) > 0 && !reflect.DeepEqual(got, tt.plots) {
				t.Errorf("it was drawn of %+v", got)
			}
		})
	}
}
