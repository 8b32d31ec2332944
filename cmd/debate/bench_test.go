package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/fake"
)

// The benchmarks start the program as a process of its own, as somebody does on a command line. It is built as for a
// release: the test binary has more in it. docs/internal/benchmarks.md has the figures.

// BenchmarkDeliberation leads deliberations of three agents at a server whose calls take 100 ms. The figures are the time of the process,
// and the time from the first request to the last reply as the server sees it, in multiples of what the calls take if all that can be
// made at once are: a proposal, a critique and a refinement in each round, and the solution.
func BenchmarkDeliberation(b *testing.B) {
	const latency = 100 * time.Millisecond
	for _, rounds := range []int{2, 10} {
		b.Run("R="+strconv.Itoa(rounds), func(b *testing.B) {
			server := &watched{Handler: &fake.Server{Delay: latency, Text: strings.Repeat("Four hundred tokens. ", 80)}}
			start := launcher(b, server)
			var asked time.Duration
			for b.Loop() {
				start("--rounds", strconv.Itoa(rounds), "Design a rate limiter")
				asked += server.span()
			}
			ideal := float64(b.N) * float64(time.Duration(1+2*rounds+1)*latency)
			b.ReportMetric(float64(b.Elapsed())/ideal, "x-ideal")
			b.ReportMetric(float64(asked)/ideal, "x-ideal-at-the-server")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// watched is a server that knows when it got its first call and when it had answered its last one.
type watched struct {
	http.Handler

	mu          sync.Mutex
	first, last time.Time
}

func (w *watched) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.mu.Lock()
		if w.first.IsZero() {
			w.first = time.Now()
		}
		w.mu.Unlock()
	}
	w.Handler.ServeHTTP(out, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
}

// span returns the time between the two, and begins anew.
func (w *watched) span() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	span := w.last.Sub(w.first)
	w.first = time.Time{}
	return span
}

// BenchmarkAgents is the time of a deliberation of one round in which so many agents critique each other, at a server of the same latency,
// and how long the program runs on after a SIGTERM while all critiques are in flight.
func BenchmarkAgents(b *testing.B) {
	for _, n := range []int{8, 30} {
		config := filepath.Join(b.TempDir(), "agents.json")
		var agents []string
		for i := range n {
			agents = append(agents, fmt.Sprintf(`{"id":"a%d","name":"Agent %d","role":"generalist","model":"openai/gpt-4.1-mini"}`, i, i))
		}
		require.NoError(b, os.WriteFile(config, []byte(`{"agents":[`+strings.Join(agents, ",")+`]}`), 0o600))
		args := []string{"--config", config, "--rounds", "1", "Design a rate limiter"}
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			start := launcher(b, &fake.Server{Delay: 100 * time.Millisecond, Text: strings.Repeat("Four hundred tokens. ", 80)})
			var spent time.Duration
			for b.Loop() {
				spent += start(args...)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/op")
			b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(0, "ns/op")
		})
		b.Run(fmt.Sprintf("N=%d/SIGTERM", n), func(b *testing.B) {
			const critique = "r1.critique.*"
			server := &fake.Server{Text: "Four hundred tokens.", Rules: []fake.Rule{{Call: critique, Fault: fake.FaultHold}}}
			command := preparing(b, server)
			var waited time.Duration
			for turn := 1; b.Loop(); turn++ {
				c := command(args...)
				said := new(strings.Builder)
				c.Stderr = said
				require.NoError(b, c.Start())
				for calls, more := server.Calls(critique); len(calls) < turn*n*(n-1); calls, more = server.Calls(critique) {
					<-more
				}
				began := time.Now()
				require.NoError(b, c.Process.Signal(syscall.SIGTERM))
				err := c.Wait()
				waited += time.Since(began)
				require.ErrorContains(b, err, "exit status 130", "%s", said)
			}
			b.ReportMetric(waited.Seconds()/float64(b.N), "s/SIGTERM")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkProcess is the time of a process from its start to its end, and what it takes of a processor: without anything to do, and with a whole deliberation of
// three agents and three rounds at a server that answers at once.
func BenchmarkProcess(b *testing.B) {
	for _, run := range []struct {
		name string
		args []string
	}{
		{"help", []string{"--help"}},
		{"version", []string{"--version"}},
		{"list", []string{"list"}},
		{"deliberation", []string{"Design a rate limiter"}},
		{"deliberation in files", []string{"--store", "./kept/", "Design a rate limiter"}},
	} {
		b.Run(run.name, func(b *testing.B) {
			start := launcher(b, &fake.Server{})
			start("list") // there is a store
			var spent time.Duration
			for b.Loop() {
				spent += start(run.args...)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/op")
			b.ReportMetric(float64(spent)/float64(b.N)/float64(time.Millisecond), "cpu-ms/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// launcher returns a function that runs the program to its end, against the server, in a folder of its own. It returns the
// processor time of the process.
func launcher(b *testing.B, server http.Handler) func(args ...string) time.Duration {
	b.Helper()
	command := preparing(b, server)
	return func(args ...string) time.Duration {
		c := command(args...)
		if said, err := c.CombinedOutput(); err != nil {
			require.NoError(b, err, "%s", said)
		}
		return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
}

// preparing returns a function that makes the command which launcher runs.
func preparing(b *testing.B, server http.Handler) func(args ...string) *exec.Cmd {
	b.Helper()
	program := filepath.Join(b.TempDir(), "debate")
	output, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(b, err, "%s", output)
	listening := httptest.NewServer(server)
	b.Cleanup(listening.Close)
	folder := b.TempDir()
	return func(args ...string) *exec.Cmd {
		c := exec.CommandContext(b.Context(), program, args...)
		c.Dir = folder
		c.Env = []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "OPENAI_BASE_URL=" + listening.URL + "/v1", "OPENAI_API_KEY=sk-of-the-test"}
		return c
	}
}
