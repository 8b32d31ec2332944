package transcript

import "github.com/agonist-dev/debate/context/token"

// Count returns the running sums of the messages' tokens in a vocabulary. It counts each message once.
func (v *View) Count(counter token.Counter) []int {
	if v.sums == nil {
		v.sums = make(map[token.Counter][]int)
	}
	sums := v.sums[counter]
	if len(sums) == 0 {
		sums = append(sums, 0)
	}
	for i := len(sums) - 1; i < len(v.Messages); i++ {
		m := &v.Messages[i]
		sums = append(sums, sums[i]+Count(m, counter)+v.loads[i])
	}
	v.sums[counter] = sums
	return sums[:len(v.Messages)+1]
}
