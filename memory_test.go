package debate_test

import "runtime"

// allocated returns how many bytes do allocates. What others allocate meanwhile counts too.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
