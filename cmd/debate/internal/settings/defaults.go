package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Defaults are what a user has set for all conversations. Flags and config files go before them.
type Defaults struct {
	File     string   // "": there is none
	Store    string   // "": the file does not say it
	EnvFiles []string // of variables
	Models   Rows

	said usual
	root *node
}

// usual is what a file of defaults can say.
type usual struct {
	Model   string           `json:"model"`
	Judge   string           `json:"judge"`
	Agents  []string         `json:"agents"`
	Rounds  int              `json:"rounds"`
	Budget  flow.Money       `json:"budget"`
	Store   string           `json:"store"`
	EnvFile []string         `json:"envFile"` // or one text
	Models  map[string]sizes `json:"models"`
}

// Model returns the model of those for whom nobody names one; "": the file does not say it.
func (d *Defaults) Model() string { return d.said.Model }

// sizes are what it can say of a model. Prices are those of a million tokens.
type sizes struct {
	Window    int         `json:"window"`
	MaxOutput int         `json:"maxOutput"`
	Input     *flow.Money `json:"input"`
	Output    *flow.Money `json:"output"`
}

// OpenDefaults reads the file defaults.yaml, or defaults.json, of a folder, which may lack one. The error joins an [Error] for each
// mistake. home is the user's folder.
func OpenDefaults(folder, home string) (*Defaults, error) {
	d := &Defaults{Models: Rows{}}
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
	source, err := Open(d.File)
	if err != nil {
		return nil, err
	}
	d.root = source.root
	if one := d.root.get("envFile"); one != nil && one.form == formText {
		d.root.set("envFile", &node{form: formList, items: []*node{one}, Place: one.Place})
	}
	wrong := source.wrong
	for _, one := range each(flow.DecodeStrict("read defaults", d.root.json(), &d.said)) {
		failure, ok := errors.AsType[*flow.Error](one)
		if !ok {
			return nil, one
		}
		wrong = append(wrong, &Error{d.at(failure.Field), failure.Err})
	}
	if len(wrong) > 0 { // the rest is looked at all the same
		_ = json.Unmarshal(d.root.json(), &d.said)
	}
	d.check(&wrong)
	if d.said.Store != "" {
		d.Store = d.path(d.said.Store, home)
	}
	for _, path := range d.said.EnvFile {
		d.EnvFiles = append(d.EnvFiles, d.path(path, home))
	}
	return d, wrong.err()
}

// check reports what no conversation can use, and gathers the models.
func (d *Defaults) check(wrong *mistakes) {
	for key, model := range map[string]string{keyModel: d.said.Model, keyJudge: d.said.Judge} {
		if _, _, ok := flow.SplitModel(model); model != "" && !ok {
			wrong.addf(d.at(key), "is no model: name it as provider/model")
		}
	}
	if d.said.Rounds < 0 {
		wrong.addf(d.at("rounds"), "is at least 1")
	}
	if d.said.Budget < 0 {
		wrong.addf(d.at("budget"), "is less than 0")
	}
	for name, said := range d.said.Models {
		at, row := d.at("models."+name), d.Models.Row(name)
		_, _, ok := flow.SplitModel(name)
		switch {
		case !ok:
			wrong.addf(at, "is no model: name it as provider/model")
		case (said.Input == nil) != (said.Output == nil):
			wrong.addf(at, "has one price: that of input and that of output are needed")
		case said.Window < 0, said.MaxOutput < 0, said.Input != nil && min(*said.Input, *said.Output) < 0:
			wrong.addf(at, "has a number that is less than 0")
		case said.Input != nil:
			row = priced(row, *said.Input/million, *said.Output/million)
		}
		if said.Window > 0 {
			row.Window = said.Window
		}
		if said.MaxOutput > 0 {
			row.MaxOutput = said.MaxOutput
		}
		d.Models[name] = row
	}
}

// at returns where the file says something.
func (d *Defaults) at(field string) Place {
	if d.root == nil {
		return Place{Path: field}
	}
	return d.root.placeOf(field)
}

// path returns a path as it is meant: relative to the file, or to the user's folder behind "~/". The URL of a database stays.
func (d *Defaults) path(said, home string) string {
	if rest, ok := strings.CutPrefix(said, "~/"); ok && home != "" {
		said = home + "/" + rest
	}
	if strings.Contains(said, "://") || filepath.IsAbs(said) {
		return said
	}
	path := beside(d.File, said)
	if strings.HasSuffix(said, "/") { // a folder
		path += "/"
	}
	return path
}

// usually puts those who take part, and the rounds, into a wish that does not say them, and returns where the choice stands. at is where
// the wish says it.
func (w *Wish) usually(at Place) Place {
	said := &w.Usual.said
	if said.Rounds > 0 && w.Rounds == nil {
		w.Rounds = &said.Rounds
	}
	if len(said.Agents) > 0 && len(w.Agents) == 0 {
		w.Agents, at = said.Agents, w.Usual.at("agents")
	}
	return at
}

// stand gives the models that the defaults have put into a config the place where they are named.
func (n *node) stand(usual *Defaults) {
	for key, model := range map[string]string{keyJudge: usual.said.Judge, keyModel: usual.said.Model} {
		if n.form == formText && n.File == "" && n.value == model && model != "" {
			n.Place = usual.at(key)
		}
	}
	for _, item := range n.items {
		item.stand(usual)
	}
	for _, m := range n.members {
		m.value.stand(usual)
	}
}

// million is how many tokens prices are said for.
const million = 1_000_000

// Rows are what a user says of models, by "provider/model". It replaces what is built in.
type Rows map[string]flow.Model

// Row returns what is known of a model.
func (r Rows) Row(name string) flow.Model {
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
	in, wrong := priceOf(input)
	out, alsoWrong := priceOf(output)
	if !ok || !both || wrong || alsoWrong {
		return fmt.Errorf("%q is not provider/model=INPUT/OUTPUT, such as ollama/llama3=0.10/0.40: USD for a million tokens", said)
	}
	r[name] = priced(r.Row(name), in, out)
	return nil
}

// Window adds the window of a model, as the flag --window says it.
func (r Rows) Window(said string) error {
	name, window, ok := cutLast(said)
	n, err := strconv.Atoi(window)
	if !ok || err != nil || n < 1 {
		return fmt.Errorf("%q is not provider/model=TOKENS, such as ollama/llama3=32768", said)
	}
	row := r.Row(name)
	row.Window = n
	r[name] = row
	return nil
}

// cutLast divides what is said of a model at the last "=". ok: a model stands before it.
func cutLast(said string) (name, value string, ok bool) {
	at := max(strings.LastIndexByte(said, '='), 0)
	name, value = said[:at], strings.TrimPrefix(said[at:], "=")
	_, _, ok = flow.SplitModel(name)
	return name, value, ok
}

// priceOf reads a price in USD for a million tokens, and returns that of one.
func priceOf(said string) (price flow.Money, wrong bool) {
	err := price.UnmarshalJSON([]byte(strings.TrimPrefix(said, "$")))
	return price / million, err != nil || price < 0
}

// priced returns a row with these prices alone.
func priced(row flow.Model, input, output flow.Money) flow.Model {
	row.Priced, row.Input, row.Output = true, input, output
	row.CachedInput, row.CacheWrite, row.Thinking, row.InputLong, row.OutputLong = 0, 0, 0, 0, 0
	return row
}
