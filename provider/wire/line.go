package wire

import (
	"bufio"
	"bytes"
)

// Lines reads an answer line by line, as servers send one JSON object on each.
type Lines struct{ events Events }

// Lines reads the answer as lines.
func (x *Exchange) Lines() *Lines {
	return &Lines{Events{r: bufio.NewReaderSize(x, 8<<10), max: x.maxLine}}
}

// Next yields the next line that is not blank, without its end and valid until the next call. It fails
// with io.EOF at the end of the input: a line without an end is none, because it may be a half one.
// What to do with its error says [Exchange.Cut].
func (l *Lines) Next() ([]byte, error) {
	for {
		l.events.size = 0
		line, err := l.events.readLine()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
