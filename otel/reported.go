package otel

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// asked returns what a request asks for beyond text. It leaves out fields and headers of the vendor's own, which may
// hold anything.
func asked(o *provider.Options) []attribute.KeyValue {
	if o == nil {
		return nil
	}
	var attributes []attribute.KeyValue
	if o.TopP != nil {
		attributes = append(attributes, keyTopP.Float64(*o.TopP))
	}
	if len(o.Stop) > 0 {
		attributes = append(attributes, keyStop.StringSlice(list(o.Stop, escaped)))
	}
	if o.Seed != nil {
		attributes = append(attributes, keySeed.Int64(*o.Seed))
	}
	attributes = append(attributes, present(keyEffort, string(o.Effort))...)
	attributes = append(attributes, present(keyVerbosity, string(o.Verbosity))...)
	attributes = append(attributes, present(keyTier, o.ServiceTier)...)
	if o.Search {
		attributes = append(attributes, keySearch.Bool(true))
	}
	return attributes
}

// reported returns what the vendor says of a reply beside its text. The model that has answered is the one that was
// asked, unless the vendor names another one.
func (w *watch) reported(in *flow.Intent, out *outcome) []attribute.KeyValue {
	if !out.replied() {
		return without(in, nil)
	}
	r := out.spend.Vendor
	if r == nil {
		r = &flow.VendorMetadata{}
	}
	model := clean(r.Model)
	if model == "" {
		_, model = w.observer.named(in.Model)
	}
	attributes := append(present(keyResponse, r.ID), keyAnswering.String(model))
	if r.Told {
		attributes = append(attributes, keyTold.Bool(true), keyTable.Float64(usd(r.Table)))
	}
	return append(attributes, without(in, r.Left)...)
}

// without returns what the config asks for and the request went without: because the model lacks it, or because the
// vendor has refused it.
func without(in *flow.Intent, refused []string) []attribute.KeyValue {
	left := make([]string, 0, len(in.Left)+len(refused))
	for _, ability := range in.Left {
		left = append(left, string(ability))
	}
	if left = append(left, refused...); len(left) == 0 {
		return nil
	}
	return []attribute.KeyValue{keyWithout.StringSlice(list(left, clean))}
}

// replied reports whether a reply came, though perhaps only a part of it, or one that could not be used.
func (o *outcome) replied() bool {
	switch o.name {
	case outcomeAccepted, outcomeRejected, outcomeTools:
		return true
	default:
		return o.spend.Vendor != nil || o.failure != nil && o.failure.Text != ""
	}
}

// list returns the first of some texts, each made harmless.
func list(texts []string, harmless func(string) string) []string {
	out := make([]string, min(len(texts), maxLabels))
	for i := range out {
		out[i] = harmless(texts[i])
	}
	return out
}

// escaped is clean for a text in which line breaks count.
func escaped(stop string) string {
	return clean(strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text.Cut(stop, maxName)))
}
