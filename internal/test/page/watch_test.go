package page_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/web"
)

// says waits until a speech is seen that is being given, or that is recorded.
func (p *person) says(live bool, words string) {
	p.t.Helper()
	if live {
		p.reads(".turn.is-open .live", words)
		return
	}
	p.reads(".turn.is-done", words)
}

// TestWatching: somebody starts a debate from a preset and watches it to the verdict. What is being said outlives a reload, and so does a
// pause. The page then has each fact once, and shows the report.
func TestWatching(t *testing.T) {
	t.Parallel()
	config, g := stage.TwoDebaters(), shut("Ada 1", "Ben 2")
	engine, _ := house(t, config, g)
	home := serve(t, engine, web.Options{Presets: []web.Preset{{Name: "Quick", About: "Two speak, one judges.", Config: encoded(t, config)}}})
	p := visit(t, browser.Open(t), home, "")
	defer p.leaves()

	p.reads(".empty", "Nothing has been debated yet")
	p.clicks("a.main", "Start the first one")
	p.clicks(".card", "Quick")
	p.reads(".schedule", "Ben")
	p.reads(".price", "at most")
	p.clicks("button.main", "Start")

	p.says(true, "Ada speaks in round 1")
	p.reads(".standing", "Ada is speaking")
	p.reads(".standing", "next: Ben")
	p.Reload()
	p.says(true, "Ada speaks in round 1")
	g.open("Ada 1")
	p.says(false, "Ada speaks in round 1")

	p.says(true, "Ben speaks in round 2")
	p.clicks(".rail button", "Pause")
	p.writes("Why", "It is late.")
	p.clicks("dialog button.main", "Pause")
	p.reads(".head .state", "paused")
	g.open("Ben 2")
	p.says(false, "Ben speaks in round 2")
	p.Reload()
	p.reads(".head .state", "paused")
	p.reads(".event", "It is late.")
	p.clicks(".rail button", "Resume")

	p.reads(".head .state", "finished")
	p.reads(".headline", "Ada has won")
	p.clicks(".tabs a", "Report")
	p.sees(`document.querySelector('iframe').contentDocument.body.textContent.includes('Ben speaks in round 3')`)
	numbers := p.facts()
	require.NotEmpty(t, numbers)
	assert.Equal(t, countdown(numbers[0]), numbers)
	id, ok := p.Eval(`decodeURIComponent(location.hash.split('/')[2])`).(string)
	require.True(t, ok)
	assert.Equal(t, stage.StoredRecord(t, engine, id).Seq, numbers[0])
	p.clicks(".brand", "debate")
	p.reads(".row-of", "finished")
}

// TestTwoTabs: two people have the same question before them, and both write. One answers. The other is told who it was, and keeps the
// words until they are put away.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	config := withPat("shared")
	engine, _ := house(t, config, nil)
	stage.Started(t, engine, config)
	home := serve(t, engine, web.Options{Authorize: func(r *http.Request, _ web.Access) (string, error) {
		switch name, _, _ := strings.Cut(r.Host, ":"); name { // whom the host program knows by a cookie, this one knows by the name of the server
		case "127.0.0.1":
			return "Pat", nil
		case "localhost":
			return "Robin", nil
		default:
			return "", errors.New("nobody has that name")
		}
	}})
	first := browser.Open(t)
	pat := visit(t, first, home, "#/c/shared")
	defer pat.leaves()
	robin := visit(t, first.Tab(), strings.Replace(home, "127.0.0.1", "localhost", 1), "#/c/shared")
	defer robin.leaves()

	robin.reads("label[for]", "Your answer")
	robin.writes("Your answer", strings.Repeat("x", stage.StoredRecord(t, engine, config.ID).Inquiries[0].Max-10))
	robin.reads(".question .field small", "10 bytes left")
	robin.writes("Your answer", "Prices are fairer, says Robin.")
	robin.sees(`!document.querySelector('.question .field small')`) // the bound is far
	robin.Reload()
	robin.sees(`document.querySelector('.question textarea').value === 'Prices are fairer, says Robin.'`)
	pat.clicks("nav a", "Questions")
	pat.reads(".question", "Pat")
	pat.writes("Your answer", "Prices are fairer, says Pat.")
	pat.clicks(".question button", "Answer")

	robin.reads(".question .told", "Pat has answered")
	robin.reads(".question .words", "says Robin")
	robin.says(false, "says Pat")
	robin.clicks(".question button", "Put it away")
	robin.sees(`!document.querySelector('.told')`)
	assert.False(t, robin.Holds(`document.body.textContent.includes('says Robin')`))
	pat.clicks("nav a", "Conversations")
	pat.clicks(".row-of a", config.Topic)
	pat.says(false, "says Pat")
}

// TestLogin: the browser asks for the token that the server wants, and gives it with all that the page asks for from then on. The log has
// the name.
func TestLogin(t *testing.T) {
	t.Parallel()
	config := withPat("secret")
	engine, _ := house(t, config, nil)
	stage.Started(t, engine, config)
	home := serve(t, engine, web.Options{Authorize: func(r *http.Request, _ web.Access) (string, error) {
		if name, token, _ := r.BasicAuth(); token == "correct-horse-battery" {
			return name, nil
		}
		return "", &web.DeniedError{Challenge: `Basic realm="debate", charset="UTF-8"`, Err: errors.New("the token is missing or wrong")}
	}})
	b := browser.Open(t)
	b.Login("Robin", "correct-horse-battery")
	p := visit(t, b, home, "#/c/secret")
	p.expects = []string{"^401 GET"}
	defer p.leaves()
	p.writes("Your answer", "Prices are fairer.")
	p.clicks(".question button", "Answer")
	p.says(false, "Prices are fairer.")
	answers := stage.StoredRecord(t, engine, "secret").Answers
	require.NotEmpty(t, answers)
	assert.Equal(t, "Robin", answers[0].Person)
}

// TestKilledServer: the server is killed in the middle of a speech, and another one takes its place. The page says so, and goes on by
// itself: it has each fact once.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := process.Launch(t, order{Folder: folder, Address: "127.0.0.1:0", Stuck: true})
	address := server.Hear(t)
	p := visit(t, browser.Open(t), "http://"+address+"/", "#/c/lasting")
	p.expects = []string{`net::ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET)`}
	defer p.leaves()

	p.says(true, "Ada speaks in round 2")
	p.Eval("window.stays = true")
	server.Kill()
	p.reads(".link", "The connection is lost")
	assert.Equal(t, address, process.Launch(t, order{Folder: folder, Address: address}).Hear(t))
	p.reads(".headline", "Ada has won")
	p.says(false, "Ada speaks in round 2")
	p.sees(`!document.querySelector('.link')`)
	assert.True(t, p.Holds("window.stays"), "the page was loaded anew")

	kept, err := file.Open(folder)
	require.NoError(t, err)
	engine, _ := engineOf(kept, lasting(), nil)
	assert.Equal(t, countdown(stage.StoredRecord(t, engine, "lasting").Seq), p.facts())
	require.NoError(t, kept.Close())
}
