package ollama

import (
	"encoding/json"
	"errors"

	"github.com/agonist-dev/debate/provider/wire"
)

// vectors is a list of vectors that has as many as there are texts.
type vectors struct {
	texts int
	list  []wire.Vector
}

// UnmarshalJSON reads vectors that are not too many.
func (v *vectors) UnmarshalJSON(data []byte) error {
	if wire.Longer(data, v.texts) {
		return errors.New("there are more vectors than texts")
	}
	return json.Unmarshal(data, &v.list)
}
