package deliberation_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// refused requires an error of kind validation and returns its field.
func refused(t *testing.T, err error) *flow.Error {
	t.Helper()
	var failure *flow.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, provider.KindValidation, failure.Kind)
	return failure
}

func phases(r *deliberation.Role) []string {
	return []string{r.Propose, r.Critique, r.Refine, r.Summarize}
}

// TestBuiltinRoles: each role is complete and short, for its texts stand in every call, and none says
// what another says.
func TestBuiltinRoles(t *testing.T) {
	roles := deliberation.BuiltinRoles()
	var names []string
	seen := map[string]string{}
	for i := range roles {
		r := &roles[i]
		names = append(names, r.Name)
		assert.NotEmpty(t, r.Title, r.Name)
		assert.Equal(t, deliberation.SourceBuiltIn, r.Source)
		assert.Len(t, r.SHA256, 64)
		assert.LessOrEqual(t, utf8.RuneCountInString(r.System), 500, "%s: system", r.Name)
		for n, text := range append(phases(r), r.System, r.Title) {
			require.NotEmpty(t, text, "%s: phase %d", r.Name, n)
			assert.Empty(t, seen[text], "%s says what another role says", r.Name)
			seen[text] = r.Name
			assert.NotContains(t, text, "#")
		}
		for n, text := range phases(r) {
			assert.LessOrEqual(t, utf8.RuneCountInString(text), 250, "%s: phase %d", r.Name, n)
		}
	}
	assert.Equal(t, []string{"architect", "security", "performance", "testing", "data-modeling", "simplicity", "generalist"}, names)

	roles[0].System = "changed"
	assert.NotEqual(t, "changed", deliberation.BuiltinRoles()[0].System, "each caller has its own")
}

// TestBuiltinRolesLookForDifferentThings: two roles share few of the longer words of their texts.
func TestBuiltinRolesLookForDifferentThings(t *testing.T) {
	words := func(r *deliberation.Role) map[string]bool {
		set := map[string]bool{}
		for word := range strings.FieldsSeq(strings.ToLower(r.System + " " + strings.Join(phases(r), " "))) {
			if word = strings.Trim(word, ".,:;?!"); len(word) > 5 {
				set[word] = true
			}
		}
		return set
	}
	roles := deliberation.BuiltinRoles()
	for i := range roles {
		a := words(&roles[i])
		for k := range i {
			b, shared := words(&roles[k]), 0
			for word := range a {
				if b[word] {
					shared++
				}
			}
			assert.Less(t, 4*shared, min(len(a), len(b)), "%s and %s", roles[i].Name, roles[k].Name)
		}
	}
}

func TestParseRole(t *testing.T) {
	general, err := deliberation.FindRole(deliberation.RoleGeneralist, nil)
	require.NoError(t, err)
	whole := "# Lawyer\n\nYou read contracts.\n\n### Not a section\n#nor this\n\n## Refine\nSettle.\n## Propose\n\nDraft.\n\nTwice.\n" +
		"## Critique\nObject.\n## Summarize\nKeep.\n"
	role, err := deliberation.ParseRole("lawyer", []byte(whole))
	require.NoError(t, err)
	sum := sha256.Sum256([]byte(whole))
	assert.JSONEq(t, toJSON(deliberation.Role{
		Name: "lawyer", Title: "Lawyer", System: "You read contracts.\n\n### Not a section\n#nor this",
		Propose: "Draft.\n\nTwice.", Critique: "Object.", Refine: "Settle.", Summarize: "Keep.",
	}), toJSON(role))
	assert.Equal(t, hex.EncodeToString(sum[:]), role.SHA256)
	assert.Empty(t, role.Source)

	role, err = deliberation.ParseRole("lawyer", []byte("\uFEFFYou read contracts.\r\n\r\n## Critique\r\nObject.\r\nLoudly.\r\n"))
	require.NoError(t, err)
	assert.Equal(t, "lawyer", role.Title)
	assert.Equal(t, "You read contracts.", role.System)
	assert.Equal(t, []string{general.Propose, "Object.\nLoudly.", general.Refine, general.Summarize}, phases(&role))
}

func TestParseRoleRefuses(t *testing.T) {
	tests := map[string]struct {
		name, text, field, says string
	}{
		"nothing":           {"r", "", "r", "empty"},
		"white space":       {"r", " \n\t\n", "r", "empty"},
		"no front":          {"r", "## Propose\nDraft.", "r", "before its first section"},
		"a title alone":     {"r", "# Title\n\n## Propose\nDraft.", "r", "before its first section"},
		"no UTF-8":          {"r", "You \xff.", "r", "UTF-8"},
		"a NUL":             {"r", "You \x00.", "r", "NUL"},
		"too large":         {"r", strings.Repeat("x", 64<<10+1), "r", "larger than 65536"},
		"an unknown one":    {"r", "You.\n## Sing\nLa.", "## Sing", "Propose, Critique, Refine, Summarize"},
		"another case":      {"r", "You.\n## propose\nDraft.", "## propose", "is not a section"},
		"one without title": {"r", "You.\n## \nLa.", "## ", "is not a section"},
		"twice":             {"r", "You.\n## Refine\nA.\n## Refine\nB.", "## Refine", "is a duplicate"},
		"an empty one":      {"r", "You.\n## Refine\n\n## Propose\nB.", "## Refine", "is empty"},
		"an empty last one": {"r", "You.\n## Refine", "## Refine", "is empty"},
		"no name":           {"", "You.", "name", "ASCII"},
		"a name of two":     {"my role", "You.", "name", "ASCII"},
		"a long name":       {strings.Repeat("r", 65), "You.", "name", "ASCII"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			role, err := deliberation.ParseRole(tt.name, []byte(tt.text))
			assert.Zero(t, role)
			assert.Equal(t, tt.field, refused(t, err).Field)
			assert.ErrorContains(t, err, tt.says)
		})
	}
	_, err := deliberation.ParseRole("r", []byte(strings.Repeat("x", 64<<10)))
	require.NoError(t, err, "the limit itself is allowed")
}

func TestReadPrompt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "prompt.txt")
	require.NoError(t, os.WriteFile(path, []byte("\n## Free\r\ntext\n"), 0o600))
	text, from, err := deliberation.ReadPrompt(path)
	require.NoError(t, err)
	sum := sha256.Sum256([]byte("\n## Free\r\ntext\n"))
	assert.Equal(t, "## Free\ntext", text)
	assert.Equal(t, path, from.Source)
	assert.Equal(t, hex.EncodeToString(sum[:]), from.SHA256, "of the file as it is")

	t.Chdir(dir)
	_, from, err = deliberation.ReadPrompt("prompt.txt")
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(from.Source))
}

func promptError(path string) error {
	_, _, err := deliberation.ReadPrompt(path)
	return err
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	tests := map[string]struct{ path, says string }{
		"missing":   {filepath.Join(dir, "missing.md"), "cannot be read"},
		"a folder":  {dir, "is no file"},
		"empty":     {write("empty.md", "\n"), "is empty"},
		"no UTF-8":  {write("latin.md", "caf\xe9"), "UTF-8"},
		"too large": {write("large.md", strings.Repeat("x", 64<<10+1)), "larger"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := promptError(tt.path)
			assert.Equal(t, tt.path, refused(t, err).Field)
			assert.ErrorContains(t, err, tt.says)
		})
	}
	require.ErrorIs(t, promptError(filepath.Join(dir, "missing.md")), fs.ErrNotExist)
	assert.Equal(t, "path", refused(t, promptError(" ")).Field)
}

func TestFindRole(t *testing.T) {
	role, err := deliberation.FindRole("security", nil)
	require.NoError(t, err)
	assert.Contains(t, role.System, "security engineer")

	own := []deliberation.Role{{Name: "lawyer", System: "You read contracts.", Critique: "Object."}, {Name: "security", System: "Mine."}}
	role, err = deliberation.FindRole("lawyer", own)
	require.NoError(t, err)
	general, err := deliberation.FindRole("generalist", own)
	require.NoError(t, err)
	assert.Equal(t, []string{general.Propose, "Object.", general.Refine, general.Summarize}, phases(&role))
	assert.Empty(t, own[0].Propose, "the host's own stays as it is")
	role, err = deliberation.FindRole("security", own)
	require.NoError(t, err)
	assert.Equal(t, "Mine.", role.System)

	_, err = deliberation.FindRole("kiss", own)
	assert.Equal(t, "role", refused(t, err).Field)
	assert.ErrorContains(t, err, `no role "kiss" is known: there are architect, data-modeling, generalist, lawyer, performance, security, simplicity, testing`)
}

// TestNoRoleClaimsASource: what the record tells is what was read here, or that the config says it.
func TestNoRoleClaimsASource(t *testing.T) {
	const path = "/own.md"
	text := []byte("You read contracts.\n")
	parsed, err := deliberation.ParseRole("own", text)
	require.NoError(t, err)
	builtin, err := deliberation.FindRole("security", nil)
	require.NoError(t, err)
	renamed, changed, moved := builtin, parsed, parsed
	renamed.Name, changed.Critique, moved.Source = "own", "Nod.", path
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return hex.EncodeToString(hash[:])
	}
	for name, test := range map[string]struct {
		role         deliberation.Role
		source, hash string
	}{
		"parsed":          {parsed, "config", sum(string(text))},
		"made":            {deliberation.Role{Name: "own", System: "You."}, "config", sum("You.")},
		"claims":          {deliberation.Role{Name: "own", System: "You.", Source: "built-in", SHA256: "00"}, "config", sum("You.")},
		"claims a file":   {deliberation.Role{Name: "own", System: "You.", Source: path, SHA256: parsed.SHA256}, "config", sum("You.")},
		"renamed":         {renamed, "config", sum(renamed.System)},
		"parsed, changed": {changed, "config", sum("You read contracts.")},
		"parsed, claimed": {moved, "config", sum("You read contracts.")},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Roles, config.Agents[0].Role = []deliberation.Role{test.role}, "own"
			engine, _ := engineFor(nil)
			got := view(play(t, engine, config)).Prompts()[0]
			assert.Equal(t, []string{"own", test.source, test.hash}, []string{got.Role, got.Source, got.SHA256})
		})
	}
	var config deliberation.Config
	err = json.Unmarshal([]byte(`{"roles":[{"name":"own","system":"You.","source":"built-in"}]}`), &config)
	require.ErrorContains(t, err, "source")
}

// FuzzParseRole: whatever a file holds, there is a whole role, or an error that names what is wrong.
func FuzzParseRole(f *testing.F) {
	for _, text := range []string{
		"You.", "# T\nYou.\n## Propose\nA.\n## Critique\nB.\n## Refine\nC.\n## Summarize\nD.", "## Propose\nA.", "You.\r\n## Sing\r\nLa.", "You.\n## ",
		"\uFEFF# \n\nYou.\r## Refine\rA.", "\xff", "#", "# # #\n## ## ",
	} {
		f.Add("role", []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		role, err := deliberation.ParseRole(name, data)
		if err != nil {
			assert.NotEmpty(t, refused(t, err).Field)
			assert.Zero(t, role)
			return
		}
		assert.Equal(t, name, role.Name)
		for _, text := range append(phases(&role), role.Title, role.System) {
			assert.NotEmpty(t, text)
			assert.Equal(t, strings.TrimSpace(text), text)
			assert.True(t, utf8.ValidString(text))
			for line := range strings.Lines(text) {
				assert.False(t, strings.HasPrefix(line, "## "), "a section went into a text")
			}
		}
	})
}
