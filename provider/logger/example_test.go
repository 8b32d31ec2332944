package logger_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/logger"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A call is a line, without a word of what was said.
func Example() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
				return slog.Attr{} // what differs from run to run
			}
			return a
		},
	})
	p := &logger.Provider{Provider: &scripted.Provider{}, Logger: slog.New(handler)}
	req := &provider.Request{ID: "d1/r1.opening.ada/1", Model: "model-1", Self: "Ada", Last: provider.Message{Text: "Open the debate."}}
	if _, err := p.Generate(context.Background(), req, func(provider.Chunk) {}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=INFO msg="model call" call.id=d1/r1.opening.ada/1 call.model=model-1 call.self=Ada call.bytesIn=16 call.bytesOut=28 call.chunks=1 call.stop=end call.usage.input=4 call.usage.output=7
}
