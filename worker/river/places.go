package river

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// places are those that all queues of a worker share, Config.Places of them. River bounds each queue by itself, and hands what is free
// to the queue that asks first.
//
// A queue that fetches gets the places that it would get if all queues with waiting jobs asked at this moment: each place goes to the
// queue that has the fewest, and among those to the one whose turn was longest ago. What is thereby kept for another queue is free
// until that queue fetches, at most River's FetchPollInterval.
type places struct {
	mu     sync.Mutex
	total  int
	queues map[string]*share
	turns  int64
	stale  time.Duration // for so long a queue that has jobs may be silent
}

// share is what one queue has of the places.
type share struct {
	most  int       // Config.Queues
	used  int       // places
	turn  int64     // when it last got one
	wants time.Time // when it was last seen to have more jobs than it got places; zero: it has none
}

func newPlaces(total int, queues map[string]int, poll time.Duration) *places {
	p := &places{total: total, queues: make(map[string]*share), stale: 3*poll + time.Second}
	for name, most := range queues {
		p.queues[name] = &share{most: most}
	}
	return p
}

// ask returns how many of the jobs that a queue wants to fetch it may. River asks for as many as the queue has workers idle.
func (p *places) ask(queue string, want int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	asking, now := p.queues[queue], time.Now()
	asking.used = asking.most - want // jobs that never came to a worker of this package count no longer
	free := p.total
	level := make(map[*share]int)
	for _, s := range p.queues {
		free -= s.used
		if s == asking || now.Sub(s.wants) < p.stale {
			level[s] = s.used
		}
	}
	granted := 0
	for ; free > 0 && granted < want; free-- {
		var next *share
		for s, used := range level {
			if used < s.most && (next == nil || used < level[next] || used == level[next] && s.turn < next.turn) {
				next = s
			}
		}
		level[next]++
		if next == asking {
			granted++
		}
	}
	if granted > 0 {
		p.turns++
		asking.turn = p.turns
	}
	asking.used += granted
	return granted
}

// got says how many of the granted places a queue had jobs for, and whether more are waiting.
func (p *places) got(queue string, granted, jobs int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.queues[queue]
	s.used = max(0, s.used-(granted-jobs))
	s.wants = time.Time{}
	if more {
		s.wants = time.Now()
	}
}

// leave gives the place of a job back.
func (p *places) leave(queue string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.queues[queue]; s != nil {
		s.used = max(0, s.used-1)
	}
}

// sharing is River's way to a database, for a worker whose queues share places. What it does not fetch stays with the other workers.
type sharing struct {
	Driver

	places *places
	waits  func(ctx context.Context, queue string) (bool, error)
}

// GetExecutor implements [riverdriver.Driver].
func (d sharing) GetExecutor() riverdriver.Executor { return fetching{d.Driver.GetExecutor(), d} }

// fetching fetches jobs for the places that a queue may have.
type fetching struct {
	riverdriver.Executor

	sharing sharing
}

// JobGetAvailable implements [riverdriver.Executor].
func (e fetching) JobGetAvailable(
	ctx context.Context, params *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	places := e.sharing.places
	if _, shares := places.queues[params.Queue]; !shares {
		return e.Executor.JobGetAvailable(ctx, params)
	}
	result, few := &riverdriver.JobGetAvailableResult{}, *params
	var err error
	if few.MaxToLock = places.ask(params.Queue, params.MaxToLock); few.MaxToLock > 0 {
		result, err = e.Executor.JobGetAvailable(ctx, &few)
	}
	if err != nil {
		places.got(params.Queue, few.MaxToLock, 0, false)
		return nil, err
	}
	more := len(result.Jobs) == few.MaxToLock
	if more {
		if waits, err := e.sharing.waits(ctx, params.Queue); err == nil { // otherwise the queue asks again soon
			more = waits
		}
	}
	places.got(params.Queue, few.MaxToLock, len(result.Jobs), more)
	return result, nil
}

// waits reports whether a job of a queue is available.
func (j *Jobs) waits(ctx context.Context, queue string) (bool, error) {
	var one int
	query := "SELECT 1 FROM " + j.table() + " WHERE state = 'available' AND queue = $1 LIMIT 1"
	err := j.db.QueryRowContext(ctx, query, queue).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
