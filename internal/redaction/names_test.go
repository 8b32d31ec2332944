package redaction_test

import (
	"encoding/json"
	"flag"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/redaction"
	"github.com/agonist-dev/debate/internal/stage"
)

var _ = flag.Bool("update", false, "rewrite the golden file under testdata")

// TestWhatIsAName lists all strings that a log of any flow can hold, and says of each whether it is an identifier, which stays, or a
// text, from which something can be removed. A new string is in neither list until somebody has decided.
func TestWhatIsAName(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[format.Format](), reflect.TypeFor[flow.Error]()} // a debate freezes its format
	for kind := range strings.FieldsSeq(kernelKinds) {
		var e flow.Event
		require.NoError(t, json.Unmarshal([]byte(`{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"`+kind+`","body":{}}`), &e))
		require.NotEqual(t, reflect.TypeFor[*flow.Foreign](), reflect.TypeOf(e.Body), kind)
		types = append(types, reflect.TypeOf(e.Body))
	}
	for _, f := range []*flow.Flow{debate.DebateFlow(), deliberation.Flow(), evaluation.Flow(), arbiter.Flow()} {
		config, err := f.Decode([]byte("{}"))
		require.NoError(t, err)
		types = append(types, reflect.TypeOf(config))
		for _, body := range f.Bodies {
			types = append(types, reflect.TypeOf(body))
		}
		for _, schema := range f.Schemas {
			types = append(types, schema.Shape())
		}
		for _, on := range f.Inputs {
			require.Contains(t, f.Payloads, on)
			types = append(types, reflect.TypeOf(f.Payloads[on]))
		}
	}
	named := make(map[string][]string) // by the verdict
	for _, line := range redaction.Strings(types...) {
		place, verdict, _ := strings.Cut(line, ": ")
		named[verdict] = append(named[verdict], place)
	}
	var out strings.Builder
	for _, verdict := range slices.Sorted(maps.Keys(named)) {
		out.WriteString("# " + verdict + "\n" + strings.Join(named[verdict], "\n") + "\n")
	}
	stage.Golden(t, "names.golden", out.String())
}

// The kinds of events of every flow.
const kernelKinds = "start transition round intent turn summary rejected failed spend late dropped warning skipped retriedNow withdrawn " +
	"amended inquiry questions answer sent note tools continued tool redacted opened chunk"
