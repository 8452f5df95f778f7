package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

//go:embed page.html style.css script
var assets embed.FS

// scripts lists the parts of the page's script in the order of execution.
var scripts = []string{
	"dom", "words", "settings", "data", "markdown", "patch", "compare-lines", "diff", "tree", "curve", "timeline", "turn", "compare",
	"search", "keys", "main",
}

// script returns the page's script, one function.
func script() (string, error) {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict'\n")
	for _, name := range scripts {
		part, err := assets.ReadFile("script/" + name + ".js")
		if err != nil {
			return "", err
		}
		b.Write(part)
		b.WriteByte('\n')
	}
	b.WriteString("})()\n")
	return b.String(), nil
}

// policy returns the content security policy for one style and one script.
func policy(style, script string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// head writes what precedes the packets.
func head(w io.Writer, script string) error {
	style, err := assets.ReadFile("style.css")
	if err != nil {
		return err
	}
	body, err := assets.ReadFile("page.html")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>git-agent</title>
<style>%s</style>
</head>
<body>
%s`, policy(string(style), script), style, body)
	return err
}

// foot writes what follows them.
func foot(w io.Writer, script string) error {
	_, err := fmt.Fprintf(w, "<script>%s</script>\n</body>\n</html>\n", script)
	return err
}
