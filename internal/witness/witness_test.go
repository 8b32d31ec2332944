package witness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/witness"
)

// A check that fails is seen to fail, as far as it comes, and leaves nothing behind. The test that asks goes on.
func TestOf(t *testing.T) {
	ended := 0
	for want, check := range map[string]func(w testing.TB){
		"":                 func(w testing.TB) { assert.False(t, w.Failed()) },
		"1 of 2":           func(w testing.TB) { w.Errorf("%d of %d", 1, 2) },
		"it is odd":        func(w testing.TB) { w.Error("it is ", "odd") },
		"over":             func(w testing.TB) { w.Fatal("over"); w.Error("never") },
		"over, 7":          func(w testing.TB) { w.Fatalf("over, %d", 7); w.Error("never") },
		"skipped: no time": func(w testing.TB) { w.Skip("no time"); w.Error("never") },
	} {
		faults := witness.Of(t, func(w testing.TB) {
			w.Cleanup(func() { ended++ })
			check(w)
		})
		if want == "" {
			assert.Empty(t, faults)
			continue
		}
		assert.Equal(t, []string{want}, faults)
	}
	assert.Equal(t, 6, ended)
}

func TestNames(t *testing.T) {
	same := func(s string) string { return s }
	assert.Equal(t, []string{"a", "b"}, witness.Names([]string{"a", "b"}, same))
	assert.Equal(t, "b", witness.Named(t, []string{"a", "b"}, same, "b"))
	assert.Equal(t, []string{`no check "c"`}, witness.Of(t, func(w testing.TB) { witness.Named(w, []string{"a"}, same, "c") }))
}
