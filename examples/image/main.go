// Command image lets two debaters and a judge read a chart, as an image that belongs to the topic.
//
//	go run ./examples/image
//	OPENAI_API_KEY=… go run ./examples/image
//
// The program draws the chart itself. The debate's log holds its name, size and hash, and the store holds its bytes. With
// OPENAI_API_KEY, OPENROUTER_API_KEY or MISTRAL_API_KEY a model looks at it, which must be able to. Without a key, a script
// plays everybody and tells what it was sent.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"os"
	"os/signal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	engine, model := stage.Choose(os.Getenv, script())
	err := run(ctx, os.Stdout, engine, model)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, stage.Clean(err.Error()))
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, engine *debate.Engine, model string) error {
	drawn, err := chart([]int{40, 55, 48, 73})
	if err != nil {
		return err
	}
	config := debate.Config{
		Topic:       "The chart shows cyclists a day, in hundreds, over four years. Does it prove that the new lanes work?",
		Attachments: []flow.File{{Name: "cyclists.png", Data: drawn}}, // the start reads the type and the hash from the bytes
		Format:      format.StructuredRounds, Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: model}, {Name: "Ben", Side: debate.Against, Model: model},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: model}}, When: debate.AtEnd},
	}
	estimate, err := engine.Estimate(ctx, config) // it counts the image at the most that it can take
	if err != nil {
		return err
	}
	p := stage.Printer{Out: out}
	p.Linef("At most %d tokens in %d calls.", estimate.Tokens, estimate.Calls)
	id := ""
	for event, err := range engine.Run(ctx, config) {
		if err != nil {
			return err
		}
		switch body := event.Body.(type) {
		case *flow.Start:
			id = body.Settings.ID
		case *debate.Turn:
			p.Linef("%s: %s", body.Speaker, body.Text)
		case *debate.Verdict:
			p.Linef("The judge: %s", body.Summary)
		}
	}
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range record.Files() {
		stored, err := engine.File(ctx, id, f.Hash) // for a display
		if err != nil {
			return err
		}
		if !bytes.Equal(stored, drawn) {
			return errors.New("the stored image is another one")
		}
		p.Linef("%s %s, %d bytes, SHA-256 %s", f.String(), f.Type, f.Size, f.Hash)
	}
	return nil
}

// chart draws a bar for each figure.
func chart(figures []int) ([]byte, error) {
	const width, height, gap = 48, 100, 16
	img := image.NewRGBA(image.Rect(0, 0, gap+len(figures)*(width+gap), height))
	blue := color.RGBA{R: 40, G: 90, B: 160, A: 255}
	draw.Draw(img, img.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	for i, n := range figures {
		left := gap + i*(width+gap)
		draw.Draw(img, image.Rect(left, height-n, left+width, height), image.NewUniform(blue), image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
}
