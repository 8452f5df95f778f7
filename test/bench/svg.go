package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// A plot is what was measured of a curve: milliseconds of CPU by how much there was of something.
type plot struct {
	Name   string  `json:"name"`
	Of     string  `json:"of"`            // what there is more and more of
	Git    string  `json:"git,omitempty"` // what git did; "" if nothing is near
	Why    string  `json:"why,omitempty"` // why there are no more points
	Points []point `json:"points"`
}

// A point is the medians of some rounds, 0 for what was not measured.
type point struct {
	N      int     `json:"n"`
	Now    float64 `json:"now"`
	Before float64 `json:"before,omitempty"`
	Git    float64 `json:"git,omitempty"`
}

// The picture's measures, in pixels.
const (
	columns            = 3
	cellWide, cellHigh = 270, 246
	left, above        = 44, 44 // of the axes within a cell
	wide, high         = 196, 140
	top                = 64 // what is above all cells
)

const style = `text{font:11px system-ui,sans-serif;fill:#1b1f24}.h{font-size:15px;font-weight:600}.t{font-weight:600}.d{fill:#57606a;font-size:10px}` +
	`.a{stroke:#d0d7de;stroke-width:1}.now,.before,.git{fill:none;stroke-width:2}.now{stroke:#0a58ca}.before{stroke:#bc4c00;stroke-dasharray:5 3}.git{stroke:#6e7781;stroke-width:1.5}` +
	`circle.now{fill:#0a58ca}circle.before{fill:#bc4c00}circle.git{fill:#6e7781}circle{stroke:none!important}` +
	`@media(prefers-color-scheme:dark){text{fill:#e6edf3}.d{fill:#9aa4af}.a{stroke:#3d444d}.now{stroke:#6cb0ff}.before{stroke:#f0883e}.git{stroke:#9aa4af}circle.now{fill:#6cb0ff}circle.before{fill:#f0883e}circle.git{fill:#9aa4af}}`

// lines are the three of a plot, in the order in which they are drawn: ours lies above.
var lines = []struct {
	class string
	of    func(point) float64
}{
	{"git", func(p point) float64 { return p.Git }},
	{"before", func(p point) float64 { return p.Before }},
	{"now", func(p point) float64 { return p.Now }},
}

// draw makes a picture of the plots, one beside the other, that needs nothing else. Both axes are logarithmic, and those
// of all plots are the same. The plots are in it as JSON, see [plotsIn].
func draw(plots []plot, about string) []byte {
	var b bytes.Buffer
	text := func(x, y float64, class, words string) {
		if words == "" {
			return
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" class="%s">%s</text>`+"\n", x, y, class, escaped(words))
	}
	rows := (len(plots) + columns - 1) / columns
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", columns*cellWide, top+rows*cellHigh)
	fmt.Fprintf(&b, "<title>How it grows</title>\n<metadata>%s</metadata>\n<style>%s</style>\n", escaped(string(must(json.Marshal(plots)))), style)
	text(left, 20, "h", "How it grows: milliseconds of CPU, of all processes")
	text(left, 36, "d", about)
	for i, line := range []string{"now", "before", "git"} {
		x := float64(left + 90*i)
		fmt.Fprintf(&b, `<path class="%s" d="M%.0f 50h24"/>`+"\n", line, x)
		text(x+30, 54, "", line)
	}
	low, most := math.Inf(1), 1.0
	for _, p := range plots {
		for _, at := range p.Points {
			for _, line := range lines {
				if v := line.of(at); v > 0 {
					low, most = min(low, v), max(most, v)
				}
			}
		}
	}
	from, to := math.Floor(math.Log10(min(low, most))), math.Ceil(math.Log10(most))
	to = max(to, from+1)
	for i, p := range plots {
		dx, dy := float64(i%columns*cellWide), float64(top+i/columns*cellHigh)
		fmt.Fprintf(&b, `<g transform="translate(%.0f %.0f)">`+"\n", dx, dy)
		text(left, 16, "t", p.Name)
		text(left, 31, "d", p.Git)
		x := func(n float64) float64 { return left + wide*(math.Log10(n)-2)/3 }
		y := func(v float64) float64 { return above + high*(to-math.Log10(v))/(to-from) }
		for e := from; e <= to; e++ {
			at := y(math.Pow(10, e))
			fmt.Fprintf(&b, `<path class="a" d="M%d %.0fh%d"/>`+"\n", left, at, wide)
			fmt.Fprintf(&b, `<text x="%d" y="%.0f" class="d" text-anchor="end">%s</text>`+"\n", left-6, at+3, short(math.Pow(10, e)))
		}
		for e := 2.0; e <= 5; e++ {
			at := x(math.Pow(10, e))
			fmt.Fprintf(&b, `<path class="a" d="M%.0f %dv%d"/>`+"\n", at, above, high)
			fmt.Fprintf(&b, `<text x="%.0f" y="%d" class="d" text-anchor="middle">%s</text>`+"\n", at, above+high+14, short(math.Pow(10, e)))
		}
		text(left, above+high+29, "d", p.Of)
		text(left, above+high+42, "d", p.Why)
		for _, line := range lines {
			var path []string
			for _, at := range p.Points {
				if v := line.of(at); v > 0 {
					path = append(path, fmt.Sprintf("%.1f %.1f", x(float64(at.N)), y(v)))
				}
			}
			if len(path) == 0 {
				continue
			}
			fmt.Fprintf(&b, `<path class="%s" d="M%s"/>`+"\n", line.class, strings.Join(path, "L"))
			for _, at := range path {
				cx, cy, _ := strings.Cut(at, " ")
				fmt.Fprintf(&b, `<circle class="%s" cx="%s" cy="%s" r="2.5"/>`, line.class, cx, cy)
			}
			b.WriteByte('\n')
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func escaped(text string) string {
	var b strings.Builder
	check(xml.EscapeText(&b, []byte(text)))
	return b.String()
}

// short is a power of ten for an axis.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.0fM", v/1e6)
	case v >= 1000:
		return fmt.Sprintf("%.0fk", v/1000)
	}
	return fmt.Sprintf("%.4g", v)
}

// plotsIn returns the plots that a picture was drawn of.
func plotsIn(picture []byte) (plots []plot) {
	var svg struct {
		Metadata string `xml:"metadata"`
	}
	check(xml.Unmarshal(picture, &svg))
	check(json.Unmarshal([]byte(svg.Metadata), &plots))
	return plots
}
