// Command peers plays the workloads of docs/internal/benchmarks.md with debate, with cloudwego/eino and as a bare loop,
// all in one run, and prints a table of the figures and their ratios. In its folder, which is no part of the workspace:
//
//	GOWORK=off go run .                             # everything; some minutes
//	GOWORK=off go run . -work W1,W1s -rounds 10     # a part
//	GOWORK=off go run . -work crowd -crowd 500      # a small crowd
//	GOWORK=off go run . -work W1 -rounds 10 -sides debate -cpuprofile cpu.out
//
// Three debaters speak in turn, each with a speech of 1,800 bytes, and read the whole transcript; a judge
// assesses each round and gives a verdict. All sides get the same bytes from the same simulated model, which
// walks every message of a request. All of them decode the judge's JSON, validate it against one schema,
// compiled once, and keep the result. What a side does beyond that is said where it is: [floor], [graph],
// [arena]. The floor and eino use encoding/json and the present version of the validator; debate uses
// what it has inside.
//
//	W1      one debate after the other; the model answers at once
//	W1s     the same with 50 rounds, speeches in 100 pieces, and a reader that adds up the bytes
//	W1c     the same as W1, each step synced to the disk before the next
//	crowd   many debates of 10 rounds at once; each call takes 50 ms; each side in a process of its own
//
// Figures are medians of the laps. Ratios are medians of the ratios of neighbouring laps. Only ratios say
// anything on another machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	b := &bench{out: output{w: stdout}}
	var profile, crowdOf string
	flags := flag.NewFlagSet("peers", flag.ContinueOnError)
	work := flags.String("work", "W1,W1s,W1c,crowd", "the workloads")
	sides := flags.String("sides", "floor,eino,debate", "the sides")
	rounds := flags.String("rounds", "10,100,500", "the lengths of the debates of W1 and W1c")
	flags.DurationVar(&b.time, "time", 5*time.Second, "how long each side plays in each column")
	flags.IntVar(&b.crowd, "crowd", 10_000, "how many debates a crowd has")
	flags.IntVar(&b.crowdLaps, "crowd-laps", 3, "how many crowds each side plays")
	flags.StringVar(&crowdOf, "crowd-of", "", "play one crowd of this side here, and print it as JSON")
	flags.StringVar(&b.dir, "dir", "", "where W1c keeps its debates; empty: the system's temporary folder")
	flags.BoolVar(&b.out.lines, "json", false, "print JSON lines in place of a table")
	flags.StringVar(&profile, "cpuprofile", "", "write a profile of this process to a file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b.work, b.sides = strings.Split(*work, ","), strings.Split(*sides, ",")
	for text := range strings.SplitSeq(*rounds, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("invalid number of rounds %q", text)
		}
		b.rounds = append(b.rounds, n)
	}
	if b.schemas, err = learnSchemas(ctx); err != nil {
		return err
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return errors.Join(err, file.Close())
		}
		defer func() { pprof.StopCPUProfile(); _ = file.Close() }()
	}
	if crowdOf != "" {
		c, err := b.crowdHere(ctx, crowdOf)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(c)
	}
	return b.run(ctx)
}
