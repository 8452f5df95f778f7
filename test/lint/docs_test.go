package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// markdown returns the repository's Markdown files with their text outside of
// code blocks, by their paths from the top.
func markdown(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "testdata", "dist"}, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		name := strings.TrimPrefix(filepath.ToSlash(path), top+"/")
		texts[name] = codeBlocks.ReplaceAllString(string(text), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	codeBlocks = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$")
	links      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	unanchored = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the names that a forge gives to the headings of a text.
func anchors(text string) (names []string) {
	for _, heading := range headings.FindAllStringSubmatch(text, -1) {
		name := unanchored.ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestLinks follows every link from one file of the repository to another, and
// to a heading in it.
func TestLinks(t *testing.T) {
	t.Parallel()
	texts := markdown(t)
	followed := 0
	for name, text := range texts {
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			followed++
			file, anchor, _ := strings.Cut(link[1], "#")
			path := name
			if file != "" {
				path = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join(top, path)); err != nil {
				t.Errorf("%s leads to %s, which is not there", name, link[1])
			} else if anchor != "" && !slices.Contains(anchors(texts[path]), anchor) {
				t.Errorf("%s leads to %s; the headings there are %q", name, link[1], anchors(texts[path]))
			}
		}
	}
	if followed < 90 {
		t.Errorf("followed only %d links", followed)
	}
}

// TestDecisions compares the list in docs/design.md with the files in
// docs/decisions: each stands there once, under its number and in its order,
// and no two have the same.
func TestDecisions(t *testing.T) {
	t.Parallel()
	_, list, _ := strings.Cut(markdown(t)["docs/design.md"], "\n## Decisions\n")
	list, _, _ = strings.Cut(list, "\n## ")
	var listed []string
	for _, link := range regexp.MustCompile(`(?m)^- \[(\d+) [^]]+\]\(decisions/(\d+)(-[^)]+)\): `).FindAllStringSubmatch(list, -1) {
		if link[1] != link[2] {
			t.Errorf("decision %s is %s%s", link[1], link[2], link[3])
		}
		listed = append(listed, link[2]+link[3])
	}
	files, err := filepath.Glob(filepath.Join(top, "docs", "decisions", "*"))
	if err != nil {
		t.Fatal(err)
	}
	number := ""
	for i, file := range files { // sorted
		files[i] = filepath.Base(file)
		n, _, _ := strings.Cut(files[i], "-")
		if n == number {
			t.Errorf("two decisions have the number %s", n)
		}
		number = n
	}
	if len(files) == 0 {
		t.Error("there are no decisions")
	}
	if !slices.Equal(listed, files) {
		t.Errorf("docs/design.md lists the decisions\n%q\nand there are\n%q", listed, files)
	}
}

// TestDependencies compares the table of dependencies in docs/design.md with
// what go.mod requires directly.
func TestDependencies(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, line := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		required = append(required, strings.TrimPrefix(line[1], "github.com/"))
	}
	_, table, _ := strings.Cut(markdown(t)["docs/design.md"], "\n## Dependencies\n")
	var explained []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\S+/\S+) \| .+ \|$`).FindAllStringSubmatch(table, -1) {
		explained = append(explained, row[1])
	}
	slices.Sort(required)
	slices.Sort(explained)
	if len(required) == 0 || !slices.Equal(required, explained) {
		t.Errorf("go.mod requires\n%q\nand docs/design.md explains\n%q", required, explained)
	}
}
