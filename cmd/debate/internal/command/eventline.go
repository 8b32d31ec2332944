package command

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

// printJSON writes a value as a line of JSON to the standard output. Whatever could control a terminal is escaped, which JSON
// itself does for some characters only.
func (p *program) printJSON(value any) {
	line, err := encoded(value, "")
	if err != nil {
		p.warnf("print as JSON: %v", err)
		return
	}
	_, _ = p.Out.Write(line) // see output
}

// escaped writes the characters of a line of JSON that are not printable as \u sequences. They stand within strings only.
func escaped(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		switch {
		case r < 0x7f || unicode.IsPrint(r):
			out = append(out, line[:size]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		line = line[size:]
	}
	return out
}

// printResult writes the last line of --json: how the conversation stands, and its result. It has a kind, as events have.
func (p *program) printResult(r *flow.Record, got *result) {
	p.printJSON(struct {
		Kind         string         `json:"kind"`
		ID           string         `json:"id"`
		Flow         string         `json:"flow"`
		State        flow.State     `json:"state"`
		Exists       bool           `json:"exists"` // whether there is what was asked for
		Reason       flow.EndReason `json:"reason,omitempty"`
		Evidence     string         `json:"evidence,omitempty"`
		EndedEarlyBy string         `json:"endedEarlyBy,omitempty"`
		CutShort     string         `json:"cutShort,omitempty"`
		Cost         flow.Money     `json:"cost"`
		flow.Unsettled
		Result any `json:"result"`
	}{
		"result", r.ID, r.Flow(), r.State, got.exists && got.silent == "", r.Reason, r.Evidence, r.EndedEarlyBy, r.CutShort(), r.Spent().Cost,
		r.Spent().Unsettled, got.data,
	})
}
