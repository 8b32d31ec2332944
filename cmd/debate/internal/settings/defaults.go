package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
)

// Defaults are what a user has set for all conversations. Flags and config files go before them.
type Defaults struct {
	File     string   // "": there is none
	Store    string   // "": the file does not say it
	EnvFiles []string // of variables
	Models   Rows

	root  *node
	home  string // what "~" stands for in a path
	wrong mistakes
}

// OpenDefaults reads the file defaults.yaml, or defaults.json, of a folder, which may lack one. The error joins an [Error] for each
// mistake. home is the user's folder.
func OpenDefaults(folder, home string) (*Defaults, error) {
	d := &Defaults{root: objectNode(Place{}), home: home}
	for _, name := range []string{"defaults.yaml", "defaults.yml", "defaults.json"} {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); folder == "" || err != nil && !errors.Is(err, fs.ErrPermission) {
			continue
		}
		if d.File != "" {
			return nil, &Error{Place: Place{File: d.File}, Err: fmt.Errorf("%s exists too: keep one of them", path)}
		}
		d.File = path
	}
	if d.File == "" {
		return d, nil
	}
	data, err := readFile(d.File)
	if err != nil {
		return nil, &Error{Place: Place{File: d.File}, Err: err}
	}
	root, wrong := parse(d.File, data)
	if root == nil {
		return nil, wrong.err()
	}
	d.root, d.wrong = root, wrong
	for _, m := range root.members {
		d.take(m)
	}
	return d, d.wrong.err()
}

// take reads a key of the file.
func (d *Defaults) take(m member) {
	switch m.key {
	case "model", keyJudge:
		if _, _, ok := flow.SplitModel(m.value.value); m.value.form != formText || !ok {
			d.wrong.addf(m.value.Place, "is no model: name it as provider/model")
		}
	case "agents":
		d.texts(m.value)
	case "rounds":
		if n, err := strconv.Atoi(m.value.value); m.value.form != formNumber || err != nil || n < 1 {
			d.wrong.addf(m.value.Place, "is not a whole number, 1 at least")
		}
	case "budget":
		if m.value.form != formNumber && m.value.form != formText {
			d.wrong.addf(m.value.Place, "is %s, not an amount of USD such as 0.50", m.value.form)
		}
	case "store":
		if said := d.texts(m.value); len(said) == 1 && m.value.form == formText {
			d.Store = d.path(said[0])
		} else if len(said) > 0 {
			d.wrong.addf(m.value.Place, "is %s, not a text", m.value.form)
		}
	case "envFile":
		for _, said := range d.texts(m.value) {
			d.EnvFiles = append(d.EnvFiles, d.path(said))
		}
	case "models":
		d.models(m.value)
	default:
		d.wrong.addf(m.value.Place, "%w", text.UnknownKey(m.key, "agents", "budget", "envFile", keyJudge, "model", "models", "rounds", "store"))
	}
}

// texts returns a text, or those of a list.
func (d *Defaults) texts(of *node) (all []string) {
	items := of.items
	if of.form == formText {
		items = []*node{of}
	} else if of.form != formList {
		d.wrong.addf(of.Place, "is %s, not a text", of.form)
	}
	for _, item := range items {
		if item.form != formText || strings.TrimSpace(item.value) == "" {
			d.wrong.addf(item.Place, "is not a text, or is blank")
			continue
		}
		all = append(all, item.value)
	}
	return all
}

// path returns a path as it is meant: relative to the file, or to the user's folder behind "~/". The URL of a database stays.
func (d *Defaults) path(said string) string {
	if strings.Contains(said, "://") {
		return said
	}
	if rest, ok := strings.CutPrefix(said, "~/"); ok && d.home != "" {
		path := filepath.Join(d.home, filepath.FromSlash(rest))
		if strings.HasSuffix(rest, "/") { // a folder
			path += "/"
		}
		return path
	}
	path := beside(d.File, said)
	if strings.HasSuffix(said, "/") && !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return path
}

// models reads what the file says of models.
func (d *Defaults) models(all *node) {
	if all.form != formObject {
		d.wrong.addf(all.Place, "is %s, not an object", all.form)
		return
	}
	d.Models = Rows{}
	for _, m := range all.members {
		if _, _, ok := flow.SplitModel(m.key); !ok || m.value.form != formObject {
			d.wrong.addf(m.value.Place, "is no model: write provider/model: {input: 0.10, output: 0.40}")
			continue
		}
		d.Models[m.key] = d.model(d.Models.row(m.key), m.value)
	}
}

// model returns the row of a model with what an object says of it.
func (d *Defaults) model(row flow.Model, said *node) flow.Model {
	for _, m := range said.members {
		switch m.key {
		case "window", "maxOutput":
			n, err := strconv.Atoi(m.value.value)
			if m.value.form != formNumber || err != nil || n < 1 {
				d.wrong.addf(m.value.Place, "is not a whole number of tokens, 1 at least")
			} else if m.key == "window" {
				row.Window = n
			} else {
				row.MaxOutput = n
			}
		case "input", "output":
			if said.get("input") == nil || said.get("output") == nil {
				d.wrong.addf(m.value.Place, "has to stand beside the other price: that of input and that of output")
			}
		default:
			d.wrong.addf(m.value.Place, "%w", text.UnknownKey(m.key, "input", "maxOutput", "output", "window"))
		}
	}
	input, output := said.get("input"), said.get("output")
	if input == nil || output == nil {
		return row
	}
	in, err := priceOf(input.value)
	if err != nil {
		d.wrong.addf(input.Place, "%w", err)
	}
	out, err := priceOf(output.value)
	if err != nil {
		d.wrong.addf(output.Place, "%w", err)
	}
	return priced(row, in, out)
}

// get returns what the file says under a key, or nil.
func (d *Defaults) get(key string) *node {
	if d == nil || d.root == nil {
		return nil
	}
	return d.root.get(key)
}

// text returns the text that the file has under a key; "": it has none.
func (d *Defaults) text(key string) string {
	if said := d.get(key); said != nil {
		return said.value
	}
	return ""
}

// usually puts those who take part, and the rounds, into a wish that does not say them, and returns where the choice stands. at is where
// the wish says it.
func (w *Wish) usually(at Place) Place {
	if rounds := w.Usual.get("rounds"); rounds != nil && w.Rounds == nil {
		if n, err := strconv.Atoi(rounds.value); err == nil {
			w.Rounds = &n
		}
	}
	names := w.Usual.get("agents")
	if names == nil || len(w.Agents) > 0 {
		return at
	}
	if names.form == formText {
		w.Agents = []string{names.value}
	}
	for _, one := range names.items {
		w.Agents = append(w.Agents, one.value)
	}
	return names.Place
}

// stand gives the models that the defaults have put into a config the place where they are named.
func (n *node) stand(usual *Defaults) {
	for _, key := range []string{"model", keyJudge} {
		if said := usual.get(key); said != nil && n.form == formText && n.File == "" && n.value == said.value {
			n.Place = said.Place
			return
		}
	}
	for _, item := range n.items {
		item.stand(usual)
	}
	for _, m := range n.members {
		m.value.stand(usual)
	}
}

// Rows are what a user says of models, by "provider/model". It replaces what is built in.
type Rows map[string]flow.Model

// row returns what is known of a model.
func (r Rows) row(name string) flow.Model {
	if row, ok := r[name]; ok {
		return row
	}
	vendor, id, _ := flow.SplitModel(name)
	row, _ := flow.LookupModel(vendor, id)
	return row
}

// Price adds the prices of a model, as the flag --price says them.
func (r Rows) Price(said string) error {
	name, prices, ok := cutLast(said)
	input, output, both := strings.Cut(prices, "/")
	if !ok || !both {
		return fmt.Errorf("%q is not provider/model=INPUT/OUTPUT, such as ollama/llama3=0.10/0.40: USD for a million tokens", said)
	}
	in, err := priceOf(input)
	if err != nil {
		return fmt.Errorf("%s: %q %w", name, input, err)
	}
	out, err := priceOf(output)
	if err != nil {
		return fmt.Errorf("%s: %q %w", name, output, err)
	}
	r[name] = priced(r.row(name), in, out)
	return nil
}

// Window adds the window of a model, as the flag --window says it.
func (r Rows) Window(said string) error {
	name, window, ok := cutLast(said)
	n, err := strconv.Atoi(window)
	if !ok || err != nil || n < 1 {
		return fmt.Errorf("%q is not provider/model=TOKENS, such as ollama/llama3=32768", said)
	}
	row := r.row(name)
	row.Window = n
	r[name] = row
	return nil
}

// cutLast divides what is said of a model at the last "=". ok: a model stands before it.
func cutLast(said string) (name, value string, ok bool) {
	at := strings.LastIndexByte(said, '=')
	if at < 0 {
		return "", "", false
	}
	_, _, ok = flow.SplitModel(said[:at])
	return said[:at], said[at+1:], ok
}

// priceOf reads a price in USD for a million tokens, and returns that of one.
func priceOf(said string) (flow.Money, error) {
	const million, most = 1_000_000, 1_000_000 // tokens, and USD
	amount, err := strconv.ParseFloat(strings.TrimPrefix(said, "$"), 64)
	if err != nil || !(amount >= 0) || amount > most {
		return 0, errors.New("is no price in USD for a million tokens, such as 0.40")
	}
	return flow.Money(math.Round(amount * float64(flow.USD/million))), nil
}

// priced returns a row with these prices alone.
func priced(row flow.Model, input, output flow.Money) flow.Model {
	row.Priced, row.Input, row.Output = true, input, output
	row.CachedInput, row.CacheWrite, row.Thinking, row.InputLong, row.OutputLong = 0, 0, 0, 0, 0
	return row
}
