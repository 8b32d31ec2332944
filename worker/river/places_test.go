package river //nolint:testpackage // the places have no public side

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// queue is a queue with waiting jobs, for a test of the places that it gets.
type queue struct {
	name   string
	most   int // places it may have
	jobs   int // that wait
	worked int
}

// fetch is what River does for a queue whenever it polls.
func (q *queue) fetch(p *places) {
	granted := p.ask(q.name, q.most-q.worked)
	got := min(granted, q.jobs)
	q.jobs, q.worked = q.jobs-got, q.worked+got
	p.got(q.name, granted, got, got == granted && q.jobs > 0)
}

// done ends a job.
func (q *queue) done(p *places) {
	q.worked--
	p.leave(q.name)
}

func TestPlaces(t *testing.T) {
	const poll = time.Second
	tests := map[string]struct {
		total  int
		queues []queue // fetch in this order, twice
		want   []int   // the jobs of each that are worked
	}{
		"one queue has them all":                {6, []queue{{most: 10, jobs: 9}}, []int{6}},
		"no more than a queue may have":         {6, []queue{{most: 4, jobs: 9}}, []int{4}},
		"an idle queue keeps none":              {6, []queue{{most: 6, jobs: 9}, {most: 6}}, []int{6, 0}},
		"what one does not need, others get":    {6, []queue{{most: 6, jobs: 1}, {most: 6, jobs: 9}}, []int{1, 5}},
		"a bound of one leaves more to another": {6, []queue{{most: 2, jobs: 9}, {most: 6, jobs: 9}}, []int{2, 4}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				most := make(map[string]int)
				for i := range test.queues {
					test.queues[i].name = string(rune('a' + i))
					most[test.queues[i].name] = test.queues[i].most
				}
				p := newPlaces(test.total, most, poll)
				for range 2 {
					for i := range test.queues {
						test.queues[i].fetch(p)
					}
					time.Sleep(poll) //nolint:forbidigo // in a bubble nobody waits
				}
				for i := range test.queues {
					assert.Equal(t, test.want[i], test.queues[i].worked, "queue %s", test.queues[i].name)
				}
			})
		})
	}
}

// A queue that had all places when another came gives half of them away, as its jobs end. The one that fetches more often gets no more.
func TestPlacesOfALateQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const poll = time.Second
		first, late := &queue{name: "first", most: 6, jobs: 100}, &queue{name: "late", most: 6}
		p := newPlaces(6, map[string]int{"first": 6, "late": 6}, poll)
		first.fetch(p)
		late.fetch(p)
		assert.Equal(t, 6, first.worked)
		late.jobs = 100
		late.fetch(p) // all places are taken: it is seen to want some
		for range 3 {
			first.done(p)
			for range 5 {
				first.fetch(p)
				assert.LessOrEqual(t, first.worked+late.worked, 6)
			}
			late.fetch(p)
			time.Sleep(poll) //nolint:forbidigo // in a bubble nobody waits
		}
		assert.Equal(t, []int{3, 3}, []int{first.worked, late.worked})
		for range 20 { // and so it remains
			first.done(p)
			late.done(p)
			first.fetch(p)
			first.fetch(p)
			late.fetch(p)
			assert.Equal(t, []int{3, 3}, []int{first.worked, late.worked})
			time.Sleep(poll) //nolint:forbidigo // in a bubble nobody waits
		}
	})
}

// What is kept for a queue that falls silent is free for the others after a while, and one that returns gets its part again.
func TestPlacesOfASilentQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const poll = time.Second
		eager, silent := &queue{name: "eager", most: 4, jobs: 100}, &queue{name: "silent", most: 4, jobs: 100}
		p := newPlaces(4, map[string]int{"eager": 4, "silent": 4}, poll)
		silent.fetch(p)
		silent.done(p)
		silent.done(p)
		eager.fetch(p)
		assert.Equal(t, 2, eager.worked)
		silent.done(p)
		silent.done(p)
		eager.fetch(p)
		assert.Equal(t, 2, eager.worked, "two are kept")
		time.Sleep(5 * poll) //nolint:forbidigo // in a bubble nobody waits
		eager.fetch(p)
		assert.Equal(t, 4, eager.worked)
		silent.fetch(p)
		eager.done(p)
		eager.done(p)
		eager.fetch(p)
		silent.fetch(p)
		assert.Equal(t, []int{2, 2}, []int{eager.worked, silent.worked})
	})
}

// A job that River fetched but that never came to a worker of this package holds its place until its queue fetches again.
func TestPlacesOfAJobThatNeverCame(t *testing.T) {
	p := newPlaces(2, map[string]int{"a": 2}, time.Second)
	assert.Equal(t, 2, p.ask("a", 2))
	p.got("a", 2, 2, true)
	assert.Equal(t, 2, p.ask("a", 2), "River has two workers idle: so nobody works")
	p.leave("unknown")
}
