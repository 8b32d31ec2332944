package prompt

import (
	"math"
	"strconv"
)

// Criterion is an entry of a rubric: what is scored, its weight, and what the scores mean.
type Criterion struct {
	Name   string  // as the model must return it
	Weight float64 // share of the total, in percent, shown to two decimals; if not above 0, not shown
	Low    string  // what a 0 means; "": not shown
	High   string  // what a 10 means; "": not shown
}

// String returns the criterion as an entry of a list: its name and, in brackets, its weight and what the
// ends of its scale mean.
func (c Criterion) String() string {
	var weight, low, high string
	if c.Weight > 0 {
		weight = "weight " + strconv.FormatFloat(math.Round(c.Weight*100)/100, 'f', -1, 64) + " %"
	}
	if c.Low != "" {
		low = "0: " + c.Low
	}
	if c.High != "" {
		high = "10: " + c.High
	}
	details := joined("; ", weight, joined(", ", low, high))
	if details == "" {
		return c.Name
	}
	return c.Name + " (" + details + ")"
}

// joined puts the separator between the parts if both are present.
func joined(separator, first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + separator + second
}

func criteria(all []Criterion) []Criterion {
	clean := make([]Criterion, len(all))
	for i, c := range all {
		clean[i] = Criterion{Name: line(c.Name), Weight: c.Weight, Low: entry(c.Low), High: entry(c.High)}
	}
	return clean
}
