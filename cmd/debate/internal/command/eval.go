package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// evalFlags are the flags of the command eval.
type evalFlags struct {
	file   string
	models []string
	output string
	rows   rowFlags
}

// eval has evaluators score the solution of a stored deliberation.
func (p *program) eval() *cobra.Command {
	var f evalFlags
	c := p.aboutOne("eval [id|file]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		if err := exclusive(c, "config", "evaluator"); err != nil {
			return err
		}
		p.reads(f.file)
		p.reads(args...) // which may be a file
		if err := p.checkScores(f.output); err != nil {
			return err
		}
		var err error
		if p.usual.Models, err = p.rows(&f.rows); err != nil {
			return err
		}
		if len(args) > 0 && saved(args[0]) {
			return p.evalSaved(c.Context(), args[0], &f)
		}
		return p.onOne(c.Context(), args, solved(), func(ctx context.Context, engine *debate.Engine, id string) error {
			about, err := solutionOf(ctx, engine, id)
			if err != nil {
				return err
			}
			return p.runEval(ctx, engine, id, &about, &f)
		})
	})
	p.viewFlags(c)
	c.Flags().StringVar(&f.file, "config", "", "read the evaluators from this `file`, JSON or YAML")
	c.Flags().StringArrayVar(&f.models, "evaluator", nil, "`provider/model`: an evaluator; can be repeated")
	completeFlag(c, "evaluator", modelNames)
	f.rows.define(c)
	c.Flags().StringVarP(&f.output, "output", "o", "",
		"write the report to this file, which ends in .json, or add a row to one that ends in .csv")
	return c
}

// solved lets the command take the newest deliberation that may have a solution.
func solved() choice {
	return choice{last: &store.Filter{States: []flow.State{flow.StateCompleted}}, flow: deliberation.FlowName, implied: true}
}

// evalSaved has the solution scored that is in a file of dialectic.
func (p *program) evalSaved(ctx context.Context, path string, f *evalFlags) error {
	data, err := readNamed(path, debate.MaxSnapshot)
	if err != nil {
		return err
	}
	about, err := settings.SavedSolution(data)
	if err != nil {
		return exit(exitArguments, fmt.Errorf("%s: %w", path, err))
	}
	engine, closing, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	return p.runEval(ctx, engine, path, &about, f)
}

// runEval has a solution scored. of is the id or the file that it is of.
func (p *program) runEval(ctx context.Context, engine *debate.Engine, of string, about *evaluation.Config, f *evalFlags) error {
	config, err := p.evaluation(ctx, engine, about, f)
	if err != nil {
		return err
	}
	if err := p.untouched(); err != nil {
		return err
	}
	session, err := engine.Start(ctx, config)
	if err != nil {
		return err
	}
	p.notef("The evaluation of %s is kept as %s.", idOn(p.Err, of), idOn(p.Err, session.ID()))
	lead := p.lead
	if p.json {
		lead = p.scores
	}
	return p.keepScores(ctx, engine, session.ID(), of, f.output, lead(ctx, session))
}

// solutionOf returns what is to be scored of a stored deliberation.
func solutionOf(ctx context.Context, engine *debate.Engine, id string) (evaluation.Config, error) {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return evaluation.Config{}, err
	}
	d, ok := deliberation.Of(record)
	if !ok {
		return evaluation.Config{}, exit(exitArguments,
			fmt.Errorf("%s is a conversation of the flow %s: eval is for deliberations", id, record.Flow()))
	}
	about, err := evaluation.About(d)
	if err != nil {
		return about, exit(exitArguments, fmt.Errorf("%s has no solution: it is %s", id, record.State))
	}
	return about, nil
}

// evaluation returns the evaluation of a solution.
func (p *program) evaluation(
	ctx context.Context, engine *debate.Engine, about *evaluation.Config, f *evalFlags,
) (flow.Config, error) {
	about.Unattended = !p.interactive()
	models := f.models
	if len(models) == 0 && f.file == "" {
		usual := cmp.Or(p.usual.Model(), settings.DefaultModel(func(vendor string) bool { return engine.Providers[vendor] != nil }))
		if usual == "" {
			return nil, exit(exitConfig, errors.New("there is no key: set OPENAI_API_KEY, or another vendor's, or name models"))
		}
		models = []string{usual, usual}
	}
	loaded, problems := settings.OpenEvaluation(f.file, models, about)
	if loaded == nil {
		return nil, settings.Sorted(problems)
	}
	if err := unplayed(engine, modelsIn(loaded.Config)); err != nil {
		return nil, err
	}
	if err := p.mistakes(ctx, loaded, engine, problems); err != nil {
		return nil, err
	}
	p.tell(loaded)
	return loaded.Config, nil
}

// scoreSheet is what eval --json prints.
type scoreSheet struct {
	ID string `json:"id"`
	evaluation.Report
}

// scores waits for an evaluation and prints its report as JSON.
func (p *program) scores(ctx context.Context, session *debate.Session) error {
	return p.interruptible(ctx, func(ctx context.Context) error {
		record, err := session.WaitIdle(ctx)
		if record == nil {
			return err
		}
		if scores, ok := evaluation.Of(record); ok && record.State == flow.StateCompleted {
			if err := p.printValue(scoreSheet{session.ID(), scores.Report()}); err != nil {
				return err
			}
		}
		got := resultOf(record)
		return (&leader{program: p, session: session}).end(record, &got, err)
	})
}

// checkScores refuses a file of scores that is sure to fail, before anything is paid for.
func (p *program) checkScores(path string) error {
	if path == "" {
		return nil
	}
	if err := p.spare("output", path); err != nil {
		return err
	}
	switch extension := strings.ToLower(filepath.Ext(path)); extension {
	case ".json":
		return nil
	case ".csv":
		held, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || err == nil && len(held) == 0 {
			return nil
		}
		if err != nil {
			return exit(exitArguments, fmt.Errorf("--output: %w", err))
		}
		if head := string(rowsOf(scoreColumns())); !strings.HasPrefix(strings.ReplaceAll(string(held), "\r\n", "\n"), head) {
			return exit(exitArguments, fmt.Errorf("--output: %s has other columns than %s", path, strings.TrimSpace(head)))
		}
		return nil
	default:
		return exit(exitArguments, fmt.Errorf("--output: scores are written to a file that ends in .json or .csv, and %s does not", path))
	}
}

// keepScores writes the scores of an evaluation to a file. led is how it was led to its end, and is returned, unless that went
// well and the file cannot be written. An evaluation that is not complete writes nothing.
func (p *program) keepScores(ctx context.Context, engine *debate.Engine, id, of, path string, led error) error {
	if path == "" {
		return led
	}
	ctx = context.WithoutCancel(ctx) // what was paid for is written even if the command is over
	record, err := engine.Record(ctx, id)
	if err != nil {
		return cmp.Or(led, err)
	}
	scores, ok := evaluation.Of(record)
	if !ok || record.State != flow.StateCompleted {
		return led
	}
	report := scores.Report()
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		err = addRow(path, scoreRow(record, of, &report))
	} else {
		var data []byte
		if data, err = encoded(scoreSheet{id, report}, "  "); err == nil {
			err = writeFile(path, data)
		}
	}
	if err != nil {
		return cmp.Or(led, fmt.Errorf("write the output: %w", err))
	}
	return led
}

// scoreColumns are the names of the columns of a file of scores.
func scoreColumns() []string {
	return []string{
		"time", "id", "of", string(evaluation.CriterionFunction), string(evaluation.CriterionPerformance), string(evaluation.CriterionSecurity),
		string(evaluation.CriterionMaintainability), string(evaluation.CriterionCompliance), string(evaluation.CriterionTestability),
		string(evaluation.CriterionRequirements), string(evaluation.CriterionOverall),
	}
}

// scoreRow returns the averages of an evaluation, in the order of the columns. Where there is no score, the cell is empty.
func scoreRow(record *flow.Record, of string, report *evaluation.Report) []string {
	means := make(map[evaluation.Criterion]string)
	for _, rating := range append(slices.Clone(report.Criteria), report.Overall) {
		if rating.Spread != nil {
			means[rating.Criterion] = strconv.FormatFloat(math.Round(rating.Spread.Mean*100)/100, 'f', -1, 64)
		}
	}
	columns := scoreColumns()
	row := []string{record.LastAt.UTC().Format(time.RFC3339), record.ID, of}
	for _, column := range columns[len(row):] {
		row = append(row, means[evaluation.Criterion(column)])
	}
	return row
}

// rowsOf returns rows as CSV.
func rowsOf(rows ...[]string) []byte {
	var out bytes.Buffer
	_ = csv.NewWriter(&out).WriteAll(rows) // into memory
	return out.Bytes()
}

// addRow adds a row to a file of scores, and before the first one the names of the columns.
func addRow(path string, row []string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // the mask of the process decides
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666) //nolint:gosec // the mask of the process decides
	if err != nil {
		return err
	}
	rows := [][]string{row}
	if info, err := file.Stat(); err == nil && info.Size() == 0 {
		rows = [][]string{scoreColumns(), row}
	}
	_, err = file.Write(rowsOf(rows...))
	return errors.Join(err, file.Close())
}
