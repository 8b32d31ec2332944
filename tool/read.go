package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

type readArguments struct {
	Path   string `json:"path" jsonschema:"description=the file to read"`
	Offset int    `json:"offset,omitempty" jsonschema:"minimum=1,description=the line to begin with: 1 if left out"`
	Limit  int    `json:"limit,omitempty" jsonschema:"minimum=1,description=how many lines to read: as many as there is room for if left out"`
}

// ReadFile returns a tool that reads a text file, or lines of it: up to 30 KiB at once, and no more of
// the file than [Limits] allows. A file that is not UTF-8, holds a zero byte or keeps its reader waiting
// is refused.
//
// The first line of the answer says which part of the file it is and how to continue. It names the hash of the
// whole file, which [WriteFile] and [EditFile] ask for, unless the file has more than 4 MiB. ReadFile fails with
// kind validation if dir is nil.
func ReadFile(dir *Dir) (flow.Tool, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	about := fmt.Sprintf("Reads a text file, at most %d bytes at once; the answer says how to go on, and names the hash of the file.",
		min(maxAnswer, dir.limits.File))
	info := flow.ToolInfo{Description: about, ReadOnly: true}
	return flow.NewTool(info, func(ctx context.Context, _ flow.ToolUse, args readArguments) (string, error) {
		return dir.read(ctx, args)
	})
}

func (d *Dir) read(ctx context.Context, args readArguments) (string, error) {
	p, err := find(args.Path)
	if err != nil {
		return "", err
	}
	data, size, err := d.load(ctx, p, highestFile, true)
	if err != nil {
		return "", err
	}
	text, err := legible(p, data, d.limits.File)
	if err != nil {
		return "", err
	}
	named := ""
	if len(data) <= highestFile {
		named = " Hash " + hashOf(data) + "."
	}
	if text == "" {
		return "The file is empty." + named, nil
	}
	page := pageOf(text, max(args.Offset, 1), args.Limit)
	if page.last < page.first {
		return "", p.fault(fmt.Errorf("there are %d lines that can be read, so none is at offset %d", page.of, args.Offset))
	}
	var title strings.Builder
	fmt.Fprintf(&title, "Lines %d to %d of %d.", page.first, page.last, page.of)
	if page.last < page.of {
		fmt.Fprintf(&title, " Go on with offset %d.", page.last+1)
	}
	if int64(len(text)) < size {
		fmt.Fprintf(&title, " The file has %d bytes, of which the first %d can be read.", size, len(text))
	}
	return title.String() + named + "\n\n" + page.text, nil
}

// content is the text of a file, or the beginning of it.
type content struct {
	text string
	size int64 // bytes of the file
	read int   // bytes that were read, at most one more than asked for
}

// text reads at most that many bytes of a file. It fails with the error of the context, or if the file
// cannot be read; read is set in the latter case too.
func (d *Dir) text(ctx context.Context, p place, limit int) (content, error) {
	data, size, err := d.load(ctx, p, limit, false)
	out := content{size: size, read: len(data)}
	if err == nil {
		out.text, err = legible(p, data, limit)
	}
	return out, err
}

// load reads at most limit+1 bytes of a file, and returns how many it has. Unless all of them are wanted, it ends
// after a zero byte. It fails with the error of the context, or if the file cannot be read; what has been read
// until then is returned too.
func (d *Dir) load(ctx context.Context, p place, limit int, all bool) (data []byte, size int64, err error) {
	file, info, err := d.open(p)
	if err != nil {
		return nil, 0, unreadable{err}
	}
	defer func() { _ = file.Close() }() // nothing was written
	if info.IsDir() {
		return nil, 0, unreadable{p.fault(errors.New("is a folder, no file"))}
	}
	defer impatient(ctx, file)()
	data, err = io.ReadAll(io.LimitReader(watched{ctx, file, all}, int64(limit)+1))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("keeps its reader waiting")
	}
	size = max(info.Size(), int64(len(data)))
	switch {
	case ctx.Err() != nil:
		return data, size, ctx.Err()
	case err != nil:
		return data, size, unreadable{p.fault(err)}
	}
	return data, size, nil
}

// legible returns at most limit bytes of what a file holds, if they are text.
func legible(p place, data []byte, limit int) (string, error) {
	if len(data) > limit {
		data = whole(data[:limit])
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", unreadable{p.fault(errors.New("is no text in UTF-8"))}
	}
	return string(data), nil
}

// maxWait is how long a file may keep its reader waiting. Files on disks never do; some of those that a kernel makes up
// wait for something to happen.
const maxWait = 200 * time.Millisecond

// impatient ends the reading of a file that keeps its reader waiting, and does so at once when the context ends. The
// caller calls stop when it has read. A file that never waits knows no deadline.
func impatient(ctx context.Context, file *os.File) (stop func()) {
	if file.SetReadDeadline(time.Now().Add(maxWait)) != nil {
		return func() {}
	}
	unwatch := context.AfterFunc(ctx, func() { _ = file.SetReadDeadline(time.Now()) })
	return func() { unwatch() }
}

// whole removes a character at the end that was cut in its middle.
func whole(data []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}

// page is a range of lines of a text.
type page struct {
	text        string
	first, last int // from 1; last < first: none
	of          int
}

// pageOf returns at most limit lines from the first on, or as many as an answer holds. It returns at
// least one line, if necessary a part of it.
func pageOf(text string, first, limit int) page {
	out := page{first: first, last: first - 1}
	var b strings.Builder
	full := false
	for line := range strings.Lines(text) {
		out.of++
		if full || out.of < first || limit > 0 && out.last-first+1 >= limit {
			continue
		}
		if full = b.Len()+len(line) > maxAnswer; full && b.Len() > 0 {
			continue
		}
		b.WriteString(short(line, maxAnswer))
		out.last++
	}
	out.text = b.String()
	return out
}

// short cuts a line visibly.
func short(line string, n int) string {
	if len(line) <= n {
		return line
	}
	head := strings.ToValidUTF8(line[:n], "")
	return fmt.Sprintf("%s\n[… %d more bytes of this line are left out]\n", head, len(line)-len(head))
}
