package engine_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/provider"
)

// Names that no line may hold as they are: they would begin another line, hide a part of it, fill the log, or tell a key.
func hostileNames() []string {
	return []string{
		"x\nlevel=ERROR", "\x1b[2J", "\u2028", "a\u202eb", strings.Repeat("x\n", 512<<10), "x\n" + aKey, aKey[:20] + "\x00" + aKey[20:],
	}
}

const aKey = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL"

// Each name in a line is one short line itself, wherever it comes from: also if an event holds a kind of failure that is none.
func TestNamesOfALine(t *testing.T) {
	t.Parallel()
	for _, forged := range hostileNames() {
		spend := flow.Spend{Call: forged, Model: forged}
		for _, body := range []flow.Body{
			&flow.Failure{Spend: spend, Error: &flow.Error{Kind: flow.Kind(forged)}},
			&flow.Transition{
				To: flow.State(forged), On: flow.Trigger(forged), Reason: flow.EndReason(forged), By: forged,
				Failure: &flow.Error{Kind: flow.Kind(forged), Op: forged},
			},
			&flow.Warning{Kind: flow.WarningKind(forged), Call: forged, By: forged},
		} {
			attrs := engine.Attributes(&flow.Event{Body: body})
			assert.NotEmpty(t, attrs)
			for _, attr := range attrs {
				value := attr.Value.String()
				assert.Equal(t, -1, strings.IndexFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }), "%s: %.300q", attr.Key, value)
				assert.LessOrEqual(t, len(value), 200+len("…"), attr.Key)
				assert.NotContains(t, value, aKey, attr.Key)
			}
		}
	}
}

// Whatever kind a provider gives its error, the failure has one of the library's.
func TestTheKindOfAForeignErrorIsNoText(t *testing.T) {
	t.Parallel()
	for _, forged := range hostileNames() {
		assert.Equal(t, provider.KindUnknown, flow.Classify(&provider.Error{Kind: provider.Kind(forged)}).Kind)
		assert.Equal(t, provider.KindUnknown, flow.Classify(&flow.Error{Kind: flow.Kind(forged)}).Kind)
	}
}
