package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
)

func TestSourcesThatCanBeShown(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", 2028)
	for url, want := range map[string]bool{
		"https://example.org/a?b=c#d": true, "HTTP://example.org": true, "https://[::1]:8080/": true, "https://пример.рф/": true, long: true,
		"": false, long + "a": false, "https://": false, "https:///a": false, "//example.org": false, "example.org": false,
		"javascript:alert(1)": false, "data:text/html,x": false, "ftp://example.org": false, "file:///etc/passwd": false,
		"https://ada@example.org": false, "https://ada:secret@example.org/": false, "https://example.org/ a": false,
		"https://example.org/\n": false, "https://example.org/<b>": false, "https://example.org/\"": false, "https://example.org/`": false,
		"https://example.org/\u202e": false, "https://%zz/": false,
	} {
		assert.Equal(t, want, provider.Citation{URL: url}.Linked(), url)
	}
}

func TestPlacesWithinAText(t *testing.T) {
	for place, want := range map[[2]int][2]int{
		{0, 4}: {0, 4}, {1, 2}: {1, 2}, {0, 0}: {}, {2, 2}: {}, {3, 1}: {}, {-1, 2}: {}, {1, 5}: {}, {5, 1 << 40}: {},
	} {
		got := provider.Citation{URL: "u", Start: place[0], End: place[1]}.Within("text")
		assert.Equal(t, provider.Citation{URL: "u", Start: want[0], End: want[1]}, got)
	}
}
