package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	w1 "github.com/agonist-dev/debate/internal/bench"
)

// graph plays the debate with eino, as its documentation composes things: a cyclic graph of chat models
// whose local state holds the transcript. The graph is compiled once and invoked for each debate.
//
// A handler before each model copies pointers to the transcript's messages into the prompt: eino takes one
// slice, which begins with the system prompt and ends with the instruction. A handler behind the judge
// decodes and validates the answer as the floor does, and keeps the tree. There is no checkpoint, no budget,
// no retry and no timeout.
type graph struct {
	script   *w1.Script
	answers  *answers
	rounds   int
	runnable compose.Runnable[[]*schema.Message, *schema.Message]
}

// graphState is the local state of one run.
type graphState struct {
	round      int
	transcript []*schema.Message
	kept       []map[string]any
	winner     string
	streaming  sync.WaitGroup // what sends and reads pieces
}

// graphStateKey is where a run's state travels, so that it can be read when the run is over.
type graphStateKey struct{}

func newGraph(s *w1.Script, a *answers, rounds int) (*graph, error) {
	g := &graph{script: s, answers: a, rounds: rounds}
	b := graphBuilder{graph: g, Graph: compose.NewGraph[[]*schema.Message, *schema.Message](
		compose.WithGenLocalState(graphStateOf),
	)}
	for _, name := range w1.Debaters() {
		b.node(name, w1.Speech, name, speak)
		b.list(name)
	}
	b.node(string(w1.Assessing), w1.Assessing, w1.Judge, g.assess)
	b.list(string(w1.Assessing))
	b.node(string(w1.Concluding), w1.Concluding, w1.Judge, g.conclude)
	b.edge(compose.START, w1.Ada)
	b.edge(listed(w1.Ada), w1.Ben)
	b.edge(listed(w1.Ben), w1.Cy)
	b.edge(listed(w1.Cy), string(w1.Assessing))
	next := map[string]bool{w1.Ada: true, string(w1.Concluding): true}
	b.check(b.AddBranch(listed(string(w1.Assessing)), compose.NewGraphBranch(g.next, next)))
	b.edge(string(w1.Concluding), compose.END)
	if b.err != nil {
		return nil, b.err
	}
	var err error
	g.runnable, err = b.Compile(context.Background(), compose.WithMaxRunSteps(8*rounds+8))
	return g, err
}

// graphBuilder adds to a graph until something fails.
type graphBuilder struct {
	*compose.Graph[[]*schema.Message, *schema.Message]

	graph *graph
	err   error
}

// after is what happens with a model's message.
type after = compose.StatePostHandler[*schema.Message, *graphState]

func (b *graphBuilder) check(err error) { b.err = errors.Join(b.err, err) }

func (b *graphBuilder) edge(from, to string) { b.check(b.AddEdge(from, to)) }

// node adds a chat model, which is asked with the whole transcript.
func (b *graphBuilder) node(key string, asked w1.Kind, name string, then after) {
	prompt := schema.SystemMessage(system(name))
	before := func(_ context.Context, _ []*schema.Message, s *graphState) ([]*schema.Message, error) {
		messages := make([]*schema.Message, 0, len(s.transcript)+2)
		messages = append(append(messages, prompt), s.transcript...)
		return append(messages, schema.UserMessage(instruction(asked, s.round))), nil
	}
	b.check(b.AddChatModelNode(key, &chatModel{b.graph.script, asked, name}, compose.WithNodeName(key),
		compose.WithStatePreHandler(before), compose.WithStatePostHandler(then)))
}

// list adds what makes a list of a model's message: models take lists.
func (b *graphBuilder) list(key string) {
	b.check(b.AddLambdaNode(listed(key), compose.ToList[*schema.Message]()))
	b.edge(key, listed(key))
}

func listed(key string) string { return key + "-list" }

func graphStateOf(ctx context.Context) *graphState {
	s, _ := ctx.Value(graphStateKey{}).(*graphState)
	return s
}

func speak(_ context.Context, said *schema.Message, s *graphState) (*schema.Message, error) {
	s.transcript = append(s.transcript, said)
	return said, nil
}

func (g *graph) assess(_ context.Context, said *schema.Message, s *graphState) (*schema.Message, error) {
	tree, err := g.answers.assess(said.Content)
	if err != nil {
		return nil, err
	}
	s.kept = append(s.kept, tree)
	s.round++
	return said, nil
}

func (g *graph) conclude(_ context.Context, said *schema.Message, s *graphState) (_ *schema.Message, err error) {
	s.winner, err = g.answers.conclude(said.Content)
	return said, err
}

// next is the node behind an assessment.
func (g *graph) next(ctx context.Context, _ []*schema.Message) (key string, err error) {
	err = compose.ProcessState(ctx, func(_ context.Context, s *graphState) error {
		if key = w1.Ada; s.round > g.rounds {
			key = string(w1.Concluding)
		}
		return nil
	})
	return key, err
}

// play plays one debate.
func (g *graph) play(ctx context.Context) (*played, error) {
	s := &graphState{round: 1}
	_, err := g.runnable.Invoke(context.WithValue(ctx, graphStateKey{}, s), nil)
	return s.played(), err
}

// playToReader plays one debate whose pieces are read as eino hands them out: a callback gets a copy of each
// model's stream.
func (g *graph) playToReader(ctx context.Context) (*played, error) {
	s := &graphState{round: 1}
	var streamed atomic.Int64
	reader := callbacks.NewHandlerBuilder().OnEndWithStreamOutputFn(func(
		ctx context.Context, info *callbacks.RunInfo, pieces *schema.StreamReader[callbacks.CallbackOutput],
	) context.Context {
		if info.Component != components.ComponentOfChatModel || info.Name == string(w1.Assessing) || info.Name == string(w1.Concluding) {
			pieces.Close()
			return ctx
		}
		s.streaming.Go(func() {
			defer pieces.Close()
			for {
				piece, err := pieces.Recv()
				if err != nil { // the end; a piece that is missing shows in the sum
					return
				}
				streamed.Add(int64(len(model.ConvCallbackOutput(piece).Message.Content)))
			}
		})
		return ctx
	}).Build()
	result, err := g.runnable.Stream(context.WithValue(ctx, graphStateKey{}, s), nil, compose.WithCallbacks(reader))
	if err != nil {
		return nil, err
	}
	for err == nil {
		_, err = result.Recv()
	}
	result.Close()
	s.streaming.Wait()
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	out := s.played()
	out.streamed = int(streamed.Load())
	return out, nil
}

func (s *graphState) played() *played {
	out := &played{turns: make([]turn, len(s.transcript)), assessments: len(s.kept), winner: s.winner}
	for i, m := range s.transcript {
		out.turns[i] = turn{m.Name, m.Content}
	}
	return out
}

// chatModel is the script as a chat model.
type chatModel struct {
	script *w1.Script
	asked  w1.Kind
	name   string
}

// Generate implements [model.BaseChatModel].
func (m *chatModel) Generate(ctx context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	size := 0
	for _, message := range in {
		size += len(message.Content)
	}
	text, err := m.script.Answer(ctx, m.asked, m.name, len(in)-2, size)
	if err != nil {
		return nil, err
	}
	return &schema.Message{Role: schema.Assistant, Name: m.name, Content: text}, nil
}

// Stream implements [model.BaseChatModel]. A goroutine sends the pieces, as clients do; the run waits for it.
func (m *chatModel) Stream(
	ctx context.Context, in []*schema.Message, options ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	whole, err := m.Generate(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	if m.asked != w1.Speech || m.script.Pieces == 0 {
		return schema.StreamReaderFromArray([]*schema.Message{whole}), nil
	}
	reader, writer := schema.Pipe[*schema.Message](8)
	graphStateOf(ctx).streaming.Go(func() {
		defer writer.Close()
		for piece := range m.script.Split(whole.Content) {
			if writer.Send(&schema.Message{Role: schema.Assistant, Name: m.name, Content: piece}, nil) {
				return
			}
		}
	})
	return reader, nil
}
