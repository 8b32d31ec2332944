package flow

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// VendorMetadata is what a log keeps of the [Metadata] of a reply, in the [Spend] of its attempt. All texts are the vendor's.
type VendorMetadata struct {
	ID    string `json:"id,omitempty" redact:"-"`    // of the reply
	Model string `json:"model,omitempty" redact:"-"` // that has answered, if the vendor names another one than was asked
	// Told means that [Spend].Cost is what the vendor reported. Table is the cost of the same usage by the prices of the model. A cost of 0
	// is not believed of a model that has a price.
	Told  bool  `json:"told,omitempty"`
	Table Money `json:"table,omitempty"`
	// Left are parameters that the vendor has refused for this model, by their names in the request. The reply was made
	// without them.
	Left []string `json:"left,omitempty" redact:"-"`
}

// Bounds of what a vendor reports.
const (
	maxReported = 256 // bytes of an ID or a name
	maxLeft     = 32
	maxCited    = 16 * provider.MaxCitations // sources that are looked at
	maxUncited  = 1 << 20                    // that an adapter may have dropped; more is a mistake
	maxTitle    = 512                        // bytes
	maxQuote    = 2048                       // bytes
)

// MetadataOf returns what a response says beside its text; nil: nothing. A runtime puts it into a [Result] or [Failed].
func MetadataOf(r *provider.Response) *Metadata {
	if r.ID == "" && r.Model == "" && r.Cost == nil && len(r.Left) == 0 && r.Reasoning == "" && len(r.Citations) == 0 && r.Uncited <= 0 {
		return nil
	}
	a := &Metadata{
		id: r.ID, model: r.Model, left: r.Left, reasoning: r.Reasoning, citations: r.Citations, uncited: r.Uncited,
	}
	if r.Cost != nil {
		if told, ok := fromUSD(*r.Cost); ok {
			a.cost = &told
		}
	}
	a.bound()
	return a
}

// Metadata is what a vendor says of a reply beside its text. [MetadataOf] makes it. A log keeps it in two places: the thoughts and the
// citations in the [Turn], the rest as [VendorMetadata]. It survives JSON, so that a runtime can move the [Result] or [Failed] that
// holds it from one process to another.
type Metadata struct { //nolint:recvcheck // values are written, a place is read into
	id, model string
	cost      *Money // the vendor's own figure; nil: it reports none
	left      []string
	reasoning string              // the text of the model's thoughts
	citations []provider.Citation // as the adapter gives them
	uncited   int                 // those that the adapter has dropped
}

// bound cuts what a vendor reports to its bounds.
func (a *Metadata) bound() {
	a.id, a.model = text.OneLine(a.id, maxReported), text.OneLine(a.model, maxReported)
	var left []string // a copy: the list is the caller's
	for _, name := range a.left[:min(len(a.left), maxLeft)] {
		left = append(left, text.OneLine(name, maxReported))
	}
	if a.cost != nil && (*a.cost < 0 || *a.cost > maxTold) {
		a.cost = nil
	}
	a.left, a.uncited = left, min(max(a.uncited, 0), maxUncited)
}

// movedMetadata is the JSON of a [Metadata].
type movedMetadata struct {
	ID        string              `json:"id,omitempty"`
	Model     string              `json:"model,omitempty"`
	Cost      *Money              `json:"cost,omitempty"`
	Left      []string            `json:"left,omitempty"`
	Reasoning string              `json:"reasoning,omitempty"`
	Citations []provider.Citation `json:"citations,omitempty"`
	Uncited   int                 `json:"uncited,omitempty"`
}

// MarshalJSON writes all that the vendor says.
func (a Metadata) MarshalJSON() ([]byte, error) {
	return json.Marshal(movedMetadata{a.id, a.model, a.cost, a.left, a.reasoning, a.citations, a.uncited})
}

// UnmarshalJSON reads what MarshalJSON has written. What is longer than a vendor's report can be is cut, as [MetadataOf] does it.
func (a *Metadata) UnmarshalJSON(data []byte) error {
	var in movedMetadata
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*a = Metadata{in.ID, in.Model, in.Cost, in.Left, in.Reasoning, in.Citations, in.Uncited}
	a.bound()
	return nil
}

// maxTold is the largest cost of one request that is believed: more is a mistake of the unit.
const maxTold = 10_000 * USD

// fromUSD converts an amount of USD. ok: it is one that a request can cost.
func fromUSD(usd float64) (amount Money, ok bool) {
	if math.IsNaN(usd) || usd < 0 || usd > float64(maxTold/USD) {
		return 0, false
	}
	return Money(math.Round(usd * float64(USD))), true
}

// vendorTold reports whether the vendor has reported the cost.
func vendorTold(s *Spend) bool { return s.Vendor != nil && s.Vendor.Told }

// addVendor adds what the vendor reports to the spend. A cost that the vendor tells replaces that of the table if it is believed.
func addVendor(s *Spend, a *Metadata, believed bool) {
	if a == nil {
		return
	}
	r := VendorMetadata{ID: a.id, Model: a.model, Left: a.left}
	if _, asked, _ := SplitModel(s.Model); r.Model == asked {
		r.Model = ""
	}
	told := a.cost != nil && believed
	if r.ID == "" && r.Model == "" && !told && len(r.Left) == 0 {
		return
	}
	s.Vendor = &r
	if told {
		s.Vendor.Told, s.Vendor.Table = true, s.Cost
		s.Cost = *a.cost
	}
}

// saying returns the result with the text that is kept of its reply. The places of citations move with the text. A place in
// what is not kept, or not kept as it was, is dropped.
func (s Result) saying(kept string) Result {
	if s.Metadata == nil || len(s.Metadata.citations) == 0 || kept == s.Text {
		s.Text = kept
		return s
	}
	from, same := 0, 0 // s.Text[from:] and kept begin with the same bytes
	if strings.Count(s.Text, kept) == 1 {
		from = strings.Index(s.Text, kept)
	}
	for same < len(kept) && from+same < len(s.Text) && kept[same] == s.Text[from+same] {
		same++
	}
	beside := *s.Metadata
	beside.citations = slices.Clone(beside.citations)
	for i := range beside.citations {
		c := &beside.citations[i]
		if c.Start < from || c.End > from+same {
			c.Start, c.End = 0, 0
			continue
		}
		c.Start, c.End = c.Start-from, c.End-from
	}
	s.Text, s.Metadata = kept, &beside
	return s
}

// cited returns the citations of a reply within bounds: of web pages, with places inside its text. It counts those that it drops,
// but not repeated ones.
func cited(all []provider.Citation, reply string) (out []provider.Citation, dropped int) {
	if len(all) > maxCited {
		all, dropped = all[:maxCited], len(all)-maxCited
	}
	for _, c := range all {
		c.Title = text.OneLine(c.Title, maxTitle)
		c.Quote = text.Cut(text.Readable(c.Quote), maxQuote)
		switch c = c.Within(reply); {
		case slices.Contains(out, c):
		case !c.Linked() || len(out) == provider.MaxCitations:
			dropped++
		default:
			out = append(out, c)
		}
	}
	return out, dropped
}

// checkVendor refuses what no runtime has recorded.
func checkVendor(s *Spend) error {
	if r := s.Vendor; r != nil && (r.Table < 0 || len(r.ID) > 2*maxReported || len(r.Model) > 2*maxReported || len(r.Left) > maxLeft) {
		return invalid("vendor", "is longer than what a vendor reports can be, or has a negative cost")
	}
	return nil
}

// checkBeside refuses thoughts and citations that no runtime has recorded.
func checkBeside(t *Turn) error {
	if len(t.Citations) > provider.MaxCitations {
		return invalid("turn.citations", "are %d: at most %d are kept", len(t.Citations), provider.MaxCitations)
	}
	if t.Uncited < 0 {
		return invalid("turn.uncited", "is negative")
	}
	for i := range t.Citations {
		if c := &t.Citations[i]; c.Start < 0 || c.End < c.Start || c.End > len(t.Text) {
			return invalid("turn.citations", "has a place outside of the text")
		}
	}
	return checkQuotations(t)
}

// addBeside adds to a turn what came with its text.
func addBeside(t *Turn, a *Metadata, tokens int) {
	if a == nil {
		return
	}
	t.Reasoning = text.Readable(a.reasoning)
	t.Citations, t.Uncited = cited(a.citations, t.Text)
	t.Uncited += a.uncited
	if tokens > 0 {
		t.Reasoning = text.Cut(t.Reasoning, maxReplyBytes(tokens))
	}
}

// overshot returns the warning about an attempt that has cost more than was reserved for it, or nil.
func overshot(intent *Intent, s *Spend) *Warning {
	if s.Cost <= intent.Reserve || s.Model == "" {
		return nil
	}
	return &Warning{
		Kind: WarnOver, Threshold: intent.Reserve, Spend: s.Cost, Call: intent.Call, By: intent.By,
		Evidence: fmt.Sprintf("%s has cost %s: %s was reserved",
			text.OneLine(intent.Call, 80), s.Cost.Rounded(), intent.Reserve.Rounded()),
	}
}

// LeftOut is what a model was asked without, although the config asks for it.
type LeftOut struct {
	Model string `json:"model"` // "provider/model"
	// What are abilities that the model is known to lack, and parameters that its vendor has refused, in the order in which
	// they were first left out.
	What []string `json:"what"`
}

// String says it in a sentence without its full stop.
func (l LeftOut) String() string {
	return "the model " + l.Model + " was asked without " + strings.Join(l.What, ", ")
}

// LeftOut returns what models were asked without, in the order of their first such call. It belongs to the caller.
func (r *Record) LeftOut() []LeftOut {
	out := slices.Clone(r.leftOut)
	for i := range out {
		out[i].What = slices.Clone(out[i].What)
	}
	return out
}

// leave folds that a model was asked without something.
func (r *Record) leave(model, what string) {
	i := slices.IndexFunc(r.leftOut, func(l LeftOut) bool { return l.Model == model })
	if i < 0 {
		if len(r.leftOut) >= maxLeft {
			return
		}
		i, r.leftOut = len(r.leftOut), append(r.leftOut, LeftOut{Model: model})
	}
	if l := &r.leftOut[i]; len(l.What) < maxLeft && !slices.Contains(l.What, what) {
		l.What = append(l.What, what)
	}
}
