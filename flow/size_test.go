package flow_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if flow.PlainIsWritten() {
		fmt.Fprintln(os.Stderr, "what all calls share that are not special was written: callState.own is the way to write")
		code = 1
	}
	os.Exit(code)
}

// A conversation has one of these for each call, attempt or event: what grows here, all conversations hold. A larger number is a
// decision.
func TestSizesOfWhatEachCallHas(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("the sizes are those of 64 bits")
	}
	for of, size := range map[string][2]uintptr{
		"the state of a call": {flow.SizeOfCallState, 112},
		"Intent":              {unsafe.Sizeof(flow.Intent{}), 408},
		"Spend":               {unsafe.Sizeof(flow.Spend{}), 128},
		"Turn":                {unsafe.Sizeof(flow.Turn{}), 336},
		"Transition":          {unsafe.Sizeof(flow.Transition{}), 208},
		"Call":                {unsafe.Sizeof(flow.Call{}), 496},
	} {
		assert.Equal(t, int(size[1]), int(size[0]), of)
	}
}
