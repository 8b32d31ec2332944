// Command image lets two debaters and a judge look at a chart, as an image that belongs to the topic.
//
//	go run ./examples/image
//
// The program draws the chart itself. The log holds its name, size and hash, and the store holds its bytes. A script plays everybody,
// and tells what it was sent; a model must be able to see.
//
// It prints:
//
//	At most … tokens in … calls.
//	Ada: I see cyclists.png, image/png of … bytes. From the first bar to the last it nearly doubles.
//	Ben: I see cyclists.png, image/png of … bytes. In the third year it falls, with all the lanes in place.
//	The judge: I see cyclists.png, image/png of … bytes. It shows growth, and no cause.
//	The store has cyclists.png: image/png, … bytes, SHA-256 …
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	drawn, err := chart([]int{40, 55, 48, 73})
	if err != nil {
		return err
	}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"script": &scripted.Provider{Reply: reply}}}
	config := debate.Config{
		ID:          "image",
		Topic:       "The chart shows cyclists a day, in hundreds, over four years. Does it prove that the new lanes work?",
		Attachments: []flow.File{{Name: "cyclists.png", Data: drawn}}, // the start reads the type and the hash from the bytes
		Rounds:      1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/any"}, {Name: "Ben", Side: debate.Against, Model: "script/any"},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "script/any"}}, When: debate.AtEnd},
	}
	estimate, err := engine.Estimate(ctx, config) // it counts the image at the most that it can take
	if err != nil {
		return err
	}
	fmt.Printf("At most %d tokens in %d calls.\n", estimate.Tokens, estimate.Calls)
	record, err := engine.Play(ctx, config)
	if err != nil {
		return err
	}
	for _, turn := range record.Turns {
		fmt.Printf("%s: %s\n", turn.Speaker, turn.Text)
	}
	if d, ok := debate.Of(record); ok {
		fmt.Println("The judge:", d.Verdict.Summary)
	}
	for _, f := range record.Files() {
		stored, err := engine.File(ctx, record.ID, f.Hash) // for a display
		if err != nil {
			return err
		}
		fmt.Printf("The store has %s: %s, %d bytes, SHA-256 %s\n", f.Name, f.Type, len(stored), f.Hash)
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

// reply plays everybody. Each tells what it was sent.
func reply(req *provider.Request) scripted.Reply {
	seen := "I see no chart."
	for _, m := range append(req.Messages, req.Last) {
		for _, part := range m.Parts {
			seen = fmt.Sprintf("I see %s, %s of %d bytes.", part.Name, part.Type, len(part.Data))
		}
	}
	switch req.Self {
	case "Ada":
		return scripted.Reply{Text: seen + " From the first bar to the last it nearly doubles."}
	case "Ben":
		return scripted.Reply{Text: seen + " In the third year it falls, with all the lanes in place."}
	}
	verdict, err := json.Marshal(debate.FinalVerdict{
		Summary: seen + " It shows growth, and no cause.",
		Winner:  &debate.Winner{Participant: "Ben", Reasoning: "Proof was asked for."}, Scores: map[string]float64{"Ada": 70, "Ben": 75},
		KeyPoints:        []debate.KeyPoints{{Participant: "Ada", MainArguments: []string{}}, {Participant: "Ben", MainArguments: []string{}}},
		AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{}, Criteria: map[string]string{}, QualityScore: 72,
	})
	return scripted.Reply{Text: string(verdict), Err: err}
}
