package main

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

// errNobody means that the input has ended before a use was decided about.
var errNobody = errors.New("nobody decides any more: the input has ended")

// person decides about uses of tools at a terminal.
type person struct {
	p     stage.Printer
	lines *bufio.Scanner
}

func newPerson(p stage.Printer, in io.Reader) *person { return &person{p, bufio.NewScanner(in)} }

// decide shows what would be done, all of it, and reads the decision. reason is why a use is denied; it may be empty.
func (h *person) decide(q *flow.Inquiry) (option flow.Option, reason string, err error) {
	h.p.Linef("? %s asks to use %s:", stage.Clean(q.To), stage.Clean(q.Use.Tool))
	unescape := strings.NewReplacer(`\\`, `\\`, `\n`, "\n", `\t`, "    ") // what else is escaped stays so
	for line := range strings.SplitSeq(unescape.Replace(q.Use.Arguments), "\n") {
		h.p.Wrap("  ? ", line, width)
	}
	if q.Use.Cut {
		h.p.Linef("  ? … and more, which is not shown")
	}
	for {
		h.p.Linef("  ? approve, deny (and why), or always:")
		if !h.lines.Scan() {
			return "", "", errors.Join(errNobody, h.lines.Err())
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(h.lines.Text()), " ")
		switch option := flow.Option(strings.ToLower(word)); option {
		case flow.OptionApprove, flow.OptionAlways:
			if rest == "" {
				return option, "", nil
			}
		case flow.OptionDeny:
			return option, strings.TrimSpace(rest), nil
		}
	}
}
