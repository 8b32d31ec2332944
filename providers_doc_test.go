package debate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/providertest"
)

// proofsPage shows what the page for users says.
const proofsPage = "docs/internal/vendors.md"

var (
	fenced      = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	command     = regexp.MustCompile(`^go test .* \./([\w/]+)$`)
	capability  = regexp.MustCompile(`\b(stream|schema|tools|cache|usage|check)\b`)
	ability     = regexp.MustCompile(`(?m)^func \(\w+ \*Provider\) Check\(`)
	faultsStart = "<!-- faults -->\n"
	faultsEnd   = "<!-- /faults -->\n"
)

// readProofs yields the text of the page of proofs, and that without its blocks of code.
func readProofs(t *testing.T) (page, prose string) {
	t.Helper()
	data, err := os.ReadFile(proofsPage)
	require.NoError(t, err)
	return string(data), fenced.ReplaceAllString(string(data), "")
}

// TestTheProvidersPageCitesWhatThereIs: every test that the page names is in the file named after it, and every
// file, folder and command's package exists.
func TestTheProvidersPageCitesWhatThereIs(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	tree := os.DirFS(".")
	_, prose := readProofs(t)
	declared, tests := declarations(t), 0
	var cited []string // tests whose file has not been named yet
	for _, span := range codeSpan.FindAllStringSubmatch(prose, -1) {
		name := span[1]
		if testName.MatchString(name) {
			cited = append(cited, name)
			continue
		}
		if strings.HasSuffix(name, "_test.go") {
			for _, test := range cited {
				assert.Contains(t, declared[name], test, "there is no such test in %s", name)
			}
			tests, cited = tests+len(cited), nil
		} else {
			assert.Empty(t, cited, "their file is not named before %s", name)
		}
		if run := command.FindStringSubmatch(name); run != nil {
			name = run[1] + "/"
		}
		if pathName.MatchString(name) {
			info, err := fs.Stat(tree, strings.TrimSuffix(name, "/"))
			if assert.NoError(t, err) {
				assert.Equal(t, strings.HasSuffix(name, "/"), info.IsDir(), name)
			}
		}
	}
	assert.Empty(t, cited, "their file is not named")
	assert.Greater(t, tests, 50, "the page is read")
	for line := range strings.Lines(prose) {
		assert.Zero(t, strings.Count(line, "`")%2, "a code span is not closed: %s", line)
	}
	assert.Empty(t, unspanned.FindAllString(codeSpan.ReplaceAllString(prose, ""), -1), "tests outside of a code span are not checked")
}

// TestTheProvidersPageProvesWhatItClaims: what a vendor can do has a test exactly if the page says so, and an ability
// is one that the package has.
func TestTheProvidersPageProvesWhatItClaims(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	_, prose := readProofs(t)
	claims, proofs := stage.TableAfter(t, prose, "vendor", "package"), stage.TableAfter(t, prose, "vendor", "tests")
	proved := map[string][]string{}
	for _, row := range proofs[1:] {
		text := codeSpan.ReplaceAllString(row[1], "")
		proved[row[0]] = capability.FindAllString(text, -1)
	}
	assert.Len(t, proved, len(claims)-1)
	columns := claims[0]
	for _, row := range claims[1:] {
		require.Len(t, row, len(columns), row[0])
		var claimed []string
		for i, cell := range row[2:] {
			mark, _, _ := strings.Cut(cell, " ")
			require.Contains(t, []string{"✓", "○", "–"}, mark, "%s: %s", row[0], columns[i+2])
			if mark == "✓" {
				claimed = append(claimed, columns[i+2])
			}
		}
		assert.ElementsMatch(t, claimed, proved[row[0]], row[0])

		able := false
		files, err := filepath.Glob(filepath.FromSlash(strings.Trim(row[1], "`")) + "*.go")
		require.NoError(t, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			able = able || ability.Match(source)
		}
		assert.Equal(t, able, !strings.HasPrefix(row[slices.Index(columns, "check")], "–"), "%s: check", row[0])
	}
}

// TestTheProvidersPageCountsWhatTheSuitesRun draws the numbers of the fault table anew: from the golden files that the
// adapters' suites write.
func TestTheProvidersPageCountsWhatTheSuitesRun(t *testing.T) {
	page, _ := readProofs(t)
	before, rest, ok := strings.Cut(page, faultsStart)
	require.True(t, ok)
	drawn, after, ok := strings.Cut(rest, faultsEnd)
	require.True(t, ok)
	want := drawFaults(t, drawn)
	if stage.Update() {
		require.NoError(t, os.WriteFile(proofsPage, []byte(before+faultsStart+want+faultsEnd+after), 0o600))
		drawn = want
	}
	assert.Equal(t, want, drawn, "rewrite it with -update")
}

// drawFaults keeps the words of a fault table, and fills in its numbers.
func drawFaults(t *testing.T, drawn string) string {
	t.Helper()
	words := map[string][]string{}
	for _, row := range stage.TableAfter(t, drawn, "row", "signal", "kind", "the engine")[1:] {
		words[row[0]] = row
	}
	adapters := []string{"openaicompat", "openai", "anthropic", "google", "ollama", "bedrock", "vertex"}
	checks, reasons := map[string]map[string]int{}, map[string][]string{}
	for _, name := range adapters {
		checks[name], reasons[name] = readGolden(t, name)
	}
	files, err := filepath.Glob("provider/*/testdata/table.golden")
	require.NoError(t, err)
	assert.Len(t, files, len(adapters), "every adapter has its column")

	var b strings.Builder
	fmt.Fprintf(&b, "| row | signal | kind | the engine | %s |\n|---|---|---|---|%s\n",
		strings.Join(adapters, " | "), strings.Repeat("--:|", len(adapters)))
	rows := providertest.Rows()
	for _, name := range rows {
		row := words["`"+name+"`"]
		if !assert.GreaterOrEqual(t, len(row), 4, "the table has no words for the row %s", name) {
			row = []string{"`" + name + "`", "", "", ""}
		}
		assert.NotContains(t, row[:4], "", "the words for the row %s are not complete", name)
		fmt.Fprintf(&b, "| %s |", strings.Join(row[:4], " | "))
		for _, adapter := range adapters {
			if n, ok := checks[adapter][name]; ok {
				fmt.Fprintf(&b, " %d |", n)
			} else {
				b.WriteString(" – |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("| rows that pass, of those that the vendor can signal | | | |")
	for _, adapter := range adapters {
		fmt.Fprintf(&b, " %d/%d |", len(checks[adapter]), len(rows)-len(reasons[adapter]))
	}
	b.WriteString("\n\n")
	for _, adapter := range adapters {
		if len(reasons[adapter]) > 0 {
			fmt.Fprintf(&b, "- No signal in %s: %s.\n", adapter, strings.Join(reasons[adapter], "; "))
		}
	}
	return b.String()
}

// readGolden yields how many checks each row of an adapter has, and why some have none.
func readGolden(t *testing.T, adapter string) (checks map[string]int, reasons []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("provider", adapter, "testdata", "table.golden"))
	require.NoError(t, err)
	checks = map[string]int{}
	var rows []string
	for line := range strings.Lines(string(data)) {
		row, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		require.True(t, ok, line)
		rows = append(rows, row)
		if reason, lacking := strings.CutPrefix(value, "- "); lacking {
			reasons = append(reasons, fmt.Sprintf("`%s`, %s", row, reason))
			continue
		}
		checks[row], err = strconv.Atoi(value)
		require.NoError(t, err)
	}
	assert.Equal(t, providertest.Rows(), rows, "%s: its golden file is of another table", adapter)
	return checks, reasons
}

// TestTheProvidersPageNamesTheKindsOfItsFixtures: no fixture of an adapter is of a kind that its row does not tell.
func TestTheProvidersPageNamesTheKindsOfItsFixtures(t *testing.T) {
	_, prose := readProofs(t)
	kinds := map[string]string{}
	for _, row := range stage.TableAfter(t, prose, "row", "signal", "kind")[1:] {
		kinds[strings.Trim(row[0], "`")] = row[2]
	}
	folders, err := filepath.Glob("provider/*/testdata/fault")
	require.NoError(t, err)
	for _, folder := range folders {
		for _, f := range providertest.Faults(t, folder) {
			told := kinds[f.Row]
			switch {
			case strings.HasPrefix(told, "any"):
			case f.Kind != "":
				assert.Contains(t, told, "`"+string(f.Kind)+"`", "%s: %s", folder, f.Name)
			default:
				assert.Contains(t, told, "reply", "%s: %s", folder, f.Name)
			}
		}
	}
}
