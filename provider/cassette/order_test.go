package cassette_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Vendors that share a cassette are told apart by their names.
func TestNamesAreToldApart(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("a", saying(said("from a"))), full(fence))
	ask(tape.Wrap("b", saying(said("from b"))), full(fence))
	tape = open(t, file, cassette.Options{})
	assert.Equal(t, "from b", ask(tape.Wrap("b", nil), full(fence)).response.Text)
	assert.Equal(t, "from a", ask(tape.Wrap("a", nil), full(fence)).response.Text)
}

func TestEqualRequests(t *testing.T) {
	tests := []struct {
		name             string
		recorded, asked  []string // ids
		want             []string
		repeat           bool
		unused, moreThan int
	}{
		{name: "without ids", recorded: []string{"", "", ""}, asked: []string{"", "", ""}, want: []string{"1", "2", "3"}},
		{name: "attempts", recorded: []string{"d/c/1", "d/c/2"}, asked: []string{"e/c/1", "e/c/2"}, want: []string{"1", "2"}},
		{name: "ten attempts", recorded: []string{"d/c9", "d/c10"}, asked: []string{"x", "y"}, want: []string{"1", "2"}},
		{name: "the same id first", recorded: []string{"d/a", "d/b", "d/b"}, asked: []string{"d/b", "x", "d/b"}, want: []string{"2", "1", "3"}},
		{name: "too few", recorded: []string{"a", "b"}, asked: []string{"a"}, want: []string{"1"}, unused: 1},
		{name: "too many", recorded: []string{"a", "b"}, asked: []string{"a", "b", "c"}, want: []string{"1", "2", "unseen"}},
		{name: "repeated", recorded: []string{"a", "b"}, asked: []string{"a", "b", "c", "a"}, want: []string{"1", "2", "2", "2"}, repeat: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			p := tape.Wrap("v", serial())
			for _, id := range test.recorded {
				ask(p, &provider.Request{ID: id})
			}
			tape = open(t, file, cassette.Options{Repeat: test.repeat})
			p = tape.Wrap("v", nil)
			var got []string
			for _, id := range test.asked {
				a := ask(p, &provider.Request{ID: id})
				if a.err != nil {
					assert.Contains(t, unseen(t, a.err), "was recorded 2 times")
					got = append(got, "unseen")
					continue
				}
				got = append(got, a.response.Text)
			}
			assert.Equal(t, test.want, got)
			assert.Len(t, tape.Unused(), test.unused)
		})
	}
}

// Whatever is done first, the file is the same.
func TestTheOrderOfTheFile(t *testing.T) {
	var first string
	for seed := range uint64(5) {
		dice := rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			script := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
				return scripted.Reply{Text: "I am " + req.ID, Delay: time.Duration(dice.IntN(1000)) * time.Millisecond, ChunkSize: 4}
			}}
			p := tape.Wrap("v", script)
			ids := make([]string, 24)
			for i := range ids {
				ids[i] = fmt.Sprintf("d/r%d.speech", i)
			}
			dice.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids { // one after the other, for dice is one
				ask(p, &provider.Request{ID: id, Self: id})
			}
			text := contents(t, file)
			if first == "" {
				first = text
			}
			assert.Equal(t, first, text)
			assert.Less(t, strings.Index(text, `"d/r9.speech"`), strings.Index(text, `"d/r10.speech"`))
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	const n = 40
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "1.json"), filepath.Join(folder, "2.json")}
	for i, file := range files {
		synctest.Test(t, func(t *testing.T) {
			tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
			require.NoError(t, err)
			var all sync.WaitGroup
			for k := range n {
				p := tape.Wrap(fmt.Sprint("v", k%3), &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
					return scripted.Reply{Text: "I am " + req.ID, Delay: time.Duration((k*(7+4*i))%n) * time.Second, ChunkSize: 3}
				}})
				all.Go(func() { ask(p, &provider.Request{ID: fmt.Sprint("d/", k/2)}) })
			}
			all.Wait()
			require.NoError(t, tape.Close())
		})
	}
	assert.Equal(t, contents(t, files[0]), contents(t, files[1]))

	tape := open(t, files[0], cassette.Options{})
	var all sync.WaitGroup
	for k := range n {
		p := tape.Wrap(fmt.Sprint("v", k%3), nil)
		all.Go(func() {
			a := ask(p, &provider.Request{ID: fmt.Sprint("d/", k/2)})
			if assert.NoError(t, a.err) {
				assert.Equal(t, fmt.Sprint("I am d/", k/2), a.response.Text)
				assert.Equal(t, a.response.Text, strings.Join(a.chunks, ""))
			}
		})
	}
	all.Wait()
	assert.Empty(t, tape.Unused())
}
