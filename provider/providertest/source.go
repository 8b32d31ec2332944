package providertest

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Origin says how a fixture is known to be what the vendor sends.
type Origin string

// These are the origins of fixtures. Only recorded and published ones are evidence about a vendor.
const (
	// Recorded: somebody has received these bytes from the vendor and made them public. Field names,
	// codes, order and framing are the vendor's. The prose inside may have been replaced.
	Recorded Origin = "recorded"
	// Published: the vendor's own documentation, API description, SDK or server source shows this form.
	Published Origin = "published"
	// Inferred: no such source is known. The fixture shows what the adapter does with such an answer, not
	// that the vendor sends it.
	Inferred Origin = "inferred"
)

// Source says where a fixture is from.
type Source struct {
	Origin Origin
	// From is the address or the name of the source. Of an inferred fixture it is the reason to believe it.
	From string
	// Seen is the day on which the source was read, as 2006-01-02.
	Seen string
}

// Real reports whether the fixture is evidence about its vendor: recorded or published.
func (s Source) Real() bool { return s.Origin == Recorded || s.Origin == Published }

var vendorName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// parseSource reads "origin; from; seen".
func parseSource(value string) (Source, error) {
	parts := strings.Split(value, ";")
	if len(parts) < 3 {
		return Source{}, fmt.Errorf("%q is not of the form origin; from; date", value)
	}
	last := len(parts) - 1
	s := Source{
		Origin: Origin(strings.TrimSpace(parts[0])),
		From:   strings.TrimSpace(strings.Join(parts[1:last], ";")),
		Seen:   strings.TrimSpace(parts[last]),
	}
	switch {
	case s.Origin != Recorded && s.Origin != Published && s.Origin != Inferred:
		return Source{}, fmt.Errorf("the origin %q is neither recorded nor published nor inferred", s.Origin)
	case s.From == "":
		return Source{}, fmt.Errorf("%q does not say where from", value)
	}
	if _, err := time.Parse(time.DateOnly, s.Seen); err != nil {
		return Source{}, fmt.Errorf("the date %q is not of the form 2006-01-02", s.Seen)
	}
	return s, nil
}

// sourced reports what is wrong with the two lines that say where a fixture is from. A fixture has both
// or none.
func (f *Fault) sourced() error {
	switch {
	case f.Source.Origin == "" && f.Vendor == "":
		return nil
	case f.Source.Origin == "":
		return fmt.Errorf("there is no line source: origin; from; date")
	case f.Vendor == "":
		return fmt.Errorf("there is no line vendor: name")
	}
	return nil
}
