package deliberation

// MarshalJSON writes the record's JSON, then the solution, its author, and the lines of Degraded. The JSON cannot be read
// back.
func (d *Deliberation) MarshalJSON() ([]byte, error) {
	var own struct {
		Solution *Solution `json:"solution,omitempty"`
		By       string    `json:"by,omitempty"`
		Degraded []string  `json:"degraded,omitempty"`
	}
	own.Solution, own.By, _ = d.Solution()
	own.Degraded = d.Degraded()
	return d.MarshalWith(own)
}
