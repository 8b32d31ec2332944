package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// revision is a commit that changed the table.
type revision struct {
	hash    string
	parents []string
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
	commits, err := history(ctx, c.folder)
	if err != nil {
		return err
	}
	if shallow, err := git(ctx, c.folder, nil, "rev-parse", "--is-shallow-repository"); err != nil || strings.TrimSpace(shallow) == "true" {
		c.sayf("the history is shallow: reasons are checked as far as it goes")
	}
	var wanted []string
	for _, commit := range commits {
		wanted = append(wanted, commit.hash)
		wanted = append(wanted, commit.parents...)
	}
	versions, err := tables(ctx, c.folder, wanted)
	if err != nil {
		return err
	}
	for _, commit := range commits {
		after, there := versions[commit.hash]
		if !there {
			c.failf("%s: commit %.12s removed it", tableFile, commit.hash)
			continue
		}
		for _, parent := range commit.parents {
			if before, there := versions[parent]; there {
				told = c.compare(fmt.Sprintf("commit %.12s", commit.hash), before, after, !told) || told
			}
		}
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
	if _, err := git(ctx, folder, nil, "rev-parse", "--git-dir"); err != nil {
		return nil, false, err
	}
	versions, err := tables(ctx, folder, []string{"HEAD"})
	t, there = versions["HEAD"]
	return t, there, err
}

// history returns the commits that changed the table, the latest first: also those of a branch whose changes a merge has dropped.
func history(ctx context.Context, folder string) ([]revision, error) {
	if _, err := git(ctx, folder, nil, "rev-parse", "--verify", "-q", "HEAD"); err != nil {
		return nil, nil //nolint:nilerr // a repository without a commit has no history
	}
	list, err := git(ctx, folder, nil, "rev-list", "--full-history", "--format=%H %P", "HEAD", "--", tableFile)
	if err != nil {
		return nil, err
	}
	var commits []revision
	for row := range strings.Lines(list) {
		if hashes := strings.Fields(row); hashes[0] != "commit" { // which heads each row
			commits = append(commits, revision{hashes[0], hashes[1:]})
		}
	}
	return commits, nil
}

// tables returns the tables of commits that have one, all by one process.
func tables(ctx context.Context, folder string, commits []string) (map[string]table, error) {
	var asked bytes.Buffer
	for _, commit := range commits {
		_, _ = fmt.Fprintf(&asked, "%s:./%s\n", commit, tableFile)
	}
	out, err := git(ctx, folder, &asked, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	found := map[string]table{}
	answers := bufio.NewReader(strings.NewReader(out))
	for _, commit := range commits {
		header, err := answers.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		if strings.HasSuffix(header, " missing\n") {
			continue
		}
		var hash, sort string
		var size int
		if _, err := fmt.Sscan(header, &hash, &sort, &size); err != nil {
			return nil, fmt.Errorf("git cat-file: %q: %w", header, err)
		}
		text := make([]byte, size+1) // the file and a line's end
		if _, err := io.ReadFull(answers, text); err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		found[commit], _ = parse(string(text)) // an old version may have been written otherwise
	}
	return found, nil
}

// git returns what a command of git prints.
func git(ctx context.Context, folder string, stdin io.Reader, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are this program's
	command.Dir, command.Stdin, command.Stdout, command.Stderr = folder, stdin, &stdout, &stderr
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
