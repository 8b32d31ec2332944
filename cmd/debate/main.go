// Command debate runs deliberations, debates and arbitrated work between language models from the command line.
//
//	debate "Design a rate limiter"            # without a key: add --demo
//	debate resume                             # continues the newest conversation that is not over
//	debate report ID --output report.html
//
// docs/cli.md describes every command.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

func main() { os.Exit(run()) }

// run carries out the command line of the process, and returns the exit code.
func run() int {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	return command.Run(context.Background(), command.System{
		Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv, Interrupts: interrupts,
	})
}
