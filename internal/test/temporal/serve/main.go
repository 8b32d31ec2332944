// Command serve runs a program beside a Temporal server, whose address the program finds in TEMPORAL_ADDRESS.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agonist-dev/debate/internal/test/temporal/server"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: serve PROGRAM [ARGUMENTS]")
	}
	folder, err := os.MkdirTemp("", "temporal")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	running, err := server.Start(server.Options{File: filepath.Join(folder, "temporal.db")})
	if err != nil {
		return err
	}
	defer func() { _ = running.Stop() }()
	program := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // it is what the caller names
	program.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+running.Address)
	program.Stdout, program.Stderr = os.Stdout, os.Stderr
	return program.Run()
}
