package debate

import text "github.com/agonist-dev/debate/internal/text"

// Reduce, Plus and Times reach what no caller can.
func Reduce(content string, most int) string { return text.OneLine(content, most) }
