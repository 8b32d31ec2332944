package providertest

import (
	"io"
	"log"
	"log/slog"
	"math"
	"os"
)

// listening requires that the adapter does not write the key to a log, to standard output or to standard
// error. These belong to the whole process, which is one more reason why the suite does not run in
// parallel with other tests.
func listening(run func(x *bench)) func(x *bench) {
	return func(x *bench) {
		said, err := overhear(func() { run(x) })
		if err != nil {
			x.t.Fatal(err)
		}
		if form := shown(said); form != "" {
			x.errorf("the adapter writes the key to a log, to standard output or to standard error, as %q", form)
		}
	}
}

// overhear returns everything that is written while f runs. It uses a file, because a pipe would need a
// goroutine.
func overhear(f func()) (said string, err error) {
	file, err := os.CreateTemp("", "providertest")
	if err != nil {
		return "", err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	listen(file, f)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	data, err := io.ReadAll(file)
	return string(data), err
}

// listen sends everything that is logged while f runs, at any level, to a file.
func listen(file *os.File, f func()) {
	const all = slog.Level(math.MinInt32)
	logger, writer, flags, level := slog.Default(), log.Writer(), log.Flags(), slog.SetLogLoggerLevel(all)
	out, failures := os.Stdout, os.Stderr
	defer func() {
		slog.SetDefault(logger) // first, because it may change the others
		log.SetOutput(writer)
		log.SetFlags(flags)
		slog.SetLogLoggerLevel(level)
		os.Stdout, os.Stderr = out, failures
	}()
	slog.SetDefault(slog.New(slog.NewTextHandler(file, &slog.HandlerOptions{Level: all})))
	log.SetOutput(file)
	os.Stdout, os.Stderr = file, file
	f()
}
