package command

import (
	"bytes"
	"cmp"
	"io"
	"os/exec"
	"strings"
)

// paged carries out what writes to the standard output. If that is a terminal, and the text has more lines than it has rows, a pager
// shows the text. off means that none is wanted.
func (p *program) paged(off bool, write func() error) error {
	width, height := size(p.Out)
	if off || p.json || width == 0 || !terminal(p.In) {
		return write()
	}
	to := p.Out
	var text bytes.Buffer
	p.Out, p.viewing.columns = &text, width
	err := write()
	p.Out, p.viewing.columns = to, 0
	if bytes.Count(text.Bytes(), []byte("\n")) < height || !p.page(text.Bytes(), to) {
		_, failed := to.Write(text.Bytes())
		return cmp.Or(err, failed)
	}
	return err
}

// page has a pager show a text: that of $PAGER, or less. It reports whether there is one.
func (p *program) page(text []byte, to io.Writer) bool {
	named, set := p.Lookup("PAGER")
	words := strings.Fields(named)
	if !set {
		words = []string{"less"}
	}
	if len(words) == 0 {
		return false
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return false
	}
	if out, ok := to.(*output); ok {
		to = out.to // the pager has to see the terminal itself
	}
	pager := exec.Command(path, words[1:]...) //nolint:gosec,noctx // the user's own; Ctrl-C is for the pager
	pager.Stdin, pager.Stdout, pager.Stderr = bytes.NewReader(text), to, p.Err
	if p.get("LESS") == "" {
		pager.Env = append(pager.Environ(), "LESS=FRX") // ends with a short text, shows styles, leaves the text behind
	}
	_ = pager.Run() // its code says nothing of the text
	return pager.ProcessState != nil
}
