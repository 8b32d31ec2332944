package command

// shortID returns what a person types for an id: its last eight digits, if it is one of the program's own.
func shortID(id string) string {
	if len(id) != 36 || id[8] != '-' || id[23] != '-' {
		return id
	}
	return id[28:]
}
