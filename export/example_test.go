package export_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// tea is a short debate, and store is where its log is.
func tea(store debate.Store) (*debate.Record, error) {
	engine := &debate.Engine{Store: store, Providers: map[string]debate.Provider{
		"acme": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
			return scripted.Reply{Text: map[string]string{
				"Ada": "# Milk first\n\nThe cup *stays whole*. <script>alert('and so do you')</script>",
				"Ben": "Tea first: see [why](https://example.org/tea), not [that](javascript:alert(1)).",
			}[req.Self]}
		}},
	}}
	ctx := context.Background()
	session, err := engine.Start(ctx, debate.Config{
		ID: "tea", Topic: "Milk or tea first?", Rounds: 1,
		Participants: []debate.Participant{{Name: "Ada", Model: "acme/talker"}, {Name: "Ben", Model: "acme/talker"}},
	})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Wait(ctx)
}

// What models have said stands in quotes, as harmless Markdown.
func ExampleMarkdown() {
	record, err := tea(&store.Memory{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var document bytes.Buffer
	if err := export.Markdown(&document, record); err != nil {
		fmt.Println(err)
		return
	}
	_, round, _ := strings.Cut(document.String(), "## Round 1")
	round, _, _ = strings.Cut(round, "## How it ran")
	fmt.Println(strings.TrimSpace("## Round 1" + round))
	// Output:
	// ## Round 1: opening
	//
	// ### Ada
	//
	// opening
	//
	// > #### Milk first
	// >
	// > The cup *stays whole*. &lt;script>alert('and so do you')&lt;/script>
	//
	// ### Ben
	//
	// opening
	//
	// > Tea first: see [why](https://example.org/tea), not that (javascript:alert(1)).
}

// A page is one file, which can be sent as it is.
func ExampleHTML() {
	record, err := tea(&store.Memory{})
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := os.CreateTemp("", "debate-*.html")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := export.HTML(file, record); err != nil {
		fmt.Println(err)
		return
	}
	if err := file.Close(); err != nil { // the page is complete only now
		fmt.Println(err)
		return
	}
	page, err := os.ReadFile(file.Name())
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(page)) {
		if strings.Contains(line, "<p>The cup") || strings.Contains(line, "<p>Tea first") {
			fmt.Print(line)
		}
	}
	// Output:
	// <p>The cup <em>stays whole</em>. &lt;script&gt;alert('and so do you')&lt;/script&gt;</p>
	// <div class="speech" lang="" dir="auto"><p>Tea first: see <a href="https://example.org/tea" rel="noopener noreferrer nofollow">why</a>, not that (javascript:alert(1)).</p>
}

// The log tells more than the record: when each turn was spoken, what failed, and who was asked.
func ExampleOf() {
	store := &store.Memory{}
	record, err := tea(store)
	if err != nil {
		fmt.Println(err)
		return
	}
	document, err := export.Of(context.Background(), &debate.Engine{Store: store}, record.ID)
	if err != nil {
		fmt.Println(err)
		return
	}
	document.Title = "Minutes of the tea committee"
	var out bytes.Buffer
	if err := document.Markdown(&out); err != nil {
		fmt.Println(err)
		return
	}
	title, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(title)
	// Output: # Minutes of the tea committee
}
