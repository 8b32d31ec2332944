package ollama

import (
	"encoding/json"
	"errors"

	"github.com/agonist-dev/debate/provider/wire"
)

// vectors is a list of at most one vector for each text.
type vectors struct {
	texts int
	list  []wire.Vector
}

// UnmarshalJSON decodes the vectors. It fails if there are more vectors than texts.
func (v *vectors) UnmarshalJSON(data []byte) error {
	if wire.Longer(data, v.texts) {
		return errors.New("there are more vectors than texts")
	}
	return json.Unmarshal(data, &v.list)
}
