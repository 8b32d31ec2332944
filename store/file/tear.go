package file

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// sector is the smallest unit that a disk writes as a whole, in bytes. Whatever a system loses at once,
// such as a page of memory, is a multiple of it.
const sector = 512

// torn reports whether the bytes behind a damage are what a crash can have left of one commit that was
// not acknowledged. They are either the beginning of that commit, or the commit with gaps: sectors that
// never reached the disk and read as zeros, of which a journal has no others. Any other damage happened
// later.
func torn(file io.ReaderAt, size int64, id string, d *damage) (bool, error) {
	if d.offset == 0 {
		if begun, err := begins(file, size, id); !begun || err != nil {
			return false, err
		}
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, d.offset, size-d.offset), maxCommit)
	r := &rest{in: in, from: d.offset, at: d.offset, size: size}
	gap, closed := false, false // seen so far: a gap, the line of a commit
	for floor := d.offset; ; {
		begin := r.at
		line, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case line.gap:
			gap = true
			continue
		case closed:
			return false, nil // a writer that continues behind a commit has synced it
		case !line.ended:
			return line.text == nil || starts(line.text), nil
		case !marked(line.text):
			if !line.sound {
				return false, nil
			}
			continue
		case !gap:
			return false, nil // the commit is complete, and wrong
		}
		closed = true
		b, err := parse(line.text, begin)
		if err != nil || b.from < floor {
			continue
		}
		if whole, err := b.verify(file); whole || err != nil {
			return false, err
		}
		floor = r.at
	}
}

// begins reports whether a journal without a header begins as this release would write that of the
// conversation, as far as it was written.
func begins(file io.ReaderAt, size int64, id string) (bool, error) {
	text := make([]byte, min(sector, size))
	if _, err := file.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	var head bytes.Buffer
	err := appendLine(&head, 0, header{Journal: version, ID: id})
	return len(text) < head.Len() && bytes.HasPrefix(head.Bytes(), text), err
}

// starts reports whether a text can be the beginning of a line, without its newline.
func starts(text []byte) bool {
	digits := text[:min(len(text), sumWidth-1)]
	if len(bytes.Trim(digits, "0123456789abcdef")) > 0 {
		return false
	}
	if len(text) < sumWidth {
		return true
	}
	if text[sumWidth-1] != ' ' || len(text) > sumWidth && text[sumWidth] != '{' {
		return false
	}
	var value json.RawMessage
	in := json.NewDecoder(bytes.NewReader(text[sumWidth:]))
	err := in.Decode(&value)
	return err == nil && in.InputOffset() == int64(len(text)-sumWidth) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// rest reads the bytes behind the last whole commit line by line, however long the lines are.
type rest struct {
	in   *bufio.Reader
	from int64 // where it begins
	at   int64 // offset of the next byte
	size int64
}

// remnant is a line of the rest.
type remnant struct {
	text  []byte // with its newline; nil if it does not fit the buffer
	ended bool   // by a newline
	sound bool   // its own checksum is correct
	gap   bool   // it has a gap
}

// next returns the next line, or io.EOF.
func (r *rest) next() (remnant, error) {
	var line remnant
	var head [sumWidth]byte
	var own sum
	zeros := int64(0) // before r.at
	for n := 0; ; {
		piece, err := r.in.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return remnant{}, err
		}
		line.ended = err == nil
		for text := piece; len(text) > 0; {
			plain := bytes.IndexByte(text, 0)
			if plain != 0 {
				if plain < 0 {
					plain = len(text)
				}
				line.gap = line.gap || r.gap(zeros)
				zeros, r.at, text = 0, r.at+int64(plain), text[plain:]
				continue
			}
			empty := len(text) - len(bytes.TrimLeft(text, "\x00"))
			zeros, r.at, text = zeros+int64(empty), r.at+int64(empty), text[empty:]
		}
		headed := 0
		if n < sumWidth {
			headed = copy(head[n:], piece)
		}
		_, _ = own.Write(bytes.TrimSuffix(piece[headed:], []byte{'\n'}))
		n += len(piece)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case n == 0:
			return remnant{}, io.EOF
		}
		if n == len(piece) {
			line.text = piece
		}
		line.gap = line.gap || r.gap(zeros)
		said, _, err := divide(append(head[:], '\n'))
		line.sound = err == nil && n > sumWidth && n <= maxLine && said == own
		return line, nil
	}
}

// gap reports whether that many zeros before r.at are a sector that was lost. Such a sector reads as
// zeros from the former end of the file, which may be inside it, up to its own end or that of the file. A
// single zero can also be a space with one decayed bit.
func (r *rest) gap(zeros int64) bool {
	if zeros == 0 || r.at%sector != 0 && r.at != r.size {
		return false
	}
	begin := r.at - zeros
	return zeros > 1 || begin == r.from || begin%sector == 0
}
