package sql

import (
	"encoding/json"

	"github.com/agonist-dev/debate/store"
)

// shares counts what a list has of each value of the label Filter.Per. nil: the list has no such bound.
type shares struct {
	filter store.Filter
	given  map[string]int // by value; "": of those without the label, too
	full   []any          // the pairs of values that have their part, and none of those without
	none   bool           // those without the label have their part
}

// maxFull bounds the pairs in a query.
const maxFull = 1000

func newShares(filter store.Filter) *shares {
	if filter.Per == "" || filter.Each <= 0 {
		return nil
	}
	return &shares{filter: filter, given: make(map[string]int)}
}

// take reports whether a conversation is among the first ones of its value.
func (s *shares) take(info store.Info) bool {
	if s == nil {
		return true
	}
	fits, value := s.filter.Shares(info, s.given), info.Labels[s.filter.Per]
	if s.given[value] != s.filter.Each {
		return fits
	}
	if value == "" {
		s.none = true
	} else if one := pair(s.filter.Per, value); uncut(one) && len(s.full) < maxFull {
		s.full = append(s.full, one)
	}
	return fits
}

// leaveOut adds conditions by which the database leaves out the conversations of values that have their part: there may be many.
func (s *shares) leaveOut(c *conditions) {
	if s == nil {
		return
	}
	if len(s.full) > 0 {
		c.add("NOT EXISTS (SELECT 1 FROM debate_label b WHERE b.debate = d.no AND b.pair IN (" + c.list(s.full) + "))")
	}
	name, _ := json.Marshal(s.filter.Per) //nolint:errchkjson // strings are encoded whatever they hold
	if begin := "[" + string(name); s.none && len(begin) < pairLimit/2 {
		c.add("EXISTS (SELECT 1 FROM debate_label b WHERE b.debate = d.no AND b.pair >= %s AND b.pair < %s AND b.pair <> %s)",
			begin+",", begin+"-", pair(s.filter.Per, ""))
	}
}
