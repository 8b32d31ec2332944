package deliberation

// Degraded lists where the deliberation fell short of its config, one line each, as that of any conversation does: see
// [flow.Record.Degraded]. Its warnings name what nobody has answered, what is missing, and what was left out or made
// smaller.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (d *Deliberation) Degraded() []string {
	return d.Record.Degraded(owes, func(name string) string { return d.config.NameOf(name) + " has taken no further part" })
}
