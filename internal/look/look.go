// Package look holds the colours and the mark that reports, the page of conversations and the site share.
package look

import (
	_ "embed" // tokens.css, icon.svg
	"regexp"
	"strings"
)

// Tokens is the style sheet that names the colours. They follow the reader's system: they are dark where it is.
//
//go:embed tokens.css
var Tokens string

// Icon is the mark of the project, as an SVG image.
//
//go:embed icon.svg
var Icon string

// Themed returns the style sheet for a page whose reader may choose: each colour follows the color-scheme of its element.
func Themed() string {
	token := regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]+);`)
	light, dark, _ := strings.Cut(Tokens, "@media")
	at := make(map[string]string)
	for _, found := range token.FindAllStringSubmatch(dark, -1) {
		at[found[1]] = found[2]
	}
	return token.ReplaceAllStringFunc(light, func(found string) string {
		name, value, _ := strings.Cut(strings.TrimSuffix(found, ";"), ": ")
		return name + ": light-dark(" + value + ", " + at[name] + ");"
	})
}
