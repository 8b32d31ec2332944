package main_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
)

// repository is a folder with a history.
type repository struct {
	t      *testing.T
	folder string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	r := &repository{t, write(t)}
	r.git("init", "-q", "-b", "main", "--template=")
	code, _, stderr := run(t, r.folder, 97.4, "-update")
	require.Zero(t, code, stderr)
	return r
}

func (r *repository) git(args ...string) {
	r.t.Helper()
	command := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "maintenance.auto=false"}, args...)...)
	command.Dir = r.folder
	command.Env = append(slices.DeleteFunc(os.Environ(), func(setting string) bool { return strings.HasPrefix(setting, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.CombinedOutput()
	require.NoError(r.t, err, string(out))
}

// commit commits everything as it is.
func (r *repository) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "A change")
}

// grow makes flow larger by so many lines, and says why in the table.
func (r *repository) grow(size int, reason string) {
	r.t.Helper()
	put(r.t, r.folder, "flow/flow.go", source("flow", size))
	run(r.t, r.folder, 97.4, "-update")
	table := written(r.t, r.folder)
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "lines") && strings.Fields(row)[1] == "flow" {
			fields := strings.Fields(row)
			put(r.t, r.folder, ".ci/figures", strings.Replace(table, row, strings.Join(fields[:3], " ")+" "+reason+"\n", 1))
		}
	}
}

func (r *repository) check() (code int, stdout, stderr string) { return run(r.t, r.folder, 97.4) }

func TestReasons(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for name, test := range map[string]struct {
		change func(r *repository)
		stderr string // of one line; HASH stands for a commit
	}{
		"the first table is free":                        {func(r *repository) { r.commit() }, ""},
		"the first table is free before it is committed": {func(*repository) {}, ""},
		"a rise with a reason": {func(r *repository) {
			r.commit()
			r.grow(51, "a state more")
		}, ""},
		"a rise without a reason": {func(r *repository) {
			r.commit()
			r.grow(51, "")
		}, ".ci/figures: lines flow: 50 → 100 (+100.0 %) has no reason"},
		"a committed rise with a reason": {func(r *repository) {
			r.commit()
			r.grow(51, "a state more")
			r.commit()
			r.commit()
		}, ""},
		"a committed rise without a reason": {func(r *repository) {
			r.commit()
			r.grow(51, "")
			r.commit()
		}, "commit HASH: lines flow: 50 → 100 (+100.0 %) has no reason"},
		"a rise that a later commit takes back": {func(r *repository) {
			r.commit()
			r.grow(51, "")
			r.commit()
			r.grow(50, "")
			r.commit()
		}, "commit HASH: lines flow: 50 → 100 (+100.0 %) has no reason"},
		"a second rise with the same reason": {func(r *repository) {
			r.commit()
			r.grow(51, "a state more")
			r.commit()
			r.grow(101, "a state more")
		}, ".ci/figures: lines flow: 100 → 150 (+50.0 %) has the reason of an earlier change"},
		"a second rise with a reason of its own": {func(r *repository) {
			r.commit()
			r.grow(51, "a state more")
			r.commit()
			r.grow(101, "two states more")
			r.commit()
		}, ""},
		"a gain keeps its reason": {func(r *repository) {
			r.commit()
			r.grow(101, "two states more")
			r.commit()
			r.grow(51, "two states more")
			r.commit()
		}, ""},
		"a new line without a reason": {func(r *repository) {
			r.commit()
			put(r.t, r.folder, "internal/new/new.go", "package fresh\n")
			run(r.t, r.folder, 97.4, "-update")
			r.commit()
		}, "commit HASH: lines internal/new is new and has no reason"},
		"a new line with a reason": {func(r *repository) {
			r.commit()
			put(r.t, r.folder, "internal/new/new.go", "package fresh\n")
			put(r.t, r.folder, ".ci/figures", written(r.t, r.folder)+"lines internal/new 50 a room of its own\n")
			r.commit()
		}, ""},
		"a table that was removed and made anew": {func(r *repository) {
			r.commit()
			table := written(r.t, r.folder)
			put(r.t, r.folder, ".ci/figures", "")
			r.commit()
			put(r.t, r.folder, ".ci/figures", table)
			r.commit()
		}, ".ci/figures: commit HASH removed it"},
		"two branches that rose each with a reason": {func(r *repository) {
			r.commit()
			r.git("checkout", "-q", "-b", "side")
			r.grow(51, "a state more")
			r.commit()
			r.git("checkout", "-q", "main")
			put(r.t, r.folder, "README.md", words(201))
			run(r.t, r.folder, 97.4, "-update")
			put(r.t, r.folder, ".ci/figures", strings.Replace(written(r.t, r.folder), "300\n", "300 it says how to begin\n", 1))
			r.commit()
			r.git("merge", "-q", "-m", "Merge", "side")
		}, ""},
		"a merge that takes back what one of its branches has gained": {func(r *repository) {
			r.grow(101, "two states more")
			r.commit()
			r.git("checkout", "-q", "-b", "side")
			r.git("checkout", "-q", "main")
			r.grow(51, "two states more")
			r.commit()
			r.git("checkout", "-q", "side")
			r.commit()
			r.git("merge", "-q", "-s", "ours", "-m", "Merge", "main")
		}, "commit HASH: lines flow: 100 → 150 (+50.0 %) has the reason of an earlier change"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			test.change(r)
			code, stdout, stderr := r.check()
			if test.stderr == "" {
				assert.Zero(t, code, stderr)
				assert.Empty(t, stderr)
				assert.Contains(t, stdout, " figures are as .ci/figures has them\n")
				return
			}
			assert.Equal(t, 1, code)
			assert.Regexp(t, "^figures: "+strings.Replace(regexp.QuoteMeta(test.stderr), "HASH", "[0-9a-f]{12}", 1)+"\n$", stderr)
		})
	}
}

// What the latest change of the table has moved is told with its reasons.
func TestWhatMovedIsTold(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit()
	r.grow(51, "a state more")
	const told = ": lines flow: 50 → 100 (+100.0 %): a state more\n19 figures are as .ci/figures has them\n"
	_, stdout, stderr := r.check()
	assert.Empty(t, stderr)
	assert.Equal(t, ".ci/figures"+told, stdout)
	r.commit()
	r.commit()
	_, stdout, _ = r.check()
	assert.Regexp(t, "^commit [0-9a-f]{12}"+regexp.QuoteMeta(told)+"$", stdout)
	r.grow(50, "")
	_, stdout, _ = r.check()
	assert.Equal(t, ".ci/figures: lines flow: 100 → 50 (-50.0 %): no reason\n19 figures are as .ci/figures has them\n", stdout, "only the latest")
}

// A reason that is written before the change is committed stays when the number rises once more.
func TestUpdateKeepsAReasonThatIsNotCommitted(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit()
	r.grow(51, "two states more")
	put(t, r.folder, "flow/flow.go", source("flow", 101))
	code, _, stderr := run(t, r.folder, 97.4, "-update")
	assert.Zero(t, code, stderr)
	assert.Regexp(t, `\nlines +flow +150  two states more\n`, written(t, r.folder))
	r.commit()
	put(t, r.folder, "flow/flow.go", source("flow", 151))
	code, _, stderr = run(t, r.folder, 97.4, "-update")
	assert.Zero(t, code, stderr)
	assert.Regexp(t, `\nlines +flow +200\n`, written(t, r.folder))
	code, _, stderr = r.check()
	assert.Equal(t, 1, code)
	assert.Equal(t, "figures: .ci/figures: lines flow: 150 → 200 (+33.3 %) has no reason\n", stderr)
}

// What a clone does not have is not checked, and that is said.
func TestShallowClone(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commit()
	r.grow(51, "")
	r.commit()
	folder := t.TempDir()
	r.git("clone", "-q", "--depth", "1", "file://"+r.folder, folder)
	code, stdout, stderr := run(t, folder, 97.4)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "the history is shallow: reasons are checked as far as it goes\n19 figures are as .ci/figures has them\n", stdout)
}
