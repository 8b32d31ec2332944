package tool

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

type listArguments struct {
	Path    string `json:"path,omitempty" jsonschema:"description=the folder to list: the top one if left out"`
	Depth   int    `json:"depth,omitempty" jsonschema:"minimum=1,maximum=32,description=how many levels of folders to list: 1 if left out"`
	Pattern string `json:"pattern,omitempty" jsonschema:"maxLength=256,description=list only what matches this glob: *.go or docs/**/*.md"`
}

// ListFiles returns a tool that lists a folder and, if the model asks for a depth, the folders in it:
// sizes in bytes and paths, sorted by name. It does not follow symbolic links. It lists folders whose
// name begins with a dot, but shows their content only if asked for that folder. ListFiles fails with
// kind validation if dir is nil.
func ListFiles(dir *Dir) (flow.Tool, error) {
	if err := usable(dir); err != nil {
		return nil, err
	}
	about := fmt.Sprintf("Lists files and folders with their sizes, at most %d.", dir.limits.Entries)
	info := flow.ToolInfo{Description: about, ReadOnly: true}
	return flow.NewTool(info, func(ctx context.Context, _ flow.ToolUse, args listArguments) (string, error) {
		return dir.list(ctx, args)
	})
}

func (d *Dir) list(ctx context.Context, args listArguments) (string, error) {
	p, err := find(args.Path)
	if err != nil {
		return "", err
	}
	match, err := compile(args.Pattern)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	count, left := 0, 0
	w := walk{dir: d, visit: func(inner place, entry fs.DirEntry) error {
		if !match.matches(strings.TrimPrefix(inner.clean, p.clean+"/")) {
			return nil
		}
		line := ""
		if left == 0 && count < d.limits.Entries {
			line = d.describe(inner, entry)
		}
		if line == "" || lines.Len()+len(line) > maxAnswer {
			left++
			return nil
		}
		lines.WriteString(line)
		count++
		return nil
	}}
	if err := w.through(ctx, p, max(args.Depth, 1)); err != nil {
		return "", err
	}
	switch {
	case left > 0:
		fmt.Fprintf(&lines, "%s left out: ask for a folder of it, or for a pattern.\n", more(left, w.cut))
	case w.cut:
		fmt.Fprintf(&lines, "Only %d entries were looked at, and there are more: ask for a folder of it.\n", d.maxSeen)
	case count == 0 && args.Pattern != "":
		lines.WriteString("Nothing matches.\n")
	case count == 0:
		lines.WriteString("The folder is empty.\n")
	}
	if w.shut > 0 {
		fmt.Fprintf(&lines, "%d of the folders cannot be read.\n", w.shut)
	}
	return lines.String(), nil
}

// describe returns the line of an entry. The words before its name are the tool's own.
func (d *Dir) describe(p place, entry fs.DirEntry) string {
	name := shown(p.clean)
	switch mode := entry.Type(); {
	case mode.IsDir():
		return "folder " + name + "/\n"
	case mode&fs.ModeSymlink != 0:
		return "link " + name + "\n"
	case !mode.IsRegular():
		return "special " + name + "\n"
	}
	info, err := d.root.Lstat(p.local)
	if err != nil { // it is gone, or is refused
		return "unreadable " + name + "\n"
	}
	return fmt.Sprintf("%d bytes %s\n", info.Size(), name)
}

// more says how many are left out.
func more(n int, least bool) string {
	switch {
	case least:
		return fmt.Sprintf("At least %d more are", n)
	case n == 1:
		return "1 more is"
	default:
		return fmt.Sprintf("%d more are", n)
	}
}
