package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/adrg/xdg"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
	"bureau/engine/tool/builtin"
	"bureau/store"
)

// streams are the standard ones.
type streams struct {
	in       *os.File
	out, err io.Writer
}

// program is what the commands share: where they run, what is configured, and what they open.
type program struct {
	streams
	folder string
	env    environment
	// envFault is why the .env file cannot be read; commands that need no variables do without.
	envFault error
	config   config
	// db is --db.
	db string
	// ownSignals tells that the terminal takes care of signals itself.
	ownSignals atomic.Bool
}

// newProgram reads the surroundings: the folder, the environment and the configuration.
func newProgram(std streams) (*program, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("the working folder cannot be read: %w", err)
	}
	p := &program{streams: std, folder: folder}
	p.env, p.envFault = readEnvironment(folder, os.LookupEnv)
	return p, nil
}

// configure reads the configuration; commands that need none do without.
func (p *program) configure() error {
	if p.envFault != nil {
		return p.envFault
	}
	var err error
	p.config, err = readConfig(configPath(p.env), p.env.own("BUREAU_CONFIG") != "")
	return err
}

// databasePath is where the sessions are.
func (p *program) databasePath() string {
	return cmp.Or(p.db, p.env.get("BUREAU_DB"), filepath.Join(xdg.DataHome, "bureau", "bureau.db"))
}

// openStore opens the sessions.
func (p *program) openStore(ctx context.Context) (*store.Store, error) {
	if p.envFault != nil && p.db == "" {
		return nil, p.envFault
	}
	return store.Open(ctx, p.databasePath())
}

// places are where agencies are looked for by name.
func (p *program) places() agencies.Places {
	return agencies.Places{Work: p.folder, Config: configFolder()}
}

// findAgency finds an agency; empty is the configured one, else tour.
func (p *program) findAgency(ref string) (*agencies.Agency, error) {
	agency, err := agencies.Find(cmp.Or(ref, p.config.Agency, "tour"), p.places(), knownNames(p.config))
	var file *agencies.FileError
	if err != nil && !errors.As(err, &file) {
		return nil, usagef(`"bureau agency list" shows the agencies, "bureau --help" the commands.`, "%v", err)
	}
	return agency, err
}

// agencyOf finds the agency that a session was begun with.
func (p *program) agencyOf(s history.Session) (*agencies.Agency, error) {
	return p.findAgency(cmp.Or(s.AgencyPath, s.Agency))
}

// newModels prepares the choice of models for an agency; flag is --model, else the one of the session.
func (p *program) newModels(agency *agencies.Agency, flag string, pace float64) (*models, error) {
	if flag != "" {
		if _, err := parseRef(flag); err != nil {
			return nil, err
		}
	}
	return &models{config: p.config, env: p.env, flag: flag, agency: agency, pace: p.pace(pace)}, nil
}

// pace is how fast scripts speak: BUREAU_SCRIPT_PACE, a factor on their waits, overrides what suits the command.
func (p *program) pace(suits float64) float64 {
	var factor float64
	if _, err := fmt.Sscanf(p.env.get("BUREAU_SCRIPT_PACE"), "%g", &factor); err == nil && factor >= 0 {
		return factor
	}
	return suits
}

// registry holds the tools that an agency file may name, reading below a folder; now is their clock, nil for the machine's.
func registry(root *os.Root, now func() time.Time) *tool.Registry {
	r := &tool.Registry{}
	if err := r.Register(builtin.New(root, builtin.Options{Now: now})...); err != nil {
		panic(err) // the names are fixed
	}
	return r
}

// decider answers the questions of an engine; nil where nobody is there to be asked.
type decider = func(context.Context, engine.Question) engine.Answer

// newEngine joins the parts to run an agency in the working folder. The returned function lets go of the folder.
func (p *program) newEngine(
	agency *agencies.Agency, s *store.Store, m *models, publish func(history.Event), decide decider,
) (*engine.Engine, func(), error) {
	if err := p.checkTrust(agency); err != nil {
		return nil, nil, err
	}
	return stage{
		folder: p.folder, log: s, model: m.forAgent, price: m.price, publish: publish, decide: decide, mayRunCommands: p.trusts(agency),
	}.engine(agency)
}

// stage is where an agency plays.
type stage struct {
	// folder is what its tools read; now is their clock, nil for the machine's.
	folder  string
	now     func() time.Time
	log     engine.Log
	model   func(context.Context, agencies.Agent) (llm.Model, error)
	price   func(llm.Ref, history.Usage) *float64
	publish func(history.Event)
	decide  decider
	// mayRunCommands says that the agency is trusted to start programs.
	mayRunCommands bool
}

// engine joins the parts to run an agency on the stage. The returned function lets go of the folder.
func (s stage) engine(agency *agencies.Agency) (*engine.Engine, func(), error) {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return nil, nil, fmt.Errorf("the working folder cannot be opened: %w", err)
	}
	e, err := engine.New(engine.Options{
		Agency: agency, Log: s.log, Tools: registry(root, s.now).Pick, Publish: s.publish, Price: s.price, Model: s.model,
		Decide: s.decide, MayRunCommands: s.mayRunCommands, Folder: s.folder,
	})
	if err != nil {
		root.Close()
		return nil, nil, err
	}
	return e, func() { root.Close() }, nil
}
