// Command debate runs deliberations, debates and arbitrated work between language models from the command line.
//
//	debate "Design a rate limiter"            # without a key: add --demo
//	debate resume                             # continues the newest conversation that is not over
//	debate report ID --output report.html
//
// docs/reference/cli.md describes every command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

func main() { os.Exit(run(command.System{}, time.Second)) }

// forward gives signals to whoever takes them within a time, and returns once nobody takes one: then there is nothing to pause.
func forward(signals <-chan os.Signal, interrupts chan<- os.Signal, patience time.Duration) {
	for one := range signals {
		select {
		case interrupts <- one:
		case <-time.After(patience):
			return
		}
	}
}

// interrupted is the exit code of a program that was interrupted.
const interrupted = 130

// run carries out the command line of the process, and returns the exit code. It fills in what the system says of the process. A signal
// that nobody takes for so long ends the process.
func run(system command.System, patience time.Duration) int {
	signals, interrupts := make(chan os.Signal, 2), make(chan os.Signal)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, so that the program outlives its terminal
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() { // it belongs to the process
		forward(signals, interrupts, patience)
		syscall.Exit(interrupted)
	}()
	// A pipe that nobody reads makes writing fail, in place of ending the program: a conversation runs on without its reader.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	system.Args, system.Lookup, system.Interrupts = os.Args[1:], os.LookupEnv, interrupts
	system.In, system.Out, system.Err = os.Stdin, os.Stdout, os.Stderr
	return command.Run(context.Background(), system)
}
