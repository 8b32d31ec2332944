package river

import "sync/atomic"

// Stats counts what a worker has done since it was made. All but Running and Held only grow.
type Stats struct {
	Running  int64 // debates that have a place now
	Held     int64 // debates that are open now
	Opened   int64 // times that a debate was opened
	Again    int64 // jobs that found the log grown when they were to end
	Far      int64 // debates released until a call is due
	Leased   int64 // debates that another process held
	Lacking  int64 // debates for which the engine lacks something
	Failed   int64 // debates that could not be opened, or whose session failed
	Drained  int64 // unfinished debates that were left to other workers because this one stops
	Missing  int64 // jobs of debates that do not exist
	Sweeps   int64 // sweeps that this worker has made
	Supplied int64 // debates that a sweep has given a job
	Rescued  int64 // jobs that a sweep has taken from workers that have disappeared
}

// counts are the counters of Stats.
type counts struct {
	running, held, opened, again, far, leased, lacking, failed, drained, missing atomic.Int64

	sweeps, supplied, rescued atomic.Int64
}

// Stats returns the counts of this moment. It suits expvar.Func. [Worker.Figures] has those that are worth an alarm.
func (w *Worker) Stats() Stats {
	c := &w.counts
	return Stats{
		Running: c.running.Load(), Held: c.held.Load(), Opened: c.opened.Load(), Again: c.again.Load(), Far: c.far.Load(),
		Leased: c.leased.Load(), Lacking: c.lacking.Load(), Failed: c.failed.Load(), Drained: c.drained.Load(),
		Missing: c.missing.Load(), Sweeps: c.sweeps.Load(), Supplied: c.supplied.Load(), Rescued: c.rescued.Load(),
	}
}
