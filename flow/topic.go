package flow

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longestTopic is how many bytes [TopicOf] returns at most.
const longestTopic = 200

// TopicOf returns the first line of a longer text as a topic: without the marks of a heading, and at most 200 bytes. If the
// line is blank, it returns otherwise. What is wrong with the text itself is for the flow's check to tell.
func TopicOf(content, otherwise string) string {
	content = strings.ReplaceAll(strings.ToValidUTF8(content, ""), "\x00", "")
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	if line == "" {
		line = otherwise
	}
	if len(line) <= longestTopic {
		return line
	}
	cut := line[:longestTopic]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut
}

// EachModel yields a model and its fallbacks to a loop over [Config].Models, with the fields at+".model" and
// at+".fallbacks[0]" and so on. false: no more are wanted.
func EachModel(yield func(field, name string) bool, at, model string, fallbacks []string) bool {
	if !yield(at+".model", model) {
		return false
	}
	for i, name := range fallbacks {
		if !yield(fmt.Sprintf("%s.fallbacks[%d]", at, i), name) {
			return false
		}
	}
	return true
}
