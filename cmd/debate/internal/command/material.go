package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/media"
)

// Bounds of what belongs to a problem.
const (
	mostText  = 1 << 20         // bytes of all texts
	mostItems = 64              // texts, images and PDFs
	mostName  = 128             // bytes of a name
	mostTold  = 6               // files of folders that are named because they are not read
	inputWait = 3 * time.Second // for the first byte of a pipe, as in System.Wait
)

// fromInput is what the standard input is called.
const fromInput = "the standard input"

// material is what belongs to a problem and is not it. It reaches the config through settings.Wish.
type material struct {
	texts []settings.Text // in the order in which they were given
	files []flow.File     // images and PDFs
	text  int             // bytes of the texts
	bytes int             // of the files
	paths []string        // that were read
	left  []string        // what is not read, and why
}

// errNoText reports bytes that are no text, no image and no PDF.
var errNoText = errors.New("is no text in UTF-8 or UTF-16, no image and no PDF; iconv -f latin1 -t utf-8 converts a text")

// decoded returns bytes as text: UTF-8, or UTF-16 that begins with its byte order. false: they are no text.
func decoded(data []byte) (string, bool) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		return string(data), utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
	}
	units := make([]uint16, 0, len(data)/2)
	for at := 2; at+1 < len(data); at += 2 {
		units = append(units, order.Uint16(data[at:]))
	}
	text := string(utf16.Decode(units)) // half a pair becomes the character that stands for an unknown one
	return text, len(data)%2 == 0 && !strings.ContainsRune(text, utf8.RuneError) && !strings.ContainsRune(text, 0)
}

// add takes a text, an image or a PDF under a name.
func (m *material) add(name string, data []byte) error {
	image := media.Signed(media.TypeOf(data)) // or a PDF
	text, ok := decoded(data)
	switch {
	case !image && !ok && (len(data) <= flow.MaxFile || bytes.IndexByte(data, 0) >= 0): // what is cut may end within a character
		return errNoText
	case !image && ok && strings.TrimSpace(text) == "":
		m.left = append(m.left, name+" is empty")
		return nil
	case len(m.texts)+len(m.files) == mostItems:
		return fmt.Errorf("is too much: at most %d files are read", mostItems)
	case image:
		if m.bytes += len(data); len(data) > flow.MaxFile || m.bytes > flow.MaxFiles {
			return fmt.Errorf("is too large: an image or a PDF has at most %d MiB, and all have %d", flow.MaxFile>>20, flow.MaxFiles>>20)
		}
		m.files = append(m.files, flow.File{Name: path.Base(named(name)), Data: data})
		return nil
	}
	if m.text += len(text); m.text > mostText {
		return fmt.Errorf("is too large: all texts together have at most %d MiB", mostText>>20)
	}
	m.texts = append(m.texts, settings.Text{Name: named(name), Text: text})
	return nil
}

// named returns a path as models are told it.
func named(at string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>\`, r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, filepath.ToSlash(at))
	if over := len(name) - mostName; over > 0 { // the end tells more
		name = strings.ToValidUTF8(name[over:], "")
	}
	return name
}

// read takes the file at a path, or those of a folder.
func (m *material) read(at string) error {
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", at)
	case err != nil:
		return err
	case info.IsDir():
		return m.folder(at)
	}
	if err := m.take(at); err != nil {
		return fmt.Errorf("%s %w", at, err)
	}
	return nil
}

// take takes the file at a path.
func (m *material) take(at string) error {
	m.paths = append(m.paths, at)
	data, err := settings.ReadFile(at, flow.MaxFile)
	if _, large := errors.AsType[settings.LargeError](err); err != nil && !large { // which add says in its words
		return err
	}
	return m.add(at, data)
}

// folder takes the files of a folder, and of those within it, in the order of their names, but no hidden ones. What is no text, image or
// PDF is left.
func (m *material) folder(at string) error {
	return fs.WalkDir(os.DirFS(at), ".", func(within string, entry fs.DirEntry, err error) error {
		full := filepath.Join(at, filepath.FromSlash(within))
		switch {
		case err != nil:
			return err
		case within != "." && strings.HasPrefix(entry.Name(), ".") && entry.IsDir():
			return fs.SkipDir
		case entry.IsDir(), strings.HasPrefix(entry.Name(), "."):
			return nil
		case !entry.Type().IsRegular():
			m.left = append(m.left, full+" is a link, or no file")
			return nil
		}
		switch err := m.take(full); {
		case errors.Is(err, errNoText):
			m.left = append(m.left, full+" is no text")
		case err != nil:
			return fmt.Errorf("%s %w", full, err)
		}
		return nil
	})
}

// readBounded reads what no bound of material allows to be longer, and a byte more at most.
func readBounded(in io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(in, flow.MaxFile+1)) }

// material reads what belongs to the problem: what the standard input had, the file of --context, and those of --file.
func (p *program) material(f *configFlags) (*material, error) {
	m := &material{}
	if len(f.input) > 0 {
		if err := m.add("standard input", f.input); err != nil {
			return nil, exit(exitArguments, fmt.Errorf("%s %w", fromInput, err))
		}
		if len(m.left) == 0 {
			p.notef("The standard input (%s) is read as context.", progress.Plural(len(f.input), "byte"))
		}
	}
	if at := p.tools.folder; at != "" {
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			if err := m.read(at); err != nil {
				return nil, exit(exitArguments, fmt.Errorf("--context: %w", err))
			}
			p.tools.folder = "" // of tools
		}
	}
	for _, at := range f.files {
		if err := m.read(at); err != nil {
			return nil, exit(exitArguments, fmt.Errorf("--file: %w", err))
		}
	}
	for i, what := range m.left {
		if i == mostTold {
			p.warnf("Not read: %d more.", len(m.left)-i)
			break
		}
		p.warnf("Not read: %s.", what)
	}
	return m, nil
}

// input returns what the standard input has beside a problem that came from elsewhere; nothing if it is a terminal. A pipe without a writer
// that says or ends anything would hold the program for ever: it is given up, unless wait is set.
func (p *program) input(ctx context.Context, wait bool) ([]byte, error) {
	if p.In == nil || terminal(p.In) {
		return nil, nil
	}
	begun, ended := make(chan struct{}), make(chan piped, 1)
	go func() { // a read cannot be aborted: it belongs to the process, and ends with its input
		in := bufio.NewReader(p.In)
		if _, err := in.Peek(1); err == nil {
			close(begun)
		}
		data, err := readBounded(in)
		ended <- piped{data, err}
	}()
	patience := cmp.Or(p.Wait, inputWait)
	tell, over := time.NewTimer(patience/3), time.NewTimer(patience)
	defer tell.Stop()
	defer over.Stop()
	arrives, giveUp := begun, over.C
	if wait {
		giveUp = nil
	}
	for {
		select {
		case got := <-ended:
			if got.err != nil {
				return nil, exit(exitGeneral, fmt.Errorf("read %s: %w", fromInput, got.err))
			}
			return got.data, nil
		case <-arrives:
			arrives, giveUp = nil, nil
			tell.Stop()
		case <-tell.C:
			p.notef("Waiting for %s.", fromInput)
		case <-giveUp:
			p.warnf(`%s sent nothing for %v and was not read; debate "…" - waits for it`, fromInput, patience)
			return nil, nil
		case <-p.Interrupts:
			return nil, exit(exitInterrupted, nil)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// piped is what the standard input had.
type piped struct {
	data []byte
	err  error
}
