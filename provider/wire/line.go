package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Lines reads an answer line by line: some servers send one JSON object per line.
type Lines struct{ events Events }

// Lines reads the answer as lines.
func (x *Exchange) Lines() *Lines {
	return &Lines{Events{r: bufio.NewReaderSize(x, 8<<10), max: x.maxLine}}
}

// Next returns the next line that is not blank, without its end. The line is valid until the next call.
// At the end of the input, Next fails with io.EOF. The last line may lack its end if it is a whole JSON
// object, or of a web page ([Exchange.Unexpected]); any other line without an end may be incomplete, and is
// dropped. Pass the error to [Exchange.Cut].
func (l *Lines) Next() ([]byte, error) {
	for {
		l.events.size = 0
		line, err := l.events.readLine()
		if err != nil {
			last := bytes.TrimSpace(l.events.line)
			if errors.Is(err, io.EOF) && (isPage(last) || bytes.HasPrefix(last, []byte("{")) && json.Valid(last)) {
				l.events.line = nil
				return last, nil
			}
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
