package storetest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store/storetest"
)

// defect is one clause of the contract broken, the checks that notice, and a part of what they say.
type defect struct {
	name   string
	checks []string // a * at the end stands for the rest of several names
	want   string
	spoil  func(s *spoiled)
}

func defects() []defect {
	return slices.Concat(appendDefects(), readDefects(), eventDefects(), idDefects(), deleteDefects(), blobDefects(), redactDefects(), leaseDefects(),
		listDefects(), searchDefects(), watchDefects(), workDefects(), quarantineDefects(), alarmDefects(), clockDefects(), describeDefects(),
		sumDefects(), countDefects(), damageDefects())
}

// matching returns the checks that a defect names.
func (d *defect) matching(t *testing.T) (names []string) {
	t.Helper()
	for _, want := range d.checks {
		before := len(names)
		for _, name := range storetest.Names() {
			if prefix, ok := strings.CutSuffix(want, "*"); name == want || ok && strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		require.Greater(t, len(names), before, "no check %q", want)
	}
	return names
}

// Each clause is one that a store can break, and the check of that clause sees it.
func TestABadStoreFails(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	seen := map[string]bool{}
	for _, d := range defects() {
		t.Run(d.name, func(t *testing.T) {
			for _, name := range d.matching(t) {
				seen[name] = true
				faults := storetest.Examine(t, name, storage(d.spoil))
				if assert.NotEmpty(t, faults, "%s noticed nothing", name) {
					assert.Contains(t, strings.Join(faults, "\n"), d.want, name)
				}
			}
		})
	}
	for _, name := range storetest.Names() {
		assert.True(t, seen[name], "no defect fails %s", name)
	}
}
