// Command main holds a conversation with the generated client beside it: it starts it, reads its stream, and answers its question.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	record, facts, err := talk(context.Background(), os.Args[1], []byte(os.Args[2]))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%s after %d facts\n", record.State, facts)
}

// ended is what is read of a record.
type ended struct{ State string }

// recordOf reads a record.
func recordOf(v any) (out ended, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(data, &out)
}

// streamed is how a stream has ended.
type streamed struct {
	last int64
	err  error
}

// follow reads a stream to its end. Each fact has the number behind the one before.
func follow(stream io.Reader) (s streamed) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if lines.Text() == "event: end" {
			return s
		}
		number, ok := strings.CutPrefix(lines.Text(), "id: ")
		if !ok {
			continue
		}
		if number != strconv.FormatInt(s.last+1, 10) {
			s.err = fmt.Errorf("fact %s follows fact %d", number, s.last)
			return s
		}
		s.last++
	}
	s.err = cmp.Or(lines.Err(), io.ErrUnexpectedEOF)
	return s
}
