package flows

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// Ledger is a file in which the providers of many processes note what they are asked. It is safe for concurrent use.
type Ledger struct {
	file *os.File
	name string
}

// OpenLedger opens a ledger for a worker of that name, which has no space in it. The process has it open until it ends.
func OpenLedger(file, worker string) (*Ledger, error) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	return &Ledger{f, worker}, err
}

// Note notes a request.
func (l *Ledger) Note(req *provider.Request) error {
	now := time.Now()
	_, err := io.WriteString(l.file, strings.Join([]string{strconv.FormatInt(now.UnixNano(), 10), l.name, req.ID}, " ")+"\n")
	return err
}

// Asked is a request that a ledger has noted.
type Asked struct {
	At           time.Time
	By           string // the worker
	Conversation string
	Call         string
	Attempt      int
}

// ReadLedger returns the requests of a ledger by conversation, in order. A line that was cut when its process was killed is left out.
func ReadLedger(file string) (map[string][]Asked, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]Asked)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		at, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return nil, err
		}
		rest, number := stage.CutAttempt(fields[2])
		attempt, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		id, call, _ := strings.Cut(rest, "/")
		all[id] = append(all[id], Asked{time.Unix(0, at), fields[1], id, call, attempt})
	}
	return all, nil
}

// Death is when a worker was killed.
type Death struct {
	At time.Time
	By string // the worker's name
}

// waits returns how long conversations of killed workers stood still, shortest first: from the kill to their next call.
func waits(asked map[string][]Asked, deaths []Death) (all []time.Duration) {
	for _, death := range deaths {
		for _, calls := range asked {
			next := slices.IndexFunc(calls, func(a Asked) bool { return a.At.After(death.At) })
			if next > 0 && calls[next-1].By == death.By {
				all = append(all, calls[next].At.Sub(death.At))
			}
		}
	}
	slices.Sort(all)
	return all
}

// Standstill returns the longest time between two calls of a conversation.
func Standstill(asked map[string][]Asked) (longest time.Duration) {
	for _, calls := range asked {
		for i := 1; i < len(calls); i++ {
			longest = max(longest, calls[i].At.Sub(calls[i-1].At))
		}
	}
	return longest
}

// Quantile returns a quantile of sorted durations; none: 0.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)].Round(time.Millisecond)
}
