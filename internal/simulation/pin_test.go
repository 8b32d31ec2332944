package simulation_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

var (
	update  = flag.Bool("update", false, "write the golden file of TestPinnedSimulations")
	pinSeed = flag.Int64("pin.seed", -1, "the seed whose debates TestPinnedSimulations prints")
)

const pinnedSeeds = 200

// TestPinnedSimulations pins one digest for each seed of the simulation: of the undisturbed log and the disturbed one.
// With -pin.seed it prints the logs of one seed, to be compared with those of another commit.
func TestPinnedSimulations(t *testing.T) {
	longform.Lone(t)
	const golden = "testdata/simulations.golden"
	given := simEngine()
	given.Seed = func() string { return "0123456789abcdef0123456789abcdef" } // fences, labels and orders are the same each time
	engine := kernel.Of(t, given)
	var got strings.Builder
	for seed := range uint64(pinnedSeeds / fewer) {
		plain := newSim(t, engine, seed)
		plain.play()
		disturbed := newSim(t, engine, seed)
		disturbed.trouble, disturbed.start, disturbed.told = true, plain.start, plain.told
		disturbed.play()
		logs := stage.Project(plain.log) + "\n" + stage.Project(disturbed.log)
		if int64(seed) == *pinSeed {
			t.Logf("seed %d\n%s", seed, logs)
		}
		fmt.Fprintf(&got, "%d %d %d %.8x\n", seed, len(plain.log), len(disturbed.log), sha256.Sum256([]byte(logs)))
	}
	if *update && fewer == 1 {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if fewer == 1 {
		assert.Equal(t, string(want), got.String(), "run the test with -update, in its long form, if the change is meant")
		return
	}
	require.GreaterOrEqual(t, len(want), got.Len())
	assert.Equal(t, string(want[:got.Len()]), got.String())
}
