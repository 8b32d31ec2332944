package main

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A signal ends the program if nobody takes it, such as while a file is opened that is a pipe without a writer.
func TestASignalThatNobodyTakesEndsTheProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		signals, interrupts := make(chan os.Signal, 2), make(chan os.Signal)
		taken, began := make(chan struct{}), time.Now()
		go func() {
			defer close(taken)
			assert.Equal(t, os.Interrupt, <-interrupts)
		}()
		signals <- os.Interrupt
		signals <- os.Interrupt
		forward(signals, interrupts, time.Second)
		<-taken
		assert.Equal(t, time.Second, time.Since(began))
	})
}
