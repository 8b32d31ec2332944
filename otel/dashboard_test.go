package otel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// named finds the names of this module in an expression of Prometheus.
var named = regexp.MustCompile(`\b(debate|gen_ai|error)_\w+`)

// attributed finds the names of attributes in what a recorder has measured.
var attributed = regexp.MustCompile(`[{ ]([a-z][a-z._]*)=`)

// prometheus returns all metrics by the names that Prometheus gives them, and the names of their labels.
func prometheus(t *testing.T) (metrics map[string]string, labels map[string]bool) {
	t.Helper()
	r := newRecorder()
	play(t, &r.Observer)
	_, err := r.Engine(&debate.Engine{})
	require.NoError(t, err)
	_, err = r.Conversations(several(), store.Filter{})
	require.NoError(t, err)
	var all metricdata.ResourceMetrics
	require.NoError(t, r.reader.Collect(t.Context(), &all))
	metrics, labels = make(map[string]string), make(map[string]bool)
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			for _, suffix := range suffixes(m) {
				metrics[strings.ReplaceAll(m.Name, ".", "_")+suffix] = m.Name
			}
		}
	}
	for _, name := range attributed.FindAllStringSubmatch(r.measured(t), -1) {
		labels[strings.ReplaceAll(name[1], ".", "_")] = true
	}
	return metrics, labels
}

// suffixes returns what Prometheus adds to the name of a metric.
func suffixes(m metricdata.Metrics) []string {
	unit := ""
	if m.Unit == "s" {
		unit = "_seconds"
	}
	monotonic := false
	switch data := m.Data.(type) {
	case metricdata.Histogram[int64], metricdata.Histogram[float64]:
		return []string{unit + "_bucket", unit + "_sum", unit + "_count"}
	case metricdata.Sum[int64]:
		monotonic = data.IsMonotonic
	case metricdata.Sum[float64]:
		monotonic = data.IsMonotonic
	}
	if monotonic {
		return []string{unit + "_total"}
	}
	return []string{unit}
}

// shown requires that all names in expressions exist, and returns the metrics that they show.
func shown(t *testing.T, metrics map[string]string, labels map[string]bool, expressions []string) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, expression := range expressions {
		found := false
		for _, name := range named.FindAllString(expression, -1) {
			if metric, ok := metrics[name]; ok {
				all[metric], found = true, true
				continue
			}
			assert.True(t, labels[name], "%s in %s", name, expression)
		}
		assert.True(t, found, expression)
	}
	return all
}

// The dashboard shows each metric, and it and the alerts of the documentation name nothing else.
func TestTheDashboardAndTheAlerts(t *testing.T) {
	metrics, labels := prometheus(t)
	data, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &dashboard))
	var expressions []string
	for _, panel := range dashboard.Panels {
		assert.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			expressions = append(expressions, target.Expr)
		}
	}
	all := shown(t, metrics, labels, expressions)
	for _, metric := range metrics {
		assert.True(t, all[metric], "%s is in no panel", metric)
	}

	page, err := os.ReadFile(filepath.Join("..", "docs", "guides", "production.md"))
	require.NoError(t, err)
	expressions = nil
	for _, line := range regexp.MustCompile(`(?m)^ *expr: (.+)$`).FindAllStringSubmatch(string(page), -1) {
		expressions = append(expressions, line[1])
	}
	require.Len(t, expressions, 3)
	assert.Equal(t, map[string]bool{"debate.due.age": true, "debate.conversations.age": true, "debate.conversations": true},
		shown(t, metrics, labels, expressions))
	assert.Contains(t, expressions[1], `"`+string(flow.StateError)+"|"+string(flow.StateAwaitingInput)+`"`)
}
