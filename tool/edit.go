package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

type editArguments struct {
	Path  string `json:"path" jsonschema:"description=the file to change"`
	Hash  string `json:"hash" jsonschema:"description=the hash that was named when the file was read"`
	Old   string `json:"old" jsonschema:"minLength=1,description=the text to replace\\, exactly as it is in the file"`
	New   string `json:"new" jsonschema:"description=the text to put there"`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=1000,description=how often the old text occurs: once if left out"`
}

// EditFile returns a tool that replaces a text in a file: one that occurs exactly once, or as often as the model says.
// The file must be text in UTF-8, and must have the hash that [ReadFile] has named. The answer has the new hash, and
// the lines that have changed.
//
// An edit is never made twice, because afterwards the file has another hash. If an edit is repeated after a crash, the
// tool recognises its own work if the new text occurs nowhere else, and answers as the first time. Otherwise the model is
// told to read the file again. So the tool is [flow.ToolInfo.Idempotent].
//
// A person must approve each use, unless [Writing] says otherwise. EditFile fails with kind validation if dir is nil
// or writing is invalid.
func EditFile(dir *Dir, writing Writing) (flow.Tool, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	allowed, err := writing.permit()
	if err != nil {
		return nil, err
	}
	const about = "Replaces a text in a file, which must occur once, or as often as count says. Read the file first, and give its hash."
	return changing(about, writing.Unasked, true, func(ctx context.Context, args editArguments) (string, error) {
		return dir.edit(ctx, &allowed, args)
	})
}

func (d *Dir) edit(ctx context.Context, allowed *permit, args editArguments) (string, error) {
	p, err := allowed.find(args.Path)
	if err != nil {
		return "", err
	}
	read, err := parseHash(args.Hash)
	if err != nil {
		return "", err
	}
	if args.Old == args.New {
		return "", p.fault(errors.New("would not change: old and new are the same"))
	}
	e := edit{place: p, from: args.Old, to: args.New, count: max(args.Count, 1), size: allowed.size}
	answer := ""
	err = d.replace(ctx, p, allowed.size, false, func(t *target) (string, error) {
		if t.info == nil {
			return "", p.fault(errors.New("does not exist"))
		}
		before, err := legible(p, t.data, allowed.size)
		if err != nil {
			return "", err
		}
		after := before
		if read.of(t.data) {
			after, err = e.apply(before)
		} else {
			before, err = e.undo(before, read)
		}
		if err != nil {
			return "", err
		}
		if err := allowed.fits(p, after); err != nil {
			return "", err
		}
		answer = fmt.Sprintf("Changed %s. Hash %s.\n\n%s", places(e.count), hashOf([]byte(after)), e.difference(before))
		return after, nil
	})
	if err != nil {
		return "", err
	}
	return answer, nil
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

// edit is the replacement of a text that occurs so many times.
type edit struct {
	place

	from, to string
	count    int
	size     int // bytes that the file may have
}

func (e *edit) apply(before string) (string, error) {
	switch n := occurrences(before, e.from, e.count+1); {
	case n == 0 && strings.Contains(before, "\r\n") && strings.Contains(before, strings.ReplaceAll(e.from, "\n", "\r\n")):
		return "", e.fault(errors.New(`has lines that end with "\r\n", and old has not`))
	case n == 0:
		return "", e.fault(errors.New("does not contain the old text: it must be given exactly as it is in the file"))
	case n > e.count:
		return "", e.fault(fmt.Errorf("contains the old text in more than %s: give more of the text around it, or the count", places(e.count)))
	case n < e.count:
		return "", e.fault(fmt.Errorf("contains the old text in only %s", places(n)))
	case strings.Count(before, e.from) != n:
		return "", e.fault(errors.New("contains the old text in places that overlap: give more of the text around it"))
	}
	if n := len(before) + e.count*(len(e.to)-len(e.from)); n > e.size {
		return "", e.fault(fmt.Errorf("would have %d bytes, of which at most %d can be written", n, e.size))
	}
	return strings.ReplaceAll(before, e.from, e.to), nil
}

// undo returns what a file held before this edit was made. It fails unless what the model has read, by its hash,
// becomes the present text by this edit.
func (e *edit) undo(after string, read hash) (string, error) {
	back := edit{place: e.place, from: e.to, to: e.from, count: e.count, size: e.size}
	if e.to == "" {
		return "", e.fault(errChanged)
	}
	before, err := back.apply(after)
	if err != nil || !read.of([]byte(before)) {
		return "", e.fault(errChanged)
	}
	if again, err := e.apply(before); err != nil || again != after {
		return "", e.fault(errChanged)
	}
	return before, nil
}

// occurrences counts where a text occurs, up to a bound. Unlike [strings.Count] it counts places that overlap.
func occurrences(in, text string, most int) int {
	n := 0
	for n < most {
		at := strings.Index(in, text)
		if at < 0 {
			break
		}
		n++
		in = in[at+1:]
	}
	return n
}
