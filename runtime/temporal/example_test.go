package temporal_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/runtime/temporal"
	"github.com/agonist-dev/debate/store"
)

// A worker needs a connection, the name of a task queue, and an engine on the store that all workers share.
func Example() { //nolint:testableexamples // it needs a server
	serve := func(ctx context.Context, engine *debate.Engine) error {
		connection, err := client.DialContext(ctx, client.Options{HostPort: "localhost:7233"})
		if err != nil {
			return err
		}
		defer connection.Close()
		w := worker.New(connection, "debates", worker.Options{WorkerStopTimeout: time.Minute})
		if err := temporal.Register(w, engine); err != nil {
			return err
		}
		return w.Run(worker.InterruptCh())
	}
	_ = serve // it runs until it is interrupted
}

// The environment of Temporal's SDK plays a debate in memory, for the tests of a host program.
func ExampleRegister() {
	engine := &debate.Engine{Store: &store.Memory{}, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	id, err := engine.Submit(context.Background(), debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	if err := temporal.Register(env, engine); err != nil {
		fmt.Println(err)
		return
	}
	env.ExecuteWorkflow(temporal.WorkflowName, map[string]string{"id": id})
	var status temporal.Status
	fmt.Println(env.GetWorkflowResult(&status), status.State, "after round", status.Round)
	// Output: <nil> completed after round 2
}
