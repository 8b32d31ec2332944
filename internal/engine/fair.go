package engine

import (
	"math/rand/v2"

	"github.com/agonist-dev/debate/store"
)

// dealer decides which of the conversations that wait gets the next slot of a worker. The values of a label share the slots by max-min:
// each that waits gets an equal part, and what one does not need goes to the others.
type dealer struct {
	label   string              // "": all conversations have one value
	waiting map[string][]string // the ids that a look has found, by value; each in a random order, because other workers have found them too
	left    int                 // how many these are
	open    map[string]int      // the slots that each value has
	served  map[string]int64    // when each value got its last slot: the number of that deal
	deals   int64
}

// servedMost bounds how many values a dealer remembers, beside those that it has just seen.
const servedMost = 4 * lookMost

func newDealer(label string) *dealer {
	return &dealer{label: label, waiting: make(map[string][]string), open: make(map[string]int), served: make(map[string]int64)}
}

// value returns the value of a conversation. Without the label it is "".
func (d *dealer) value(info *store.Info) string {
	if d.label == "" {
		return ""
	}
	return info.Labels[d.label]
}

// add adds a conversation that waits.
func (d *dealer) add(info *store.Info) {
	value := d.value(info)
	ids := d.waiting[value]
	ids = append(ids, info.ID)
	last, other := len(ids)-1, rand.IntN(len(ids)) //nolint:gosec // no secret: workers should begin at different places
	ids[last], ids[other] = ids[other], ids[last]
	d.waiting[value] = ids
	d.left++
}

// clear forgets those that wait.
func (d *dealer) clear() {
	clear(d.waiting)
	d.left = 0
	if len(d.served) > servedMost {
		clear(d.served)
	}
}

// next takes the conversation that gets the next slot: of the values that wait the one with the fewest slots. If several have as few, it
// is the one that got its last slot longest ago.
func (d *dealer) next() (id, value string, ok bool) {
	for other := range d.waiting {
		if !ok || d.before(other, value) {
			value, ok = other, true
		}
	}
	if !ok {
		return "", "", false
	}
	ids := d.waiting[value]
	last := len(ids) - 1
	if id = ids[last]; last == 0 {
		delete(d.waiting, value)
	} else {
		d.waiting[value] = ids[:last]
	}
	d.left--
	d.deals++
	d.open[value]++
	d.served[value] = d.deals
	return id, value, true
}

// before reports whether one value comes before another.
func (d *dealer) before(a, b string) bool {
	if d.open[a] != d.open[b] {
		return d.open[a] < d.open[b]
	}
	return d.served[a] < d.served[b]
}

// free takes the slot of a value back.
func (d *dealer) free(value string) {
	if d.open[value]--; d.open[value] == 0 {
		delete(d.open, value)
	}
}
