package deliberation

// targets returns whom an agent critiques, by their seats: who has something that stands, as the topology says.
// The agents sit in a ring, in the order of the config.
func (b *board) targets(seat int) []int {
	n := len(b.agents)
	var order []int
	if b.config.Topology.Kind == TopologyNearest { // next, former, next but one, …
		for d := 1; d <= n/2; d++ {
			order = append(order, (seat+d)%n)
			if before := (seat - d + n) % n; before != (seat+d)%n {
				order = append(order, before)
			}
		}
	} else {
		for d := 1; d < n; d++ {
			order = append(order, (seat+d)%n)
		}
	}
	most := n
	switch b.config.Topology.Kind {
	case TopologyRing:
		most = 1
	case TopologyNearest:
		most = b.config.Topology.K
	}
	var out []int
	for _, other := range order {
		if len(out) < most && b.agents[other].active && b.agents[other].standing() != nil {
			out = append(out, other)
		}
	}
	return out
}
