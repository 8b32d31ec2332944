package bench_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// coldPart names the variable that tells a process of BenchmarkColdStart what to do.
const coldPart = "DEBATE_COLD_PART"

// What the judge of a cold debate answers. It is made before the debate begins.
var (
	coldAssessment = stage.Judgement([]string{"Ada", "Ben"}, true)
	coldVerdict    = stage.Verdict([]string{"Ada", "Ben"})
)

// TestColdDebate plays a debate with nothing prepared. In a process of BenchmarkColdStart it prints how long
// that took.
func TestColdDebate(t *testing.T) {
	part := os.Getenv(coldPart)
	if part == "nothing" {
		return
	}
	began := time.Now()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		usage := provider.Usage{Input: 450, Output: 450}
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: "A claim, its reason, and the evidence for it.", Usage: usage}
		case req.Schema.Name == "verdict":
			return scripted.Reply{Text: coldVerdict, Usage: usage}
		default:
			return scripted.Reply{Text: coldAssessment, Usage: usage}
		}
	}}}}
	config := stage.TwoDebaters()
	for i := range config.Participants {
		config.Participants[i].Model = "openai/gpt-5" // is in the embedded table
	}
	config.Judging.Judges[0].Model = "openai/gpt-4.1"
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	took := time.Since(began)
	require.NoError(t, err)
	require.Equal(t, flow.StateCompleted, record.State)
	if part != "" {
		fmt.Printf("cold debate: %d ns\n", took.Nanoseconds())
	}
}

// BenchmarkColdStart plays one debate of three rounds in each of many fresh processes, in turn with processes
// that do nothing. Both are this test's program, so packages that it imports are initialized in both: the
// validator's library compiles its own schemas then.
//
//	ms/debate         from the making of the engine to the record, the middle of all
//	least-ms/debate   the same, the least: what it takes when nobody else works on the machine
//	ms/process        wall time of a process with the debate; floor-ms/process: without it
//	cpu-ms/process    processor time; floor-cpu-ms/process: without the debate
//	init-ms           of the floor, what the library's initialization takes
func BenchmarkColdStart(b *testing.B) {
	var debates []float64
	var processes, floors []lap
	for turn := 0; b.Loop(); turn++ {
		for i := range 2 {
			if (turn+i)%2 == 0 {
				_, floor := coldProcess(b, "nothing", "")
				floors = append(floors, floor)
				continue
			}
			out, process := coldProcess(b, "debate", "")
			processes = append(processes, process)
			debates = append(debates, figure(b, out, `cold debate: (\d+) ns`)/1e6)
		}
	}
	trace, _ := coldProcess(b, "nothing", "inittrace=1")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(middle(debates), "ms/debate")
	b.ReportMetric(slices.Min(debates), "least-ms/debate")
	b.ReportMetric(median(processes, wallTime)/1e6, "ms/process")
	b.ReportMetric(median(floors, wallTime)/1e6, "floor-ms/process")
	b.ReportMetric(median(processes, cpuShare)/1e6, "cpu-ms/process")
	b.ReportMetric(median(floors, cpuShare)/1e6, "floor-cpu-ms/process")
	b.ReportMetric(figure(b, trace, `init github\.com/santhosh-tekuri/jsonschema/v5 .* ms, ([\d.]+) ms clock`), "init-ms")
}

// coldProcess runs this program once more, for one part, and yields what it printed and what it took.
func coldProcess(b *testing.B, part, godebug string) (out []byte, took lap) {
	b.Helper()
	again := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestColdDebate$", "-test.v=false")
	again.Env = append(os.Environ(), coldPart+"="+part, "GODEBUG="+godebug)
	began := time.Now()
	out, err := again.CombinedOutput()
	took.wall = time.Since(began)
	require.NoError(b, err, string(out))
	took.cpu = again.ProcessState.UserTime() + again.ProcessState.SystemTime()
	return out, took
}

// figure yields the number that a pattern finds.
func figure(b *testing.B, out []byte, pattern string) float64 {
	b.Helper()
	found := regexp.MustCompile(pattern).FindSubmatch(out)
	require.NotNil(b, found, string(out))
	n, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(b, err)
	return n
}
