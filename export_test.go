package debate

import textpkg "github.com/agonist-dev/debate/internal/text"

// Reduce, Plus and Times reach what no caller can.
func Reduce(text string, most int) string { return textpkg.OneLine(text, most) }
