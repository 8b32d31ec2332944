package strictjson

import (
	"bytes"
	"encoding/json"
)

const (
	null     = "null"
	aBoolean = "true or false"
	aNumber  = "a number"
	aText    = "a text"
	aList    = "a list"
	anObject = "an object"
)

// Kind returns the kind of a value that [Decode] has returned, in words: "a text", "a list".
func Kind(value any) string {
	switch value.(type) {
	case nil:
		return null
	case bool:
		return aBoolean
	case json.Number, float64:
		return aNumber
	case string:
		return aText
	case []any:
		return aList
	default:
		return anObject
	}
}

// KindOf returns the kind of a piece of JSON, in the words of [Kind]. It looks at the first byte only. An empty piece
// is null.
func KindOf(piece []byte) string {
	piece = bytes.TrimSpace(piece)
	if len(piece) == 0 {
		return null
	}
	switch piece[0] {
	case 'n':
		return null
	case 't', 'f':
		return aBoolean
	case '"':
		return aText
	case '[':
		return aList
	case '{':
		return anObject
	default:
		return aNumber
	}
}
