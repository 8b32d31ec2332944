package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// revision is what a commit has changed of the table, as seen from one of its parents.
type revision struct {
	commit        string
	before, after string // the rows that differ
	made, removed bool   // the table as a whole
}

// checkReasons compares each committed version of the table with the one before, and the present one with the last. A number
// that rose, and a line that is new, want a reason that was not there before. What the latest change has moved is told.
func (c *checker) checkReasons(ctx context.Context, now table) error {
	last, there, err := committedTable(ctx, c.folder)
	if err != nil {
		c.sayf("the reasons are not checked: there is no history here: %v", err)
		return nil
	}
	told := false
	if there {
		told = c.compare(tableFile, last, now, true)
	}
	revisions, err := history(ctx, c.folder)
	if err != nil {
		return err
	}
	if shallow, err := git(ctx, c.folder, "", "rev-parse", "--is-shallow-repository"); err != nil || strings.TrimSpace(shallow) == "true" {
		c.sayf("the history is shallow: reasons are checked as far as it goes")
	}
	for _, one := range revisions {
		if one.removed {
			c.failf("%s: commit %.12s removed it", tableFile, one.commit)
		}
		if one.removed || one.made {
			continue
		}
		before, _ := parse(one.before) // an old version may have been written otherwise
		after, _ := parse(one.after)
		told = c.compare(fmt.Sprintf("commit %.12s", one.commit), before, after, !told) || told
	}
	return nil
}

// compare reports each number that rose, and each new line, without a reason of its own. If it is to tell, it also prints what has
// moved. It reports whether anything has.
func (c *checker) compare(place string, before, after table, tell bool) (moved bool) {
	for _, name := range after.names(nil) {
		old, listed := before[name]
		l := after[name]
		if l.number != old.number {
			moved = true
			if tell {
				c.sayf("%s: %s: %s", place, move(name, old.number, l.number), cmp.Or(l.reason, "no reason"))
			}
		}
		switch {
		case !listed && l.reason == "":
			c.failf("%s: %s is new and has no reason", place, name)
		case listed && l.number > old.number && l.reason == "":
			c.failf("%s: %s has no reason", place, move(name, old.number, l.number))
		case listed && l.number > old.number && l.reason == old.reason:
			c.failf("%s: %s has the reason of an earlier change", place, move(name, old.number, l.number))
		}
	}
	return moved
}

// committedTable returns the table of the present commit, and whether that has one.
func committedTable(ctx context.Context, folder string) (t table, there bool, err error) {
	if _, err := git(ctx, folder, "", "rev-parse", "--git-dir"); err != nil {
		return nil, false, err
	}
	text, err := git(ctx, folder, "", "cat-file", "blob", "HEAD:./"+tableFile)
	if err != nil {
		return nil, false, nil //nolint:nilerr // there is no commit yet, or it has no table
	}
	t, _ = parse(text)
	return t, true, nil
}

// history returns what has changed the table, the latest first: also what a merge has dropped with a branch.
func history(ctx context.Context, folder string) ([]*revision, error) {
	if _, err := git(ctx, folder, "", "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		return nil, nil //nolint:nilerr // a repository without a commit has no history
	}
	commits, err := git(ctx, folder, "", "rev-list", "--full-history", "HEAD", "--", tableFile)
	if err != nil {
		return nil, err
	}
	diffs, err := git(ctx, folder, commits, "diff-tree", "--stdin", "--root", "-m", "-p", "-U0", "--", tableFile)
	if err != nil {
		return nil, err
	}
	var all []*revision
	commit, one := "", &revision{}
	for row := range strings.Lines(diffs) {
		switch {
		case strings.HasPrefix(row, "--- "), strings.HasPrefix(row, "+++ "): // the names of the file
		case row[0] == '-':
			one.before += row[1:]
		case row[0] == '+':
			one.after += row[1:]
		case strings.HasPrefix(row, "diff "):
			one = &revision{commit: commit}
			all = append(all, one)
		case strings.HasPrefix(row, "new file "):
			one.made = true
		case strings.HasPrefix(row, "deleted file "):
			one.removed = true
		case !strings.Contains(row, " "): // the commit of the diffs that follow
			commit = row
		}
	}
	return all, nil
}

// git returns what a command of git prints.
func git(ctx context.Context, folder, stdin string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are this program's
	command.Dir, command.Stdin, command.Stdout, command.Stderr = folder, strings.NewReader(stdin), &stdout, &stderr
	command.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool { // a hook of git names the repository of its own
		name, _, _ := strings.Cut(setting, "=")
		return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE"
	})
	if err := command.Run(); err != nil {
		said, _, _ := strings.Cut(stderr.String(), "\n")
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, said)
	}
	return stdout.String(), nil
}
