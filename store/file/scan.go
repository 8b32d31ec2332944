package file

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// block is a whole commit and its place in a journal. The block of the header has only end, line and sum.
type block struct {
	commit

	sum  sum
	from int64 // where the lines of its events begin
	text int64 // where its own line begins
	end  int64 // where its own line ends
	line int   // its number
}

var (
	errLong = fmt.Errorf("the line has more than %d bytes", maxLine)
	errCut  = errors.New("no commit closes the lines that follow")
)

// scanner reads a journal forwards, block by block. It keeps at most a buffer of it in memory, however
// long the lines and however large the blocks are.
type scanner struct {
	in   *bufio.Reader
	at   int64 // offset of the next byte
	line int   // number of the next line
	sum  sum   // of everything read of the present block
	last block
}

// scan returns a scanner that continues behind a block.
func scan(file io.ReaderAt, size int64, behind block) *scanner {
	left := max(0, size-behind.end)
	in := bufio.NewReaderSize(io.NewSectionReader(file, behind.end, left), int(min(maxCommit, left)))
	return &scanner{in: in, at: behind.end, line: behind.line + 1, last: behind}
}

// read returns one line, or nil if it does not fit the buffer. If there is no line, it returns io.EOF; if
// a line has no end, io.ErrUnexpectedEOF.
func (s *scanner) read() ([]byte, error) {
	for n := 0; ; {
		piece, err := s.in.ReadSlice('\n')
		s.sum = s.sum.add(piece)
		s.at += int64(len(piece))
		n += len(piece)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && n > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
		s.line++
		switch {
		case n > maxLine:
			return nil, errLong
		case n > len(piece):
			return nil, nil
		default:
			return piece, nil
		}
	}
}

// next returns the next block, or io.EOF if the journal ends with the last one. If the bytes are not a
// block, it fails with a *damage that begins where the last block ends. Other errors come from the disk.
func (s *scanner) next() (block, error) {
	damaged := func(err error) error { return &damage{offset: s.last.end, line: s.last.line + 1, err: err} }
	s.sum = 0
	for lines := int64(0); ; lines++ {
		before, begin := s.sum, s.at
		line, err := s.read()
		switch {
		case errors.Is(err, io.EOF) && lines == 0:
			return block{}, io.EOF
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return block{}, damaged(errCut)
		case errors.Is(err, errLong):
			return block{}, damaged(err)
		case err != nil:
			return block{}, err
		case !marked(line):
			continue
		}
		own, err := parse(line, begin)
		if err == nil {
			err = own.follows(s.last, lines)
		}
		if err == nil && own.sum != before.add(line[sumWidth:len(line)-1]) {
			err = errors.New("the checksum of the commit is wrong")
		}
		if err != nil {
			return block{}, damaged(err)
		}
		own.line = s.line - 1
		s.last = own
		return own, nil
	}
}

// parse reads the line of a commit that begins at an offset.
func parse(line []byte, begin int64) (block, error) {
	own, text, err := divide(line)
	if err != nil {
		return block{}, err
	}
	var c commitLine
	if err := json.Unmarshal(text, &c); err != nil {
		return block{}, err
	}
	b := block{commit: c.Commit, sum: own, from: begin - c.Commit.Bytes, text: begin, end: begin + int64(len(line))}
	if b.Bytes <= 0 || b.from <= 0 || b.First <= 0 || b.Last < b.First || b.Start < 0 || b.Start >= begin {
		return block{}, errors.New("the fields of the commit contradict each other")
	}
	return b, nil
}

// follows checks whether a block with so many bytes of lines can follow another.
func (b *block) follows(before block, lines int64) error {
	switch {
	case b.Prev != before.sum:
		return errors.New("the commit does not follow the one before it")
	case b.First != before.Last+1:
		return fmt.Errorf("event %d follows event %d", b.First, before.Last)
	case b.from != before.end, b.Last-b.First+1 != lines:
		return errors.New("the commit belongs to other events")
	}
	return nil
}

// verify reports whether the checksum of a block that was found by itself is correct.
func (b *block) verify(file io.ReaderAt) (bool, error) {
	var got sum
	buffer := make([]byte, min(maxCommit, b.end-b.from))
	for _, part := range [][2]int64{{b.from, b.text}, {b.text + sumWidth, b.end - 1}} {
		n, err := io.CopyBuffer(&got, io.NewSectionReader(file, part[0], part[1]-part[0]), buffer)
		if err != nil || n != part[1]-part[0] {
			return false, err
		}
	}
	return got == b.sum, nil
}

// locate moves a damage to the first line whose own checksum is wrong, if there is one.
func (d *damage) locate(file io.ReaderAt, size int64) {
	s := scan(file, size, block{end: d.offset, line: d.line - 1})
	for {
		begin, n := s.at, s.line
		line, err := s.read()
		if err == nil && line == nil {
			continue // the line does not fit the buffer
		}
		if err == nil && !marked(line) {
			if _, _, err = check(line); err == nil {
				continue
			}
			d.offset, d.line, d.err = begin, n, err
		}
		return
	}
}

// walk visits the blocks behind a block, or from the beginning if that block has no end. It returns the
// end of the last one. What follows is a tear; if it cannot be one, walk fails with a *CorruptError.
func walk(file io.ReaderAt, size int64, id string, behind block, visit func(b *block) error) (end int64, err error) {
	if behind.end == 0 {
		behind, err = top(file, size, id)
	}
	s := scan(file, size, behind)
	for err == nil {
		var b block
		if b, err = s.next(); err == nil {
			err = visit(&b)
		}
	}
	if errors.Is(err, io.EOF) {
		return s.last.end, nil
	}
	d, damaged := errors.AsType[*damage](err)
	if !damaged {
		return 0, err
	}
	if tear, err := torn(file, size, id, d); tear || err != nil {
		return d.offset, err
	}
	d.locate(file, size)
	return 0, &CorruptError{ID: id, Offset: d.offset, Line: d.line, Err: d.err}
}

// top reads the header, and returns it as the block before the first one.
func top(file io.ReaderAt, size int64, id string) (block, error) {
	text := make([]byte, max(0, min(sector, size))) // an id has at most 128 bytes
	n, err := file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return block{}, err
	}
	line := text[:bytes.IndexByte(text[:n], '\n')+1]
	own, text, err := check(line)
	var h header
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	switch {
	case err != nil:
		return block{}, &damage{line: 1, err: fmt.Errorf("the header: %w", err)}
	case h.Journal < 1:
		return block{}, &damage{line: 1, err: errors.New("the header is another line")}
	case h.Journal != version:
		return block{}, fmt.Errorf("the journal of conversation %s is of version %d: this release reads version %d", id, h.Journal, version)
	case h.ID != id:
		return block{}, &damage{line: 1, err: fmt.Errorf("this is the journal of conversation %q", h.ID)}
	}
	return block{sum: own, end: int64(len(line)), line: 1}, nil
}

// tail returns the block that ends at an offset, without reading anything before its last line.
func tail(file io.ReaderAt, end int64) (b block, ok bool, err error) {
	for _, n := range []int64{1 << 10, maxCommit} {
		n = min(n, end)
		text := make([]byte, n)
		if _, err := file.ReadAt(text, end-n); err != nil && !errors.Is(err, io.EOF) {
			return block{}, false, err
		}
		begin := bytes.LastIndexByte(text[:max(0, n-1)], '\n') + 1
		if begin == 0 {
			continue // the line is longer
		}
		line := text[begin:]
		if !marked(line) {
			break
		}
		b, err := parse(line, end-int64(len(line)))
		return b, err == nil, nil
	}
	return block{}, false, nil
}

// whole reads a line of any length into a buffer, and returns its text. If the bytes are no such line, it fails with a
// *damage. Other errors come from the disk.
func whole(in *bufio.Reader, buffer *[]byte) ([]byte, error) {
	*buffer = (*buffer)[:0]
	for {
		piece, err := in.ReadSlice('\n')
		if len(*buffer)+len(piece) > maxLine {
			return nil, &damage{err: errLong}
		}
		*buffer = append(*buffer, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		_, text, err := check(*buffer) // without its newline it is no line
		if err != nil {
			return nil, &damage{err: err}
		}
		return text, nil
	}
}
