package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/charmbracelet/x/term"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// printValue writes a value to the standard output as indented JSON.
func (p *program) printValue(value any) error {
	data, err := indented(value)
	if err == nil {
		_, err = p.Out.Write(data)
	}
	return err
}

// indented returns a value as indented JSON, which cannot control a terminal.
func indented(value any) ([]byte, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return escaped(data.Bytes()), nil
}

// table writes rows of cells in columns. What is in a cell cannot control a terminal.
type table struct{ out *tabwriter.Writer }

func newTable(out io.Writer) *table { return &table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)} }

func (t *table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, cell := range cells {
		texts[i] = progress.Clean(fmt.Sprint(cell))
	}
	_, _ = fmt.Fprintln(t.out, strings.TrimRight(strings.Join(texts, "\t"), "\t"))
}

func (t *table) end() error { return t.out.Flush() }

// short cuts a text to so many characters.
func short(text string, length int) string {
	text = progress.Clean(text)
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return text
}

// dashed returns a dash in place of an empty text.
func dashed(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// idOn returns an id as a stream shows it: short on a terminal, and whole elsewhere, where a program may read it.
func idOn(stream any, id string) string {
	if columns(stream) > 0 {
		return shortID(id)
	}
	return id
}

// columns returns how many columns a stream has that is a terminal; 0: it is none.
func columns(stream any) int {
	width, _ := size(stream)
	return width
}

// size returns the columns and rows of a stream that is a terminal; 0: it is none.
func size(stream any) (columns, rows int) {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	file, ok := stream.(*os.File)
	if !ok || !terminal(file) {
		return 0, 0
	}
	columns, rows, err := term.GetSize(file.Fd())
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}
