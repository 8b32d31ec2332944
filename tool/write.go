package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
)

type writeArguments struct {
	Path    string `json:"path" jsonschema:"description=the file to write; missing folders are made"`
	Content string `json:"content" jsonschema:"description=all that the file shall hold"`
	Hash    string `json:"hash,omitempty" jsonschema:"description=the hash that was named when the file was read: left out for a new file"`
}

// WriteFile returns a tool that writes a whole text file, new or in place of an old one. An old one is replaced only
// if the model gives the hash that [ReadFile] has named and the file still has it, so that no writer overwrites what
// it has not read. Of several writers with the same hash, one succeeds. A file that holds what is to be written
// is left alone, and the answer is that of a success: so the tool is [flow.ToolInfo.Idempotent].
//
// A person must approve each use, unless [Writing] says otherwise. WriteFile fails with kind validation if dir is nil
// or writing is invalid.
func WriteFile(dir *Dir, writing Writing) (flow.Tool, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	allowed, err := writing.permit()
	if err != nil {
		return nil, err
	}
	about := fmt.Sprintf("Writes a whole text file of at most %d bytes. To replace a file, read it first and give its hash.", allowed.size)
	return changing(about, writing.Unasked, true, func(ctx context.Context, args writeArguments) (string, error) {
		return dir.write(ctx, &allowed, args)
	})
}

func (d *Dir) write(ctx context.Context, allowed *permit, args writeArguments) (string, error) {
	p, err := allowed.find(args.Path)
	if err != nil {
		return "", err
	}
	if err := allowed.fits(p, args.Content); err != nil {
		return "", err
	}
	var read hash
	if args.Hash != "" {
		if read, err = parseHash(args.Hash); err != nil {
			return "", err
		}
	}
	made := "The file is written anew"
	err = d.replace(ctx, p, allowed.size, read == "", func(t *target) (string, error) {
		switch {
		case t.info == nil && read != "":
			return "", p.fault(errors.New("does not exist any more: without a hash it is written as a new file"))
		case t.info == nil:
			made = "The file is new"
		case string(t.data) == args.Content:
			made = "The file holds this already"
		case read == "":
			return "", p.fault(errors.New("exists already: read it, and give its hash"))
		case !read.of(t.data):
			return "", p.fault(errChanged)
		}
		return args.Content, nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s: %d bytes. Hash %s.", made, len(args.Content), hashOf([]byte(args.Content))), nil
}
