package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
)

const (
	maxPiece    = 2 << 10  // bytes that are searched at once
	maxTried    = 64       // matches in a piece
	maxSearched = 16 << 20 // bytes of files that are read in one use
	maxTime     = 10 * time.Second

	inDebate = "debate"
	inFiles  = "files"
)

type debateArguments struct {
	Query         string `json:"query" jsonschema:"minLength=1,maxLength=256,description=what to look for\\, within one line"`
	Regexp        bool   `json:"regexp,omitempty" jsonschema:"description=the query is a regular expression (RE2)"`
	CaseSensitive bool   `json:"caseSensitive,omitempty" jsonschema:"description=capital letters matter"`
}

type searchArguments struct {
	debateArguments
	In   string `json:"in,omitempty" jsonschema:"enum=debate,enum=files,description=where to look: everywhere if left out"`
	Path string `json:"path,omitempty" jsonschema:"description=the file\\, or the folder of files\\, to look into: all if left out"`
}

// Search returns a tool that finds a text in what everybody in the conversation may read and, unless dir is
// nil, in the files of a folder. It shows the text around each match.
//
// The query is plain text and ignores case. Models can ask for a regular expression in Go's syntax, and
// for case to matter. A query has at most 256 bytes. A match is within one line, and in a longer line
// within 2 KiB. Matches are shown in the order of the conversation, then in that of file names. Files that are
// not text in UTF-8 are counted and skipped, as are files that keep their reader waiting. Of each file, only what
// [Limits] allows is read. In all, at most 16 MiB of files are read, 20,000 entries of folders looked at, and
// 10 seconds spent; the answer says if files are left out. Symbolic links in folders are not followed. If dir is nil,
// the default for matches applies.
//
// Regular expressions can take much work, and so can the text around matches. One use is bounded to 16 Mi
// units: the product of the instructions that Go makes of the query and the bytes that it searches. The
// answer says where the search ended.
func Search(dir *Dir) (flow.Tool, error) {
	if dir == nil {
		info := flow.ToolInfo{Description: "Finds a text in what was said in this debate, and shows what stands around it.", ReadOnly: true}
		return flow.NewTool(info,
			func(ctx context.Context, use flow.ToolUse, args debateArguments) (string, error) {
				s := search{limit: defaultMatches}
				return s.run(ctx, nil, use.Turns, searchArguments{debateArguments: args})
			})
	}
	if err := usable(dir); err != nil {
		return nil, err
	}
	info := flow.ToolInfo{
		Description: "Finds a text in what was said in this debate and in files, and shows what stands around it.", ReadOnly: true,
	}
	return flow.NewTool(info,
		func(ctx context.Context, use flow.ToolUse, args searchArguments) (string, error) {
			s := search{limit: dir.limits.Matches}
			return s.run(ctx, dir, use.Turns, args)
		})
}

// search is one use of the tool.
type search struct {
	query query
	spent int // of maxWork
	limit int // of excerpts of one kind
	found int // of this kind
	full  bool
	out   strings.Builder

	left     bool // some matches are left out
	looked   int  // bytes of text that were searched
	tired    bool // the query takes too much work to search more
	searched int  // bytes of files that were read
	stopped  bool // some files are left out
	passed   int  // files that are not text
	begun    int  // files of which only the beginning was searched
}

func (s *search) run(ctx context.Context, dir *Dir, turns []*flow.Turn, args searchArguments) (string, error) {
	var err error
	if s.query, err = queryOf(args.debateArguments); err != nil {
		return "", err
	}
	if args.In == inDebate && args.Path != "" {
		return "", errors.New("a path says where to look in files, and not in the debate")
	}
	if args.In != inFiles && args.Path == "" {
		if err := s.debate(ctx, turns); err != nil {
			return "", err
		}
	}
	if dir != nil && args.In != inDebate {
		s.found, s.full = 0, false
		if err := s.files(ctx, dir, args.Path); err != nil {
			return "", err
		}
	}
	if s.out.Len() == 0 {
		s.out.WriteString("Nothing was found.\n")
	}
	if s.left {
		s.out.WriteString("There are more matches: look for something narrower.\n")
	}
	if s.tired {
		fmt.Fprintf(&s.out, "Only the first %d bytes were looked at, as this query takes much work: ask for a simpler or a plain one, "+
			"or look into less.\n", s.looked)
	}
	if s.stopped {
		s.out.WriteString("Not all files were looked at: look into a folder of them.\n")
	}
	if s.passed > 0 {
		fmt.Fprintf(&s.out, "Files and folders that cannot be read as text: %d.\n", s.passed)
	}
	if s.begun > 0 {
		fmt.Fprintf(&s.out, "Files of which only the first %d bytes were looked at: %d.\n", dir.limits.File, s.begun)
	}
	return s.out.String(), nil
}

// conversation searches what was said.
func (s *search) debate(ctx context.Context, turns []*flow.Turn) error {
	for _, turn := range turns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.full || s.tired {
			return nil
		}
		if err := s.text(ctx, turn.Text, func(int) string { return titleOf(turn) }); err != nil {
			return err
		}
	}
	return nil
}

// titleOf returns who said something, when, and to what end.
func titleOf(turn *flow.Turn) string {
	title := clip(turn.Speaker)
	if turn.Round > 0 {
		title += fmt.Sprintf(", round %d", turn.Round)
	}
	title += ", " + clip(string(turn.Kind))
	if turn.Target != "" {
		title += ", about " + clip(turn.Target)
	}
	return title
}

// files searches a file, or the files of a folder.
func (s *search) files(ctx context.Context, dir *Dir, path string) error {
	p, err := find(path)
	if err != nil {
		return err
	}
	info, err := dir.stat(p)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.file(ctx, dir, p)
	}
	began := time.Now()
	w := walk{dir: dir, visit: func(p place, entry fs.DirEntry) error {
		switch {
		case !entry.Type().IsRegular():
			return nil
		case s.full, s.tired:
			return fs.SkipAll
		case s.room() <= 0, time.Since(began) > dir.maxTime:
			s.stopped = true
			return fs.SkipAll
		}
		err := s.file(ctx, dir, p)
		if isUnreadable(err) {
			s.passed++
			return nil
		}
		return err
	}}
	if err := w.through(ctx, p, math.MaxInt); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	s.stopped = s.stopped || w.cut
	s.passed += w.shut
	return nil
}

// room returns how much of the next file may be read. One byte is reserved to see whether that is all of
// it.
func (s *search) room() int { return maxSearched - s.searched - 1 }

// file searches a file.
func (s *search) file(ctx context.Context, dir *Dir, p place) error {
	limit := min(dir.limits.File, s.room())
	content, err := dir.text(ctx, p, limit)
	s.searched += content.read
	if err != nil {
		return err
	}
	text := content.text
	switch {
	case int64(len(text)) == content.size:
	case limit < dir.limits.File:
		s.stopped = true
	default:
		s.begun++
	}
	return s.text(ctx, text, func(at int) string {
		return fmt.Sprintf("%s, line %d", clip(p.clean), 1+strings.Count(text[:at], "\n"))
	})
}

// text shows the text around the matches. Matches in the same excerpt count as one.
func (s *search) text(ctx context.Context, text string, title func(at int) string) error {
	at, shown := 0, 0
	for piece := range pieces(text) {
		if err := ctx.Err(); err != nil {
			return err
		}
		matches := s.matches(strings.TrimRight(piece, "\r\n"))
		if s.tired {
			return nil
		}
		s.looked += len(piece)
		for _, match := range matches {
			begin, end := at+match[0], at+match[1]
			switch {
			case begin == end:
				return errors.New("the query matches the empty text, and so everywhere: ask for at least one character")
			case begin < shown:
				continue
			}
			e := excerpt{text: text, from: max(shown, begin-around), to: end + around}
			shown = e.to
			if !s.show(title(begin), e) {
				return nil
			}
		}
		at += len(piece)
	}
	return nil
}

// matches returns the matches of the query in a piece. If there is too much work left, it sets tired.
func (s *search) matches(piece string) [][]int {
	if !s.query.possible(piece) {
		return nil
	}
	work := s.query.work(piece)
	tries := min(maxTried, (maxWork-s.spent)/work)
	if tries == 0 {
		s.tired = true
		return nil
	}
	matches := s.query.FindAllStringIndex(piece, tries)
	s.spent += work * min(tries, len(matches)+1) // the rest after a match is searched again
	s.left = s.left || len(matches) == tries
	return matches
}

// show adds an excerpt if there is room for it.
func (s *search) show(title string, e excerpt) bool {
	block := title + ":\n" + e.quoted() + "\n"
	if s.found >= s.limit || s.out.Len()+len(block) > maxAnswer {
		s.full, s.left = true, true
		return false
	}
	s.out.WriteString(block)
	s.found++
	return true
}

// pieces yields the lines of a text. It divides long ones, so that the work on each piece is bounded.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			for len(line) > maxPiece {
				n := maxPiece
				for n > 1 && !utf8.RuneStart(line[n]) {
					n--
				}
				if !yield(line[:n]) {
					return
				}
				line = line[n:]
			}
			if !yield(line) {
				return
			}
		}
	}
}
